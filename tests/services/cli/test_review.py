"""R from the command line: a dispute from its opening to its erasure, who looked, and the reports."""

from __future__ import annotations

import csv
import getpass
import io
from collections.abc import Callable
from pathlib import Path
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
    return lambda name: monkeypatch.setattr(getpass, "getuser", lambda: name)


def test_r4_r6_a_dispute_from_the_opening_to_the_erasure(
    khrap: Khrap, hand: dict[str, Any], as_user: Callable[[str], None]
) -> None:
    as_user("rita")
    opened = khrap("dispute", "open", hand["hand_id"], "--text", "The third trick looks wrong.", "--json")
    assert opened.code == 0, opened.err
    dispute = opened.json["dispute_id"]
    assert khrap("dispute", "note", dispute, "--text", "A look at the file.").code == 0
    assert khrap("dispute", "verdict", dispute, "upheld", "--text", "It was.").out == f"dispute {dispute}: judged\n"
    player = hand["players"][0]
    before = khrap("ledger", "statement", f"player:{player}", "--json").json["lines"][-1]["balance"]
    proposed = khrap("dispute", "compensate", dispute, player, "1234", "--text", "For the trick.", "--json")
    assert proposed.json["proposal"] == 1
    alone = khrap("dispute", "approve", dispute, "1")
    assert alone.code == 2
    assert "another reviewer must approve (R4)" in alone.err
    as_user("roman")
    assert khrap("dispute", "approve", dispute, "1").code == 0
    line = khrap("ledger", "statement", f"player:{player}", "--json").json["lines"][-1]
    assert (line["other"], line["change"], line["balance"]) == ("house:compensation", 1234, before + 1234)
    assert khrap("ledger", "reconcile").code == 0
    assert "(R5)" in khrap("dispute", "preview", dispute).err
    nothing = khrap("dispute", "correct", dispute, "--text", "x")
    assert (nothing.code, "(R5)" in nothing.err) == (2, True)
    as_user(player)
    own = khrap("dispute", "close", dispute)
    assert (own.code, "(R2)" in own.err) == (2, True)
    as_user("roman")
    assert khrap("audit", "erase", dispute, "--ground", "request").code == 2
    assert khrap("dispute", "close", dispute).code == 0
    shown = khrap("dispute", "show", dispute)
    assert "The third trick looks wrong." in shown.out
    (listed,) = [d for d in khrap("dispute", "list", "--json").json["disputes"] if d["dispute_id"] == dispute]
    assert (listed["phase"], listed["outcome"], listed["paid"]) == ("closed", "upheld", 1234)
    assert khrap("audit", "erase", dispute, "--ground", "request").out == f"the texts of dispute {dispute} are erased\n"
    erased = khrap("dispute", "show", dispute)
    assert "trick" not in erased.out
    assert "(erased)" in erased.out
    assert khrap("audit", "verify").code == 0
    assert khrap("dispute", "list", "--phase", "open").code == 0


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
