"""What the supervisor writes into the lock file of its folder, for those who would join it or come after it."""

from pathlib import Path

import msgspec
from msgspec import Struct


class Note(Struct, frozen=True):
    """The supervisor's process id and control socket, its folder of sockets, and the servers' process ids."""

    pid: int | None = None
    control: str | None = None
    run: str | None = None
    servers: tuple[int, ...] = ()


def read_note(home: Path) -> Note:
    """The note of the folder `home`; an empty one if there is none, or while it is being written."""
    try:
        return msgspec.json.decode((home / "lock").read_bytes(), type=Note)
    except (OSError, msgspec.MsgspecError):
        return Note()
