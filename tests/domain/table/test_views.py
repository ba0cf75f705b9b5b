"""What an audience is shown of a table: K2, F2, S2, T11."""

from __future__ import annotations

from domain.cards import Card
from domain.events import CardsDrawn, Declared, SeedDisclosed
from domain.halves import private_half, public_event
from domain.hand import Played
from domain.legal import Offer
from domain.table import Table
from domain.views import (
    HandView,
    NextHandView,
    OwnView,
    PlayerView,
    SeatView,
    TableView,
    TurnView,
    awaited,
    legal_actions,
    own_cards,
    view,
)
from tests.domain.table.given import (
    FRAP,
    KHRAP,
    LIMIT,
    NAMES,
    PAUSE,
    STAKE,
    TIME_BANK,
    TURN,
    act,
    cards,
    close,
    committed,
    given,
    halt,
    hand_id,
    leave,
    opened,
    sat,
    seed,
    server_seed,
    sit,
    sit_out,
    stacked,
    start,
)

HELPED = stacked(36, "As 6h 7h 8h", "7s Ah Kh Qh", "Ad Kd Qd Jd", then="6c")
THREE = given(*opened(), *sat(0, 1, 2))


def test_s2_between_hands_all_see_the_next_hand_and_who_gave_a_seed_for_it() -> None:
    table = THREE.done(seed("boris", "c0ffee"), sit_out("anna")).table
    seats = (
        SeatView(seat=0, player="anna", purse=LIMIT, sitting_out=True, leaving=False, in_hand=False),
        SeatView(seat=1, player="boris", purse=LIMIT, sitting_out=False, leaving=False, in_hand=False),
        SeatView(seat=2, player="vera", purse=LIMIT, sitting_out=False, leaving=False, in_hand=False),
    )
    assert view(table, None) == TableView(
        settings=KHRAP,
        seats=seats,
        carried_bank=0,
        hand_no=0,
        halted=None,
        closing=False,
        closed=False,
        turn=None,
        hand=None,
        next_hand=NextHandView(
            hand_id=hand_id(1),
            commitment=committed(1).commitment,
            seeds_from=("boris",),
            starts_ms=THREE.now + PAUSE,
        ),
        you=None,
    )


def test_k2_in_a_hand_all_see_everything_but_cards_in_hands_and_stock() -> None:
    given_ = THREE.deal(HELPED).done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"))
    given_ = given_.done(act("anna", "pass"), act("boris", "play", "As"))
    players = tuple(
        PlayerView(
            seat=s, player=NAMES[s], purse=LIMIT - STAKE, status=status, said=said, cards=held, tricks=0, looked=True
        )
        for s, status, said, held in ((0, "passed", "pass", 4), (1, "khrap", "khrap", 3), (2, "help", "help", 4))
    )
    shown = view(given_.table, None)
    assert shown.hand == HandView(
        hand_id=hand_id(1),
        dealer=0,
        deal_no=1,
        circle=1,
        bank=3 * STAKE,
        trump_card=Card("6c"),
        trump_taken=False,
        stock=36 - 13,
        declarer=1,
        phase="playing",
        players=players,
        trick=(Played(1, Card("As")),),
        result=None,
    )
    turn = given_.table.turn
    ends = given_.now + TURN
    assert shown.turn == TurnView(turn=turn, seat=2, turn_ends_ms=ends, clock_acts_ms=ends + TIME_BANK)
    assert awaited(given_.table) == 2
    assert shown.next_hand is None
    assert shown.you is None


def test_k2_a_player_sees_his_own_cards_and_what_he_may_do() -> None:
    given_ = THREE.deal(HELPED).done(act("boris", "khrap"), act("vera", "help"), act("anna", "decline"))
    given_ = given_.done(act("anna", "pass"), act("boris", "play", "As"))
    assert view(given_.table, "vera").you == OwnView(
        seat=2,
        player="vera",
        cards=cards("7s Ah Kh Qh"),
        time_bank_ms=TIME_BANK,
        legal_actions=(Offer("play", cards("7s"), 1, 1),),
    )
    own = view(given_.table, "boris").you
    assert own is not None
    assert (own.cards, own.legal_actions) == (cards("6h 7h 8h"), ())
    hers, all_ = view(given_.table, "vera"), view(given_.table, None)
    assert {name for name in hers.__struct_fields__ if getattr(hers, name) != getattr(all_, name)} == {"you"}


def test_k2_the_purse_of_one_who_is_in_a_hand_is_the_one_of_this_moment() -> None:
    running = THREE.deal(HELPED).having(*sat(3))
    assert [(s.purse, s.in_hand) for s in view(running.table, None).seats] == [
        (LIMIT - STAKE, True), (LIMIT - STAKE, True), (LIMIT - STAKE, True), (LIMIT, False),
    ]  # fmt: skip


def test_k2_cards_go_by_the_player_and_not_by_the_seat() -> None:
    """Who takes the seat of one who was in the last hand sees nothing of it."""
    over = THREE.deal(HELPED).done(leave("boris")).taken_by("vera")
    newcomer = over.having(*sat(3)).done(leave("vera"), sit("dina", seat=2))
    assert own_cards(over.table, "vera") == cards("7s Ah Kh Qh")
    own = view(newcomer.table, "dina").you
    assert own == OwnView(seat=2, player="dina", cards=None, time_bank_ms=0, legal_actions=())


def test_k2_who_sat_down_while_the_hand_runs_is_shown_no_cards() -> None:
    running = THREE.deal(HELPED).having(*sat(3))
    assert own_cards(running.table, "gleb") is None
    assert legal_actions(running.table, "gleb") == ()
    dealt = THREE.when(start(), after=PAUSE)
    tables: list[Table] = [THREE.having(*dealt.events[:i]).table for i in (1, 2, 3)]
    assert private_half(tables[1], dealt.events[1], "gleb") is None
    assert private_half(tables[1], dealt.events[1], "boris") == {"cards": own_cards(tables[1], "boris")}
    assert private_half(tables[2], dealt.events[2], "boris") is None


def test_f2_until_he_looks_a_player_is_shown_no_cards_and_a_discard_by_the_count_alone() -> None:
    """A blind declarer takes the trump card unseen by himself, too, until he looks."""
    deck = stacked(32, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="7c")
    given_ = given(*opened(FRAP), *sat(0, 1, 2)).deal(deck)
    assert own_cards(given_.table, "boris") is None
    assert [o.do for o in legal_actions(given_.table, "boris")] == ["frap", "frap_blind", "pass", "look"]
    last = given_.done(act("boris", "frap_blind"), act("vera", "whist")).when(act("anna", "pass"))
    blind = last.accepted()
    drawn = last.events[-1]
    assert isinstance(drawn, CardsDrawn)
    assert private_half(blind.table, drawn, "boris") is None
    assert legal_actions(blind.table, "boris") == (Offer("discard", (), 1, 1), Offer("look"))
    looked = blind.done(act("boris", "look"))
    held = cards("As Ks Qs Js 7c")
    assert own_cards(looked.table, "boris") == held
    assert legal_actions(looked.table, "boris") == (Offer("discard", held, 1, 1),)
    shown = view(blind.table, None).hand
    assert shown is not None
    assert [(p.cards, p.looked) for p in shown.players] == [(4, False), (5, False), (4, True)]


def test_f2_a_word_that_looks_shows_him_his_cards() -> None:
    deck = stacked(32, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="7c")
    given_ = given(*opened(FRAP), *sat(0, 1, 2)).deal(deck)
    passed = given_.when(act("boris", "pass"))
    assert private_half(passed.accepted().table, Declared(seat=1, do="pass"), "boris") is None
    said = given_.when(act("boris", "frap"))
    for player, half in (("boris", {"cards": cards("As Ks Qs Js")}), ("vera", None), ("zoya", None)):
        assert private_half(said.accepted().table, Declared(seat=1, do="frap"), player) == half


def test_s6_a_seed_is_not_in_the_public_half() -> None:
    event = SeedDisclosed(hand_id=hand_id(1), to="after_hand", server_seed=server_seed(1).hex())
    assert public_event(event) == {"type": "seed_disclosed", "hand_id": hand_id(1), "to": "after_hand", "used": True}


def test_t13_what_ops_did_is_seen() -> None:
    shown = view(THREE.done(halt("a look at the books"), close()).table, None)
    assert (shown.halted, shown.closing, shown.closed) == ("a look at the books", True, False)
