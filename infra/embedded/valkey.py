"""The embedded Valkey: a cache, so it keeps nothing on disk."""

import signal
from pathlib import Path

from infra.embedded.binaries import Binaries
from infra.embedded.plan import ServerPlan

SOCKET = "valkey.sock"


def url(sockets: Path) -> str:
    """Its URL over the socket in the folder `sockets`."""
    return f"unix://{sockets / SOCKET}"


def plan(sockets: Path, log: Path, binaries: Binaries) -> ServerPlan:
    """How the supervisor runs it: no port, no snapshot, no append-only file."""
    socket = str(sockets / SOCKET)
    options = {"port": "0", "unixsocket": socket, "unixsocketperm": "700", "save": "", "appendonly": "no", "dir": "/"}
    argv = [str(binaries.valkey)]
    for name, value in {**options, "daemonize": "no", "set-proc-title": "no"}.items():
        argv += [f"--{name}", value]
    return {
        "name": "valkey",
        "argv": argv,
        "log": str(log),
        "ready_file": None,
        "ready_socket": socket,
        "stop_signals": [signal.SIGTERM],
    }
