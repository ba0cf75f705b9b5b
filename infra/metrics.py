"""What every process counts, in Prometheus's terms. No label holds an id or a name of anybody; each has few values.

What is true of the whole service (how far projections are, tables halted, the books) is read when somebody asks, by
`services.watch`, and is not here.
"""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # when a counter began, nobody asks

APPEND_SECONDS = Histogram(
    "khrap_append_seconds",
    "From a command's append being asked for to its verdict, in seconds",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
APPENDS = Counter(
    "khrap_appends_total",
    "Commands that were to be appended, by what came of it: appended, duplicate, conflict, or a fault's code",
    ["verdict"],
)
APPENDED_EVENTS = Counter("khrap_appended_events_total", "Events that this process has appended")
COMMIT_SECONDS = Histogram(
    "khrap_append_commit_seconds",
    "One call of the store for a group of commands, in seconds",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
GROUP_COMMANDS = Histogram(
    "khrap_append_group_commands", "Commands in one commit", buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256)
)
WAITING_COMMANDS = Gauge("khrap_append_waiting_commands", "Commands that wait for a commit")
COMMITTING_COMMANDS = Gauge("khrap_append_committing_commands", "Commands whose commit is under way")

REFUSALS = Counter("khrap_refusals_total", "Commands that the rules refused, by the refusal's code", ["code"])

PROJECTED_EVENTS = Counter(
    "khrap_projection_events_total", "Events that this process has applied, for generations that serve", ["projection"]
)
PROJECTION_SECONDS = Histogram(
    "khrap_projection_batch_seconds",
    "One transaction of the projector, from reading memory to the commit, in seconds",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
PARKED = Counter(
    "khrap_projection_parkings_total",
    "Streams that this process has parked, for generations that serve, by why",
    ["projection", "code"],
)
LAWS_CHECKED = Counter(
    "khrap_laws_checked_total", "Hands whose end the books have reckoned by the laws of the money (T7 to T10)"
)
LAWS_BROKEN = Counter("khrap_laws_broken_total", "Records that differ from the books' own reckoning")

LIVE_MESSAGES = Counter("khrap_live_messages_total", "Public messages handed to Redis", ["about"])
REDIS_SENT = Counter("khrap_redis_sent_total", "Messages that Redis has taken, of whatever kind")
REDIS_DROPPED = Counter("khrap_redis_dropped_total", "Messages that were dropped while Redis was away or slow")
REDIS_LINKS = Gauge("khrap_redis_links", "This process's links to Redis, by whether they are up", ["state"])

CONNECTIONS = Gauge("khrap_http_connections", "Connections that are open")

STEWARD_LATE_SECONDS = Histogram(
    "khrap_steward_late_seconds",
    "How much later than it was due something was begun, in seconds",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)


class RedisLink:
    """One link in `khrap_redis_links`, down at first. What is set twice counts once; `close` takes it out."""

    def __init__(self) -> None:
        self._state: str | None = None

    def set(self, *, up: bool) -> None:
        """It is up, or not."""
        self._move("up" if up else "down")

    def close(self) -> None:
        """It is wanted no more."""
        self._move(None)

    def _move(self, state: str | None) -> None:
        if state == self._state:
            return
        if self._state is not None:
            REDIS_LINKS.labels(self._state).dec()
        if state is not None:
            REDIS_LINKS.labels(state).inc()
        self._state = state


for _state in ("up", "down"):
    REDIS_LINKS.labels(_state)
