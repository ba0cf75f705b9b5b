"""`khrap token`."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Literal

import typer

from services.cli.output import AsJson


def token(
    subject: Annotated[str, typer.Option(help="Whom it speaks for: a player, or a person of the house.")],
    role: Annotated[
        Literal["player", "cashier", "operator", "compliance", "ops"], typer.Option(help="What he may do.")
    ],
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 365, help="How long it is good for.")] = 8.0,
    link: Annotated[
        bool, typer.Option("--link", help="A sign-in link for a browser in its place: good once, for two minutes.")
    ] = False,
    page: Annotated[str, typer.Option(help="The page that the link opens, such as /hands/ID#step=12.")] = "/",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The service's port, for the link; KHRAP_PORT.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a bearer token, or a sign-in link. With embedded servers only: elsewhere your own issuer signs them."""
    from infra.clock import SystemClock
    from infra.entropy import SystemEntropy
    from infra.faults import Fault
    from infra.keys import load_keys
    from infra.settings import read_settings
    from services.api.tokens import CODE_S, NotValid, Signer
    from services.cli.output import print_json

    settings = read_settings()
    try:
        signer = Signer(load_keys(settings), SystemClock(), SystemEntropy())
        if link:
            lifetime_s = CODE_S
            name, signed = "link", _link(settings.host, port or settings.port, page, signer.code(subject, role))
        else:
            lifetime_s = round(hours * 3_600)
            name, signed = "token", signer.bearer(subject, role, lifetime_s)
    except NotValid as error:
        raise Fault("token", str(error)) from error
    if as_json:
        print_json({name: signed, "subject": subject, "role": role, "lifetime_s": lifetime_s})
    else:
        print(signed)


def _link(host: str, port: int, page: str, code: str) -> str:
    """The code stands behind `#`: a browser sends that to nobody."""
    if not re.match(r"/(?![/\\])[!-~]*\Z", page):
        raise typer.BadParameter("a path of this service, with one / before it, such as /review", param_hint="--page")
    if port == 0:
        raise typer.BadParameter(
            "KHRAP_PORT is 0: the service takes any port; name the one that it took by --port", param_hint="--link"
        )
    shown = f"[{host}]" if ":" in host else host
    if host in (str(IPv4Address(0)), str(IPv6Address(0))):  # every address of the machine: this one is at hand
        shown = "127.0.0.1"
    return f"http://{shown}:{port}{page}{'&' if '#' in page else '#'}code={code}"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(token)
