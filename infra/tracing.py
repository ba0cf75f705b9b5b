"""Spans of what a command goes through: request, decide, append, commit, project. Nothing, unless configured.

Each is an OpenTelemetry span where `begin` was called; OpenTelemetry itself is imported by then and not before. Spans
hold ids of commands, tables and hands, codes and counts; never a card, a seed, a token, a reason or an error's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from infra.faults import Fault

if TYPE_CHECKING:
    from infra.otel import Recorder, Spanning

Value = str | int | float | bool | Sequence[str]
VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""OpenTelemetry's own; its others are obeyed too once one of these, or ours, says where to."""


class NoSpan:
    """What a span is where there are none."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to end."""

    def set(self, **attributes: Value) -> None:
        """Nothing to set."""

    @property
    def link(self) -> object | None:
        """Nothing to link to."""
        return None


_NOTHING = NoSpan()
_recorder: Recorder | None = None


def wanted(endpoint: str | None, environment: Mapping[str, str]) -> bool:
    """Whether traces are configured: by our `otlp_endpoint`, or by OpenTelemetry's own variables."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    return endpoint is not None or any(environment.get(name) for name in VARIABLES)


def begin(endpoint: str | None) -> None:
    """Record spans from now on. Raises Fault(`settings`) where the package lacks the extra `otel`."""
    global _recorder
    try:
        from infra.otel import Recorder
    except ImportError as error:
        detail = f"traces are configured, and {error.name} is not installed: install khrap with the extra `otel`"
        raise Fault("settings", detail) from error
    _recorder = Recorder(endpoint)


def end() -> None:
    """Send what is recorded, and record no more. It may take seconds."""
    global _recorder
    if _recorder is not None:
        recorder, _recorder = _recorder, None
        recorder.close()


def recording() -> bool:
    """Whether spans are recorded: what only spans need need not be worked out otherwise."""
    return _recorder is not None


def span(name: str, links: Sequence[object | None] = (), **attributes: Value) -> Spanning | NoSpan:
    """A context manager: a span inside the one that is open in this task, linked to others by their `link`.

    Attributes are named without the prefix `khrap.`.
    """
    return _NOTHING if _recorder is None else _recorder.span(name, links, attributes)
