"""The HTTP server of this process: uvicorn, told when to start and stop by us and not by signals."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from infra.faults import Fault
from services.bounded import BoundedProtocol

GRACE_S = 10
"""So long a request that has begun may take after the server was told to stop."""
UNREAD_MS = 30_000
"""After so long without a byte taken the kernel gives a connection up: who does not read a stream holds none."""
KEEP_ALIVE_S = 30
"""So long a connection may stay open between two requests."""


class _Uvicorn(uvicorn.Server):
    """Leaves the process's signals alone: whoever runs the parts stops them in their order."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class HttpServer:
    """Serves one ASGI app on one address. `run` it in a task; it ends after `stop`."""

    def __init__(self, app: Any, host: str, port: int, trusted_proxies: str | None = None) -> None:
        """Raises Fault(`listen`) where the address cannot be had. `port` 0 is any free one."""
        self._socket = _bound(host, port)
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            # Whose X-Forwarded-For is believed: of no one, unless the settings name the proxies.
            proxy_headers=bool(trusted_proxies),
            forwarded_allow_ips=trusted_proxies or "",
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=GRACE_S,
        )
        self._server = _Uvicorn(config)

    @property
    def url(self) -> str:
        """Where it is to be found."""
        host, port = self._socket.getsockname()[:2]
        if host in ("0.0.0.0", "::"):  # noqa: S104 (only told apart)
            host = "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def run(self) -> None:
        """Serve until `stop`; then answer what has begun."""
        try:
            await self._server.serve(sockets=[self._socket])
        except SystemExit as error:  # uvicorn's way to say that the app did not start; it has logged why
            raise Fault("api_start", "the API did not start; the log says why") from error
        finally:
            self._socket.close()

    async def ready(self) -> None:
        """Returns when it accepts connections."""
        await self._server.ready.wait()

    def stop(self) -> None:
        """Take no more connections, and end when all are closed."""
        self._server.should_exit = True


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        detail = f"cannot listen on {host} port {port}: {error.strerror}; choose another with --port or KHRAP_PORT"
        raise Fault("listen", detail) from error
    return bound
