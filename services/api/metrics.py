"""What ops can watch: counters of this process in the form of Prometheus. No label holds an id or a name of anybody."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("khrap_http_requests_total", "Requests answered", ["method", "route", "status"])
SECONDS = Histogram(
    "khrap_http_request_seconds",
    "Time to the first byte of the answer, in seconds",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
STREAMS = Gauge("khrap_event_streams", "Event streams that are open")
UNMATCHED = "none"
"""The route of what no route matches: a path made up by a caller never becomes a label."""


class Counted:
    """The counters of one method and route, looked up once."""

    __slots__ = ("_method", "_requests", "_route", "seconds")

    def __init__(self, method: str, route: str) -> None:
        self._method, self._route = method, route
        self._requests: dict[int, Counter] = {}
        self.seconds = SECONDS.labels(method, route)

    def answered(self, status: int) -> None:
        """One more with this status."""
        counter = self._requests.get(status)
        if counter is None:
            counter = self._requests[status] = REQUESTS.labels(self._method, self._route, str(status))
        counter.inc()


_COUNTED: dict[tuple[str, str], Counted] = {}
METHODS = frozenset({"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"})


def counted(method: str, route: str) -> Counted:
    """The counters of a route."""
    key = (method if method in METHODS else "other", route)
    found = _COUNTED.get(key)
    if found is None:
        found = _COUNTED[key] = Counted(*key)
    return found
