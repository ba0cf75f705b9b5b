"""`khrap token`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from services.cli.output import AsJson


def token(
    subject: Annotated[str, typer.Option(help="Whom it speaks for: a player, or a person of the house.")],
    role: Annotated[
        Literal["player", "cashier", "operator", "compliance", "ops"], typer.Option(help="What he may do.")
    ],
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 365, help="How long it is good for.")] = 8.0,
    as_json: AsJson = False,
) -> None:
    """Print a bearer token. With embedded servers only: elsewhere your own issuer signs them."""
    from infra.clock import SystemClock
    from infra.entropy import SystemEntropy
    from infra.faults import Fault
    from infra.keys import load_keys
    from infra.settings import read_settings
    from services.api.tokens import NotValid, Signer
    from services.cli.output import print_json

    keys = load_keys(read_settings())
    lifetime_s = round(hours * 3_600)
    try:
        signed = Signer(keys, SystemClock(), SystemEntropy()).bearer(subject, role, lifetime_s)
    except NotValid as error:
        raise Fault("token", str(error)) from error
    if as_json:
        print_json({"token": signed, "subject": subject, "role": role, "lifetime_s": lifetime_s})
    else:
        print(signed)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(token)
