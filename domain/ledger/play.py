"""A running hand followed from its words and cards: who is in play, who took which trick. Source: K, F, C, T12.

Nothing here looks at a hidden card: deals, draws and discards count by their number alone, so the books can be kept
by one who holds no key.
"""

from __future__ import annotations

from msgspec.structs import replace

from domain.cards import RANK, SUIT, Card
from domain.events import (
    BankToppedUp,
    CardPlayed,
    CardsDealt,
    CardsDiscarded,
    CardsDrawn,
    Declared,
    FourAcesShown,
    SeatAmount,
    TrickTaken,
    TrumpTurned,
)
from domain.ledger import accounts
from domain.ledger.books import DECLINED, PASSED, Awaiting, Dealt, HandBook, Speaking, TableBook, Tricks
from domain.ledger.laws import Law, law_of
from domain.ledger.postings import Differs, Posting, expect
from domain.ledger.settling import paying


def player_at(hand: HandBook, seat: int, clause: str) -> Dealt:
    """The dealt-in player at `seat`. Raises Differs where the hand has none."""
    for player in hand.players:
        if player.seat == seat:
            return player
    raise Differs(clause, f"seat {seat} of the hand", seat, None)


def with_player(hand: HandBook, player: Dealt) -> tuple[Dealt, ...]:
    """The players with `player` in his seat."""
    return tuple([player if p.seat == player.seat else p for p in hand.players])


def _round(hand: HandBook, leader: int) -> tuple[int, ...]:
    """H1: the seats in play from `leader` clockwise."""
    seats = [p.seat for p in hand.players if p.in_play]
    return tuple([s for s in seats if s >= leader] + [s for s in seats if s < leader])


def dealt(book: TableBook, hand: HandBook, event: CardsDealt, seq: int) -> HandBook:
    """K2, K10, F5: a deal; what was said before it is forgotten, what was paid is not."""
    phase = hand.phase
    clause = law_of(book.settings).clauses["redeal"]
    if not isinstance(phase, Awaiting) or phase.next != "deal":
        raise Differs("T12" if isinstance(phase, Awaiting) else clause, "a deal", event.deal_no, None)
    _nothing_owed(phase, clause)
    expect(clause, "the number of the deal", event.deal_no, hand.deal_no + 1)
    players = tuple([Dealt(p.seat, p.player, p.purse) for p in hand.players])
    return replace(hand, players=players, deal_no=event.deal_no, circle=0, phase=Awaiting("trump"))


def turned(book: TableBook, hand: HandBook, event: TrumpTurned, seq: int) -> HandBook:
    """K2, K9, F4."""
    phase = hand.phase
    clause = law_of(book.settings).clauses["turn"]
    if not isinstance(phase, Awaiting) or phase.next != "trump":
        raise Differs(clause, "a trump card", event.card, None)
    _nothing_owed(phase, clause)
    expect(clause, "the circle", event.circle, hand.circle + 1)
    return replace(hand, circle=event.circle, trump_card=event.card, phase=Speaking())


def topped_up(book: TableBook, hand: HandBook, event: BankToppedUp, seq: int) -> HandBook:
    """K10, F4, F5, C4: `min(stake, purse)` of each, once."""
    clauses = law_of(book.settings).clauses
    clause, what = clauses["turn"], f"the top-up of seat {event.seat}"
    phase = hand.phase
    if not isinstance(phase, Awaiting):
        raise Differs("T8", what, event.amount, 0)
    clause = {"trump": clauses["turn"], "deal": clauses["redeal"], "void": "T12"}[phase.next]
    owed = next((o.amount for o in phase.owed if o.seat == event.seat), 0)
    expect(clause, what, event.amount, owed)
    player = player_at(hand, event.seat, clause)
    table = book.table
    posting = Posting(accounts.purse(table, player.player), accounts.bank(table), owed, clause, seq, hand.hand_id)
    return replace(
        hand,
        players=with_player(hand, replace(player, purse=player.purse - owed)),
        postings=(*hand.postings, posting),
        phase=Awaiting(phase.next, tuple([o for o in phase.owed if o.seat != event.seat])),
    )


def _nothing_owed(phase: Awaiting, clause: str) -> None:
    for owed in phase.owed:
        raise Differs(clause, f"the top-up of seat {owed.seat}", None, owed.amount)


def declared(book: TableBook, hand: HandBook, event: Declared, seq: int) -> HandBook:
    """K3 to K8, F3 to F8, C2: a word."""
    law = law_of(book.settings)
    clauses, word = law.clauses, event.do
    phase = hand.phase
    if not isinstance(phase, Speaking):
        raise Differs(clauses["word"], f"the word of seat {event.seat}", word, None)
    player = player_at(hand, event.seat, clauses["word"])
    by_clock = player.by_clock or event.by == "clock"
    if hand.declarer is None:
        if word == "pass":
            after = replace(hand, players=with_player(hand, replace(player, by_clock=by_clock)))
            last = phase.passes + 1 == len(hand.players)
            return replace(after, phase=_unclaimed(book, law, after) if last else Speaking(phase.passes + 1))
        if word not in law.declarations:
            raise Differs(clauses["word"], f"the word of seat {event.seat}", word, None)
        players = with_player(hand, replace(player, status=word))
        if word in law.forces:
            players = tuple([p if p.status else replace(p, status="help") for p in players])
        return replace(hand, players=players, declarer=event.seat)
    open_words = {"": law.answers, DECLINED: law.cuts}.get(player.status)
    clause = clauses["cut" if player.status else "answer"]
    if open_words is not None and word in ("pass", "decline"):
        status = PASSED if player.status else DECLINED
    elif open_words is not None and word in open_words:
        status = word
    else:
        raise Differs(clause, f"the word of seat {event.seat}", word, None)
    first = event.seat if hand.first_cutter is None and status in law.cuts else hand.first_cutter
    return replace(hand, players=with_player(hand, replace(player, status=status)), first_cutter=first)


def _unclaimed(book: TableBook, law: Law, hand: HandBook) -> Awaiting:
    """K9, K10, F4, F5, C4, T12: what follows a circle in which all passed."""
    options, stake = book.settings.options, book.settings.stake
    dues = [SeatAmount(seat=p.seat, amount=min(stake, p.purse)) for p in hand.players]
    owed = tuple([due for due in dues if due.amount])
    if hand.circle < law.circles(options):
        return Awaiting("trump", owed if law.circle_top_up else ())
    if hand.deal_no >= options.max_deals or all(p.by_clock for p in hand.players):
        return Awaiting("void")
    return Awaiting("deal", owed if law.redeal_top_up(options) else ())


def replaced(book: TableBook, hand: HandBook, event: CardsDiscarded | CardsDrawn, seq: int) -> HandBook:
    """K12: who has replaced a card takes nothing for four aces. Which cards these were is not asked."""
    if not event.count and (isinstance(event, CardsDiscarded) or event.trump_card is None):
        return hand
    player = player_at(hand, event.seat, "K11")
    return hand if player.replaced else replace(hand, players=with_player(hand, replace(player, replaced=True)))


def formed(law: Law, hand: HandBook) -> None:
    """K8, F8: before money or a card moves there is a declarer, and everyone else has spoken for good."""
    if hand.declarer is None:
        raise Differs(law.clauses["word"], "the declarer", None, "a seat")
    for p in hand.players:
        if p.status in ("", DECLINED):
            clause = law.clauses["cut" if p.status else "answer"]
            raise Differs(clause, f"the word of seat {p.seat}", None, "a word")


def played(book: TableBook, hand: HandBook, event: CardPlayed, seq: int) -> HandBook:
    """K14, F9: a card of the player whose turn it is; the first one closes the circles."""
    phase = hand.phase
    if isinstance(phase, Speaking):
        formed(law_of(book.settings), hand)
        leader = hand.declarer if hand.first_cutter is None else hand.first_cutter
        assert leader is not None
        phase = Tricks(_round(hand, leader))
    # Clauses are looked up, and figures named, where something differs: this runs for every card.
    if not isinstance(phase, Tricks) or len(phase.trick) == len(phase.order):
        raise Differs(law_of(book.settings).clauses["lead"], "a card played", event.card, None)
    turn = phase.order[len(phase.trick)]
    if event.seat != turn:
        raise Differs(law_of(book.settings).clauses["lead"], "the seat that plays", event.seat, turn)
    after = Tricks(phase.order, (*phase.trick, event.card))
    if event.card[0] != "A":
        return replace(hand, phase=after)
    player = player_at(hand, event.seat, "K14")
    return replace(hand, players=with_player(hand, replace(player, aces=player.aces + 1)), phase=after)


def taker(order: tuple[int, ...], trick: tuple[Card, ...], trump: str) -> int:
    """K16: the seat whose card is the highest trump or, with none, the highest of the suit led."""
    best = 0
    for i in range(1, len(trick)):
        card, high = trick[i], trick[best]
        if SUIT[card] == SUIT[high]:
            best = i if RANK[card] > RANK[high] else best
        elif SUIT[card] == trump:
            best = i
    return order[best]


def trick_taken(book: TableBook, hand: HandBook, event: TrickTaken, seq: int) -> HandBook:
    """K16; after the last trick the hand is reckoned."""
    phase = hand.phase
    if not isinstance(phase, Tricks) or len(phase.trick) != len(phase.order):
        raise Differs("K16", f"trick {event.trick}", event.seat, None)
    assert hand.trump_card is not None
    seat = taker(phase.order, phase.trick, SUIT[hand.trump_card])
    done = 1 + sum([p.tricks for p in hand.players])
    if event.trick != done:
        raise Differs("K16", "the number of the trick", event.trick, done)
    if event.seat != seat:
        raise Differs("K16", f"the taker of trick {done}", event.seat, seat)
    player = player_at(hand, seat, "K16")
    players = with_player(hand, replace(player, tricks=player.tricks + 1))
    law = law_of(book.settings)
    if done < law.tricks:
        turn = phase.order.index(seat)
        return replace(hand, players=players, phase=Tricks(phase.order[turn:] + phase.order[:turn]))
    for p in players:
        if law.four_aces and p.aces == law.tricks and not p.replaced:
            raise Differs("K12", f"the four aces of seat {p.seat}", "played", "shown")
    return paying(book, replace(hand, players=players), "played")


def aces_shown(book: TableBook, hand: HandBook, event: FourAcesShown, seq: int) -> HandBook:
    """K12: one in play, who has replaced no card, shows four aces and takes all tricks."""
    law = law_of(book.settings)
    player = player_at(hand, event.seat, "K12")
    if not law.four_aces or not isinstance(hand.phase, Speaking):
        raise Differs("K12", "four aces", f"seat {event.seat}", None)
    formed(law, hand)
    expect("K12", f"the aces of seat {event.seat}", " ".join(sorted(event.cards)), "Ac Ad Ah As")
    expect("K12", f"cards replaced by seat {event.seat}", "some" if player.replaced else "none", "none")
    expect("K12", f"seat {event.seat} in play", player.in_play, True)
    players = with_player(hand, replace(player, tricks=law.tricks))
    return paying(book, replace(hand, players=players), "four_aces")
