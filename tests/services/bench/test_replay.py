"""The benchmarks of the rules measure what they say; how fast anything is is not judged here."""

from __future__ import annotations

import json
import sys

import msgspec
import pytest

from domain.events import HandSettled, HandVoided
from infra.plain_reader import plain_reader
from infra.store import StoredEvent
from services.bench.common import temporary_home
from services.bench.recorded import Hand, record
from services.bench.replay import replay
from services.bench.selfplay import EVENINGS
from services.cli.entry import run
from services.core import Core, open_core

ENGINES = {"openspiel": "pyspiel", "pokerkit": "pokerkit"}


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """As where these are not installed."""
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def altered(core: Core, hand: Hand) -> Hand:
    """The hand with a unit more in the first purse of its result."""
    last = hand[-1]
    settled = core.codec.decode(last)
    assert isinstance(settled, HandSettled)
    first, *others = settled.result.players
    result = msgspec.structs.replace(
        settled.result, players=(msgspec.structs.replace(first, purse=first.purse + 1), *others)
    )
    body = msgspec.json.encode(msgspec.structs.replace(settled, result=result))
    return (*hand[:-1], msgspec.structs.replace(last, body=body))


async def test_recorded_hands_are_of_all_games_and_replayed_from_what_the_store_holds() -> None:
    with temporary_home() as settings:
        async with open_core(settings) as core:
            played: list[int] = []
            recorded = await record(core, 10, played.append)
            assert len(recorded.hands) == 10
            assert played[-1] == 10
            tables = [core.codec.decode(hand[0]) for hand in recorded.hands]
            games = {t.table.settings.game for t in tables}  # type: ignore[attr-defined]
            assert games == set(EVENINGS)
            for hand in recorded.hands:
                assert all(isinstance(event, StoredEvent) for event in hand)
                assert isinstance(core.codec.decode(hand[-1]), HandSettled | HandVoided)
                assert replay(core.codec, hand)
            settled = next(hand for hand in recorded.hands if hand[-1].type == "hand_settled")
            assert not replay(core.codec, altered(core, settled)), "another result than settlement's is seen"
            with plain_reader(core.addresses.application, core.store.parts) as reader:
                stored = [len(await core.store.read_stream(stream)) for stream in recorded.streams]
                assert reader.fetch(recorded.streams) == sum(stored)


def test_replay_says_how_it_compares_where_an_engine_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "pyspiel", "pokerkit")
    assert run(["bench", "replay", "--hands", "9", "--seconds", "0.2", "--json"]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert (report["name"], list(report["ratio"])) == ("replay", ["decode", "postgres"])
    assert [row["case"] for row in report["rows"]] == ["decode", "postgres", *ENGINES]
    for row in report["rows"][:2]:
        assert row["events_per_s"] > row["hands_per_s"] > 0
        assert row["ratio"] == report["ratio"][row["case"]] > 0
    for case in ENGINES:
        assert f"{case} was not measured: " in printed.err
    assert "pip install --editable '.[bench]'" in printed.err


def test_rules_says_how_it_compares_where_an_engine_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "pyspiel", "pokerkit")
    assert run(["bench", "rules", "--seconds", "0.2"]) == 0
    printed = capsys.readouterr()
    assert "pokerkit was not measured: pokerkit is not installed" in printed.err


@pytest.mark.parametrize("bench", [["replay", "--hands", "9"], ["rules"]], ids=lambda arguments: str(arguments[0]))
@pytest.mark.parametrize("case", ENGINES)
def test_an_engine_is_played_beside_ours(bench: list[str], case: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(ENGINES[case], reason="of the extra `bench`")
    assert run(["bench", *bench, "--seconds", "0.2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (row,) = [row for row in report["rows"] if row["case"] == case]
    assert row["reference_per_s"] > 0
    assert report["ratio"][case] == row["ratio"] > 0
