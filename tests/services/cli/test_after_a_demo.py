"""A demo, and what the command line says of its log afterwards, also when somebody has been at it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from infra.embedded import EmbeddedServers
from tests.services.cli.conftest import Khrap, Said


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What the demo said, for the tests after it."""
    return {}


@pytest.fixture
def demo(khrap: Khrap, seen: dict[str, Any]) -> dict[str, Any]:
    """The summary of a demo of six hands, played once for this module."""
    if not seen:
        said = khrap("demo", "--hands", "6", "--players", "3", "--seed", "7", "--json")
        assert said.code == 0, said.err
        seen.update(said.json)
    return seen


@contextlib.contextmanager
def owner(home: Path) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the superuser, who can do what the service cannot."""
    with EmbeddedServers.start(home) as servers, psycopg.connect(servers.postgres_url, autocommit=True) as connection:
        yield connection


def hand_id(home: Path) -> str:
    with owner(home) as connection:
        row = connection.execute("select hand_id::text from hands_v1.hand order by started_ms desc limit 1").fetchone()
    assert row is not None
    return str(row[0])


def test_the_demo_accounts_for_every_unit(demo: dict[str, Any]) -> None:
    assert list(demo) == [
        "hands",
        "events",
        "deposited",
        "in_accounts",
        "in_purses",
        "in_banks",
        "commission",
        "players",
        "trial_balance",
        "ledger_mismatches",
        "chain",
        "seconds",
    ]
    assert (demo["hands"], demo["chain"], demo["trial_balance"], demo["ledger_mismatches"]) == (6, "intact", 0, 0)
    assert demo["deposited"] == sum(demo[k] for k in ("in_accounts", "in_purses", "in_banks", "commission")) > 0
    assert sum(p["account"] for p in demo["players"]) == demo["in_accounts"]
    assert demo["in_purses"] == demo["in_banks"] == 0  # the table is closed
    assert demo["events"] > 6 * 10


def test_a_second_demo_goes_on_in_the_same_log_and_tells_its_last_hand(khrap: Khrap, demo: dict[str, Any]) -> None:
    said = khrap("demo", "--hands", "2", "--players", "2", "--game", "frap")
    assert said.code == 0, said.err
    for text in ("The last hand", "dealer", "trump", "says", "The players, after 2 hands", "every unit is somewhere"):
        assert text in said.out
    assert any(suit in said.out for suit in "♠♥♦♣")
    assert "chain is intact" in said.out
    assert "khrap hand show" in said.out


def test_the_books_can_be_looked_into(khrap: Khrap, demo: dict[str, Any]) -> None:
    trial = khrap("ledger", "trial-balance", "--json")
    assert (trial.code, trial.json["zero"], trial.json["sums"]) == (0, True, {"RUB": 0})
    player = demo["players"][0]
    statement = khrap("ledger", "statement", f"player:{player['id']}", "--json").json
    assert statement["lines"][-1]["balance"] == player["account"]
    assert statement["lines"][0]["other"] == "cash"
    assert khrap("ledger", "reconcile").code == 0
    assert "cash" in khrap("ledger", "statement", f"player:{player['id']}").out


def test_a_hand_is_exported_checked_and_told(khrap: Khrap, demo: dict[str, Any], home: Path, tmp_path: Path) -> None:
    hand = hand_id(home)
    whole, redacted = tmp_path / "whole.json", tmp_path / "public.json"
    assert khrap("hand", "export", hand, "--output", str(whole), "--reason", "a test").code == 0
    assert khrap("hand", "export", hand, "--view", "public", "--output", str(redacted), "--reason", "a test").code == 0
    assert khrap("hand", "check", str(whole)).code == 0
    assert "not checked" in khrap("hand", "check", str(redacted)).out
    assert khrap("hand", "show", hand, "--reason", "a test").out == khrap("hand", "show", str(whole)).out
    assert khrap("hand", "show", "018f0000-0000-7000-8000-000000000001", "--reason", "a test").code == 2
    assert khrap("hand", "export", hand, "--view", "queen", "--reason", "a test").code == 2


def test_every_look_at_a_hand_is_recorded(khrap: Khrap, demo: dict[str, Any], home: Path) -> None:
    hand = hand_id(home)
    assert khrap("hand", "show", hand, "--reason", "a test of looks").code == 0
    with owner(home) as connection:
        row = connection.execute(
            "select convert_from(body, 'UTF8')::jsonb from store.event where stream_id = 'audit-access' "
            "order by seq desc limit 1"
        ).fetchone()
    assert row is not None
    assert (row[0]["hand_id"], row[0]["reason"], row[0]["what"]) == (hand, "a test of looks", "view")


def test_one_changed_byte_is_named_by_audit_verify(khrap: Khrap, demo: dict[str, Any], home: Path) -> None:
    with owner(home) as connection:
        found = connection.execute(
            "select part, pos, stream_id, seq, body from store.event where type = 'deposited' order by part limit 1"
        ).fetchone()
        assert found is not None
        part, pos, stream, seq, body = found
        _write(connection, part, pos, bytes(body[:-1]) + b" ")
        try:
            said = khrap("audit", "verify")
            as_json = khrap("audit", "verify", "--json")
        finally:
            _write(connection, part, pos, body)
    assert said.code == 1
    assert f"part {part} position {pos}, {stream} event {seq}: the hash does not fit" in said.out
    assert as_json.json["chain"].startswith("broken: ")
    assert khrap("audit", "verify").code == 0


def _write(connection: psycopg.Connection[Any], part: int, pos: int, body: bytes) -> None:
    connection.execute("update store.event set body = %s where part = %s and pos = %s", (body, part, pos))


def test_one_changed_posting_is_named_by_reconcile(khrap: Khrap, demo: dict[str, Any], home: Path) -> None:
    change = "update ledger_v1.entry set amount = amount + %s where (part, pos, n) = (%s, %s, %s)"
    with owner(home) as connection:
        found = connection.execute(
            "select part, pos, n, credit from ledger_v1.entry where debit = 'cash' order by part, pos limit 1"
        ).fetchone()
        assert found is not None
        part, pos, n, credit = found
        connection.execute(change, (1, part, pos, n))
        try:
            said: Said = khrap("ledger", "reconcile")
        finally:
            connection.execute(change, (-1, part, pos, n))
    assert said.code == 1
    assert credit in said.out
    assert f"part {part}, position {pos}" in said.out
    assert khrap("ledger", "reconcile").code == 0


def test_a_checkpoint_that_was_kept_finds_an_end_that_was_cut_off(
    khrap: Khrap, demo: dict[str, Any], home: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    sealed = khrap("audit", "seal", "--json").json["checkpoint"]
    assert "nothing new since checkpoint" in khrap("audit", "seal").out
    assert khrap("audit", "key").out == sealed["key"] + "\n"
    assert khrap("audit", "checkpoints", "--out", str(kept)).code == 0
    assert khrap("audit", "checkpoints").out == kept.read_text()
    said = khrap("audit", "verify", "--checkpoint", str(kept), "--json")
    assert (said.code, said.json["chain"], said.json["sealed"]) == (0, "intact", said.json["events"])
    with owner(home) as connection:
        connection.execute("create table public.kept as select * from store.checkpoint")
        connection.execute("delete from store.checkpoint")
        try:
            assert khrap("audit", "verify").code == 0
            said = khrap("audit", "verify", "--checkpoint", str(kept))
        finally:
            connection.execute("insert into store.checkpoint select * from public.kept")
            connection.execute("drop table public.kept")
    assert said.code == 1
    assert f"checkpoint {sealed['number']}: it is gone; one was kept, whose hash is {sealed['hash']}" in said.out
    assert khrap("audit", "verify", "--checkpoint", str(kept)).code == 0


def test_a_file_that_holds_no_checkpoint_is_told(khrap: Khrap, demo: dict[str, Any], tmp_path: Path) -> None:
    for content in ("", "{}", '{"format": "khrap-checkpoint/1"}'):
        (tmp_path / "kept.json").write_text(content)
        said = khrap("audit", "verify", "--checkpoint", str(tmp_path / "kept.json"))
        assert said.code == 2
        assert said.err.startswith(f"error: {tmp_path}/kept.json: ")
    assert khrap("audit", "verify", "--checkpoint", str(tmp_path / "missing.json")).code == 2


def test_that_the_log_only_grew_is_proven_to_who_kept_a_checkpoint(
    khrap: Khrap, demo: dict[str, Any], tmp_path: Path
) -> None:
    kept, proof = tmp_path / "kept.json", tmp_path / "growth.json"
    assert khrap("audit", "seal").code == 0
    assert khrap("audit", "checkpoints", "--out", str(kept)).code == 0
    assert khrap("audit", "consistency", "1", "--out", str(proof)).code == 0
    said = khrap("audit", "check-consistency", str(proof), "--kept", str(kept))
    assert (said.code, said.out.splitlines()[-1]) == (0, "all is right")
    assert khrap("audit", "check-consistency", str(proof)).code == 3
    assert khrap("audit", "check-consistency", str(proof), "--kept", str(kept), "--key", "00" * 32).code == 1
    as_json = khrap("audit", "check-consistency", str(proof), "--kept", str(kept), "--json").json
    assert {each["state"] for each in as_json["checks"]} == {"ok"}
    said = khrap("audit", "consistency", "9999")
    assert (said.code, said.err) == (2, "error: there is no checkpoint 9999\n")


def test_a_hand_is_taken_out_as_evidence_and_checked(
    khrap: Khrap, demo: dict[str, Any], home: Path, tmp_path: Path
) -> None:
    hand, bundle = hand_id(home), tmp_path / "bundle.json"
    assert khrap("audit", "bundle", hand, "--out", str(bundle), "--reason", "a test of bundles").code == 0
    said = khrap("audit", "check-bundle", str(bundle))
    assert (said.code, said.out.splitlines()[-1]) == (0, "all is right")
    as_json = khrap("audit", "check-bundle", str(bundle), "--json").json
    assert {each["state"] for each in as_json["checks"]} == {"ok"}
    assert khrap("audit", "check-bundle", str(bundle), "--key", "00" * 32).code == 1
    (tmp_path / "key.json").write_text(khrap("audit", "key", "--json").out)
    assert khrap("audit", "check-bundle", str(bundle), "--key", str(tmp_path / "key.json")).code == 0
    with owner(home) as connection:
        row = connection.execute(
            "select convert_from(body, 'UTF8')::jsonb from store.event where stream_id = 'audit-access' "
            "order by seq desc limit 1"
        ).fetchone()
    assert row is not None
    assert (row[0]["hand_id"], row[0]["reason"], row[0]["what"]) == (hand, "a test of bundles", "bundle")
    bundle.write_text(bundle.read_text().replace('"hand_key":"', '"hand_key":"0', 1))
    assert khrap("audit", "check-bundle", str(bundle)).code == 1
    assert khrap("audit", "check-bundle", str(tmp_path / "missing.json")).code == 2
    assert khrap("audit", "bundle", "018f0000-0000-7000-8000-000000000001", "--reason", "a test").code == 2
    assert khrap("audit", "bundle", "nothing", "--reason", "a test").code == 2
