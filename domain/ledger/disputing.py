"""A hand whose record differs: followed as recorded and reckoned on beside it, until it is voided or corrected.

Source: T12, R5. What others do meanwhile is followed as recorded too, and held; nothing of the stream is posted before
the last of its differences is made good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from domain.cards import SUIT
from domain.events import (
    BankToppedUp,
    CommissionTaken,
    CorrectionBasis,
    Event,
    FinePaid,
    HandCorrected,
    HandSettled,
    HandVoided,
    Result,
    SharePaid,
    TrickTaken,
)
from domain.ledger import accounts, closing, play, settling
from domain.ledger.books import Disputed, HandBook, HandDispute, Paying, Purse, TableBook, Tricks
from domain.ledger.postings import Differs, Mismatch, Posting, Postings, expect
from domain.money import MAX_AMOUNT

Follow = Callable[[TableBook, HandBook, Any, int], HandBook]


def waiting(after: TableBook, posted: Postings | None) -> tuple[TableBook, Postings | Mismatch | None]:
    """What is posted now: nothing while a difference is open, then all that was held before what is new."""
    mismatch = after.mismatch
    if mismatch is None and not after.held:
        return after, posted
    entries = (*after.held, *(() if posted is None else posted.entries))
    if mismatch is not None:
        return replace(after, held=entries), mismatch
    return replace(after, held=()), Postings(after.settings.currency, entries)


def begun(
    book: TableBook, hand: HandBook, event: Event, seq: int, mismatch: Mismatch, follow: Follow | None
) -> TableBook:
    """The book once `event` of `hand` differed."""
    shadow = _reckoned(book, hand, event, seq, follow)
    disputed = settling.unpaid(hand)
    if isinstance(event, HandSettled | HandVoided):
        return _ended(book, disputed, event, seq, mismatch, shadow)
    if isinstance(event, BankToppedUp):
        disputed = _as_recorded(book, disputed, event, seq)
    return replace(book, hand=replace(disputed, phase=Disputed(mismatch, shadow)))


def followed(
    book: TableBook, hand: HandBook, event: Event, seq: int, follow: Follow | None
) -> tuple[TableBook, Postings | None]:
    """The book after a further event of a hand in dispute. Raises Differs where a void of ops is not T12's."""
    phase = hand.phase
    assert isinstance(phase, Disputed)
    if isinstance(event, HandVoided) and event.cause == "ops":
        return closing.voided(book, hand, event, seq)
    shadow = None if phase.shadow is None else _reckoned(book, phase.shadow, event, seq, follow)
    if isinstance(event, HandSettled | HandVoided):
        return _ended(book, hand, event, seq, phase.mismatch, shadow), None
    if isinstance(event, BankToppedUp):
        hand = _as_recorded(book, hand, event, seq)
    return replace(book, hand=replace(hand, phase=Disputed(phase.mismatch, shadow))), None


def _reckoned(book: TableBook, hand: HandBook, event: Event, seq: int, follow: Follow | None) -> HandBook | None:
    """The hand after `event` as the rules have it: who takes a trick and what is paid they say, not the record.

    None where the event itself is not by the rules.
    """
    phase = hand.phase
    try:
        if isinstance(event, HandVoided):
            return None
        if isinstance(event, HandSettled | SharePaid | CommissionTaken | FinePaid):
            return settling.unpaid(settling.with_result(book, hand))
        if isinstance(event, TrickTaken) and isinstance(phase, Tricks) and len(phase.trick) == len(phase.order):
            assert hand.trump_card is not None
            seat = play.taker(phase.order, phase.trick, SUIT[hand.trump_card])
            event = replace(event, seat=seat, trick=1 + sum(p.tricks for p in hand.players))
        return hand if follow is None else follow(book, hand, event, seq)
    except Differs:
        return None


def _as_recorded(book: TableBook, hand: HandBook, event: BankToppedUp, seq: int) -> HandBook:
    """What goes into the bank of a disputed hand is kept as it is recorded, so that a void can give it back."""
    player = next((p for p in hand.players if p.seat == event.seat), None)
    if player is None:
        return hand
    purse = accounts.purse(book.table, player.player)
    posting = Posting(purse, accounts.bank(book.table), event.amount, "T12", seq, hand.hand_id)
    players = play.with_player(hand, replace(player, purse=player.purse - event.amount))
    return replace(hand, players=players, postings=(*hand.postings, posting))


def _ended(
    book: TableBook,
    hand: HandBook,
    event: HandSettled | HandVoided,
    seq: int,
    mismatch: Mismatch,
    shadow: HandBook | None,
) -> TableBook:
    """The table goes on with what is recorded, and the hand waits for its correction."""
    result = event.result
    purses = {p.seat: p.purse for p in result.players}
    sound = (
        event.hand_id == hand.hand_id
        and [p.seat for p in result.players] == [p.seat for p in hand.players]
        and all(abs(amount) <= MAX_AMOUNT for amount in (*purses.values(), result.carried_bank))
    )
    if not sound:
        return replace(book, hand=replace(hand, phase=Disputed(mismatch)), lost=True)
    basis: CorrectionBasis = "rules" if shadow is not None and isinstance(shadow.phase, Paying) else "returned"
    right, postings = _right(book, hand, shadow, seq)
    dealt_in = tuple((p.seat, p.player) for p in hand.players)
    dispute = HandDispute(
        hand_id=hand.hand_id,
        players=dealt_in,
        mismatch=mismatch,
        recorded=result,
        right=right,
        basis=basis,
        postings=postings,
    )
    return replace(
        book,
        purses=tuple([Purse(p.seat, p.player, purses.get(p.seat, p.amount)) for p in book.purses]),
        bank=result.carried_bank,
        last_dealt_in=dealt_in if isinstance(event, HandSettled) else book.last_dealt_in,
        hand=None,
        disputes=(*book.disputes, dispute),
    )


def _right(book: TableBook, hand: HandBook, shadow: HandBook | None, seq: int) -> tuple[Result, tuple[Posting, ...]]:
    if shadow is not None and isinstance(shadow.phase, Paying):
        return shadow.phase.result, (*shadow.postings, *settling.payments(book, shadow, seq))
    right, back = closing.given_back(book, hand, seq)
    return right, (*hand.postings, *back)


def corrected(book: TableBook, event: HandCorrected, seq: int, command_id: bytes) -> tuple[TableBook, Postings | None]:
    """R5: the ended hand `event.hand_id` counts as it should have been, and the table is what it would be by that.

    What cannot be taken back any more, `house:compensation` bears.
    """
    dispute = next((d for d in book.disputes if d.hand_id == event.hand_id), None)
    if dispute is None:
        raise Differs("R5", "the hand that is corrected", event.hand_id, None)
    if book.hand is not None:
        raise Differs("R5", "a running hand", event.hand_id, book.hand.hand_id)
    expect("R5", "the basis of the correction", event.basis, dispute.basis)
    closing.compare_corrected(event.result, dispute.right)
    rest = tuple([d for d in book.disputes if d is not dispute])
    expect("R5", "whether the table goes on", event.resumes, not rest)
    names = dict(dispute.players)
    recorded = {p.seat: p.purse for p in dispute.recorded.players}
    said = {p.seat: p for p in event.players}
    postings, purses = list(dispute.postings), {p.player: p for p in book.purses}
    for right in dispute.right.players:
        seat, player = right.seat, names[right.seat]
        due, each = right.purse - recorded[seat], said.pop(seat, None)
        expect("R5", f"what is due to seat {seat}", 0 if each is None else each.due, due)
        if each is None:
            continue
        expect("R5", f"the player of seat {seat}", each.player, player)
        purse = purses.get(player)
        moved = max(due, 0 if purse is None else -purse.amount)
        expect("R5", f"where the correction of seat {seat} goes", each.to, "account" if purse is None else "purse")
        expect("R5", f"what is moved for seat {seat}", each.moved, moved)
        account = accounts.purse(book.table, player)
        postings.append(Posting(accounts.COMPENSATION, account, moved - due, "R5", seq, event.hand_id))
        if purse is None:
            postings.append(Posting(account, accounts.transit(command_id), moved, "R5", seq, event.hand_id))
        else:
            purses[player] = replace(purse, amount=purse.amount + moved)
    for seat, each in said.items():
        raise Differs("R5", f"what is due to seat {seat}", each.due, None)
    commission = _commission(dispute.right) - _commission(dispute.recorded)
    expect("R5", "what is due to the house", event.commission_due, commission)
    due = dispute.right.carried_bank - dispute.recorded.carried_bank
    expect("R5", "what is due to the bank", event.bank_due, due)
    moved = max(due, -book.bank)
    expect("R5", "what is moved for the bank", event.bank_moved, moved)
    bank = accounts.bank(book.table)
    postings.append(Posting(accounts.COMPENSATION, bank, moved - due, "R5", seq, event.hand_id))
    after = replace(
        book,
        purses=tuple([purses[p.player] for p in book.purses]),
        bank=book.bank + moved,
        disputes=rest,
        returning=(),
    )
    return after, Postings(book.settings.currency, tuple([p for p in postings if p.amount]))


def _commission(result: Result) -> int:
    return sum(p.commission for p in result.players)
