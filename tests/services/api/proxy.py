"""A TCP proxy that can be cut: a server that goes and comes back, without stopping the one that all tests share."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Proxy:
    """Passes bytes on to where `url` points; `cut` breaks all connections and takes no new ones until `mend`."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    @property
    def url(self) -> str:
        """The URL to go by."""
        return self._parts._replace(scheme="redis", netloc=f"127.0.0.1:{self._port}", path="/0", query="").geturl()

    async def mend(self) -> None:
        """Take connections, on the same port as before."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """The server is gone."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            there, to = await self._connect()
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, to))
                group.create_task(_pump(there, writer))
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._parts.scheme == "unix":
            return await asyncio.open_unix_connection(self._parts.path)
        return await asyncio.open_connection(self._parts.hostname, self._parts.port or 6379)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
