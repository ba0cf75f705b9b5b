"""A TCP proxy before a server, one for each who goes by it: its connections can be cut, stalled and slowed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self

Where = str | tuple[str, int]
"""A Unix socket's path, or host and port."""

CHUNK = 65_536


class Link:
    """Passes bytes on to a server, on `port` of this machine. `delay_ms` holds each piece up, either way."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._cuts = 0
        self._stalls = 0
        self._flows = asyncio.Event()
        self._flows.set()
        self.delay_ms = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._break_off()

    async def cut(self) -> None:
        """Break all connections, and every new one at once, until `mend`."""
        self._cuts += 1
        await self._break_off()

    def mend(self) -> None:
        """Undo one `cut`."""
        self._cuts -= 1

    def stall(self) -> None:
        """Let nothing through, either way, until `flow`: to both ends the other is silent."""
        self._stalls += 1
        self._flows.clear()

    def flow(self) -> None:
        """Undo one `stall`."""
        self._stalls -= 1
        if not self._stalls:
            self._flows.set()

    def heal(self) -> None:
        """Undo everything."""
        self._cuts = self._stalls = self.delay_ms = 0
        self._flows.set()

    async def _break_off(self) -> None:
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            if not self._cuts:
                await self._flows.wait()
                there, to = await self._connect()
                try:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self._pump(reader, to))
                        group.create_task(self._pump(there, writer))
                finally:
                    to.transport.abort()
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._where, str):
            return await asyncio.open_unix_connection(self._where)
        return await asyncio.open_connection(*self._where)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                if self.delay_ms:
                    await asyncio.sleep(self.delay_ms / 1000)
                await self._flows.wait()
                if writer.transport.is_closing():
                    break
                writer.write(data)
                await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.close()
