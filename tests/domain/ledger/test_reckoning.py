"""The ledger's reckoning is that of the rest of the domain, in random evenings and every vector; its laws hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.act import act, follow
from domain.actions import Action
from domain.cards import Card
from domain.commands import Fresh, OpenTable
from domain.consequences import consequences, void
from domain.decide import decide
from domain.events import (
    EVENTS,
    CommissionTaken,
    Deposited,
    Event,
    HandSettled,
    HandStarted,
    HandVoided,
    Seat,
    Settings,
    Withdrawn,
)
from domain.evolve import evolve
from domain.hand import Hand
from domain.ledger import POSTED, UNPOSTED, Book, Mismatch, Postings, TableBook, accounts, post
from domain.ledger.books import Purse
from domain.ledger.laws import UnknownRules
from domain.legal import clock_action
from domain.options import Options
from domain.refusal import Refused
from domain.table import Table, record
from tests.domain.ledger.evenings import TABLE_ID, TABLE_STREAM, Evening, evening, hands_of, table_only
from tests.domain.ledger.folding import Fold, first_mismatch

GAMES = ("khrap", "frap", "khrap5")
VECTORS = Path(__file__).parents[2] / "vectors"
COMMAND = b"c" * 16


def test_every_event_is_posted_or_named_as_moving_nothing() -> None:
    assert set(EVENTS) == POSTED | UNPOSTED
    assert not POSTED & UNPOSTED


@pytest.mark.parametrize("game", GAMES)
def test_t7_t8_t9_t10_random_evenings_are_reckoned_as_they_were_settled(game: str) -> None:
    for seed in range(25):
        log = evening(seed, game)
        fold = Fold()
        table: Table | None = None
        for entry in log:
            outcome = fold.add(entry)
            assert not isinstance(outcome, Mismatch), (seed, game, outcome)
            if entry.stream != TABLE_STREAM:
                continue
            table = evolve(table, entry.event, entry.at_ms)
            if isinstance(entry.event, HandSettled | HandVoided):
                assert isinstance(outcome, Postings)
                assert fold.balances[accounts.bank(TABLE_ID)] == entry.event.result.carried_bank, (seed, game)
                for seat in table.seats:
                    assert fold.balances[accounts.purse(TABLE_ID, seat.player)] == seat.purse, (seed, game)
        _books_close(log, fold, f"seed {seed}, {game}")


def _books_close(log: list[Any], fold: Fold, which: str) -> None:
    """Zero in all, in every transit, purse and bank of a closed table; the rest is with players and the house."""
    left = {account: amount for account, amount in fold.balances.items() if amount}
    assert sum(left.values()) == 0, which
    assert not [account for account in left if accounts.kind(account) in ("transit", "purse", "bank")], which
    moved = {kind: sum(e.event.amount for e in log if isinstance(e.event, kind)) for kind in (Deposited, Withdrawn)}
    assert left.get(accounts.CASH, 0) == moved[Withdrawn] - moved[Deposited], which
    taken = sum(e.event.amount for e in log if isinstance(e.event, CommissionTaken))
    assert left.get(accounts.COMMISSION, 0) == taken, which
    assert all(amount > 0 for account, amount in left.items() if account != accounts.CASH), which


@pytest.mark.parametrize("game", GAMES)
def test_a_hand_is_posted_at_its_end_and_only_then(game: str) -> None:
    fold = Fold()
    for entry in evening(1, game):
        outcome = fold.add(entry)
        ends = isinstance(entry.event, HandSettled | HandVoided)
        hands = {e.hand_id for e in outcome.entries} if isinstance(outcome, Postings) else set()
        assert hands <= ({entry.event.hand_id} if isinstance(entry.event, HandSettled | HandVoided) else {""}), entry
        if ends and isinstance(outcome, Postings):
            assert all(e.seq <= entry.seq and e.amount > 0 for e in outcome.entries)


def test_a_book_survives_being_stored_at_any_point() -> None:
    for game in GAMES:
        books: dict[str, bytes] = {}
        fold = Fold()
        for entry in evening(2, game, hands=6):
            if entry.stream in books:
                fold.books[entry.stream] = msgspec.json.decode(books[entry.stream], type=Book)
            assert not isinstance(fold.add(entry), Mismatch)
            books[entry.stream] = msgspec.json.encode(fold.books[entry.stream])


def test_the_books_need_no_hidden_card() -> None:
    """What is sealed in the log may be missing altogether."""
    fold = Fold()
    for entry in evening(3, "khrap"):
        event: Event = entry.event
        for name in ("deck", "cards", "server_seed", "client_seed"):
            if name in event.__struct_fields__ and type(event).__name__ != "FourAcesShown":
                event = replace(event, **{name: type(getattr(event, name))()})
        assert not isinstance(fold.add(replace(entry, event=event)), Mismatch)


def test_an_unknown_version_of_the_rules_is_no_mismatch() -> None:
    settings = replace(Evening(0, "khrap", seats=2).settings, rules=2)
    fresh = Fresh(hand_id="018f0000-0000-7000-8000-000000000001", server_seed="00" * 32, key_commitment="")
    events = decide(None, OpenTable(at_ms=0, settings=settings, fresh=fresh))
    assert not isinstance(events, Refused)
    (hand, *_) = hands_of(evening(4, "khrap"))
    started = hand[0].event
    assert isinstance(started, HandStarted)
    table = replace(started.table, settings=replace(started.table.settings, rules=2))
    book = TableBook(
        stream=TABLE_STREAM,
        settings=table.settings,
        purses=tuple(Purse(s.seat, s.player, s.purse) for s in table.seats),
    )
    with pytest.raises(UnknownRules, match="khrap, rules version 2"):
        post(book, replace(started, table=table), 9, COMMAND)


# --- the rulebook's vectors


def _vectors() -> list[Any]:
    return [
        pytest.param(vector, id=f"{'-'.join(vector['clauses'][:4])} {game}: {vector['name']}")
        for game in GAMES
        for vector in json.loads((VECTORS / f"{game}.json").read_text())
        if "result" in vector
    ]


def _replayed(vector: dict[str, Any]) -> tuple[TableBook, list[Event]]:
    """The book before the hand of a vector, and the events of the hand."""
    options = msgspec.convert({"game": vector["game"], **vector["options"]}, type=Options)
    settings = Settings(
        currency=vector["currency"],
        stake=vector["stake"],
        entry_limit=vector["stake"],
        max_seats=12,
        commission_bps=vector["commission_bps"],
        options=options,
    )
    seats = tuple(
        Seat(seat=s["seat"], player=s["player"], purse=s["purse"], buy_in=s["purse"]) for s in vector["seats"]
    )
    table = Table(settings=settings, seats=seats, carried_bank=vector["carried_bank"])
    every = vector["options"].get("ante_policy", "every_hand") == "every_hand"
    started = HandStarted(
        hand_id="018f0000-0000-7000-8000-000000000001",
        commitment="",
        dealer=vector["dealer"],
        dealt_in=tuple(s.seat for s in seats),
        ante=vector["stake"] if every or not vector["carried_bank"] else 0,
        client_seeds=(),
        table=record(table),
    )
    hand = evolve(table, started, 0).hand
    assert hand is not None

    def decks(deal_no: int) -> tuple[Card, ...]:
        return tuple(vector["deals"][deal_no - 1])

    events: list[Event] = [started]

    def go(hand: Hand, more: tuple[Event, ...]) -> Hand:
        events.extend(more)
        after = replace(table, hand=hand)
        for event in more:
            after = evolve(after, event, 0)
        assert after.hand is not None
        return after.hand

    hand = go(hand, follow(hand, consequences(hand, decks), decks))
    for a in vector["actions"]:
        action = Action(do=a["do"], card=a.get("card"), cards=None if "cards" not in a else tuple(a["cards"]))
        by = "clock" if a.get("by") == "clock" else "player"
        assert by == "player" or clock_action(hand) == action
        done = act(hand, a["seat"], action, "clock" if by == "clock" else "player", decks)
        assert not isinstance(done, Refused), (a, done)
        hand = go(hand, done)
    if "void" in vector:
        go(hand, (void(hand, "ops", vector["void"]["reason"], ("o1", "o2")),))
    book = TableBook(
        stream=TABLE_STREAM,
        settings=settings,
        purses=tuple(Purse(s.seat, s.player, s.purse) for s in seats),
        bank=vector["carried_bank"],
    )
    return book, events


@pytest.mark.parametrize("vector", _vectors())
def test_vectors_are_reckoned_to_their_results(vector: dict[str, Any]) -> None:
    book, events = _replayed(vector)
    state: Book = book
    for seq, event in enumerate(events, 1):
        state, outcome = post(state, event, seq, COMMAND)
        assert not isinstance(outcome, Mismatch), outcome
    assert isinstance(state, TableBook)
    assert state.hand is None
    assert state.bank == vector["result"]["carried_bank"]
    assert {p.seat: p.amount for p in state.purses} == {p["seat"]: p["purse"] for p in vector["result"]["players"]}


def test_t13_a_table_of_one_evening_leaves_nothing_behind() -> None:
    fold, mismatch = first_mismatch(table_only(evening(5, "frap")))
    assert mismatch is None
    book = fold.books[TABLE_STREAM]
    assert isinstance(book, TableBook)
    assert (book.bank, book.purses, book.returning) == (0, (), ())
