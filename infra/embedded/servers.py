"""Starting the embedded servers, or joining those that already run on the same folder."""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.embedded import postgres, supervisor, valkey
from infra.embedded.binaries import binaries_for
from infra.embedded.leftovers import clear_leftovers
from infra.embedded.note import read_note
from infra.embedded.plan import Plan
from infra.embedded.privileges import Account, can_enter, server_account
from infra.faults import Fault
from infra.home import make_home

START_S = 90.0  # crash recovery of a busy database included
CLOSE_S = 60.0
POLL_S = 0.02
LOG_LIMIT_BYTES = 10_000_000
SOCKET_PATH_LIMIT = 60  # of the folder for temporary files; a socket's path may have about 100 bytes


class EmbeddedServers:
    """A hold on the running servers; while any process has one, they run.

    `postgres_url` is the owner's (a superuser), for the database `khrap`; `redis_url` is Valkey's. Both are Unix
    sockets. Use it as a context manager, or call `close`; a process that dies lets go of it as well.
    """

    def __init__(self, home: Path, connection: socket.socket, answer: dict[str, str]) -> None:
        self.home = home
        self.postgres_url = answer["postgres_url"]
        self.redis_url = answer["redis_url"]
        self._connection = connection

    @classmethod
    def start(cls, home: Path = Path(".khrap"), timeout_s: float = START_S) -> Self:
        """Start the servers of the folder `home`, or join them if another process has started them.

        Returns when both answer. Raises Fault: with the tail of its log if a server does not start, `embedded_in_use`
        if a process holds the folder and does not answer.
        """
        home = home.absolute()
        deadline = time.monotonic() + timeout_s
        _make_folders(home)
        while time.monotonic() < deadline:
            lock = _try_lock(home)
            connection = _join(home) if lock is None else _launch(home, lock)
            if connection is not None:
                answer = _answer(connection, deadline)
                if answer is not None:
                    return cls(home, connection, answer)
                connection.close()
            time.sleep(POLL_S)
        holder = read_note(home).pid or "unknown"
        raise Fault(
            "embedded_in_use",
            f"{home} is in use by process {holder}, whose servers did not become ready within {timeout_s:.0f} s; "
            f"stop it, or choose another folder with KHRAP_HOME. {_tail(home / 'log' / 'postgres.log')}",
        )

    def close(self) -> None:
        """Let go. Who is the last waits until the servers have stopped."""
        _let_go(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _make_folders(home: Path) -> None:
    make_home(home)
    try:
        (home / "log").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Fault("embedded_folder", f"{home / 'log'} cannot be made: {error.strerror}") from error


def _try_lock(home: Path) -> int | None:
    """The lock of the folder, or None if another process holds it. The supervisor inherits it, and it ends with it."""
    try:
        lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Fault("embedded_folder", f"{home / 'lock'} cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _join(home: Path) -> socket.socket | None:
    """A connection to the supervisor that holds the lock; None while it is not there yet, or is about to end."""
    control = read_note(home).control
    return None if control is None else _connect(control)


def _connect(control: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(control)
    except OSError:
        connection.close()
        return None
    return connection


def _let_go(connection: socket.socket) -> None:
    """End the connection; the supervisor closes its end when others are left, or when the servers have stopped."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(CLOSE_S)
        while connection.recv(4096):
            pass
    connection.close()


def _answer(connection: socket.socket, deadline: float) -> dict[str, str] | None:
    """The supervisor's line, the addresses; None if it ended or nothing came in time. Raises Fault if it says why."""
    line = b""
    while not line.endswith(b"\n"):
        connection.settimeout(max(deadline - time.monotonic(), POLL_S))
        try:
            some = connection.recv(4096)
        except OSError:
            return None
        if not some:
            return None
        line += some
    answer: dict[str, str] = json.loads(line)
    if "reason" in answer:
        _let_go(connection)
        raise Fault("embedded_start", f"{answer['server']} {answer['reason']}. {_tail(Path(answer['log']))}")
    return answer


def _launch(home: Path, lock: int) -> socket.socket | None:
    """With the lock in hand: clear away what a kill left, make what is missing, start the supervisor, connect to it."""
    run_folder = None
    try:
        account = server_account(home / "postgres")
        binaries = binaries_for(account)
        clear_leftovers(home)
        data = postgres.data_folder(home, account, binaries)
        run_folder = _make_run_folder(account)
        sockets = run_folder / "sockets"
        plan: Plan = {
            "run_folder": str(run_folder),
            "control": str(run_folder / "control"),
            "lock_fd": lock,
            "uid": None if account is None else account.uid,
            "gid": None if account is None else account.gid,
            "servers": [
                postgres.plan(data, sockets, _log(home, "postgres"), binaries),
                valkey.plan(sockets, _log(home, "valkey"), binaries),
            ],
            "answer": {"postgres_url": postgres.url(sockets), "redis_url": valkey.url(sockets)},
        }
        with _log(home, "supervisor").open("ab") as log:
            subprocess.run(
                [sys.executable, "-I", "-S", supervisor.__file__],
                input=json.dumps(plan).encode(),
                stdout=log,
                stderr=log,
                pass_fds=[lock],
                check=True,
            )
        return _connect(plan["control"])
    except subprocess.CalledProcessError as error:
        raise Fault("embedded_start", f"the supervisor failed. {_tail(home / 'log' / 'supervisor.log')}") from error
    except BaseException:
        if run_folder is not None:
            shutil.rmtree(run_folder, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _make_run_folder(account: Account | None) -> Path:
    """A short folder for the sockets, which only the servers' user and ourselves may enter."""
    base = Path(tempfile.gettempdir())
    if len(os.fsencode(base)) > SOCKET_PATH_LIMIT or not can_enter(base, account):
        base = Path("/tmp")  # noqa: S108 (mkdtemp's name cannot be foreseen)
    run_folder = Path(tempfile.mkdtemp(prefix="khrap-", dir=base))
    sockets = run_folder / "sockets"
    sockets.mkdir(mode=0o700)
    if account is not None:
        run_folder.chmod(0o711)
        os.chown(sockets, account.uid, account.gid)
    return run_folder


def _log(home: Path, name: str) -> Path:
    """A server's log file; one that has grown large is set aside first."""
    path = home / "log" / f"{name}.log"
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path


def _tail(path: Path) -> str:
    """The last lines of a log file, for an error's text."""
    with contextlib.suppress(OSError):
        lines = path.read_text(errors="replace").splitlines()[-15:]
        return "\n".join([f"The end of {path}:", *lines])
    return f"There is no {path}."
