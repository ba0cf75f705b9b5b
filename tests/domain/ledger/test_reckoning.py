"""The ledger's reckoning is that of the rest of the domain, in random evenings and every vector; its laws hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from domain.act import act, unfold
from domain.actions import Action
from domain.cards import Card
from domain.consequences import consequences, void
from domain.events import (
    EVENTS,
    By,
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
from domain.ledger import POSTED, UNPOSTED, Book, Mismatch, Outcome, Postings, TableBook, accounts, post
from domain.ledger.books import Purse
from domain.ledger.laws import UnknownRules
from domain.legal import clock_action
from domain.money import ante
from domain.options import GameName, Options
from domain.refusal import Refused
from domain.table import Table, record
from tests.domain.hands import EXAMPLES, GAMES, events_of, folded, for_seeds, random_hand, unhurried
from tests.domain.ledger.evenings import TABLE_ID, TABLE_STREAM, evening, table_only
from tests.domain.ledger.folding import Fold, first_mismatch

VECTORS = Path(__file__).parents[2] / "vectors"
COMMAND = b"c" * 16


def test_every_event_is_posted_or_named_as_moving_nothing() -> None:
    assert set(EVENTS) == POSTED | UNPOSTED
    assert not POSTED & UNPOSTED


@unhurried
@pytest.mark.parametrize("game", GAMES)
def test_t7_t8_t9_t10_random_evenings_are_reckoned_as_they_were_settled(game: GameName) -> None:
    for seed in range(EXAMPLES or 25):
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


@for_seeds(300)
def test_t7_t8_t9_t10_a_random_hand_is_reckoned_as_it_was_settled(seed: int) -> None:
    """Any game, options, stakes and purses up to T1's limit; decks stacked for the words that need rare cards."""
    started, *events = events_of(random_hand(seed))
    assert isinstance(started, HandStarted)
    settled = events[-1]
    assert isinstance(settled, HandSettled | HandVoided)
    state: Book = _book(started)
    outcome: Outcome = None
    for seq, event in enumerate((started, *events), 1):
        assert outcome is None
        state, outcome = post(state, event, seq, COMMAND)
        assert not isinstance(outcome, Mismatch), outcome
    assert isinstance(state, TableBook)
    assert isinstance(outcome, Postings) or not any(p.share for p in settled.result.players)
    assert state.bank == settled.result.carried_bank
    assert {p.seat: p.amount for p in state.purses} == {p.seat: p.purse for p in settled.result.players}


def _book(started: HandStarted) -> TableBook:
    """The book as it must be when such a hand starts."""
    return TableBook(
        stream=TABLE_STREAM,
        settings=started.table.settings,
        purses=tuple(Purse(s.seat, s.player, s.purse) for s in started.table.seats),
        bank=started.table.carried_bank,
    )


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
def test_a_hand_is_posted_at_its_end_and_only_then(game: GameName) -> None:
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
    (started, *_) = events_of(random_hand(1, "khrap"))
    assert isinstance(started, HandStarted)
    table = replace(started.table, settings=replace(started.table.settings, rules=2))
    started = replace(started, table=table)
    with pytest.raises(UnknownRules, match="khrap, rules version 2"):
        post(_book(started), started, 9, COMMAND)


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
    started = HandStarted(
        hand_id="018f0000-0000-7000-8000-000000000001",
        commitment="",
        dealer=vector["dealer"],
        dealt_in=tuple(s.seat for s in seats),
        ante=ante(options.ante_policy, vector["stake"], vector["carried_bank"]),
        client_seeds=(),
        table=record(table),
    )
    hand = evolve(table, started, 0).hand
    assert hand is not None

    def decks(deal_no: int) -> tuple[Card, ...]:
        return tuple(vector["deals"][deal_no - 1])

    events: list[Event] = [started]

    done, hand = unfold(hand, consequences(hand, decks), decks)
    events.extend(done)
    for a in vector["actions"]:
        action = Action(do=a["do"], card=a.get("card"), cards=None if "cards" not in a else tuple(a["cards"]))
        by: By = a.get("by", "player")
        assert by == "player" or clock_action(hand) == action
        acted = act(hand, a["seat"], action, by, decks)
        assert not isinstance(acted, Refused), (a, acted)
        events.extend(acted)
        hand = folded(hand, acted)
    if "void" in vector:
        events.append(void(hand, "ops", vector["void"]["reason"], ("o1", "o2")))
    return _book(started), events


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
