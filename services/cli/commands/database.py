"""`khrap db`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.exits import FAILS
from services.cli.output import AsJson

if TYPE_CHECKING:
    from infra.settings import Settings
    from infra.store.migrate import Migration
    from services.key_loss import KeyLossDone
    from services.restoring import Restored

app = typer.Typer(
    help="The event store's database: make it, bring it up to date, see how it stands.", no_args_is_help=True
)


@app.command()
def init(
    parts: Annotated[
        int | None,
        typer.Option(
            min=1, max=32_767, help="How many parts streams are hashed into; fixed for ever.", show_default="256"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the store. Where there is one already it is left as it is, and brought up to date."""
    _migrate(parts, as_json)


@app.command()
def migrate(as_json: AsJson = False) -> None:
    """Bring the database up to date, as its owner (KHRAP_DATABASE_OWNER_URL); an empty one gets a store."""
    _migrate(None, as_json)


@app.command()
def status(as_json: AsJson = False) -> None:
    """How the database stands: its migrations, its events. 0 if nothing is to be done."""
    from services.cli import output, running

    standing, counts = running.run(_status(running.settings()))
    if as_json:
        output.print_json({"migrations": standing, **counts})
    else:
        output.print_table(("migration", "state"), ((f"{m.folder}/{m.number:04d}_{m.name}", m.state) for m in standing))
        for name, count in counts.items():
            print(f"{name}: {count:,}")
    if any(each.state != "applied" for each in standing):
        raise typer.Exit(FAILS)


@app.command()
def restored(
    by: Annotated[str, typer.Option("--by", help="Who does this: one of two named ops.", show_default=False)],
    other: Annotated[str, typer.Option("--and", help="The other of the two.", show_default=False)],
    reason: Annotated[str, typer.Option(help="What happened, for players and reviewers.", show_default=False)],
    unnoticed: Annotated[
        bool, typer.Option("--unnoticed", help="Though nobody knows of events that the log does not have.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """After an older backup was restored: void all running hands, commit anew, and sign that the log was restored.

    With all processes stopped; those that still run are named. Ended in the middle it is run again: until it has come
    to its end nothing starts. Projections that had passed what is lost are built anew by the next projector.

    It is the console's command: who may run it on the machine of the database may do this, and both names are that
    operator's word, recorded and not proven.
    """
    from services.cli import output, running

    done = running.run(_restored(running.settings(), (by, other), reason, unnoticed))
    if as_json:
        output.print_json(done)
    else:
        print(f"{done.events:,} events are restored, {done.lost:,} or more are lost")
        print(f"{done.voided:,} running hands voided, {done.committed:,} commitments made anew")
        print(f"to be built anew: {', '.join(done.projections) or 'nothing'}")
        for table_id in done.unreadable:
            print(f"table {table_id} cannot be read, and stays as it is; `khrap audit verify` names the event")


@app.command("key-lost")
def key_lost(
    by: Annotated[str, typer.Option("--by", help="Who does this: one of two named ops.", show_default=False)],
    other: Annotated[str, typer.Option("--and", help="The other of the two.", show_default=False)],
    reason: Annotated[str, typer.Option(help="What happened, for players and reviewers.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """After master.key was lost, and every copy of it: void all running hands, and commit anew under another key.

    It is for good: what was sealed under the lost key, cards and seeds of all hands before, opens to nobody afterwards.
    With all processes stopped; those that still run are named. Ended in the middle it is run again: until it has come
    to its end nothing starts. It refuses where the key at hand opens the log.

    It is the console's command: who may run it on the machine of the database may do this, and both names are that
    operator's word, recorded and not proven.
    """
    from services.cli import output, running

    done = running.run(_key_lost(running.settings(), (by, other), reason))
    if as_json:
        output.print_json(done)
        return
    print(f"{done.voided:,} running hands voided, {done.committed:,} commitments made anew under the key at hand")
    for table_id in done.unreadable:
        print(f"table {table_id} cannot be read, and stays as it is; `khrap audit verify` names the event")
    if done.restored:
        print("an older backup of the log was restored too: now run `khrap db restored`")


async def _key_lost(settings: Settings, ops: tuple[str, str], reason: str) -> KeyLossDone:
    from services.core import open_core
    from services.key_loss import give_up_key

    told = _signed(ops, reason)
    async with open_core(settings, key_lost=True) as core:
        return await give_up_key(core, ops, told)


async def _restored(settings: Settings, ops: tuple[str, str], reason: str, unnoticed: bool) -> Restored:
    from services.core import open_core
    from services.restoring import set_going

    told = _signed(ops, reason)
    async with open_core(settings, restored=True) as core:
        return await set_going(core, ops, told, unnoticed=unnoticed)


def _signed(ops: tuple[str, str], reason: str) -> str:
    """The reason, where two different persons give one. Raises Fault."""
    import msgspec

    from infra.faults import Fault
    from services.api.forms import Text

    if any(re.fullmatch(r"[a-z0-9_-]{1,64}", each) is None for each in ops) or ops[0] == ops[1]:
        raise Fault("two_persons", "--by and --and name two different persons, in a-z, 0-9, _ and -")
    try:
        told: str = msgspec.convert(reason.strip(), Text)
    except msgspec.ValidationError:
        raise Fault("reason", "--reason says what happened, in one line of 3 to 200 characters") from None
    return told


def _migrate(parts: int | None, as_json: bool) -> None:
    from services.cli import output, running

    applied = running.run(_migrated(running.settings(), parts))
    if as_json:
        output.print_json({"applied": applied})
    elif not applied:
        print("up to date, nothing to do")
    else:
        for each in applied:
            print(f"applied {each.folder}/{each.number:04d}_{each.name}")


async def _migrated(settings: Settings, parts: int | None) -> list[Migration]:
    from infra.faults import Fault
    from infra.migrations import FOLDERS
    from infra.store.migrate import migrate
    from services.core import servers

    async with servers(settings) as addresses:
        if addresses.owner is None:
            raise Fault("settings", "set KHRAP_DATABASE_OWNER_URL: only the owner may make or change tables")
        return await migrate(addresses.owner, FOLDERS, parts)


async def _status(settings: Settings) -> tuple[list[Migration], dict[str, int]]:
    from infra.migrations import FOLDERS
    from infra.store import EventStore
    from infra.store.migrate import db_status, migrate
    from services.core import servers

    async with servers(settings) as addresses:
        asked = addresses.owner or addresses.application  # before the first migration there is no application role
        standing = await db_status(asked, FOLDERS)
        if settings.is_embedded and all(each.state == "pending" for each in standing):
            assert addresses.owner is not None
            await migrate(addresses.owner, FOLDERS)
            standing = await db_status(asked, FOLDERS)
        if any(each.folder == "store" and each.state != "applied" for each in standing):
            return standing, {}
        async with await EventStore.open(addresses.application) as store:
            heads = await store.part_heads()
        return standing, {"parts": len(heads), "events": sum(heads.values())}
