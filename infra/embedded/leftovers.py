"""What a kill left behind on a folder of embedded servers, cleared away by the next start, which holds the lock."""

import contextlib
import shutil
import signal
from pathlib import Path

import psutil

from infra.embedded.note import read_note

STOP_S = 10.0  # per signal
NO_PROCESS = "999999999"  # above the largest process id of any system


def clear_leftovers(home: Path) -> None:
    """Stop servers whose supervisor was killed, which nobody can join any more, and remove their sockets.

    The kernel stops them by itself on Linux, which takes a moment. A process is touched only if its command line
    names this folder's data or that run's sockets: its number may have been given to another process since.
    """
    note = read_note(home)
    data = home / "postgres"
    pid_file = data / "postmaster.pid"
    marks = [str(data.resolve()), *([note.run] if note.run else [])]
    left = []
    for pid in {*note.servers, *_pids(pid_file)}:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            if any(mark in word for word in process.cmdline() for mark in marks):
                left.append(process)
    for number in (signal.SIGINT, signal.SIGKILL):
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        _, left = psutil.wait_procs(left, timeout=STOP_S)
    if note.run and Path(note.run).name.startswith("khrap-"):
        shutil.rmtree(note.run, ignore_errors=True)
    if any(psutil.pid_exists(pid) for pid in _pids(pid_file)):
        _disown(pid_file)


def _pids(pid_file: Path) -> list[int]:
    """The process id in PostgreSQL's `postmaster.pid`, if there is such a file."""
    with contextlib.suppress(OSError, ValueError):
        return [int(pid_file.read_text().split("\n")[0])]
    return []


def _disown(pid_file: Path) -> None:
    """Put a number that no process has for one that a stranger has now, which PostgreSQL would take for its own.

    The file stays: by its other lines PostgreSQL makes sure that no back-end of the killed server is still there.
    """
    lines = pid_file.read_text().split("\n")
    with pid_file.open("r+") as file:  # in place: it keeps its owner
        file.write("\n".join([NO_PROCESS, *lines[1:]]))
        file.truncate()
