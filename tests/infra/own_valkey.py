"""A Valkey of the test's own, to be killed, stopped and started again on the same socket."""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from infra.embedded.binaries import binaries_for


class OwnValkey:
    """`url` stays the same over every start."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "v.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{self._socket}"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        program = str(binaries_for(None).valkey)
        options = ["--port", "0", "--unixsocket", str(self._socket), "--save", "", "--dir", str(self._socket.parent)]
        self._process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        for _ in range(500):
            with suppress(OSError), socket.socket(socket.AF_UNIX) as tried:
                tried.connect(str(self._socket))
                return
            time.sleep(0.01)
        raise TimeoutError("valkey does not start")

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """SIGSTOP: the connection stays, and nothing comes over it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def own_valkey() -> Iterator[OwnValkey]:
    """A Valkey that runs, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="kv-") as folder:
        valkey = OwnValkey(Path(folder))
        valkey.start()
        try:
            yield valkey
        finally:
            valkey.kill()
