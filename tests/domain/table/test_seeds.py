"""What is committed to, what players add, and what is disclosed: S2, S3, S6."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from domain import shuffle
from domain.actions import Do
from domain.commands import Fresh, OpenTable
from domain.events import CardsDealt, ClientSeedSet, Disclosure, HandCommitted, HandStarted, HandVoided, SeedDisclosed
from tests.domain.table.given import (
    KHRAP,
    LIMIT,
    PAUSE,
    act,
    commit_anew,
    committed,
    disclosed,
    given,
    hand_id,
    leave,
    open_table,
    opened,
    sat,
    seed,
    server_seed,
    sit,
    sit_out,
    stacked,
    start,
    void,
)

SUITS_APART = stacked(36, "As Ks Qs Js", "Ah Kh Qh Jh", "Ad Kd Qd Jd", then="6c")
THREE = given(*opened(), *sat(0, 1, 2))


def test_s2_a_table_commits_to_its_first_hand_when_it_opens() -> None:
    table = given().when(open_table()).accepted().table
    assert table.next_hand is not None
    assert (table.next_hand.hand_id, table.next_hand.commitment) == (hand_id(1), committed(1).commitment)


def test_s2_the_commitment_of_the_vectors() -> None:
    vector = json.loads((Path(__file__).parents[2] / "vectors" / "shuffle.json").read_bytes())["vectors"][0]
    made = Fresh(hand_id=vector["hand_id"], server_seed=vector["server_seed"], key_commitment="")
    _, promise = given().when(lambda _, at: OpenTable(at_ms=at, settings=KHRAP, fresh=made)).events
    assert isinstance(promise, HandCommitted)
    assert promise.commitment == vector["commitment"]


def test_s2_the_next_hand_is_committed_to_when_one_ends() -> None:
    running = THREE.deal(SUITS_APART)
    assert running.table.next_hand is None
    over = running.taken_by("boris")
    assert over.table.next_hand is not None
    assert over.table.next_hand.commitment == committed(2).commitment
    assert over.table.next_hand.client_seeds == ()


def test_s2_a_player_gives_a_seed_for_the_next_hand() -> None:
    given_seed = ClientSeedSet(hand_id=hand_id(1), player="boris", client_seed="0a0b")
    THREE.when(seed("boris", "0a0b")).then(given_seed)
    THREE.when(seed("boris", "0a0b", hand=hand_id(1))).then(given_seed)


def test_s2_for_that_hand_only() -> None:
    THREE.when(seed("boris", "0a0b", hand=hand_id(2))).refused("not_offered", "S2")


def test_s2_none_while_a_hand_runs() -> None:
    running = THREE.deal(SUITS_APART)
    running.when(seed("boris", "0a0b")).refused("not_offered", "S2")
    running.when(seed("boris", "0a0b", hand=hand_id(2))).refused("not_offered", "S2")
    over = running.taken_by("boris")
    over.when(seed("boris", "0a0b")).then(ClientSeedSet(hand_id=hand_id(2), player="boris", client_seed="0a0b"))


def test_s2_a_later_seed_replaces_an_earlier_one() -> None:
    twice = THREE.done(seed("boris", "01"), seed("anna", "02"), seed("boris", "03"))
    assert twice.table.next_hand is not None
    assert twice.table.next_hand.client_seeds == (("anna", "02"), ("boris", "03"))


def test_s2_seeds_are_published_at_the_start_in_the_order_of_the_dealt_in() -> None:
    seeded = THREE.done(sit_out("anna"), sit("gleb"), seed("gleb", "0d"), seed("anna", "0a"), seed("boris", "0b"))
    started, dealt, _ = seeded.when(start(), after=PAUSE).events
    assert isinstance(started, HandStarted)
    assert (started.dealt_in, started.client_seeds) == ((1, 2, 3), ("0b", "", "0d"))
    assert isinstance(dealt, CardsDealt)
    id_bytes = bytes.fromhex(hand_id(1).replace("-", ""))
    assert dealt.deck == shuffle.deck(server_seed(1), id_bytes, 1, (b"\x0b", b"", b"\x0d"), 36)


def test_s2_the_seed_of_one_who_left_and_came_back_is_still_his() -> None:
    back = THREE.done(seed("vera", "0c"), leave("vera"), sit("vera", LIMIT, seat=4))
    started = back.when(start(), after=PAUSE).events[0]
    assert isinstance(started, HandStarted)
    assert (started.dealt_in, started.client_seeds) == ((0, 1, 4), ("", "", "0c"))


def test_s2_a_seed_is_for_one_hand() -> None:
    over = THREE.done(seed("boris", "0b")).deal(SUITS_APART).taken_by("boris")
    started = over.when(start(), after=PAUSE).events[0]
    assert isinstance(started, HandStarted)
    assert started.client_seeds == ("", "", "")


def test_s3_a_new_deal_of_a_hand_has_the_same_seeds_and_its_own_number() -> None:
    running = THREE.done(seed("boris", "0b")).deal(SUITS_APART)
    for _ in range(11):
        running = running.done(act(running.asked(), "pass"))
    dealt = running.when(act(running.asked(), "pass")).events[1]
    id_bytes = bytes.fromhex(hand_id(1).replace("-", ""))
    deck = shuffle.deck(server_seed(1), id_bytes, 2, (b"", b"\x0b", b""), 36)
    assert dealt == CardsDealt(hand_id=hand_id(1), deal_no=2, deck=deck)


# --- S6


@pytest.mark.parametrize("to", get_args(Disclosure))
def test_s6_the_seed_is_disclosed_once_the_hand_is_settled_to_whom_the_table_says(to: Disclosure) -> None:
    settings = replace(KHRAP, seed_disclosure=to)
    before = given(*opened(settings), *sat(0, 1)).deal(SUITS_APART)
    done = before.done(act("boris", "khrap"), act("anna", "decline"))
    events = done.when(act("anna", "pass")).events
    assert events[-2:] == (replace(disclosed(1), to=to), committed(2))


def test_s6_or_voided() -> None:
    events = THREE.deal(SUITS_APART).done(void("olga")).when(void("pavel")).events
    assert isinstance(events[0], HandVoided)
    assert events[1:] == (disclosed(1), committed(2))


def test_s6_not_before() -> None:
    running = THREE.deal(SUITS_APART)
    words: tuple[tuple[str, Do], ...] = ("boris", "khrap"), ("vera", "decline"), ("anna", "decline"), ("vera", "pass")
    for player, word in words:
        last = running.when(act(player, word))
        assert not [e for e in last.events if isinstance(e, SeedDisclosed)]
        running = last.accepted()
    assert disclosed(1) in running.when(act("anna", "pass")).events


def test_s2_s6_a_commitment_that_may_be_known_gives_way_to_another() -> None:
    """After a restored log: the old seed is disclosed unused, and what players gave to it is gone with it."""
    before = THREE.table.next_hand
    assert before is not None
    gone, anew = THREE.when(commit_anew()).events
    assert (gone, anew) == (disclosed(1, used=False), committed(90))
    after = THREE.when(commit_anew()).accepted().table.next_hand
    assert after is not None
    assert (after.hand_id, after.client_seeds) == (hand_id(90), ())
    THREE.deal(SUITS_APART).when(commit_anew()).refused("in_hand", "S2")
