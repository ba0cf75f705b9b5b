"""A PostgreSQL server of the test's own, which it may kill and stop; the shared one belongs to everybody."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from infra.embedded import postgres
from infra.embedded.binaries import binaries_for
from infra.embedded.privileges import server_account


class OwnServer:
    """The embedded binaries in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._account = server_account(folder / "postgres")
        binaries = binaries_for(self._account)
        data = postgres.data_folder(folder, self._account, binaries)
        self._sockets = folder / "s"
        self._sockets.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(self._sockets, self._account.uid, self._account.gid)
        self._argv = postgres.plan(data, self._sockets, folder / "log", binaries)["argv"]
        self._log = folder / "log"
        self.url = postgres.url(self._sockets)
        self._process: subprocess.Popen[bytes] | None = None
        self._signalled: list[int] = []

    def start(self) -> None:
        """Start if it does not run, and wait until it answers."""
        if self._process is not None:
            return
        account = self._account
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._argv,
                stdout=log,
                stderr=log,
                cwd="/",
                user=None if account is None else account.uid,
                group=None if account is None else account.gid,
                extra_groups=None if account is None else [],
            )
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, self._log.read_text()[-2000:]
                time.sleep(0.02)

    def signal(self, number: int) -> None:
        """Send a signal to the server and all its processes, each of which leads a process group of its own."""
        assert self._process is not None
        if number != signal.SIGCONT:
            with psycopg.connect(self.url, autocommit=True) as connection:
                rows = connection.execute("select pid from pg_stat_activity where pid <> pg_backend_pid()").fetchall()
            self._signalled = [self._process.pid, *[pid for (pid,) in rows]]
        for pid in self._signalled:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """As by a power cut, though the operating system lives: no process of it has time for anything."""
        self.signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(10)
        self._process = None

    def close(self) -> None:
        """Stop it, if it runs."""
        if self._process is not None:
            self.kill()


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """Running."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-own-", dir="/tmp"))
    folder.chmod(0o711)
    server = OwnServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.close()
        shutil.rmtree((folder / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
