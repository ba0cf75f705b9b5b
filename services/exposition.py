"""Metrics in the form of Prometheus: this process's, and the whole service's as it stands when they are asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from infra.faults import Fault
from infra.metrics import COMMITTING_COMMANDS, WAITING_COMMANDS
from infra.projection_store import Standing
from infra.store import EventStore
from services.watch import Situation, Watch

WITHIN_S = 2.0
STORE_UP = "khrap_store_up"


async def exposition(store: EventStore, watch: Watch) -> bytes:
    """All metrics. Where the store does not answer in time `khrap_store_up` is 0, and what it knows is left out."""
    WAITING_COMMANDS.set(store.waiting)
    COMMITTING_COMMANDS.set(store.committing)
    situation = None
    try:
        async with asyncio.timeout(WITHIN_S):
            situation = await watch.now()
    except (Fault, TimeoutError):
        pass
    whole = CollectorRegistry()
    whole.register(_Families(_families(situation)))
    return generate_latest(REGISTRY) + generate_latest(whole)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


def _families(situation: Situation | None) -> Iterator[Metric]:
    yield _gauge(STORE_UP, "Whether the event store and the projections can be read", int(situation is not None))
    if situation is None:
        return
    yield CounterMetricFamily("khrap_log_events", "Events in the log, of all processes ever", situation.log_events)
    standings = situation.standings
    of_each = _Each(standings)
    yield of_each("khrap_projection_lag_events", "Events that it has not passed", lambda s: s.lag_events)
    yield of_each(
        "khrap_projection_lag_seconds",
        "For how long the oldest event that it has not passed has been waiting",
        lambda s: s.lag_ms(situation.at_ms) / 1000,
    )
    yield of_each("khrap_projection_position", "Events that it has passed", lambda s: s.position)
    yield of_each("khrap_projection_parked_streams", "Streams that wait in it", lambda s: len(s.parked))
    yield of_each("khrap_projection_kept", "Whether a process keeps it up now", lambda s: int(s.kept))
    yield _gauge("khrap_log_holes", "Parts of the log that are not read on, for a hole in them", len(situation.holes))
    yield _gauge("khrap_books_mismatches", "Streams whose record differs from the books", situation.mismatches)
    yield _gauge("khrap_clock_drift_seconds", "By how much our clock is ahead of Postgres's", situation.drift_ms / 1000)
    if situation.beat_age_ms is not None:
        age_s = situation.beat_age_ms / 1000
        yield _gauge("khrap_steward_beat_age_seconds", "How long ago a steward last ran", age_s)
    if situation.books is not None:
        off = GaugeMetricFamily(
            "khrap_books_off_minor_units", "What the books are off from zero, by currency", labels=["currency"]
        )
        for currency, total in situation.books.sums().items():
            off.add_metric([currency], total)
        yield off
    if situation.tables is not None:
        tables = GaugeMetricFamily("khrap_tables", "Open tables, and those of them in a state", labels=["state"])
        for state in ("open", "playing", "halted"):
            tables.add_metric([state], getattr(situation.tables, state))
        yield tables
    alarms = GaugeMetricFamily("khrap_alarms", "What is wrong, by kind; see the page of ops", labels=["code", "notice"])
    for alarm in situation.alarms():
        alarms.add_metric([alarm.code, str(alarm.notice).lower()], alarm.count)
    yield alarms


def _gauge(name: str, said: str, value: float) -> Metric:
    return GaugeMetricFamily(name, said, value)


class _Each:
    """A gauge with a value for each generation. `role`: serving, following, building or dropping."""

    def __init__(self, standings: tuple[Standing, ...]) -> None:
        self._standings = standings

    def __call__(self, name: str, said: str, value: Callable[[Standing], float]) -> Metric:
        family = GaugeMetricFamily(name, said, labels=["projection", "generation", "role"])
        for each in self._standings:
            role = "serving" if each.serving else each.state
            family.add_metric([each.name, each.schema, role], value(each))
        return family


class Exposition:
    """An ASGI app of one path, for Prometheus alone: `GET /metrics`. It asks for no token: listen inside alone."""

    def __init__(self, store: EventStore, watch: Watch) -> None:
        self._store = store
        self._watch = watch

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """ASGI 3."""
        if scope["type"] == "lifespan":
            while (await receive())["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        assert scope["type"] == "http", scope["type"]
        if scope["path"] != "/metrics" or scope["method"] != "GET":
            await _answer(send, 404, b"text/plain", b"GET /metrics\n")
            return
        await _answer(send, 200, CONTENT_TYPE_LATEST.encode(), await exposition(self._store, self._watch))


async def _answer(send: Any, status: int, media_type: bytes, body: bytes) -> None:
    headers = [(b"content-type", media_type), (b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
