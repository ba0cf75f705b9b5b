"""Spans by OpenTelemetry, sent by OTLP over HTTP. Imported by `infra.tracing.begin` alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import Token
from types import TracebackType
from typing import Self

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from infra.tracing import Value

SERVICE = "khrap"
PATH = "/v1/traces"


class Spanning:
    """An open span."""

    __slots__ = ("_span", "_token")

    def __init__(self, opened: trace.Span) -> None:
        self._span = opened
        self._token: Token[context.Context] | None = None

    def __enter__(self) -> Self:
        self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Of an error the kind alone: what an assertion says may hold cards."""
        if kind is not None:
            self._span.set_status(trace.StatusCode.ERROR, kind.__name__)
        assert self._token is not None
        context.detach(self._token)
        self._span.end()

    def set(self, **attributes: Value) -> None:
        """Add attributes."""
        self._span.set_attributes(_named(attributes))

    @property
    def link(self) -> object:
        """What another span may be linked to this one by."""
        return self._span.get_span_context()


class Recorder:
    """Where spans go: to `endpoint`, or where OpenTelemetry's variables say."""

    def __init__(self, endpoint: str | None) -> None:
        exporter = OTLPSpanExporter(None if endpoint is None else endpoint.rstrip("/") + PATH)
        # Its variables for the service's name and further attributes of the resource come before ours.
        resource = Resource.create()
        if str(resource.attributes["service.name"]).startswith("unknown_service"):
            resource = resource.merge(Resource({"service.name": SERVICE}))
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(SERVICE)

    def span(self, name: str, links: Sequence[object | None], attributes: Mapping[str, Value]) -> Spanning:
        """Open a span."""
        to = [trace.Link(each) for each in links if isinstance(each, trace.SpanContext)]
        return Spanning(self._tracer.start_span(name, attributes=_named(attributes), links=to))

    def close(self) -> None:
        """Send the rest."""
        self._provider.shutdown()


def _named(attributes: Mapping[str, Value]) -> dict[str, Value]:
    return {f"khrap.{name}": value for name, value in attributes.items()}
