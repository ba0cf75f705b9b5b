"""H1: a hand's events → its file → JSON → the same file, which holds by the rules."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from domain import shuffle
from domain.cards import Card
from domain.consequences import Decks
from domain.events import HandStarted, LeaveRequested, PlayerSatOut, SeedDisclosed, TimeBankUsed
from domain.games import game_of
from domain.handfile import HandFile, check, from_events, parse, replay, to_json
from domain.seeds import hand_bytes
from tests.domain.hands import events_of, for_seeds, random_hand, random_start, random_turns

VERIFIER = Path(shuffle.__file__).with_name("shuffle_verifier.py")


def shuffled_hand(seed: int) -> tuple[HandStarted, HandFile]:
    """A random hand whose decks are those of S3 to S5, exported from its events."""
    rng = random.Random(seed)
    hand_id = "018f0000-0000-7000-8000-" + rng.randbytes(6).hex()
    server_seed = rng.randbytes(32)
    started = random_start(rng)
    client_seeds = [rng.randbytes(rng.choice((0, 1, 16, 64))) for _ in started.dealt_in]
    started = replace(
        started,
        hand_id=hand_id,
        server_seed=server_seed.hex(),
        commitment=shuffle.commitment(server_seed, hand_bytes(hand_id)).hex(),
        client_seeds=tuple(s.hex() for s in client_seeds),
    )
    turns = tuple(random_turns(rng, started, _decks(started, server_seed, client_seeds)))
    return started, from_events(events_of(turns))


def _decks(started: HandStarted, server_seed: bytes, client_seeds: list[bytes]) -> Decks:
    settings = started.table.settings
    size = game_of(settings.options, settings.rules).deck_size(settings.options, len(started.dealt_in))

    def decks(deal_no: int) -> tuple[Card, ...]:
        return shuffle.deck(server_seed, hand_bytes(started.hand_id), deal_no, client_seeds, size)

    return decks


@for_seeds(150)
def test_h1_an_exported_hand_holds_and_reads_back(seed: int) -> None:
    turns = random_hand(seed)
    file = from_events(events_of(turns))
    report = check(file)
    assert report.holds, report.problems
    assert report.compared == "result"
    assert not report.unchecked
    assert parse(to_json(file)) == file
    assert [a.do for a in file.actions] == [t.action.do for t in turns if t.action is not None]
    assert [a.cards for a in file.actions] == [t.action.cards for t in turns if t.action is not None]


@for_seeds(100)
def test_h1_a_replay_makes_the_same_events_and_hands(seed: int) -> None:
    turns = random_hand(seed)
    file = from_events(events_of(turns))
    steps = list(replay(file))
    for turn, step in zip(turns, steps, strict=True):
        # The voiding by ops is named in the event, not in the file; the rest of the start is the table's.
        mine = turn.events[1:] if turn.action is None and turn.events[:1] == events_of(turns)[:1] else turn.events
        theirs = step.events[1:] if step is steps[0] else step.events
        if file.void is None or step is not steps[-1]:
            assert theirs == mine
        assert step.hand.phase == turn.after.phase
        assert [p.cards for p in step.hand.players] == [p.cards for p in turn.after.players]
        assert [p.purse for p in step.hand.players] == [p.purse for p in turn.after.players]
    assert from_events(e for step in steps for e in step.events) == file


@for_seeds(10)
def test_h4_the_shuffle_is_exported_and_holds(seed: int) -> None:
    started, file = shuffled_hand(seed)
    assert file.shuffle is not None
    assert file.shuffle.server_seed == started.server_seed
    assert check(file).holds
    assert parse(to_json(file)) == file
    outsider = subprocess.run([sys.executable, "-I", VERIFIER], input=to_json(file), capture_output=True, check=False)
    assert outsider.returncode == 0, outsider.stderr
    deck = file.deals[-1]
    forged = replace(file, deals=(*file.deals[:-1], (*deck[:-2], deck[-1], deck[-2])))
    field = f"deals[{len(file.deals) - 1}][{len(deck) - 2}]"
    assert check(forged).problems[0].field == field


def test_h1_events_of_the_table_are_passed_over() -> None:
    events = events_of(random_hand(5))
    seat = 0
    between = (
        LeaveRequested(seat=seat, player="p0"),
        PlayerSatOut(seat=seat, player="p0"),
        TimeBankUsed(seat=events[0].dealt_in[0], ms=0),  # type: ignore[attr-defined]
    )
    after = SeedDisclosed(hand_id="", to="after_hand", server_seed="00")
    stuffed = [events[0], *(e for event in events[1:] for e in (*between, event)), after]
    assert from_events([*between[:2], *stuffed]) == from_events(events)


def test_h1_a_hand_without_an_end_is_not_exported() -> None:
    events = events_of(random_hand(5))
    with pytest.raises(ValueError, match="no ended hand"):
        from_events(events[:-1])
    with pytest.raises(ValueError, match="no ended hand"):
        from_events(())
