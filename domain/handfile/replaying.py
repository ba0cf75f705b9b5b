"""A hand file, replayed by the rules action by action. Source: rulebook H1 to H6, T11."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from domain import shuffle
from domain.act import recorded, unfold
from domain.cards import Card
from domain.consequences import consequences, void
from domain.events import Event, HandStarted, Seat, Settings, TableRecord
from domain.evolve import evolve
from domain.games import game_of
from domain.hand import Hand, Over, asked
from domain.handfile.file import FileAction, FileShuffle, HandFile, HandFileError, action_of
from domain.legal import clause, clock_action, judge, offers
from domain.money import AmountOverflow, amount, ante
from domain.refusal import Refused
from domain.seeds import hand_bytes


class Step(Struct, frozen=True, kw_only=True):
    """One action with all that followed from it, and the hand after.

    `index` and `action` are None for the opening and for the voiding by ops. A refused action has no events.
    """

    index: int | None = None
    action: FileAction | None = None
    events: tuple[Event, ...] = ()
    hand: Hand
    refused: Refused | None = None


def opening(file: HandFile) -> tuple[HandStarted, Hand]:
    """H1, T5: the start of the file's hand, antes paid and nothing dealt. Raises HandFileError past 2^63 - 1."""
    game = game_of(file.options, file.rules)
    paid = ante(file.options.ante_policy, file.stake, file.carried_bank)
    try:
        amount(file.carried_bank + paid * len(file.seats))
    except AmountOverflow as error:
        raise HandFileError("carried_bank", f"with the antes, {error}") from None
    settings = Settings(
        currency=file.currency,
        stake=file.stake,
        entry_limit=file.stake,
        max_seats=game.max_seats,
        commission_bps=file.commission_bps,
        options=file.options,
        rules=file.rules,
    )
    seats = tuple([Seat(seat=s.seat, player=s.player, purse=s.purse, buy_in=s.purse) for s in file.seats])
    started = HandStarted(
        hand_id="" if file.shuffle is None else file.shuffle.hand_id,
        commitment="" if file.shuffle is None else file.shuffle.commitment,
        dealer=file.dealer,
        dealt_in=tuple([s.seat for s in file.seats]),
        ante=paid,
        client_seeds=() if file.shuffle is None else file.shuffle.client_seeds,
        table=TableRecord(settings=settings, seats=seats, carried_bank=file.carried_bank, dealer=file.dealer),
        server_seed="" if file.shuffle is None else file.shuffle.server_seed or "",
    )
    hand = evolve(None, started, 0).hand
    assert hand is not None
    return started, hand


def replay_whole(file: HandFile, unjudged: frozenset[int] = frozenset()) -> Iterator[Step]:
    """The steps of a file whose cards are all known. Raises HandFileError where the file breaks the rules.

    `unjudged` are the clock's actions that are not held against T11.
    """
    known = FileDecks(tuple([tuple([card for card in cards if card is not None]) for cards in file.deals]))
    started, hand = opening(file)
    events, hand = unfold(hand, consequences(hand, known), known)
    yield Step(events=(started, *events), hand=hand)
    for index, entry in enumerate(file.actions):
        step = _step(file, hand, index, entry, known, index in unjudged)
        hand = step.hand
        yield step
    if file.void is not None:
        if isinstance(hand.phase, Over):
            raise HandFileError("void", "the hand is over by its actions; ops void a running hand only (H6)")
        events, hand = unfold(hand, (void(hand, "ops", file.void.reason, ()),), known)
        yield Step(events=events, hand=hand)
    if not isinstance(hand.phase, Over) and file.refusal is None:
        raise HandFileError("actions", f"the hand stops half-way: {_open_decision(file, hand)}")
    if known.used < len(file.deals):
        raise HandFileError(f"deals[{known.used}]", "the actions do not come to this deck (H1)")


def _open_decision(file: HandFile, hand: Hand) -> str:
    seat = asked(hand)
    assert seat is not None, hand.phase
    words = ", ".join(o.do for o in offers(hand, seat))
    return f"after {len(file.actions)} actions seat {seat} is asked ({clause(hand)}): {words}"


def shuffled(file: HandFile, given: FileShuffle, deal_no: int) -> tuple[Card, ...]:
    """H4, S3 to S5: the deck of a deal by the file's own seeds, which must be known."""
    assert given.server_seed is not None
    size = game_of(file.options, file.rules).deck_size(file.options, len(file.seats))
    seeds = [bytes.fromhex(seed) for seed in given.client_seeds]
    return shuffle.deck(bytes.fromhex(given.server_seed), hand_bytes(given.hand_id), deal_no, seeds, size)


class FileDecks:
    """The decks of a file by deal number, and how many of them were asked for. Raises HandFileError for more."""

    def __init__(self, deals: tuple[tuple[Card, ...], ...]) -> None:
        self.deals = deals
        self.used = 0

    def __call__(self, deal_no: int) -> tuple[Card, ...]:
        if deal_no > len(self.deals):
            raise HandFileError(f"deals[{deal_no - 1}]", f"missing: the actions come to deal {deal_no} (H1)")
        self.used = deal_no
        return self.deals[deal_no - 1]


def _step(file: HandFile, hand: Hand, index: int, entry: FileAction, decks: FileDecks, unjudged: bool) -> Step:
    action = action_of(entry)
    refused = judge(hand, entry.seat, action)
    if refused is not None:
        if file.refusal is not None and index == len(file.actions) - 1:
            return Step(index=index, action=entry, hand=hand, refused=refused)
        raise HandFileError(f"actions[{index}]", f"{refused.code} ({refused.clause}): {refused.detail}")
    if entry.by == "clock" and not unjudged and action != clock_action(hand):
        right = clock_action(hand)
        cards = right.card or " ".join(right.cards or ())
        raise HandFileError(f"actions[{index}].by", f"the clock would do {f'{right.do} {cards}'.strip()!r} (T11)")
    try:
        events, after = unfold(hand, recorded(hand, entry.seat, action, entry.by), decks)
    except AmountOverflow as error:
        raise HandFileError(f"actions[{index}]", f"with what follows from it, {error}") from None
    return Step(index=index, action=entry, events=events, hand=after)
