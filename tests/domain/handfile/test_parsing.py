"""H1 to H7: what is wrong with a file is named by its field, with what would be right."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from domain.handfile import HandFileError, parse
from domain.money import MAX_AMOUNT
from domain.options import FrapOptions, KhrapOptions
from tests.domain.handfile.samples import DREW, PLAYED, REFUSED, REMOVED, SHUFFLED, VOIDED, changed

DECK = PLAYED["deals"][0]


def refusal(data: bytes) -> HandFileError:
    """The error that `parse` raises."""
    with pytest.raises(HandFileError) as raised:
        parse(data)
    return raised.value


WRONG: list[tuple[dict[str, Any], str, Any, str, str]] = [
    # hand, path, value, field named by the error, what the error says
    (PLAYED, "format", REMOVED, "format", "missing"),
    (PLAYED, "format", "khrap-hand/2", "format", "'khrap-hand/2' is not right; it must be 'khrap-hand/1'"),
    (PLAYED, "game", "whist", "game", "'whist' is not right; it must be 'frap' or 'khrap' or 'khrap5'"),
    (PLAYED, "rules", 2, "rules", "2 is not right; it must be 1"),
    (PLAYED, "stake", REMOVED, "stake", "missing"),
    (PLAYED, "stake", 2000.0, "stake", "expected int, got float"),
    (PLAYED, "stake", "2000", "stake", "expected int, got str"),
    (PLAYED, "stake", True, "stake", "expected int, got bool"),
    (PLAYED, "stake", None, "stake", "expected int, got null"),
    (PLAYED, "stake", -1, "stake", "expected int >= 0"),
    (PLAYED, "stake", MAX_AMOUNT + 1, "stake", f"expected int <= {MAX_AMOUNT}"),
    (PLAYED, "carried_bank", 2**64, "carried_bank", f"expected int <= {MAX_AMOUNT}"),
    (PLAYED, "carried_bank", 10**30, "carried_bank", f"expected int <= {MAX_AMOUNT}"),
    (PLAYED, "carried_bank", 10**4000, "carried_bank", f"expected int <= {MAX_AMOUNT}"),
    (PLAYED, "commission_bps", 10_001, "commission_bps", "expected int <= 10000"),
    (PLAYED, "commission_bps", None, "commission_bps", "expected int, got null"),
    (PLAYED, "currency", "", "currency", "expected str of length >= 1"),
    (PLAYED, "bets", 1, "bets", "unknown field; known are format, game, currency, stake"),
    (PLAYED, "seats[1].colour", 1, "seats[1].colour", "unknown field; known are seat, player, purse"),
    (PLAYED, "seats[1].purse", REMOVED, "seats[1].purse", "missing"),
    (PLAYED, "seats[1].purse", -5, "seats[1].purse", "expected int >= 0"),
    (PLAYED, "seats[1].purse", 1999, "seats[1].purse", "1999 is below the stake of 2000"),
    (PLAYED, "seats[1].player", "", "seats[1].player", "expected str of length >= 1"),
    (PLAYED, "seats[1].seat", 0, "seats[1].seat", "0 after 0; seats are ascending"),
    (PLAYED, "seats[3].seat", 1, "seats[3].seat", "1 after 2; seats are ascending"),
    (PLAYED, "seats", PLAYED["seats"][:1], "seats", "1 players; khrap has 2 to 5"),
    (PLAYED, "dealer", 4, "dealer", "seat 4 is not dealt in; dealt in are 0, 1, 2, 3"),
    (PLAYED, "options.max_deals", 0, "options.max_deals", "expected int >= 1"),
    (PLAYED, "options.max_deals", 65, "options.max_deals", "expected int <= 64"),
    (PLAYED, "options.max_trump_changes", 1, "options.max_trump_changes", "1 is not right; it must be 2 or 3"),
    (PLAYED, "options.draw_limit", "all", "options.draw_limit", "'all' is not right; it must be 'one_each' or 'stock'"),
    (PLAYED, "options.redeal_ante", 0, "options.redeal_ante", "expected bool, got int"),
    (PLAYED, "options.helicopter_limit", -1, "options.helicopter_limit", "expected int >= 0"),
    (PLAYED, "options.deck", 36, "options.deck", "unknown field; known are ante_policy, redeal_ante"),
    (PLAYED, "options.game", "khrap", "options.game", "no option of khrap"),
    (PLAYED, "options", None, "options", "expected object, got null"),
    (
        DREW,
        "options.draw_limit",
        "stock",
        "options.draw_limit",
        "unknown field; known are ante_policy, deck, max_deals",
    ),
    (DREW, "options.deck", None, "options.deck", "null; leave it out for the default"),
    (DREW, "options.deck", 32, "options.deck", "32 is not right; it must be 36 or 52"),
    (PLAYED, "deals[0][3]", "As", "deals[0][3]", "As a second time; it stands at [0] already"),
    (PLAYED, "deals[0][3]", "2s", "deals[0][3]", "2s is not in a deck of 36"),
    (PLAYED, "deals[0][3]", "10s", "deals[0][3]", "'10s' is no card"),
    (PLAYED, "deals[0][3]", "As\n", "deals[0][3]", "'As\\n' is no card"),
    (PLAYED, "deals[0][3]", None, "deals[0][3]", "null, which only a file with a `view` may hold"),
    (PLAYED, "deals[0][3]", 7, "deals[0][3]", "expected str | null, got int"),
    (PLAYED, "deals[0][35]", REMOVED, "deals[0]", "35 cards, where the deck has 36; missing: Ac"),
    (PLAYED, "deals[0][36]", "As", "deals[0][36]", "As a second time"),
    (PLAYED, "deals", "As", "deals", "expected array, got str"),
    (DREW, "deals[0][3]", "6s", "deals[0][3]", "6s is not in a deck of 32"),
    (PLAYED, "actions[1].do", "fold", "actions[1].do", "'fold' is not right; it must be 'ace' or"),
    (PLAYED, "actions[1].do", REMOVED, "actions[1].do", "missing"),
    (PLAYED, "actions[1].seat", -1, "actions[1].seat", "expected int >= 0"),
    (PLAYED, "actions[1].by", "server", "actions[1].by", "'server' is not right; it must be 'clock' or 'player'"),
    (PLAYED, "actions[1].at", 5, "actions[1].at", "unknown field; known are seat, do, cards, card, by"),
    (PLAYED, "actions[1].card", "As", "actions[1].card", "'help' takes no cards"),
    (PLAYED, "actions[5].cards", REMOVED, "actions[5].cards", "missing; 'discard' takes it"),
    (PLAYED, "actions[5].cards", None, "actions[5].cards", "expected array, got null"),
    (PLAYED, "actions[5].cards[1]", None, "actions[5].cards[1]", "null, which only a file with a `view` may hold"),
    (PLAYED, "actions[5].cards[1]", "Zz", "actions[5].cards[1]", "'Zz' is no card"),
    (PLAYED, "actions[5].card", "As", "actions[5].card", "'discard' takes `cards`"),
    (PLAYED, "actions[7].card", REMOVED, "actions[7].card", "missing; 'play' takes it"),
    (PLAYED, "actions[7].card", None, "actions[7].card", "expected str, got null"),
    (PLAYED, "actions[7].card", "", "actions[7].card", "'' is no card"),
    (PLAYED, "actions[7].cards", [], "actions[7].cards", "'play' takes `card`"),
    (PLAYED, "result.bank", -1, "result.bank", "expected int >= 0"),
    (PLAYED, "result.bank", 8000.0, "result.bank", "expected int, got float"),
    (PLAYED, "result.rake", 1, "result.rake", "unknown field; known are ending, bank, carried_bank"),
    (PLAYED, "result.ending", "over", "result.ending", "'over' is not right; it must be 'four_aces' or"),
    (PLAYED, "result.players[2].fine_due", REMOVED, "result.players[2].fine_due", "missing"),
    (PLAYED, "result.players[2].status", "out", "result.players[2].status", "'out' is not right; it must be 'ace' or"),
    (PLAYED, "result.players[2].purse", MAX_AMOUNT + 1, "result.players[2].purse", f"expected int <= {MAX_AMOUNT}"),
    (PLAYED, "result", None, "result", "expected object, got null"),
    (PLAYED, "refusal", {"code": "hand_over", "clause": "H3"}, "refusal", "beside a `result`"),
    (REFUSED, "refusal.code", "stale_turn", "refusal.code", "'stale_turn' is not right; it must be 'card_not_held' or"),
    (REFUSED, "refusal.clause", REMOVED, "refusal.clause", "missing"),
    (REFUSED, "refusal.detail", "", "refusal.detail", "unknown field; known are code, clause"),
    (REFUSED, "actions", [], "refusal", "there is no action that could be refused"),
    (REFUSED, "void", {"reason": "x"}, "refusal", "beside `void`"),
    (VOIDED, "void", {}, "void.reason", "missing"),
    (VOIDED, "void.by", "x", "void.by", "unknown field; known are reason"),
    (PLAYED, "view", 4, "view", "seat 4 is not dealt in"),
    (PLAYED, "view", "all", "view", "'all' is not right; it must be 'public'"),
    (PLAYED, "view", -1, "view", "expected int >= 0"),
    (SHUFFLED, "shuffle.server_seed", "00", "shuffle.server_seed", "'00' is not 32 bytes in hex"),
    (SHUFFLED, "shuffle.server_seed", "zz" * 32, "shuffle.server_seed", "is not 32 bytes in hex"),
    (SHUFFLED, "shuffle.server_seed", None, "shuffle.server_seed", "null, which only a file with a `view` may hold"),
    (SHUFFLED, "shuffle.hand_id", "018f", "shuffle.hand_id", "is not 16 bytes in hex"),
    (SHUFFLED, "shuffle.hand_id", "018f-0000000070008000000000000002", "shuffle.hand_id", "is not 16 bytes in hex"),
    (SHUFFLED, "shuffle.commitment", "ab", "shuffle.commitment", "'ab' is not 32 bytes in hex"),
    (SHUFFLED, "shuffle.client_seeds", ["", ""], "shuffle.client_seeds", "2 seeds for 3 players"),
    (SHUFFLED, "shuffle.client_seeds[1]", "abc", "shuffle.client_seeds[1]", "'abc' is not 0 to 64 bytes in hex"),
    (SHUFFLED, "shuffle.client_seeds[1]", "ab" * 65, "shuffle.client_seeds[1]", "is not 0 to 64 bytes in hex"),
    (SHUFFLED, "shuffle.commitment", REMOVED, "shuffle.commitment", "missing"),
]


@pytest.mark.parametrize(
    ("hand", "path", "value", "field", "says"), WRONG, ids=[f"{path}={value!r:.20}" for _, path, value, *_ in WRONG]
)
def test_h5_a_wrong_field_is_named(hand: dict[str, Any], path: str, value: Any, field: str, says: str) -> None:
    error = refusal(changed(hand, path, value))
    assert error.field == field
    assert says in error.message
    assert str(error) == f"{field}: {error.message}"


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ('"stake": 2000', '"stake": 2000, "stake": 2001', "stake"),
        ('"stake": 2000', '"stake": 2000, "\\u0073take": 2000', "stake"),
        ('"purse": 100000}', '"purse": 100000, "purse": 1}', "seats[0].purse"),
        ('"max_deals": 8', '"max_deals": 8, "max_deals": 9', "options.max_deals"),
        ('"name": "x"', '"name": {"a": 1, "a": 2}', "name.a"),
    ],
)
def test_h5_a_key_that_stands_twice_is_named(before: str, after: str, field: str) -> None:
    hand = json.loads(changed(PLAYED, "name", "x"))
    hand["options"]["max_deals"] = 8
    text = json.dumps(hand)
    assert before in text
    error = refusal(text.replace(before, after, 1).encode())
    assert (error.field, error.message) == (field, "stands twice; a field is given once")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"{} {}", b'{"stake": NaN}', b"[" * 100_000,
        b'{"name": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"name": "\xff"}',
    ],
    ids=repr,
)  # fmt: skip
def test_h5_what_is_no_json_object_is_refused(data: bytes) -> None:
    refusal(data[:200] if len(data) > 1000 and data[:1] == b"x" else data)


def test_h5_a_number_in_an_ignored_field_may_be_of_any_length() -> None:
    text = changed(PLAYED, "clauses", "N").replace(b'"N"', b"1" * 10_000)
    assert parse(text) == parse(changed(PLAYED, "clauses", REMOVED))


def test_h1_what_may_be_left_out_has_its_default() -> None:
    hand = changed(PLAYED, "options", REMOVED)
    assert parse(hand).options == KhrapOptions()
    assert parse(changed(DREW, "options", {})).options == FrapOptions()
    assert parse(changed(PLAYED, "commission_bps", REMOVED)).commission_bps == 400
    assert parse(changed(DREW, "commission_bps", REMOVED)).commission_bps == 0
    assert parse(changed(PLAYED, "result", REMOVED)).result is None
    assert parse(hand).rules == 1
    assert {action.by for action in parse(hand).actions} == {"player"}


@pytest.mark.parametrize(
    "field", ["format", "game", "currency", "stake", "seats", "dealer", "carried_bank", "deals", "actions"]
)
def test_h1_what_may_not_be_left_out_is_missed(field: str) -> None:
    assert refusal(changed(PLAYED, field, REMOVED)).field == field


def test_h1_the_limits_of_the_service_do_not_bind_a_file() -> None:
    """T1's limits and the service's forms of ids: a seat past five, any name, amounts up to 2^63 - 1."""
    assert parse(changed(PLAYED, "seats[3].seat", 17).replace(b'"dealer": 3', b'"dealer": 17')).seats[3].seat == 17
    assert parse(changed(PLAYED, "seats[0].player", "Анна Ивановна 🂡")).seats[0].player == "Анна Ивановна 🂡"
    assert parse(changed(PLAYED, "seats[0].purse", MAX_AMOUNT)).seats[0].purse == MAX_AMOUNT
    assert parse(changed(PLAYED, "currency", "кредиты")).currency == "кредиты"


@pytest.mark.parametrize(
    "hand_id", ["018f0000000070008000000000000002", "018f0000-0000-7000-8000-000000000002", "F" * 32]
)
def test_h1_a_hand_id_is_any_16_bytes(hand_id: str) -> None:
    shuffle = parse(changed(SHUFFLED, "shuffle.hand_id", hand_id)).shuffle
    assert shuffle is not None
    assert shuffle.hand_id == hand_id


def test_h5_name_and_clauses_are_ignored_whatever_they_are() -> None:
    plain = parse(changed(PLAYED, "name", REMOVED))
    assert plain.name == ""
    assert parse(changed(PLAYED, "name", None)) == plain
    assert parse(changed(PLAYED, "name", 5)) == plain
    assert parse(changed(PLAYED, "clauses", {"any": "thing"})).name == PLAYED["name"]


def test_h7_a_view_may_hold_nulls() -> None:
    file = parse(re.sub(rb'"Kc"', b"null", changed(PLAYED, "view", "public")))
    assert file.view == "public"
    assert None in file.deals[0]
    assert parse(changed(PLAYED, "view", 0)).view == 0
