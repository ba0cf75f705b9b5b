"""`khrap serve`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class PartName(StrEnum):
    """A part of the service."""

    API = "api"
    PROJECTOR = "projector"
    STEWARD = "steward"


def serve(
    parts: Annotated[
        list[PartName] | None,
        typer.Argument(help="Some parts alone; all three in this process if none is named.", show_default=False),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; KHRAP_HOST.", show_default=False)] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port to listen on, 0 for any free one; KHRAP_PORT.", show_default=False),
    ] = None,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", hidden=True, help="Stop when standard input ends.")
    ] = False,
) -> None:
    """Run the service until SIGTERM or Ctrl-C, which stop it gracefully. Logs go to standard error."""
    from msgspec.structs import replace

    from infra.settings import read_settings
    from infra.telemetry import configure_logs
    from services.cli import running
    from services.runtime import PARTS, serve

    settings = read_settings()
    settings = replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
    )
    configure_logs(settings.log_level)
    running.run(serve(settings, [each.value for each in parts] if parts else PARTS, with_parent=with_parent))


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)
