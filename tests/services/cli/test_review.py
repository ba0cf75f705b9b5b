"""R from the command line: a dispute from its opening to its erasure, who looked, and the reports."""

from __future__ import annotations

import csv
import io
import os
import pwd
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from infra.embedded import EmbeddedServers
from tests.services.cli.conftest import Khrap


@pytest.fixture(scope="module")
def played() -> dict[str, Any]:
    """The hand of the demo that this module played, once it did."""
    return {}


@pytest.fixture
def hand(khrap: Khrap, home: Path, played: dict[str, Any]) -> dict[str, Any]:
    """A settled hand: its id, and who was dealt in."""
    if not played:
        said = khrap("demo", "--hands", "8", "--players", "3", "--seed", "11", "--json")
        assert said.code == 0, said.err
        with EmbeddedServers.start(home) as servers, psycopg.connect(servers.postgres_url) as connection:
            row = connection.execute(
                "select h.hand_id::text, array_agg(p.player) from hands_v1.hand h "
                "join hands_v1.hand_player p on p.hand_id = h.hand_id where h.ending <> 'voided' group by 1 limit 1"
            ).fetchone()
        assert row is not None
        played.update(hand_id=row[0], players=row[1])
    return played


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Be another user of this machine."""
    return lambda name: monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name=name))


def test_r4_r6_a_dispute_from_the_opening_to_its_close(
    khrap: Khrap, hand: dict[str, Any], as_user: Callable[[str], None]
) -> None:
    as_user("rita")
    opened = khrap("dispute", "open", hand["hand_id"], "--text", "The third trick looks wrong.", "--json")
    assert opened.code == 0, opened.err
    dispute = opened.json["dispute_id"]
    assert khrap("dispute", "note", dispute, "--text", "A look at the file.").code == 0
    assert khrap("dispute", "verdict", dispute, "upheld", "--text", "It was.").out == f"dispute {dispute}: judged\n"
    assert "(R5)" in khrap("dispute", "preview", dispute).err
    player = hand["players"][0]
    as_user(player)
    own = khrap("dispute", "close", dispute)
    assert (own.code, "(R2)" in own.err) == (2, True)
    assert "(R2)" in khrap("dispute", "show", dispute).err
    assert "(R7)" in khrap("dispute", "open", hand["hand_id"], "--text", "My own hand.").err
    as_user("roman")
    assert khrap("audit", "erase", dispute, "--ground", "request").code == 2
    assert khrap("dispute", "close", dispute).code == 0
    shown = khrap("dispute", "show", dispute)
    assert "The third trick looks wrong." in shown.out
    (listed,) = [d for d in khrap("dispute", "list", "--json").json["disputes"] if d["dispute_id"] == dispute]
    assert (listed["phase"], listed["outcome"], listed["opener"]) == ("closed", "upheld", "os-rita")
    early = khrap("audit", "erase", dispute, "--ground", "request")
    assert (early.code, "30 days after the dispute was closed" in early.err) == (2, True)
    as_user("rita")
    decided = khrap("audit", "erase", dispute, "--ground", "request")
    assert (decided.code, "another reviewer erases it (R6)" in decided.err) == (2, True)
    assert khrap("audit", "verify").code == 0
    assert khrap("dispute", "list", "--phase", "open").code == 0


@pytest.mark.parametrize("act", ["compensate", "correct", "approve"])
def test_r4_r5_money_is_moved_by_tokens_and_not_from_the_console(khrap: Khrap, act: str) -> None:
    assert khrap("dispute", act, "018f0000-0000-7000-8000-0000000000dd", "1").code == 2
    assert "with tokens of their own" in " ".join(khrap("dispute", "--help").out.replace("│", " ").split())


def test_r7_a_look_is_recorded_for_the_uid_whatever_the_environment_says(
    khrap: Khrap, hand: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert khrap("hand", "show", hand["hand_id"], "--reason", "under another name").code == 0
    looks = khrap("audit", "access", "--hand", hand["hand_id"], "--json").json["looks"]
    assert (looks[0]["person"], looks[0]["reason"]) == (f"os-{pwd.getpwuid(os.getuid()).pw_name}", "under another name")


LOOKS = (("hand", "show"), ("hand", "export"), ("audit", "bundle"))


@pytest.mark.parametrize("look", LOOKS)
def test_r7_a_look_needs_a_reason_that_says_something_and_is_refused_to_a_player_of_the_hand(
    khrap: Khrap, hand: dict[str, Any], as_user: Callable[[str], None], look: tuple[str, str]
) -> None:
    before = khrap("audit", "access", "--json").json
    for reason in ((), ("--reason", " "), ("--reason", "\u200b\u200b\u200b\u200b"), ("--reason", "two\nlines")):
        refused = khrap(*look, hand["hand_id"], *reason)
        assert (refused.code, refused.out, "--reason: say why" in refused.err) == (2, "", True)
    as_user(hand["players"][0])
    own = khrap(*look, hand["hand_id"], "--reason", "what had the others?")
    assert (own.code, own.out, "(R7)" in own.err) == (2, "", True)
    assert khrap("audit", "access", "--json").json == before


def test_a_file_with_a_hands_cards_is_for_its_owner_alone(khrap: Khrap, hand: dict[str, Any], tmp_path: Path) -> None:
    for command, option in ((("hand", "export"), "-o"), (("audit", "bundle"), "--out")):
        file = tmp_path / command[1]
        file.write_text("something longer than nothing " * 10_000)
        file.chmod(0o644)
        assert khrap(*command, hand["hand_id"], option, str(file), "--reason", "evidence").code == 0
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "something longer" not in file.read_text()


@pytest.mark.parametrize("page", ["//evil.example/", "/\\evil.example/", "https://evil.example/", "review", "/a b", ""])
def test_a_sign_in_link_opens_a_page_of_this_service_alone(khrap: Khrap, page: str) -> None:
    refused = khrap("token", "--subject", "anna", "--role", "player", "--link", "--page", page)
    assert (refused.code, refused.out, "--page" in refused.err) == (2, "", True)
    right = khrap("token", "--subject", "anna", "--role", "player", "--link", "--page", "/review")
    assert (right.code, "/review#code=" in right.out) == (0, True)


def test_no_token_speaks_for_a_user_of_the_console(khrap: Khrap) -> None:
    refused = khrap("token", "--subject", "os-rita", "--role", "compliance")
    assert (refused.code, refused.out, "os-" in refused.err) == (2, "", True)


def test_r7_looks_are_shown(khrap: Khrap, hand: dict[str, Any]) -> None:
    assert khrap("hand", "show", hand["hand_id"], "--reason", "dispute of the third trick").code == 0
    looks = khrap("audit", "access", "--hand", hand["hand_id"], "--json").json["looks"]
    assert (looks[0]["hand_id"], looks[0]["reason"]) == (hand["hand_id"], "dispute of the third trick")
    assert "dispute of the third trick" in khrap("audit", "access").out
    assert khrap("audit", "access", "--person", "nobody", "--json").json == {"looks": []}
    assert khrap("audit", "access", "--hand", "x").code == 2


def test_t10_commission_as_table_csv_and_json(khrap: Khrap, hand: dict[str, Any]) -> None:
    rows = khrap("report", "commission", "--json").json["rows"]
    taken = {k["kind"]: k["balance"] for k in khrap("ledger", "trial-balance", "--json").json["totals"]}
    assert sum(row["amount"] for row in rows) == taken["house:commission"] > 0
    text = khrap("report", "commission", "--csv").out
    read = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["amount"]) for row in read] == [row["amount"] for row in rows]
    assert {row["day"] for row in read} == {row["day"] for row in rows}
    assert "commission" not in khrap("report", "commission").err
    assert khrap("report", "commission", "--to", "2000-01-01", "--json").json == {"rows": []}


def test_t2_a_statement_for_a_period(khrap: Khrap, hand: dict[str, Any]) -> None:
    account = f"player:{hand['players'][0]}"
    whole = khrap("report", "statement", account, "--json").json
    assert whole["opening"] == 0
    assert whole["lines"][-1]["balance"] == sum(line["change"] for line in whole["lines"])
    later = khrap("report", "statement", account, "--from", "2999-01-01", "--json").json
    assert (later["opening"], later["lines"]) == (whole["lines"][-1]["balance"], [])
    assert khrap("report", "statement", account, "--csv").out.startswith('"at","other","clause"')
    assert "before" in khrap("report", "statement", account).out


@pytest.mark.parametrize("name", ["fines", "banks", "voids"])
def test_the_other_reports_have_their_columns(khrap: Khrap, hand: dict[str, Any], name: str) -> None:
    assert khrap("report", name).code == 0
    assert khrap("report", name, "--json").code == 0
    header = khrap("report", name, "--csv").out.splitlines()[0]
    assert header.split(",")[-1] in ('"uncovered"', '"amount"', '"players"')


def test_t12_signals_say_what_they_count(khrap: Khrap, hand: dict[str, Any]) -> None:
    said = khrap("report", "signals", "--json").json
    assert set(said["definitions"]) == {"pair", "dumped", "clock", "short_purse", "voided"}
    assert [s for s in said["signals"] if s["kind"] not in said["definitions"] or not s["rests_on"]] == []
    assert khrap("report", "signals", "--player", "nobody", "--json").json["signals"] == []
    assert khrap("report", "signals", "--csv").out.startswith('"kind","player","other"')
    assert khrap("report", "signals").code == 0
    unknown = khrap("report", "signals", "--kind", "luck")
    assert (unknown.code, "there are pair, dumped" in unknown.err) == (2, True)
