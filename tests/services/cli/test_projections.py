"""`khrap projections` as ops use it: build, check, switch, back, drop; and what is said to who asks wrongly."""

from __future__ import annotations

import pytest

from tests.services.cli.conftest import Khrap


def test_built_switched_and_back(khrap: Khrap) -> None:
    built = khrap("projections", "rebuild", "--all", "--json")
    assert built.code == 0
    assert {each["schema"] for each in built.json["rebuilt"]} >= {"hands_v1", "ledger_v1", "lobby_v1", "players_v1"}
    assert all(each["switched"] for each in built.json["rebuilt"])
    again = khrap("projections", "rebuild", "hands", "--processes", "2")
    assert (again.code, "readers see hands_v1_g2" in again.out) == (0, True)
    verified = khrap("projections", "verify", "hands")
    assert (verified.code, "hands_v1_g2 is as a fresh fold of the log makes it" in verified.out) == (0, True)
    back = khrap("projections", "rollback", "hands", "--json")
    assert (back.code, back.json) == (0, {"served": "hands_v1_g2", "serves": "hands_v1"})
    dropped = khrap("projections", "drop", "hands", "--json")
    assert (dropped.code, dropped.json) == (0, {"dropped": ["hands_v1_g2"]})
    status = khrap("projections", "status")
    assert (status.code, "hands_v1 " in status.out, "hands_v1_g2" in status.out) == (0, True, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rebuild",), "name one projection, or give --all"),
        (("rebuild", "hands", "--all"), "name one projection, or give --all"),
        (("rebuild", "nothing"), "there is no projection 'nothing'; there are "),
        (("verify", "nothing"), "there is no projection 'nothing'; there are "),
        (("rollback", "players"), "nothing served before players_v1, or it was dropped"),
        (("drop", "players"), "of players there is nothing but what serves: nothing to drop"),
    ],
)
def test_asked_wrongly(khrap: Khrap, arguments: tuple[str, ...], said: str) -> None:
    if not _serves(khrap):
        assert khrap("projections", "rebuild", "players").code == 0
    found = khrap("projections", *arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: ")
    assert said in found.err


def _serves(khrap: Khrap) -> bool:
    return any(each["name"] == "players" for each in khrap("projections", "status", "--json").json["projections"])
