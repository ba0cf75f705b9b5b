"""The master key is lost: nothing runs, two named ops void the running hands, and play goes on under another. S7."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import Struct
from msgspec.structs import replace

from domain import consequences
from domain.commands import CloseTable, CompleteClose, HaltTable, SetClientSeed, SitOut, StartHand
from domain.events import (
    BankToppedUp,
    CardPlayed,
    HandCorrected,
    HandVoided,
    KeyLossFinished,
    KeyLost,
    LogRestored,
    SeedDisclosed,
    TableHalted,
    TableStateWritten,
)
from domain.hand import Over
from domain.options import KhrapOptions
from domain.table import Table, running
from domain.views import legal_actions
from infra.faults import Fault
from infra.presence import others
from infra.settings import Settings
from infra.store import Append, Appended, Verdict
from infra.witness import Witness
from services import restoring
from services.bench.common import temporary_home
from services.books import open_books
from services.core import Core, open_core, restoring_name, servers
from services.demo.check import check
from services.key_loss import KeyLossDone, give_up_key, signed_text
from services.live.past import PAGE, Past
from services.live.sight import Sight
from services.play.types import Answer
from services.play.writing import Draft
from services.restoring import set_going
from services.runtime import PARTS, Part
from services.runtime import running as serving
from tests.services.api.conforming import DOCUMENT, Conforming
from tests.services.api.following import following
from tests.services.api.nodes import Node, until
from tests.services.house import SETTINGS, House, acting, play_hand, request, some_action

OPS = ("otto", "oona")
WHY = "the disk with the key failed"
TABLE = {
    **{name: getattr(SETTINGS, name) for name in SETTINGS.__struct_fields__},
    "options": KhrapOptions(redeal_ante=True, max_trump_changes=2),
    "turn_ms": 300_000,
}


@pytest.fixture
def settings() -> Iterator[Settings]:
    """A home of its own, with its key."""
    with temporary_home() as made:
        yield made


class Evening(Struct, frozen=True):
    """Tables as they stood when the key was lost, with their versions."""

    in_hand: str
    between: str
    halted: str
    closed: str
    old_hand: str
    before: dict[str, tuple[int, Table]]


def _house(core: Core) -> House:
    house = House(core.store, core.clock, None)
    house.play = core.play
    return house


async def _evening(core: Core) -> Evening:
    """A hand with top-ups and a card led, a table between hands, one that ops halted in a hand, one that is closed."""
    house, chance = _house(core), random.Random(7)
    players = {name: tuple(f"{name}-{n}" for n in range(3)) for name in ("running", "between", "halted", "closed")}
    table = {name: await house.table(*seated, buy_in=10**8, settings=_settings()) for name, seated in players.items()}
    for table_id in table.values():
        await _start(house, table_id)
        await play_hand(house, table_id, chance)
    old_hand = (await house.state(table["running"])).hand
    await _start(house, table["running"])
    await _pass_until_topped_up(house, table["running"])
    await _lead(house, table["running"])
    player = players["between"][0]
    given = await house.do(
        table["between"], player, lambda at, _: SetClientSeed(at_ms=at, player=player, client_seed="0a0b")
    )
    assert isinstance(given, Answer)
    await _start(house, table["halted"])
    halted = await house.do(table["halted"], "olga", lambda at, _: HaltTable(at_ms=at, reason="a look", fault=False))
    assert isinstance(halted, Answer)
    for make in (lambda at, _: CloseTable(at_ms=at, reason="late"), lambda at, _: CompleteClose(at_ms=at)):
        assert isinstance(await house.do(table["closed"], "olga", make), Answer)
    before = {table_id: await core.play.table(table_id) for table_id in table.values()}
    assert old_hand is not None
    return Evening(
        in_hand=table["running"],
        between=table["between"],
        halted=table["halted"],
        closed=table["closed"],
        old_hand=old_hand.hand_id,
        before={table_id: found for table_id, found in before.items() if found is not None},
    )


def _settings() -> Any:
    return type(SETTINGS)(**TABLE)


async def _start(house: House, table_id: str) -> None:
    assert isinstance(await house.do(table_id, "clock", lambda at, _: StartHand(at_ms=at)), Answer)


async def _pass_until_topped_up(house: House, table_id: str) -> None:
    """K10: all pass until the cards are dealt anew, and each adds to the bank."""
    while not [s for s in await house.play.steps(table_id, 0) if isinstance(s.event, BankToppedUp)][-2:]:
        await _say(house, table_id, "pass")


async def _lead(house: House, table_id: str) -> None:
    """One declares, one helps, and cards are led: all players see them."""
    while not isinstance((await house.play.steps(table_id, 0))[-1].event, CardPlayed):
        await _say(house, table_id, "khrap", "help", "play", "decline", "pass")


async def _say(house: House, table_id: str, *liked: str) -> None:
    table = await house.state(table_id)
    player, action = some_action(table, random.Random(1))
    offered = {offer.do: offer for offer in legal_actions(table, player)}
    word = next(each for each in liked if each in offered)
    if word != "play":
        action = type(action)(do=word)  # type: ignore[arg-type]
    assert isinstance(await house.do(table_id, player, acting(player, table.turn, action)), Answer)


def _lose_key(settings: Settings) -> str:
    """The key's text; the file is gone."""
    path = settings.home_folder / "keys" / "master.key"
    text = path.read_text()
    path.unlink()
    return text


@asynccontextmanager
async def _node(core: Core, *parts: Part) -> AsyncIterator[Node]:
    async with serving(core, parts) as url, httpx.AsyncClient(base_url=url, timeout=30) as http:
        http.event_hooks = {"response": [Conforming((await http.get(DOCUMENT)).json())]}
        yield Node(url, core, http)


async def _give_up(settings: Settings) -> KeyLossDone:
    async with open_core(settings, key_lost=True) as core:
        return await give_up_key(core, OPS, WHY)


@pytest.mark.timeout(240)
async def test_s7_hands_are_voided_and_play_goes_on_under_another_key(settings: Settings) -> None:
    async with servers(settings):
        async with open_core(settings) as core:
            evening = await _evening(core)
            async with _node(core, "api", "projector") as node:
                dispute = await _dispute(node, evening.old_hand, "running-0")
        with pytest.raises(Fault, match="key_not_lost"):
            await _give_up(settings)
        _lose_key(settings)
        with pytest.raises(Fault, match="khrap db key-lost") as raised:
            async with open_core(settings):
                pass
        assert raised.value.code == "wrong_key"
        done = await _give_up(settings)
        assert (done.voided, done.committed, done.unreadable, done.restored) == (2, 3, (), False)
        with pytest.raises(Fault, match="key_not_lost"):
            await _give_up(settings)
        async with open_core(settings) as core:
            await _check_told(core)
            await _check_tables(core, evening)
            house = _house(core)
            async with _node(core, *PARTS) as node:
                await _check_readers(node, evening, dispute)
                # No secret of before is needed to play on; the steward starts the hand.
                for table_id in (evening.in_hand, evening.between):
                    number = evening.before[table_id][1].hand_no + (table_id == evening.in_hand)

                    async def started(table_id: str = table_id) -> bool:
                        return running(await house.state(table_id)) is not None

                    await until(started)
                    await play_hand(house, table_id, random.Random(3))
                    assert (await house.state(table_id)).hand_no > number
                halt = (await house.state(evening.halted)).halt
                assert halt is not None
        async with open_books(settings) as books:
            checked = await check(books.core, "RUB")
            assert (checked.trial_balance, checked.differences, checked.chain) == (0, (), "intact")


async def _check_told(core: Core) -> None:
    """The log says it, signed."""
    told, finished = [core.codec.decode(each) for each in await core.store.read_stream("log")]
    assert isinstance(told, KeyLost)
    assert finished == KeyLossFinished(ops=OPS, voided=2, committed=3)
    assert (told.ops, told.reason) == (OPS, WHY)
    key = core.keys.audit_signing.public_key()
    key.verify(bytes.fromhex(told.signature), signed_text(told.ops, told.reason, told.events, told.vector))


async def _check_tables(core: Core, evening: Evening) -> None:
    """T12: all that was paid in is back; S7: no seed is told, another hand is committed to, the state is written."""
    for table_id, (version, before) in evening.before.items():
        if before.closed:
            continue
        found = await core.play.table(table_id)
        assert found is not None
        after = found[1]
        assert running(after) is None
        assert after.next_hand is not None
        assert after.next_hand.client_seeds == ()
        assert after.turn >= before.turn
        assert (after.halt is not None) == (table_id == evening.halted)
        hand = running(before)
        paid_in = {} if hand is None else {p.player: (p.purse + p.paid_in) for p in hand.players}
        assert {s.player: s.purse for s in after.seats} == {s.player: s.purse for s in before.seats} | paid_in
        assert after.carried_bank == (before.carried_bank if hand is None else hand.carried)
        stored = await core.store.read_stream(f"table-{table_id}", after=version)
        events = [core.codec.decode(each) for each in stored]
        voids = [each for each in events if isinstance(each, HandVoided)]
        assert [(each.ops, each.reason) for each in voids] == ([] if hand is None else [(OPS, WHY)])
        assert not [each for each in events if isinstance(each, SeedDisclosed)]
        assert [type(each) for each in events].count(TableStateWritten) == 1
        assert [each.fault for each in events if isinstance(each, TableHalted)] == ([] if hand is None else [True])
    assert max(p.paid_in for p in running(evening.before[evening.in_hand][1]).players) > SETTINGS.stake  # type: ignore[union-attr]


async def _dispute(node: Node, hand_id: str, player: str) -> str:
    async def ended() -> Any:
        return (await node.as_(player).get(f"/v1/hands/{hand_id}/looks")).is_success

    await until(ended)
    body = {"hand_id": hand_id, "statement": "the trump was hearts"}
    return str((await node.as_(player).did("/v1/disputes", body))["dispute_id"])


async def _check_readers(node: Node, evening: Evening, dispute: str) -> None:
    """What was sealed under the lost key is answered for in words; what is public of it stands."""
    anna, carla = node.as_("running-1"), node.as_("carla", "compliance")
    old = f"/v1/hands/{evening.old_hand}"
    assert (await anna.saw("/v1/hands", player="running-1"))["hands"]
    for asked in (
        await anna.get(old),
        await anna.get(f"{old}/file"),
        await anna.get(f"{old}/replay"),
        await carla.get(f"{old}/bundle", reason="a look"),
        await node.as_("running-0").get(f"/v1/disputes/{dispute}"),
        await carla.post(f"/v1/disputes/{dispute}/verdict", {"outcome": "upheld", "text": "as he says"}),
    ):
        assert (asked.status_code, asked.json()["code"]) == (409, "not_opened"), asked.text
    assert not (await node.anyone().saw(f"/v1/tables/{evening.closed}"))["seats"]
    other = await _dispute(node, evening.old_hand, "running-1")  # R1
    verdict = {"outcome": "upheld", "text": "as he says"}
    await carla.did(f"/v1/disputes/{other}/verdict", verdict)
    proposed = {"player": "running-1", "amount": 100, "text": "for it"}
    await carla.did(f"/v1/disputes/{other}/compensations", proposed)
    await node.as_("cyril", "compliance").did(f"/v1/disputes/{other}/proposals/1/approve")  # R4
    refused = await carla.post(f"/v1/disputes/{other}/corrections", {"text": "for it"})
    assert refused.json()["code"] == "nothing_to_correct"  # R5
    for last in (1, evening.before[evening.in_hand][0]):
        async with following(anna, f"/v1/tables/{evening.in_hand}/events", last) as stream:
            first = await stream.next()
            assert first is not None
            assert first.event == "snapshot"


async def test_s7_delayed_spectators_see_what_came_after_the_loss_once_it_is_due(settings: Settings) -> None:
    """They are shown a past moment; before the loss there is none that opens, in however many pages."""
    delay = 60_000
    async with servers(settings):
        async with open_core(settings) as core:
            house, chance = _house(core), random.Random(5)
            seated = ("anna", "boris", "vera")
            table_id = await house.table(
                *seated, buy_in=10**10, settings=replace(_settings(), spectator_delay_ms=delay)
            )
            while len(await house.play.steps(table_id, 0)) < 2 * PAGE:
                await _start(house, table_id)
                await play_hand(house, table_id, chance)
            before = await core.play.table(table_id)
            assert before is not None
        _lose_key(settings)
        await _give_up(settings)
        async with open_core(settings) as core:
            await _start(_house(core), table_id)
        async with open_core(settings) as core:  # which has none of it in memory
            sight = Sight(core.play.table, Past(core.play.steps))
            state, *_ = await core.play.steps(table_id, before[0])
            assert isinstance(state.event, TableStateWritten)
            assert await sight.seen(table_id, None, state.at_ms + delay - 1) is None
            assert await sight.seen(table_id, None, state.at_ms + delay) == (state.seq, state.after)
            found = await sight.seen(table_id, None, core.clock.now_ms() + 2 * delay)
            assert found == await core.play.table(table_id)


@pytest.mark.timeout(240)
async def test_s7_r5_a_wrong_hand_whose_key_is_lost_is_put_right_by_the_books_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table would stay halted for ever, and all purses at it."""
    async with servers(settings):
        async with open_core(settings) as core:
            house = _house(core)
            table_id = await house.table("anna", "boris", settings=_settings())
            await _start(house, table_id)
            right = consequences.winner
            with monkeypatch.context() as planted:
                planted.setattr(
                    consequences,
                    "winner",
                    lambda trick, trump: next(p.seat for p in trick if p.seat != right(trick, trump)),
                )
                while running(await house.state(table_id)) is not None:
                    await _say(house, table_id, "khrap", "help", "play")
            hand = (await house.state(table_id)).hand
            assert hand is not None
            # So that no hand starts before the books have halted the table.
            assert isinstance(await house.do(table_id, "anna", lambda at, _: SitOut(at_ms=at, player="anna")), Answer)
        _lose_key(settings)
        assert (await _give_up(settings)).voided == 0
        async with open_core(settings) as core:
            house = _house(core)
            async with _node(core, *PARTS) as node:

                async def halted() -> bool:
                    halt = (await house.state(table_id)).halt
                    return halt is not None and halt.fault

                await until(halted)
                dispute = f"/v1/disputes/{await _dispute(node, hand.hand_id, 'anna')}"
                carla = node.as_("carla", "compliance")
                await carla.did(f"{dispute}/verdict", {"outcome": "upheld", "text": "the books differ"})
                await carla.did(f"{dispute}/corrections", {"text": "by the books"})
                await node.as_("cyril", "compliance").did(f"{dispute}/proposals/1/approve")
                assert (await house.state(table_id)).halt is None
        async with open_books(settings) as books:
            assert (await check(books.core, "RUB")).differences == ()


class _KilledError(BaseException):
    """As a signal would end the command."""


@pytest.mark.timeout(240)
async def test_s7_killed_at_any_append_it_lets_nothing_start_and_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with servers(settings):
        async with open_core(settings) as core:
            evening = await _evening(core)
        _lose_key(settings)
        runs = 0
        while await _killed_at(settings, 2, monkeypatch):
            runs += 1
            with pytest.raises(Fault, match="key_loss_unfinished"):
                async with open_core(settings):
                    pass
            with pytest.raises(Fault, match="key_loss_unfinished"):
                async with open_core(settings, restored=True):
                    pass
        # The first word; halted, proposed, voided, resumed; the same of who stays halted; and one commitment.
        assert runs == 1 + 4 + 3 + 1
        async with open_core(settings) as core:
            await _check_tables(core, evening)
        async with open_books(settings) as books:
            checked = await check(books.core, "RUB")
            assert (checked.trial_balance, checked.differences, checked.chain) == (0, (), "intact")


async def _killed_at(settings: Settings, appends: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The command ends as it is about to append for the so manieth time; whether it came so far."""
    async with open_core(settings, key_lost=True) as core:
        append, count = core.store.append, itertools.count(1)

        async def append_or_end(given: Append) -> Verdict:
            if next(count) >= appends:
                raise _KilledError
            return await append(given)

        monkeypatch.setattr(core.store, "append", append_or_end)
        try:
            await give_up_key(core, OPS, WHY)
        except _KilledError:
            return True
        return False


async def test_s7_a_third_key_and_the_old_one_come_again_finish_what_was_begun(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever key is at hand when it ends opens every table."""
    async with servers(settings):
        async with open_core(settings) as core:
            evening = await _evening(core)
        old = _lose_key(settings)
        await _killed_at(settings, 7, monkeypatch)
        _lose_key(settings)
        await _killed_at(settings, 4, monkeypatch)
        (settings.home_folder / "keys" / "master.key").write_text(old)
        await _give_up(settings)
        async with open_core(settings) as core:
            for table_id in evening.before:
                assert await core.play.table(table_id) is not None
        async with open_books(settings) as books:
            assert (await check(books.core, "RUB")).differences == ()


async def test_s7_a_closed_table_says_nothing_of_the_key_though_it_was_corrected_since(settings: Settings) -> None:
    """R5: its last event is not that it closed; nothing would start under the other key, and nobody could help it."""
    async with servers(settings):
        async with open_core(settings) as core:
            house = _house(core)
            table_id = await house.table("anna", "boris", settings=_settings())
            await _start(house, table_id)
            await play_hand(house, table_id, random.Random(1))
            ended = (await house.state(table_id)).hand
            assert ended is not None
            assert isinstance(ended.phase, Over)
            await house.do(table_id, "olga", lambda at, _: CloseTable(at_ms=at, reason="late"))
            await house.do(table_id, "olga", lambda at, _: CompleteClose(at_ms=at))
            stream = f"table-{table_id}"
            corrected = HandCorrected(
                hand_id=ended.hand_id, dispute_id="", reviewers=OPS, basis="rules", result=ended.phase.result
            )
            head = await core.store.head(stream)
            assert head is not None
            draft = Draft(bytes(16), request("olga"), core.codec)
            draft.add(draft.stream(stream, head.seq, head.hash), (corrected,), core.clock.now_ms())
            assert isinstance(await core.store.append(draft.done()), Appended)
            assert await core.store.streams_not_ended("table-", "table_closed") == [stream]
        _lose_key(settings)
        async with open_core(settings) as core:
            assert (await _house(core).state(table_id)).closed
        with pytest.raises(Fault, match="key_not_lost"):
            await _give_up(settings)


async def test_s7_a_backup_without_its_key_is_noted_as_restored_first(settings: Settings) -> None:
    """What is written here would else make up for what is lost, and nobody would know of it any more."""
    async with servers(settings):
        async with open_core(settings) as core:
            await _evening(core)
            heads = await core.store.part_heads()
            first = min(part for part, pos in heads.items() if pos)
            witness = Witness(core.addresses.redis, await core.store.log_id())
            await witness.note({**heads, first: heads[first] + 1})
        _lose_key(settings)
        assert (await _give_up(settings)).restored
        with pytest.raises(Fault, match="restore_unfinished"):
            async with open_core(settings):
                pass
        async with open_core(settings, restored=True) as core:
            told = [type(core.codec.decode(each)) for each in await core.store.read_stream("log")]
            assert told == [LogRestored, KeyLost, KeyLossFinished]
            assert (await set_going(core, OPS, WHY)).lost == 1
        async with open_core(settings):
            pass


@pytest.mark.parametrize("part", PARTS)
async def test_s7_a_service_that_runs_loses_no_key(
    settings: Settings, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "GONE_S", 0.0)
    async with servers(settings), open_core(settings) as core, serving(core, (part,)):
        named = f"khrap {part} {os.getpid()}@{socket.gethostname()}"[:63]
        async with open_core(settings, key_lost=True) as other:

            async def is_seen() -> bool:
                return named in " ".join(await others(other.addresses.application, restoring_name()))

            await until(is_seen)
            with pytest.raises(Fault, match="stop all processes first") as raised:
                await give_up_key(other, OPS, WHY)
            assert named in raised.value.detail
            assert await other.store.read_stream("log") == []


def test_s7_two_different_persons_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from services.cli.entry import run

    assert run(["db", "key-lost", "--by", "otto", "--and", "otto", "--reason", WHY]) == 2
    assert "two different persons" in capsys.readouterr().err


async def test_s7_the_command_says_what_it_did(settings: Settings) -> None:
    async def told(*words: str) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.cli", *words),
            env={**os.environ, "KHRAP_HOME": str(settings.home_folder)},
            stdout=PIPE,
            stderr=STDOUT,
        )
        said, _ = await process.communicate()
        return process.returncode, said.decode()

    words = ("db", "key-lost", "--by", "otto", "--and", "oona", "--reason", WHY)
    async with servers(settings):
        async with open_core(settings) as core:
            evening = await _evening(core)
        code, said = await told(*words)
        assert code == 2
        assert "the key at hand opens this log" in said
        _lose_key(settings)
        code, said = await told(*words)
        assert code == 0, said
        assert "2 running hands voided, 3 commitments made anew" in said
        for holds in (("ledger", "reconcile"), ("ledger", "trial-balance"), ("audit", "verify")):
            code, said = await told(*holds)
            assert code == 0, said
        for look in (("hand", "show", evening.old_hand), ("audit", "bundle", evening.old_hand, "--out", os.devnull)):
            code, said = await told(*look, "--reason", "a look")
            assert code == 2
            assert "does not open with this master key" in said
            assert "Traceback" not in said
