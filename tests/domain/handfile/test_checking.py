"""H1 to H6: a file is replayed by the rules; what does not agree is named by its field or the action's index."""

from __future__ import annotations

from typing import Any

import pytest

from domain.handfile import Finding, check, parse
from domain.money import MAX_AMOUNT
from tests.domain.handfile.samples import DREW, PLAYED, REFUSED, REMOVED, SHUFFLED, VOIDED, changed, vector

CLOCK = vector("khrap", "the clock discards and plays")


def problems(data: bytes) -> list[str]:
    """What a check finds, as lines."""
    return [str(problem) for problem in check(parse(data)).problems]


RESULT_FIELDS = [
    ("result.ending", "four_aces", "four_aces in the file, played by the rules"),
    ("result.bank", 8001, "8001 in the file, 8000 by the rules"),
    ("result.carried_bank", 0, "0 in the file, 24000 by the rules"),
    ("result.next_dealer", 1, "1 in the file, 0 by the rules"),
    ("result.players[0].seat", 1, "1 in the file, 0 by the rules"),
    ("result.players[0].status", "help", "help in the file, khrap by the rules"),
    ("result.players[0].tricks", 2, "2 in the file, 1 by the rules"),
    ("result.players[2].share", 5999, "5999 in the file, 6000 by the rules"),
    ("result.players[2].commission", 241, "241 in the file, 240 by the rules"),
    ("result.players[1].fine_due", 0, "0 in the file, 8000 by the rules"),
    ("result.players[1].fine_paid", 1, "1 in the file, 8000 by the rules"),
    ("result.players[3].purse", 98001, "98001 in the file, 98000 by the rules"),
]


@pytest.mark.parametrize(("path", "value", "says"), RESULT_FIELDS, ids=[path for path, *_ in RESULT_FIELDS])
def test_h3_one_wrong_figure_is_named(path: str, value: Any, says: str) -> None:
    assert problems(changed(PLAYED, path, value)) == [f"{path}: {says}"]


def test_h3_a_player_too_few_or_too_many_is_named() -> None:
    assert problems(changed(PLAYED, "result.players[3]", REMOVED)) == [
        "result.players: 3 players in the file, 4 by the rules"
    ]


def test_h3_all_wrong_figures_are_named_at_once() -> None:
    data = changed(PLAYED, "result.bank", 1).replace(b'"fine_paid": 16000', b'"fine_paid": 15999')
    assert problems(data) == [
        "result.bank: 1 in the file, 8000 by the rules",
        "result.players[0].fine_paid: 15999 in the file, 16000 by the rules",
    ]


def test_h3_without_result_or_refusal_nothing_is_compared() -> None:
    report = check(parse(changed(PLAYED, "result", REMOVED)))
    assert report.holds
    assert report.compared == "nothing"


ACTIONS = [
    (PLAYED, "actions[0].do", "decline",
     "actions[0]: not_offered (K3): 'decline' is not offered now; offered: khrap, ace, pass"),
    (PLAYED, "actions[1].seat", 2, "actions[1]: not_your_turn (K7): it is the turn of seat 1, not of seat 2"),
    (PLAYED, "actions[1].seat", 9, "actions[1]: not_in_hand (T4): seat 9 is not dealt into this hand"),
    (PLAYED, "actions[5].cards", ["8s"], "actions[5]: wrong_discard_count (K8): 1 cards named, 2 would be right"),
    (PLAYED, "actions[5].cards", ["8s", "8s"], "actions[5]: card_not_held (K8): 8s is not among the cards held"),
    (PLAYED, "actions[8].card", "2c", "actions[8]: card_not_held (K15): 2c is not among the cards held"),
    (PLAYED, "actions[8].card", "7h",
     "actions[8]: must_follow_suit (K15): 7h may not be played to this trick; legal: As"),
    (PLAYED, "actions[19]", {"seat": 0, "do": "pass"},
     "actions[19]: hand_over (H3): the hand is over; wait for the next one"),
    (PLAYED, "actions[18]", REMOVED, "actions: the hand stops half-way: after 18 actions seat 1 is asked (K14): play"),
    (PLAYED, "actions", [], "actions: the hand stops half-way: after 0 actions seat 0 is asked (K3): khrap, ace, pass"),
    (PLAYED, "deals", [], "deals[0]: missing: the actions come to deal 1 (H1)"),
    (PLAYED, "deals[1]", PLAYED["deals"][0], "deals[1]: the actions do not come to this deck (H1)"),
    (SHUFFLED, "deals[1]", REMOVED, "deals[1]: missing: the actions come to deal 2 (H1)"),
    (REFUSED, "deals[1]", REFUSED["deals"][0], "deals[1]: the actions do not come to this deck (H1)"),
    (VOIDED, "actions", [*VOIDED["actions"], {"seat": 0, "do": "decline"}, {"seat": 0, "do": "pass"}],
     "void: the hand is over by its actions; ops void a running hand only (H6)"),
    (VOIDED, "void", REMOVED, "actions: the hand stops half-way: after 1 actions seat 0 is asked (K7): help, decline"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("hand", "path", "value", "says"), ACTIONS, ids=[f"{path} {says:.40}" for _, path, _, says in ACTIONS]
)
def test_h5_an_action_against_the_rules_is_named_by_its_index(
    hand: dict[str, Any], path: str, value: Any, says: str
) -> None:
    assert problems(changed(hand, path, value)) == [says]


def test_h2_the_clock_must_take_the_default_action() -> None:
    index = next(i for i, a in enumerate(PLAYED["actions"]) if a["do"] == "discard")
    says = f"actions[{index}].by: the clock would do 'discard 7s 8s' (T11)"
    assert problems(changed(PLAYED, f"actions[{index}].by", "clock")) == [says]
    assert not problems(changed(PLAYED, "actions[2].by", "clock"))
    assert not problems(changed(PLAYED, "actions[18].by", "clock"))
    assert problems(changed(PLAYED, "actions[0].by", "clock")) == ["actions[0].by: the clock would do 'pass' (T11)"]
    assert not problems(changed(CLOCK, "name", "the clock's own"))


def test_h3_a_refusal_is_compared_by_its_code() -> None:
    assert problems(changed(REFUSED, "refusal.clause", "K1")) == []
    (line,) = problems(changed(REFUSED, "refusal.code", "must_trump"))
    assert line.startswith("refusal.code: must_trump in the file, must_follow_suit by the rules (K15: 9d may not")
    last = len(REFUSED["actions"]) - 1
    legal = changed(REFUSED, f"actions[{last}]", REMOVED)
    assert problems(legal) == [f"actions[{last - 1}]: is legal; the file has it refused with must_follow_suit"]
    assert problems(changed(REFUSED, "refusal", REMOVED))[0].startswith(f"actions[{last}]: must_follow_suit (K15)")


def test_h3_only_the_last_action_may_be_refused() -> None:
    early = changed(REFUSED, "actions[0].seat", 9)
    assert problems(early) == ["actions[0]: not_in_hand (T4): seat 9 is not dealt into this hand"]


def test_h4_a_deck_that_the_shuffle_did_not_make_is_named() -> None:
    deck = SHUFFLED["deals"][1]
    data = changed(SHUFFLED, "deals[1]", [*deck[:34], deck[35], deck[34]])
    assert problems(data) == [f"deals[1][34]: {deck[35]} in the file, {deck[34]} by the shuffle (S5)"]


def test_h4_the_commitment_and_every_input_count() -> None:
    right = SHUFFLED["shuffle"]["commitment"]
    assert problems(changed(SHUFFLED, "shuffle.commitment", "00" * 32)) == [
        f"shuffle.commitment: {'00' * 32} in the file, {right} by S2"
    ]
    assert not problems(changed(SHUFFLED, "shuffle.commitment", right.upper()))
    for path, value in (
        ("shuffle.server_seed", "00" * 32),
        ("shuffle.hand_id", "00" * 16),
        ("shuffle.client_seeds[1]", "00"),
    ):
        found = problems(changed(SHUFFLED, path, value))
        assert any(line.startswith("deals[0][") for line in found), path
    hyphens = "018f0000-0000-7000-8000-000000000002"
    assert not problems(changed(SHUFFLED, "shuffle.hand_id", hyphens))


def test_h6_a_voided_hand_has_the_result_of_t12_wherever_it_stood() -> None:
    assert not problems(changed(VOIDED, "actions", []))
    assert problems(changed(VOIDED, "result.carried_bank", 4040)) == [
        "result.carried_bank: 4040 in the file, 40 by the rules"
    ]


def test_n_an_amount_that_passes_64_bits_in_the_hand_is_an_error() -> None:
    rich = changed(PLAYED, "carried_bank", MAX_AMOUNT)
    assert problems(rich) == [
        f"carried_bank: with the antes, the amount {MAX_AMOUNT + 8000} is past {MAX_AMOUNT} (2^63 - 1)"
    ]
    fined = changed(PLAYED, "carried_bank", MAX_AMOUNT // 2)
    (line,) = problems(fined)
    assert line.startswith("actions[18]: with what follows from it, the amount ")
    topped = changed(DREW, "actions", [{"seat": s, "do": "pass"} for s in (1, 2, 0)]).replace(
        b'"carried_bank": 0,', b'"carried_bank": %d,' % (MAX_AMOUNT - 6000), 1
    )
    assert problems(topped)[0].startswith("actions[2]: with what follows from it, the amount ")


def test_a_finding_without_a_field_is_its_message() -> None:
    assert str(Finding("", "empty")) == "empty"
