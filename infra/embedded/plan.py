"""What `servers.py` tells the supervisor to do, as JSON."""

from typing import TypedDict


class ServerPlan(TypedDict):
    """One server: command, log file, where its readiness shows, the signals that stop it (milder first)."""

    name: str
    argv: list[str]
    log: str
    ready_file: str | None
    ready_socket: str | None
    stop_signals: list[int]


class Plan(TypedDict):
    """What to run, as whom (null: as we are), and what to tell those who connect."""

    run_folder: str
    control: str
    lock_fd: int
    uid: int | None
    gid: int | None
    servers: list[ServerPlan]
    answer: dict[str, str]
