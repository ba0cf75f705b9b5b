"""An older backup comes back: it is noticed, nothing runs, and two named ops set it going again. T12, S2."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from domain.commands import HaltTable
from domain.events import HandVoided, LogRestored, LogRestoreFinished, SeedDisclosed, TableHalted, TableResumed
from domain.table import running
from infra.faults import Fault
from infra.presence import others
from infra.projection_store import Generations
from infra.settings import Settings
from infra.store import Append, Appended, Verdict
from infra.witness import Witness
from projections import runner
from projections.engine.follower import definition
from projections.ledger import LEDGER
from services import restoring
from services.bench.common import temporary_home
from services.bench.history import Past
from services.bench.selfplay import EVENINGS, settings_of
from services.core import Addresses, Core, open_core, restoring_name, servers
from services.play.types import Answer, Caller, Request
from services.restoring import set_going, signed_text, vector_digest
from services.runtime import PARTS, Part
from services.runtime import running as serving
from tests.services.api.nodes import until

OPS = ("olga", "otto")


@pytest.fixture
def settings() -> Iterator[Settings]:
    """A home of its own: a database is to be put back, and what Redis knows of it must be of this test alone."""
    with temporary_home() as made:
        yield made


async def test_an_older_backup_is_noticed_and_set_going_by_two(settings: Settings) -> None:
    async with servers(settings) as addresses:
        async with open_core(settings) as core:
            in_hand, between = await _past(core, 1), await _past(core, 2)
            await in_hand.hands(1)
            await in_hand.part_of_a_hand(25)  # cards are led, seen by all
            await between.hands(1)
            before = {past.table_id: await core.play.table(past.table_id) for past in (in_hand, between)}
            heads = await core.store.part_heads()
            await _projected(core)
        _copy(addresses, "khrap", "saved")
        async with open_core(settings) as core:
            await (await _past(core, 3)).hands(2)
            await _projected(core)
            lost = sum((await core.store.part_heads()).values()) - sum(heads.values())
        _copy(addresses, "saved", "khrap")
        with pytest.raises(Fault, match="an older backup was restored") as raised:
            async with open_core(settings):
                pass
        assert raised.value.code == "log_restored"
        async with open_core(settings, restored=True) as core:
            with pytest.raises(Fault, match="log_restored"):
                async with asyncio.timeout(20):
                    await _projector(core)
            done = await set_going(core, OPS, "the disk failed")
            assert (done.events, done.lost, done.voided, done.committed) == (sum(heads.values()), lost, 1, 2)
            await _check_told(core, heads, lost)
            for table_id, found in before.items():
                assert found is not None
                await _check_table(core, table_id, found[0], voided=table_id == in_hand.table_id)
        async with open_core(settings) as core:  # it is well again
            await _projected(core)
            assert (await core.store.verify()).is_intact
        async with open_core(settings, restored=True) as core:
            with pytest.raises(Fault, match="nobody knows of events"):
                await set_going(core, OPS, "again")


async def test_projections_that_have_passed_what_is_lost_are_built_anew(settings: Settings) -> None:
    """The log alone was put back; what was worked out of the lost events stood elsewhere.

    With another generation beside the one that served, no ledger ever served again by itself.
    """
    async with servers(settings) as addresses:
        async with open_core(settings) as core:
            await (await _past(core, 1)).hands(2)
            await _projected(core)
            async with Generations.open(core.addresses.application) as generations:
                # A rebuild that was killed has not passed what is lost.
                await generations.begin(definition(LEDGER), range(core.store.parts))
        with psycopg.connect(_owner(addresses)) as connection:
            connection.execute(
                "update projection.checkpoint set pos = pos + 3 where schema_name = 'ledger_v1' and part ="
                " (select max(part) from store.part_head where last_pos > 0)"
            )
        with pytest.raises(Fault, match="ledger_v1 knows of 3 events that the log does not have"):
            async with open_core(settings):
                pass
        async with open_core(settings, restored=True) as core:
            with capture_logs() as logged:
                done = await set_going(core, OPS, "the disk failed")
            assert (done.lost, done.projections) == (3, ("ledger_v1", "ledger_v1_g2"))
            assert [each["lost"] for each in logged if each["event"] == "log_restored"] == [3]
            assert "the disk failed" not in str(logged)  # a reason may hold names: it stands in the log of events alone
        async with open_core(settings) as core:
            await _projected(core)
            async with Generations.open(core.addresses.application) as generations:
                serving = await generations.serving("ledger")
                assert serving is not None
                assert await generations.vector(serving.schema) == await core.store.part_heads()


class _KilledError(BaseException):
    """As a signal would end the command."""


async def test_a_restore_that_was_killed_lets_nothing_start_and_goes_on_where_it_was(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was once taken for finished: its own events had made up for what the world knew of, and seen hands went on."""
    async with servers(settings):
        async with open_core(settings) as core:
            for number in (1, 2):
                past = await _past(core, number)
                await past.hands(1)
                await past.part_of_a_hand(25)
            await _projected(core)
            streams = await core.store.streams_not_ended("table-", "table_closed")
            heads = await core.store.part_heads()
            witness = Witness(core.addresses.redis, await core.store.log_id())
            first = core.store.part_of(streams[0])
            await witness.note({**heads, first: heads[first] + 2})
        # After the first word; a table is halted; a void proposed; confirmed; the same of the other table.
        for killed_at in (2, 2, 2, 2, 4, 4):
            await _killed_at(settings, killed_at, monkeypatch)
            with pytest.raises(Fault, match="restore_unfinished"):
                async with open_core(settings):
                    pass
        async with open_core(settings, restored=True) as core:
            done = await set_going(core, OPS, "the disk failed")
            assert (done.events, done.lost, done.committed) == (sum(heads.values()), 2, 2)
        async with open_core(settings) as core:
            for stream in streams:
                found = await core.play.table(stream.removeprefix("table-"))
                assert found is not None
                assert running(found[1]) is None
                assert found[1].halt is None
            told = [type(core.codec.decode(each)) for each in await core.store.read_stream("log")]
            assert told == [LogRestored, LogRestoreFinished]
            await _projected(core)


async def _killed_at(settings: Settings, appends: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends as it is about to append for the so manieth time."""
    async with open_core(settings, restored=True) as core:
        append, count = core.store.append, itertools.count(1)

        async def append_or_end(given: Append, then: Callable[[Appended], None] | None = None) -> Verdict:
            if next(count) >= appends:
                raise _KilledError
            return await append(given, then)

        monkeypatch.setattr(core.store, "append", append_or_end)
        with pytest.raises(_KilledError):
            await set_going(core, OPS, "the disk failed")


async def test_a_table_that_cannot_be_read_keeps_no_other_shut(settings: Settings) -> None:
    """Its damage ended the restore each time, and until that is done nothing starts."""
    async with servers(settings) as addresses:
        async with open_core(settings) as core:
            damaged, well = await _past(core, 1), await _past(core, 2)
            for past in (damaged, well):
                await past.hands(1)
                await past.part_of_a_hand(25)
        with psycopg.connect(_owner(addresses)) as connection:
            connection.execute("set session_replication_role = replica")
            last = "(select max(seq) from store.event where stream_id = %(stream)s)"
            changed = connection.execute(
                f"update store.event set body = '{{' where stream_id = %(stream)s and seq = {last}",
                {"stream": f"table-{damaged.table_id}"},
            )
            assert changed.rowcount == 1
        async with open_core(settings, restored=True) as core:
            done = await set_going(core, OPS, "the disk failed", unnoticed=True)
            assert (done.unreadable, done.voided, done.committed) == ((damaged.table_id,), 1, 1)
        async with open_core(settings) as core:
            found = await core.play.table(well.table_id)
            assert found is not None
            assert running(found[1]) is None
            with pytest.raises(Fault, match="event_broken"):
                await core.play.table(damaged.table_id)


async def test_another_key_is_told_from_altered_bytes_of_one_table(settings: Settings) -> None:
    """Where it was the first table's commitment that had been altered nothing started, and the key was blamed."""
    async with servers(settings) as addresses:
        async with open_core(settings) as core:
            tables = [await _past(core, number) for number in (1, 2)]
            first = min(f"table-{past.table_id}" for past in tables)
        with psycopg.connect(_owner(addresses)) as connection:
            connection.execute("set session_replication_role = replica")
            for body in ("replace(convert_from(body, 'UTF8'), 'sealed\":\"', 'sealed\":\"AAAA')", "'{'"):
                changed = connection.execute(
                    f"update store.event set body = convert_to({body}, 'UTF8')"
                    " where stream_id = %s and type = 'hand_committed'",
                    [first],
                )
                assert changed.rowcount == 1
                connection.commit()
                async with open_core(settings):
                    pass
        key = settings.home_folder / "keys" / "master.key"
        key.write_text("ab" * 32 + "\n")
        with pytest.raises(Fault, match="bring back master"):
            async with open_core(settings):
                pass


async def test_that_redis_could_not_be_told_is_said(settings: Settings) -> None:
    """It may come back as it was, and then nothing starts until the command is run again: that was left to be found."""
    async with servers(settings), open_core(settings, restored=True) as core:
        away = replace(core, addresses=replace(core.addresses, redis="unix:///nowhere/redis.sock"))
        with capture_logs() as logged:
            await set_going(away, OPS, "the disk failed", unnoticed=True)
        assert "witness_away" in {each["event"] for each in logged if each["log_level"] == "warning"}
        with capture_logs() as logged:
            await set_going(core, OPS, "the disk failed", unnoticed=True)
        assert "witness_away" not in {each["event"] for each in logged if each["log_level"] == "warning"}


@pytest.mark.parametrize("actions", [0, 25], ids=["between hands", "in a hand"])
async def test_a_halt_that_somebody_meant_outlives_the_restore(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, actions: int
) -> None:
    """Also one that was killed after it had halted the table for a reason of its own."""
    async with servers(settings):
        async with open_core(settings) as core:
            past = await _past(core, 1)
            await past.hands(1)
            if actions:
                await past.part_of_a_hand(actions)
            request = Request(Caller("olga", "ops"), "halt", "")
            halted = await core.play.command(
                past.table_id, request, lambda at_ms, _: HaltTable(at_ms=at_ms, reason="asked for", fault=False)
            )
            assert isinstance(halted, Answer)
            heads = await core.store.part_heads()
            part = core.store.part_of(f"table-{past.table_id}")
            witness = Witness(core.addresses.redis, await core.store.log_id())
            await witness.note({**heads, part: heads[part] + 2})
        await _killed_at(settings, 3, monkeypatch)
        async with open_core(settings, restored=True) as core:
            await set_going(core, OPS, "the disk failed")
            found = await core.play.table(past.table_id)
            assert found is not None
            assert found[1].halt is not None
            assert running(found[1]) is None


@pytest.mark.parametrize("part", PARTS)
async def test_a_service_that_runs_is_not_restored(
    settings: Settings, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the leases of projections were once looked at: the hands of a live service were voided by one word."""
    monkeypatch.setattr(restoring, "GONE_S", 0.0)
    async with servers(settings), open_core(settings) as core, serving(core, (part,)):
        named = f"khrap {part} {os.getpid()}@{socket.gethostname()}"[:63]
        async with open_core(settings, restored=True) as other:

            async def is_seen() -> bool:
                return named in " ".join(await others(other.addresses.application, restoring_name()))

            await until(is_seen)
            with pytest.raises(Fault, match="stop all processes first") as raised:
                await set_going(other, OPS, "nothing happened", unnoticed=True)
            assert named in raised.value.detail
            assert await other.store.read_stream("log") == []


async def _past(core: Core, number: int) -> Past:
    table_id = core.entropy.uuid7(1_700_000_000_000 + number)
    past = Past(core.store, core.codec, core.sealer, core.entropy, table_id, settings_of(EVENINGS["khrap"]))
    await past.begin()
    return past


async def _projector(core: Core) -> None:
    addresses = core.addresses
    await runner.run(core.store, core.codec, database_url=addresses.application, redis_url=addresses.redis)


async def _projected(core: Core) -> None:
    """Have a projector run until all is projected, and Redis knows how far the log is."""
    task = asyncio.create_task(_projector(core))
    heads = await core.store.part_heads()
    witness = Witness(core.addresses.redis, await core.store.log_id())
    wanted = {part: pos for part, pos in heads.items() if pos}
    async with asyncio.timeout(60), Generations.open(core.addresses.application) as generations:
        while True:
            there = [await generations.vector(g.schema) == heads and g.serving for g in await generations.all()]
            if there and all(there) and await witness.last() == wanted:
                break
            assert not task.done(), task
            await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _check_told(core: Core, heads: dict[int, int], lost: int) -> None:
    """The log says it, signed."""
    told, finished = [core.codec.decode(each) for each in await core.store.read_stream("log")]
    assert isinstance(told, LogRestored)
    assert finished == LogRestoreFinished(ops=OPS, voided=1, committed=2)
    assert (told.ops, told.reason, told.lost) == (OPS, "the disk failed", lost)
    assert told.vector == vector_digest(heads)
    signed = signed_text(told.ops, told.reason, told.events, told.vector, told.lost)
    key = core.keys.audit_signing.public_key()
    key.verify(bytes.fromhex(told.signature), signed)
    assert told.key == key.public_bytes_raw().hex()


async def _check_table(core: Core, table_id: str, version: int, *, voided: bool) -> None:
    """No hand runs, another is committed to, the old seed is disclosed, and nothing halts the table."""
    found = await core.play.table(table_id)
    assert found is not None
    table = found[1]
    assert running(table) is None
    assert table.halt is None
    steps = await core.play.steps(table_id, version)
    kinds = [type(step.event) for step in steps]
    assert (HandVoided in kinds, TableHalted in kinds, TableResumed in kinds) == (voided, voided, voided)
    disclosed = [step.event for step in steps if isinstance(step.event, SeedDisclosed)]
    assert [each.used for each in disclosed] == [voided]
    assert table.next_hand is not None
    assert table.next_hand.hand_id != disclosed[0].hand_id


def _owner(addresses: Addresses) -> str:
    assert addresses.owner is not None
    return addresses.owner


def _copy(addresses: Addresses, of: str, to: str) -> None:
    """Put the database `to` where a copy of `of` is."""
    with psycopg.connect(
        urlsplit(_owner(addresses))._replace(path="/postgres").geturl(), autocommit=True
    ) as connection:
        connection.execute(f'drop database if exists "{to}" with (force)'.encode())
        connection.execute(f'create database "{to}" template "{of}"'.encode())


def test_two_different_persons_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from services.cli.entry import run

    assert run(["db", "restored", "--by", "olga", "--and", "olga", "--reason", "the disk failed"]) == 2
    assert "two different persons" in capsys.readouterr().err


@pytest.mark.parametrize("reason", ["", "  ", "\u200b\u200b\u200b", "two\nlines", "x" * 201])
def test_a_restore_says_in_a_line_what_happened(capsys: pytest.CaptureFixture[str], reason: str) -> None:
    from services.cli.entry import run

    assert run(["db", "restored", "--by", "olga", "--and", "otto", "--reason", reason]) == 2
    assert "--reason says what happened, in one line" in capsys.readouterr().err
