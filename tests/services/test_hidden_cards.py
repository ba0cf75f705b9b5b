"""Nobody sees a hidden card: two games that differ only in cards that an audience may not see are equal to it.

Ids, times, seeds and nonces are fixed. What the audience received (views, event stream, problems, its hand file), the
logs, what Redis was told and a dump of the database are compared byte for byte; sealed bytes, and the hashes and
digests made over them or over requests, aside.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from redis.asyncio import Redis

from domain import shuffle
from domain.cards import Card
from domain.cards import deck as canonical
from domain.commands import StartHand
from infra.clock import ManualClock
from infra.codec import Codec
from infra.embedded.binaries import binaries_for
from infra.entropy import SeededEntropy
from infra.keys import load_keys
from infra.projection_store import ProjectionReader
from infra.sealing import Sealer
from infra.settings import Settings
from infra.store import EventStore
from infra.telemetry import configure_logs
from services.api.tokens import Signer
from services.books import caught_up
from services.core import Addresses, Core
from services.play.service import Play
from services.play.types import Answer, Caller, Request
from services.runtime import running
from tests.conftest import Database
from tests.infra.own_valkey import own_valkey

DEALT = {
    "anna": ("As", "Ks", "7h", "8h"),
    "boris": ("Qs", "Js", "Ah", "9h"),
}
VERA = (("6d", "7d", "8d", "9d"), ("6c", "7c", "8c", "9c"))
"""What Vera was dealt, in the one game and in the other; she throws it away for a pyatok."""
TRUMP = "9s"
DRAWN = ("Ts", "Kd", "Qd", "Jd")
THROWN = ("Th", "Tc")
"""The fifth card that she draws and discards."""
PLAYERS = ("anna", "boris", "vera")
WRITTEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00")
"""A time that Postgres itself noted."""
AUDIENCES: tuple[str | None, ...] = ("anna", "boris", None)


def stacked(game: int) -> Callable[..., tuple[Card, ...]]:
    """A shuffle that deals so."""
    hands = {**DEALT, "vera": VERA[game]}

    def deck(
        server_seed: bytes, hand_id: bytes, deal_no: int, client_seeds: Sequence[bytes], size: int
    ) -> tuple[Card, ...]:
        assert (deal_no, size) == (1, 36)
        dealer = shuffle.first_dealer(server_seed, hand_id, client_seeds)
        order = [PLAYERS[(dealer + 1 + i) % 3] for i in range(3)]
        first = [hands[player][i] for i in range(4) for player in order] + [TRUMP, *DRAWN, THROWN[game]]
        rest = [c for c in canonical(size) if c not in first]
        return tuple(Card(c) for c in [*first, *rest])

    return deck


class Seen:
    """All that was received, by audience."""

    def __init__(self) -> None:
        self.by: dict[str | None, list[str]] = {audience: [] for audience in AUDIENCES}
        self.streams: dict[str | None, list[str]] = {audience: [] for audience in AUDIENCES}
        self.vera: list[str] = []
        self.redis: set[str] = set()
        self.log: list[str] = []
        self.dump: list[str] = []


class Game:
    """One of the two games, over HTTP."""

    def __init__(
        self, core: Core, reader: ProjectionReader, http: httpx.AsyncClient, seen: Seen, clock: ManualClock
    ) -> None:
        self._core, self._reader, self._http, self._seen, self._clock = core, reader, http, seen, clock
        self._signer = Signer(core.keys, core.clock, core.entropy)
        self._tokens: dict[str, str] = {}
        self._sent = 0

    def headers(self, subject: str | None, role: str = "player") -> dict[str, str]:
        if subject is None:
            return {}
        if subject not in self._tokens:
            self._tokens[subject] = self._signer.bearer(subject, role, 8 * 3_600)
        return {"Authorization": f"Bearer {self._tokens[subject]}"}

    async def post(self, subject: str, path: str, body: dict[str, Any], role: str = "player") -> httpx.Response:
        self._sent += 1
        self._clock.advance(100)
        headers = {**self.headers(subject, role), "Idempotency-Key": f"key-{self._sent}"}
        response = await self._http.post(path, json=body, headers=headers)
        if subject in self._seen.by:
            self._seen.by[subject].append(f"{response.status_code} {response.text}")
        # One command after another for the projector too: it may put two changes into one message for the lobby.
        await caught_up(self._reader, await self._core.store.part_heads())
        await self.look(path)
        return response

    async def look(self, path: str) -> None:
        if path.startswith("/v1/tables/"):
            for audience in AUDIENCES:
                view = await self._http.get("/".join(path.split("/")[:4]), headers=self.headers(audience))
                assert view.status_code == 200, view.text
                self._seen.by[audience].append(view.text)

    async def did(self, subject: str, path: str, body: dict[str, Any], role: str = "player") -> Any:
        response = await self.post(subject, path, body, role)
        assert response.is_success, response.text
        return response.json()

    async def follow(self, audience: str | None, table_id: str) -> None:
        """Read the event stream until the hand is settled and the next one committed to."""
        path = f"/v1/tables/{table_id}/events"
        async with self._http.stream("GET", path, headers=self.headers(audience), timeout=60) as response:
            async for line in response.aiter_lines():
                self._seen.streams[audience].append(line)
                if '"hand_committed"' in line and len(self._seen.streams[audience]) > 40:
                    return


WORDS = {"declaring": {"boris": "khrap"}, "answering": {"anna": "help"}, "cutting": {"vera": "pyatok"}}


async def played(
    core: Core, reader: ProjectionReader, http: httpx.AsyncClient, seen: Seen, clock: ManualClock, game: int
) -> None:
    """The hand, with wrong clicks in between."""
    table = Game(core, reader, http, seen, clock)
    opened = await table.did(
        "olga",
        "/v1/tables",
        {
            "currency": "RUB", "stake": 100, "options": {"game": "khrap"}, "pause_ms": 0, "turn_ms": 600_000,
            "seed_disclosure": "compliance_only",
        },
        "operator",
    )  # fmt: skip
    table_id = opened["table_id"]
    path = f"/v1/tables/{table_id}"
    for player in PLAYERS:
        await table.did("clara", "/v1/accounts", {"player": player, "currency": "RUB"}, "cashier")
        await table.did("clara", f"/v1/accounts/{player}/RUB/deposits", {"amount": 50_000}, "cashier")
        await table.did(player, f"{path}/seat", {"buy_in": 10_000})
    following = [asyncio.create_task(table.follow(audience, table_id)) for audience in AUDIENCES]
    async with asyncio.timeout(20):
        while True:
            if all(seen.streams[audience] for audience in AUDIENCES):
                break
            await asyncio.sleep(0.01)
    request = Request(Caller("steward", "steward"), "start", "start")
    started = await core.play.command(table_id, request, lambda at, _: StartHand(at_ms=at))
    assert isinstance(started, Answer)
    while True:
        view = (await http.get(path, headers=table.headers("vera"))).json()
        turn = view["turn"]
        if turn is None:
            break
        player = next(s["player"] for s in view["seats"] if s["seat"] == turn["seat"])
        # Wrong clicks of those who look on: out of turn, unknown cards, stale turns.
        for other in ("anna", "boris"):
            await table.post(other, f"{path}/actions", {"turn": turn["turn"] - 1, "do": "pass"})
            await table.post(other, f"{path}/actions", {"turn": turn["turn"], "do": "play", "card": "2c"})
        seen.vera.append(str(view["you"]["cards"]))
        own = (await http.get(path, headers=table.headers(player))).json()["you"]["legal_actions"]
        phase = view["hand"]["phase"]
        offer = own[0]
        if offer["do"] == "play":
            action = {"do": "play", "card": offer["cards"][0]}
        elif offer["do"] == "discard":
            action = {"do": "discard", "cards": [THROWN[game]]}
        else:
            quiet = "decline" if phase == "answering" else "pass"
            action = {"do": WORDS.get(phase, {}).get(player, quiet)}
        await table.did(player, f"{path}/actions", {"turn": turn["turn"], **action})
    await asyncio.wait_for(asyncio.gather(*following), 30)
    await caught_up(reader, await core.store.part_heads())
    hand_id = view["hand"]["hand_id"]
    assert view["hand"]["result"]["ending"] == "played"
    for audience in AUDIENCES:
        for door in (f"/v1/hands/{hand_id}", f"/v1/hands/{hand_id}/file", f"/v1/hands?table_id={table_id}"):
            answer = await http.get(door, headers=table.headers(audience))
            seen.by[audience].append(f"{answer.status_code} {answer.text}")


LAST = "ECHO the game is over"
NOTED = re.compile(r'SET khrap:log:[0-9a-f-]{36} \{("\d+":\d+,?)*\}')
SAME_LOG = "update store.layout set log_id = '018f0000-0000-4000-8000-000000000001'"
"""Each game has a Valkey of its own, which remembers the log by its id."""


async def monitored(url: str, seen: Seen, ready: asyncio.Event) -> None:
    """What MONITOR shows until `LAST`: each command once, without its time and its sender.

    Whether a channel that nobody follows any more is unsubscribed from before its process ends is chance, and so is at
    which positions the log is noted: nothing but numbers is.
    """
    # Without a time-out: on a slow machine nothing is said for a while.
    async with Redis.from_url(url, socket_timeout=None) as redis, redis.monitor() as monitor:
        ready.set()
        async for command in monitor.listen():
            if command["command"] == LAST:
                return
            if not command["command"].startswith("UNSUBSCRIBE ") and not NOTED.fullmatch(command["command"]):
                seen.redis.add(command["command"])


def dumped(url: str) -> list[str]:
    """The database's rows, table by table, sorted, with what depends on sealed bytes or on requests taken out."""
    program = binaries_for(None).postgres / "pg_dump"
    text = subprocess.run(
        [program, "--data-only", "--no-owner", url], check=True, capture_output=True, text=True, env={**os.environ}
    ).stdout
    rows, name = [], ""
    for line in text.splitlines():
        if line.startswith("COPY "):
            name = line.split("(")[0]
        elif name and line != "\\.":
            rows.append(name + "\t".join(_comparable(field) for field in line.split("\t")))
        elif line == "\\.":
            name = ""
    return sorted(rows)


def _comparable(field: str) -> str:
    if WRITTEN.fullmatch(field):
        return "<written>"
    if not field.startswith("\\\\x"):
        return field
    raw = bytes.fromhex(field[3:])
    if len(raw) == 32:
        return "<hash>"
    try:
        stored = json.loads(raw)
    except ValueError:
        return field
    if not isinstance(stored, dict):
        return field
    for made_over in ("sealed", "request"):
        if made_over in stored:
            stored[made_over] = f"<{made_over} of {len(stored[made_over])}>"
    return json.dumps(stored)


def _logged(line: str) -> str:
    """A line of the service's log without what differs between any two runs: its time, and addresses.

    The log of the test's own HTTP client is not the service's, and when Postgres's client connects is chance: empty.
    """
    facts = json.loads(line)
    facts.pop("at")
    if facts["logger"].startswith(("httpx", "httpcore", "psycopg")):
        return ""
    return re.sub(r"127\.0\.0\.1:\d+|0x[0-9a-f]+", "<address>", json.dumps(facts))


@asynccontextmanager
async def core_on(database: Database, redis_url: str, home: Path, clock: ManualClock) -> AsyncIterator[Core]:
    settings = Settings(home=str(home))
    keys = load_keys(settings, SeededEntropy("keys"))
    entropy = SeededEntropy("the same")
    sealer = Sealer(keys.master, entropy)
    codec = Codec(sealer)
    async with await EventStore.open(database.app_url, readers=2) as store:
        yield Core(
            settings=settings,
            addresses=Addresses(database.owner_url, database.app_url, redis_url),
            keys=keys,
            clock=clock,
            entropy=entropy,
            sealer=sealer,
            codec=codec,
            store=store,
            play=Play(store, codec, sealer, clock, entropy),
        )


@pytest.mark.timeout(180)
async def test_s6_k8_games_that_differ_in_unseen_cards_are_equal_to_all_who_may_not_see_them(
    fresh_database: Callable[[], AbstractContextManager[Database]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = []
    for game in (0, 1):
        seen, clock, log = Seen(), ManualClock(1_700_000_000_000), io.StringIO()
        configure_logs("debug", log)
        with fresh_database() as database, own_valkey() as valkey:
            with psycopg.connect(database.owner_url, autocommit=True) as owner:
                owner.execute(SAME_LOG)
            ready = asyncio.Event()
            monitor = asyncio.create_task(monitored(valkey.url, seen, ready))
            await ready.wait()
            async with core_on(database, valkey.url, tmp_path, clock) as core:
                with monkeypatch.context() as patch:
                    patch.setattr(shuffle, "deck", stacked(game))
                    async with (
                        running(core, ("api", "projector")) as url,
                        ProjectionReader(core.addresses.application) as reader,
                        httpx.AsyncClient(base_url=url, timeout=30) as http,
                    ):
                        await played(core, reader, http, seen, clock, game)
            async with Redis.from_url(valkey.url) as redis:
                await redis.echo(LAST.removeprefix("ECHO "))
            await asyncio.wait_for(monitor, 20)
            seen.dump = dumped(database.owner_url)
        seen.log = sorted(filter(None, map(_logged, log.getvalue().splitlines())))
        both.append(seen)
    one, other = both
    for audience in AUDIENCES:
        assert one.by[audience] == other.by[audience]
        assert one.streams[audience] == other.streams[audience]
        assert len(one.streams[audience]) > 40
    assert one.redis == other.redis
    assert any("card_played" in line for line in one.redis)
    assert one.dump == other.dump
    assert len(one.dump) > 40
    assert one.log == other.log
    assert one.log
    # And the two games did differ: to her who may see it.
    assert one.vera != other.vera
