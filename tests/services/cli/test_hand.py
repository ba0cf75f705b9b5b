"""`khrap hand check` and `show` on files: what is compared, what is named, and the exit code."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from domain.handfile import from_events, parse, redact, to_json
from services.cli.exits import CANNOT, FAILS, HOLDS
from services.cli.hand import check_files, show, show_file
from tests.domain.hands import events_of, random_hand

VECTORS = Path(__file__).parents[2] / "vectors"


@pytest.fixture(scope="module")
def hands() -> list[dict[str, Any]]:
    """Forty exported hands as JSON objects."""
    files = [from_events(events_of(random_hand(seed))) for seed in range(40)]
    return [{"name": f"hand {i}"} | json.loads(to_json(file)) for i, file in enumerate(files)]


def lines_of(hands: list[dict[str, Any]]) -> bytes:
    """The hands as JSON lines."""
    return b"".join(json.dumps(hand).encode() + b"\n" for hand in hands)


def checked(capsys: pytest.CaptureFixture[str], *paths: Path) -> tuple[int, dict[str, Any]]:
    """The exit code of a check, and its JSON."""
    code = check_files([str(path) for path in paths], as_json=True)
    return code, json.loads(capsys.readouterr().out)


def test_the_vectors_all_hold(capsys: pytest.CaptureFixture[str]) -> None:
    paths = sorted(VECTORS.glob("*.json"))
    code, summary = checked(capsys, *paths)
    assert code == HOLDS
    assert (summary["hands"], summary["held"], summary["shuffle_files"]) == (161, 161, 1)
    assert (summary["results"], summary["refusals"], summary["nothing_compared"]) == (100, 61, 0)
    assert check_files([str(VECTORS / "khrap.json")]) == HOLDS
    assert "60 hands in " in (said := capsys.readouterr().out)
    assert "38 results and 22 refusals compared; all hold" in said


def test_one_wrong_figure_is_named_with_its_hand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, hands: list[dict[str, Any]]
) -> None:
    wrong = json.loads(json.dumps(hands))
    before = wrong[16]["result"]["players"][1]["purse"]
    wrong[16]["result"]["players"][1]["purse"] += 1
    path = tmp_path / "hands.jsonl"
    path.write_bytes(lines_of(wrong))
    assert check_files([str(path)]) == FAILS
    said = capsys.readouterr().out.splitlines()
    says = f"result.players[1].purse: {before + 1} in the file, {before} by the rules"
    assert said[0] == f"{path} line 17 (hand 16): {says}"
    assert said[1].startswith("40 hands in ")
    assert said[1].endswith("; 1 does not hold")


@pytest.mark.parametrize("shape", ["one", "array", "lines", "packed"])
def test_hands_come_alone_in_an_array_in_lines_or_packed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, hands: list[dict[str, Any]], shape: str
) -> None:
    path = tmp_path / "hands"
    data = {
        "one": json.dumps(hands[0], indent=2).encode(),
        "array": json.dumps(hands).encode(),
        "lines": lines_of(hands),
        "packed": gzip.compress(lines_of(hands)),
    }[shape]
    path.write_bytes(data)
    code, summary = checked(capsys, path)
    assert code == HOLDS
    assert summary["hands"] == summary["held"] == (1 if shape == "one" else 40)


def test_a_broken_line_fails_and_the_others_are_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, hands: list[dict[str, Any]]
) -> None:
    path = tmp_path / "hands.jsonl"
    path.write_bytes(lines_of(hands[:2]) + b'{"format": \n' + lines_of(hands[2:]))
    code, summary = checked(capsys, path)
    assert code == FAILS
    assert (summary["hands"], summary["held"]) == (41, 40)
    (problem,) = summary["problems"]
    assert (problem["where"], problem["field"]) == ("line 3", "")
    assert problem["message"].startswith("not a JSON object")


def test_a_redacted_hand_holds_and_what_was_not_checked_is_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, hands: list[dict[str, Any]]
) -> None:
    path = tmp_path / "hand.json"
    path.write_bytes(to_json(redact(parse(json.dumps(hands[3]).encode()), "public")))
    assert check_files([str(path)]) == HOLDS
    said = capsys.readouterr().out
    assert f"{path} (hand 3): not checked: deals[0]: " in said
    code, summary = checked(capsys, path)
    assert code == HOLDS
    assert summary["unchecked"][0]["field"] == "deals[0]"


@pytest.mark.parametrize(
    ("data", "code"),
    [(None, CANNOT), (b"\x1f\x8bnot gzip", CANNOT), (b"", FAILS), (b"[]", FAILS), (b"hello", FAILS), (b"\xff", FAILS)],
)
def test_what_is_no_hand_file_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes | None, code: int
) -> None:
    path = tmp_path / "hand.json"
    if data is not None:
        path.write_bytes(data)
    assert check_files([str(path)]) == code
    told = capsys.readouterr()
    assert str(path) in told.out + told.err
    assert show_file(str(path)) == code
    assert str(path) in capsys.readouterr().err


def test_a_failing_hand_outweighs_a_file_that_is_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, hands: list[dict[str, Any]]
) -> None:
    wrong = hands[0] | {"dealer": 99}
    path = tmp_path / "hand.json"
    path.write_text(json.dumps(wrong))
    code, summary = checked(capsys, tmp_path / "missing", path)
    assert code == FAILS
    assert list(summary["unreadable"]) == [str(tmp_path / "missing")]
    assert summary["problems"][0]["field"] == "dealer"


def test_a_wrong_deck_in_the_vectors_of_the_shuffle_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    whole = json.loads((VECTORS / "shuffle.json").read_bytes())
    deck = whole["vectors"][1]["deals"][0]["decks"]["36"]
    deck[0], deck[1] = deck[1], deck[0]
    path = tmp_path / "shuffle.json"
    path.write_text(json.dumps(whole))
    code, summary = checked(capsys, path)
    assert code == FAILS
    assert [p["field"] for p in summary["problems"]] == ["vectors[1].deals[0].decks.36"]


def test_a_hand_is_shown_card_by_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_file(str(VECTORS / "khrap.json")) == HOLDS
    said = capsys.readouterr().out
    assert "khrap, stake 20.00 RUB" in said
    for line in (
        "trump     6♠, circle 1",
        "says      anna: khrap",
        "discards  vera: 8♠ 7♠",
        "plays     anna: A♠",
        "trick     1 to anna",
        "fine      anna: 160.00 due, 160.00 paid",
        "ends      played",
        "refused   seat 0: khrap, it is the turn of seat 1, not of seat 0 (K3)",
    ):
        assert f"  {line}\n" in said, line


def test_a_shown_name_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    text = (VECTORS / "khrap.json").read_text().replace('"anna"', '"\\u001b[2J[red]anna"').encode()
    hand = json.dumps(json.loads(text)[0]).encode()
    assert show(parse(hand)) == HOLDS
    said = capsys.readouterr().out
    assert "\x1b[2J" not in said
    assert "\ufffd[2J[red]anna: khrap" in said


def test_a_hand_that_breaks_the_rules_is_shown_as_far_as_it_goes(
    capsys: pytest.CaptureFixture[str], hands: list[dict[str, Any]]
) -> None:
    broken = hands[0] | {"actions": [*hands[0]["actions"][:2], {"seat": 99, "do": "pass"}]}
    assert show(parse(json.dumps(broken).encode())) == FAILS
    told = capsys.readouterr()
    assert "trump" in told.out
    assert told.err.startswith("error: actions[2]: not_in_hand (T4)")
    assert show(parse(json.dumps(broken).encode()), as_json=True) == FAILS
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["steps"]) == 3
    assert shown["broken"].startswith("actions[2]")
