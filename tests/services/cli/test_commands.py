"""Commands on a log that is empty, and commands that are asked wrongly."""

import re
import subprocess
import sys
import time

import jwt
import pytest

from services.cli.entry import run
from tests.services.cli.conftest import Khrap


def test_an_empty_log_verifies(khrap: Khrap) -> None:
    said = khrap("audit", "verify", "--json")
    assert said.code == 0
    assert said.json == {
        "chain": "intact",
        "events": 0,
        "streams": 0,
        "checkpoints": 0,
        "sealed": 0,
        "kept": 0,
        "broken": [],
        "broken_checkpoints": [],
    }
    assert "the chain is intact" in khrap("audit", "verify").out


def test_empty_books_balance_and_reconcile(khrap: Khrap) -> None:
    said = khrap("ledger", "trial-balance", "--json")
    assert (said.code, said.json) == (0, {"totals": [], "sums": {}, "zero": True})
    said = khrap("ledger", "reconcile", "--json")
    assert (said.code, said.json["holds"], said.json["differences"]) == (0, True, [])


def test_the_database_says_how_it_stands(khrap: Khrap) -> None:
    assert khrap("db", "init").code == 0
    assert khrap("db", "migrate").out == "up to date, nothing to do\n"
    said = khrap("db", "status", "--json")
    assert said.code == 0
    assert {m["state"] for m in said.json["migrations"]} == {"applied"}
    assert (said.json["parts"], said.json["events"]) == (256, 0)


def test_the_number_of_parts_is_fixed(khrap: Khrap) -> None:
    assert khrap("db", "init", "--parts", "256").code == 0
    said = khrap("db", "init", "--parts", "16")
    assert said.code == 2
    assert said.err.startswith("error: this store has 256 parts")


def test_projections_are_there_and_nothing_waits(khrap: Khrap) -> None:
    assert khrap("ledger", "trial-balance").code == 0  # makes them
    said = khrap("projections", "status", "--json")
    assert said.code == 0
    assert {p["name"] for p in said.json["projections"]} >= {"ledger", "lobby", "hands", "players"}
    assert all(p["parked"] == [] for p in said.json["projections"])


def test_a_token_speaks_for_its_subject(khrap: Khrap) -> None:
    said = khrap("token", "--subject", "anna", "--role", "player", "--hours", "1")
    assert said.code == 0
    claims = jwt.decode(said.out.strip(), options={"verify_signature": False})
    assert (claims["sub"], claims["role"], claims["exp"] - claims["iat"]) == ("anna", "player", 3_600)
    assert khrap("token", "--subject", "anna", "--role", "player", "--json").json["subject"] == "anna"


def test_a_link_opens_a_page_and_its_code_is_behind_the_hash(khrap: Khrap, monkeypatch: pytest.MonkeyPatch) -> None:
    who = ("--subject", "carla", "--role", "compliance")
    monkeypatch.setenv("KHRAP_PORT", "8123")
    said = khrap("token", *who, "--link")
    assert said.code == 0
    before, _, code = said.out.strip().partition("#code=")
    assert before == "http://127.0.0.1:8123/"
    assert jwt.decode(code, options={"verify_signature": False})["sub"] == "carla"
    link = khrap("token", *who, "--link", "--page", "/hands/x#step=12", "--json").json["link"]
    assert link.startswith("http://127.0.0.1:8123/hands/x#step=12&code=")
    for host, shown in (("0.0.0.0", "127.0.0.1"), ("::", "127.0.0.1"), ("::1", "[::1]"), ("10.1.2.3", "10.1.2.3")):
        monkeypatch.setenv("KHRAP_HOST", host)
        assert khrap("token", *who, "--link").out.startswith(f"http://{shown}:8123/#code="), host
    monkeypatch.setenv("KHRAP_PORT", "0")
    assert "name the one that it took by --port" in khrap("token", *who, "--link").err
    assert khrap("token", *who, "--link", "--port", "8391").out.startswith("http://10.1.2.3:8391/#code=")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("token", "--subject", "Anna!", "--role", "player"), r"^error: the token's `sub`"),
        (("token", "--subject", "anna", "--role", "king"), r"Invalid value for '--role'"),
        (("token", "--subject", "anna", "--role", "player", "--link", "--page", "review"), r"Invalid value for --page"),
        (("demo", "--players", "9"), r"a table of khrap has no 9 seats"),
        (("ledger", "statement", "player:nobody"), r"^error: nothing was ever posted .* player:nobody; an account is"),
        (("report", "statement", "nobody", "--csv"), r"^error: nothing was ever posted .* nobody; an account is pl"),
        (("serve", "nothing"), r"Invalid value"),
        (("nothing",), r"No such command"),
    ],
)
def test_a_wrong_question_is_told_in_a_word_and_exits_2(
    khrap: Khrap, arguments: tuple[str, ...], complaint: str
) -> None:
    said = khrap(*arguments)
    assert said.code == 2
    assert re.search(complaint, said.err), said.err
    assert "Traceback" not in said.err


def test_wrong_settings_are_named(khrap: Khrap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KHRAP_PROT", "8000")
    said = khrap("db", "status")
    assert said.code == 2
    assert said.err == "error: KHRAP_PROT is not a variable of this service; did you mean KHRAP_PORT?\n"


@pytest.mark.parametrize("arguments", [("--help",), ("demo", "--help"), ("hand", "--help"), ("bench", "--help")])
def test_help_is_there_and_needs_no_servers(khrap: Khrap, arguments: tuple[str, ...]) -> None:
    said = khrap(*arguments)
    assert said.code == 0
    assert "Usage: khrap" in said.out


def test_help_comes_at_once() -> None:
    """It imports no database, no web framework: those take longer than a reader has patience for."""
    began = time.monotonic()
    code = (
        "import sys; from services.cli.entry import run; assert run(['demo', '--help']) == 0; "
        "sys.exit(any(m in sys.modules for m in ('litestar', 'psycopg', 'uvicorn', 'httpx', 'redis')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    assert time.monotonic() - began < 10


def test_ctrl_c_before_a_command_has_begun_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "services.cli.app", Interrupted())
    assert run(["projections", "status"]) == 130
