"""Signals of hands played by the rules, and their list: T7, T11, T12, K15, K16 as `projections.signals.definitions`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import psycopg
import pytest

from domain.consequences import void
from domain.events import CardsDealt, Event
from domain.money import MAX_AMOUNT
from infra.meta import Meta, encode_meta
from projections.engine.types import Add, Change, Projection, Recorded
from projections.paging import BadCursor, cursor_of
from projections.players import PLAYERS
from projections.players.reads import results_of
from projections.signals import DEFINITIONS, KINDS, SIGNALS, Signal, signals
from projections.signals import definitions as listed
from projections.signals.projection import State, step
from tests.domain.given import given
from tests.domain.table import given as table
from tests.projections.conftest import Bench
from tests.projections.fresh_fold import stored_rows
from tests.projections.test_reads import all_of
from tests.projections.world import evening

T0 = 1_700_000_000_000
Found = dict[tuple[Any, ...], dict[str, int]]


class Watch:
    """The projection's state and rows as commands are taken."""

    def __init__(self) -> None:
        self.state: State = None
        self.seq = 0
        self.commands = 0
        self.changes: list[Change] = []

    def take(self, events: Iterable[Event], at_ms: int = T0) -> Watch:
        """One command's events."""
        self.commands += 1
        for event in events:
            self.seq += 1
            if isinstance(event, SIGNALS.handles):
                recorded = Recorded(
                    stream="table-t",
                    seq=self.seq,
                    part=1,
                    pos=self.seq,
                    command_id=self.commands.to_bytes(16),
                    event=event,
                    meta=encode_meta(Meta(at_ms, "anna", "player", "player", "00" * 32)),
                )
                self.state, changes = step(self.state, recorded)
                self.changes += changes
        return self

    def found(self, kind: str) -> Found:
        """(player, other) → what was counted of one hand, and is not nought."""
        tallies = [c for c in self.changes if isinstance(c, Add) and c.table == "tally" and c.key["kind"] == kind]
        return {(c.key["player"], c.key["other"]): {name: n for name, n in c.amounts.items() if n} for c in tallies}

    def rests_on(self, kind: str) -> set[tuple[str, str]]:
        """(player, other) of the hands to rest on."""
        rows = [c.row for c in self.changes if not isinstance(c, Add) and c.table == "rests_on"]  # type: ignore[union-attr]
        return {(row["player"], row["other"]) for row in rows if row["kind"] == kind}


def played(hand: Any, *lines: str) -> Watch:
    """A hand with these actions, each a command."""
    watch = Watch().take((hand.started, *hand.opened))
    for line in lines:
        watch.take(hand.when(line))
    return watch


GIVES = ("boris khrap", "anna help", "boris play Ts", "anna play 7s", "boris play Kh", "anna play As", "boris play Qh")


def test_dumped_who_plays_last_and_leaves_a_trick_that_he_could_take() -> None:
    hand = given(anna="As 7s 6c 7c", boris="Ts Kh Qh Jh", trump="9d")
    watch = played(hand, *GIVES, "anna play 6c", "boris play Jh")
    assert watch.changes == []  # nothing is said of a hand that runs
    watch.take(hand.when("anna play 7c"))
    assert watch.found("dumped") == {("anna", "boris"): {"times": 1, "chances": 1, "amount": 4000}}
    assert watch.rests_on("dumped") == {("anna", "boris")}


def test_dumped_who_takes_it_had_the_chance_and_no_more() -> None:
    lines = ("boris khrap", "anna help", "boris play Ts", "anna play As", "anna play 7s", "boris play Kh")
    hand = given(anna="As 7s 6c 7c", boris="Ts Kh Qh Jh", trump="9d")
    watch = played(hand, *lines, "anna play 6c", "boris play Qh", "anna play 7c", "boris play Jh")
    assert watch.found("dumped") == {("anna", "boris"): {"chances": 1}}
    assert watch.rests_on("dumped") == set()


def test_k15_who_must_take_or_cannot_has_no_choice() -> None:
    hand = given(anna="As Ah 6d 7c", boris="Ts Th 9c 8c", trump="9d")
    lines = ("boris khrap", "anna help", "boris play Ts", "anna play As", "anna play 7c", "boris play 8c")
    watch = played(hand, *lines, "boris play Th", "anna play Ah", "anna play 6d", "boris play 9c")
    # Boris could take the seven of clubs with either card; Anna's aces were her only ones of their suits.
    assert watch.found("dumped") == {}


def test_pair_a_loss_is_shared_among_those_who_gained() -> None:
    hand = given(anna="As Ks 7d 6c", boris="Qs Ts Jd 7c", vera="6d 9h Th 8c", trump="9d", head="dealer: vera")
    words = ("anna pass", "boris khrap", "vera help", "anna decline", "anna pass")
    plays = ("boris play Qs", "vera play 6d", "vera play 9h", "boris play Jd", "boris play Ts", "vera play Th")
    watch = played(hand, *words, *plays, "boris play 7c", "vera play 8c")
    # Anna lost her ante of 2000, the others gained 880 each; 240 are the house's.
    lost, won = {"times": 1, "chances": 1, "amount": 880}, {"chances": 1, "won": 880}
    assert watch.found("pair") == {
        ("anna", "boris"): lost,
        ("anna", "vera"): lost,
        ("boris", "anna"): won,
        ("vera", "anna"): won,
        ("boris", "vera"): {"chances": 1},
        ("vera", "boris"): {"chances": 1},
    }
    assert watch.rests_on("pair") == {("anna", "boris"), ("anna", "vera")}
    assert watch.found("clock")["boris", ""] == {"chances": 5}


def test_t7_in_play_with_less_than_a_bank() -> None:
    hand = given(anna="7000: As 7s 6c 7c", boris="Ts Kh Qh Jh", trump="9d", head="carried: 2000")
    watch = played(hand, *GIVES, "anna play 6c", "boris play Jh", "anna play 7c")
    # 5000 were left of 7000, and the bank was 6000: a fine of one bank, of which 1000 was not paid.
    assert watch.found("short_purse") == {
        ("anna", ""): {"times": 1, "chances": 1, "amount": 1000},
        ("boris", ""): {"chances": 1},
    }
    assert watch.rests_on("short_purse") == {("anna", "")}


def test_t7_with_one_bank_in_the_purse_it_is_not_short() -> None:
    hand = given(anna="8000: As 7s 6c 7c", boris="Ts Kh Qh Jh", trump="9d", head="carried: 2000")
    watch = played(hand, *GIVES, "anna play 6c", "boris play Jh", "anna play 7c")
    assert watch.found("short_purse")["anna", ""] == {"chances": 1}


def test_t12_a_voided_hand_of_each_who_was_dealt_in() -> None:
    hand = given(anna="As 7s 6c 7c", boris="Ts Kh Qh Jh", trump="9d", head="options: max_trump_changes=2 max_deals=1")
    watch = played(hand, *["boris pass", "anna pass"] * 3)
    assert watch.found("voided") == {("anna", ""): {"times": 1}, ("boris", ""): {"times": 1}}
    assert watch.found("clock") == {("anna", ""): {"chances": 3}, ("boris", ""): {"chances": 3}}
    assert watch.found("pair") == {}
    other = given(anna="As 7s 6c 7c", boris="Ts Kh Qh Jh", trump="9d")
    by_ops = played(other).take((void(other.hand, "ops", "a fault", ("o1", "o2")),))
    assert by_ops.found("voided") == {("anna", ""): {"times": 1, "by_ops": 1}, ("boris", ""): {"times": 1, "by_ops": 1}}


SUITS_APART = table.stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")


def watched(*steps: tuple[table.Make, int]) -> Watch:
    """A hand of three, boris to speak first, with these commands after so many milliseconds."""
    before = table.given(*table.opened(), *table.sat(0, 1, 2))
    now = before.deal(SUITS_APART)
    started = before.when(table.start(), after=table.PAUSE)
    watch = Watch().take([e for e in started.events if not isinstance(e, CardsDealt)], now.now)
    for make, after in steps:
        outcome = now.when(make, after=after)
        watch.take(outcome.events, outcome.now)
        now = outcome.accepted()
    assert watch.state is None
    return watch


def test_t11_decisions_left_to_the_clock() -> None:
    whole = table.TURN + table.TIME_BANK
    watch = watched(
        (table.clock_act(), whole),
        (table.act("vera", "khrap"), table.TURN + 5_000),
        (table.act("anna", "decline"), 0),
        (table.clock_act(), table.TURN),  # his time bank is spent
        (table.act("anna", "pass"), 0),
        (table.act("boris", "pass"), 10),
    )
    assert watch.found("clock") == {
        ("anna", ""): {"chances": 2},
        ("boris", ""): {"times": 2, "chances": 3, "time_bank_ms": table.TIME_BANK},
        ("vera", ""): {"chances": 1, "time_bank_ms": 5_000},
    }
    assert watch.rests_on("clock") == {("boris", "")}


def test_t3_what_the_clock_does_at_once_for_a_leaver_is_no_abuse() -> None:
    watch = watched(
        (table.leave("boris"), 0),
        (table.clock_act(), 0),
        (table.act("vera", "khrap"), 0),
        (table.act("anna", "decline"), 0),
        (table.clock_act(), 0),
        (table.act("anna", "pass"), 0),
        (table.clock_act(), 0),
    )
    assert watch.found("clock") == {("anna", ""): {"chances": 2}, ("vera", ""): {"chances": 1}}


def test_t11_a_decision_whose_time_began_anew_is_counted_from_then() -> None:
    whole = table.TURN + table.TIME_BANK
    watch = watched(
        (table.renew(), whole + 60_000),
        (table.clock_act(), whole),
        (table.act("vera", "khrap"), 0),
        (table.act("anna", "decline"), 0),
        (table.act("boris", "decline"), 0),
        (table.act("anna", "pass"), 0),
        (table.act("boris", "pass"), 0),
    )
    assert watch.found("clock")["boris", ""] == {"times": 1, "chances": 3, "time_bank_ms": table.TIME_BANK}


def test_each_kind_is_defined() -> None:
    assert tuple(DEFINITIONS) == KINDS
    assert all(f"- `{kind}`: " in (listed.__doc__ or "") for kind in KINDS)


def expected(rows: dict[str, dict[Any, dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """The list, told from the rows in plain words."""
    hands: dict[Any, int] = defaultdict(int)
    for row in rows["played"].values():
        hands[row["player"], row["currency"]] += row["hands"]
    sums: dict[Any, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows["tally"].values():
        for name in ("times", "chances", "amount", "won", "time_bank_ms", "by_ops"):
            sums[row["kind"], row["player"], row["other"], row["currency"]][name] += row[name]
    found = []
    for (kind, player, other, currency), n in sums.items():
        own = hands[player, currency]
        if {
            "pair": n["chances"] >= 10 and n["chances"] * 2 >= own and n["amount"] > 0 and n["amount"] >= 4 * n["won"],
            "dumped": n["times"] >= 3 and n["times"] * 2 >= n["chances"],
            "clock": n["times"] >= 10 and n["times"] * 10 >= n["chances"],
            "short_purse": n["times"] >= 3 and n["times"] * 4 >= n["chances"],
            "voided": n["times"] >= 3 or n["by_ops"] > 0,
        }[kind]:
            weight = n["amount"] - n["won"] if kind == "pair" else n["times"]
            seen = sum(
                r["kind"] == kind and (r["player"], r["other"]) == (player, other) for r in rows["rests_on"].values()
            )
            found.append((kind, -weight, player, other, own, n["times"], n["amount"], seen))
    return sorted(found)


async def test_the_list_is_what_the_rows_come_to_whatever_the_page(bench: Bench) -> None:
    await bench.world.append(
        *(evening(seed, hands=24, game="frap" if seed == 3 else "khrap") for seed in (2, 3, 5, 6, 27))
    )
    async with bench.projecting([SIGNALS]):
        await bench.caught_up([SIGNALS])
    await bench.compare([SIGNALS])
    shapes = await bench.shapes(SIGNALS.schema)
    wanted = expected(stored_rows(bench.database.owner_url, SIGNALS.schema, shapes))
    assert {kind for kind, *_ in wanted} == set(KINDS)

    def told(found: Iterable[Signal]) -> list[tuple[Any, ...]]:
        return [(s.kind, -s.weight, s.player, s.other or "", s.hands, s.times, s.amount, s.hands_seen) for s in found]

    for limit in (3, 200):
        assert told(await all_of(lambda c, n=limit: signals(bench.reader, cursor=c, limit=n))) == wanted  # type: ignore[misc]
    for kind in KINDS:
        assert told((await signals(bench.reader, kind=kind, limit=200)).items) == [w for w in wanted if w[0] == kind]
    player = next(other for kind, _, _, other, *_ in wanted if kind == "pair")
    about = (await signals(bench.reader, player=player, limit=200)).items
    assert told(about) == [w for w in wanted if player in w[2:4]]
    for each in about:
        assert len(each.rests_on) == min(each.hands_seen, 20)
        assert [r.ended_ms for r in each.rests_on] == sorted((r.ended_ms for r in each.rests_on), reverse=True)
    with pytest.raises(BadCursor):
        await signals(bench.reader, cursor=cursor_of("x"))


async def test_sums_over_tables_pass_the_largest_amount_and_are_read(bench: Bench) -> None:
    """What a player's results and a pair's amounts come to; at one table none is too large for its row."""
    made: list[Projection[Any]] = [SIGNALS, PLAYERS]
    await bench.world.append(*(evening(seed, hands=24) for seed in (2, 5, 6, 27)))
    async with bench.projecting(made):
        await bench.caught_up(made)
    (pair, *_) = (await signals(bench.reader, kind="pair", limit=1)).items
    mine = "kind = 'pair' and player = %s and other = %s"
    copied = "kind, player, other, currency, gen_random_uuid(), times, chances, amount, won, time_bank_ms, by_ops"
    with psycopg.connect(bench.database.owner_url, autocommit=True) as owner:
        owner.execute(
            f"insert into signals_v1.tally select {copied} from signals_v1.tally where {mine}",
            [pair.player, pair.other],
        )
        tables = owner.execute(
            f"update signals_v1.tally set amount = %s, won = 0 where {mine}", [MAX_AMOUNT, pair.player, pair.other]
        ).rowcount
        owner.execute(
            "insert into players_v1.result select player, gen_random_uuid(), currency, hands, net"
            " from players_v1.result where player = %s",
            [pair.player],
        )
        results = owner.execute(
            "update players_v1.result set net = -%s where player = %s", [MAX_AMOUNT, pair.player]
        ).rowcount
    assert tables > 1
    assert results > 1
    found = (await signals(bench.reader, kind="pair", limit=1)).items[0]
    assert (found.player, found.other, found.amount, found.weight) == (
        pair.player,
        pair.other,
        tables * MAX_AMOUNT,
        tables * MAX_AMOUNT,
    )
    every = await all_of(lambda cursor: signals(bench.reader, cursor=cursor, limit=1))
    assert [(each.kind, each.player, each.other) for each in every] == [
        (each.kind, each.player, each.other) for each in (await signals(bench.reader, limit=200)).items
    ]
    (result,) = await results_of(bench.reader, pair.player)
    assert result.net == -results * MAX_AMOUNT
