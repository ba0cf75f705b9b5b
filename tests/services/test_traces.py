"""Traces: a command's way from the request to the projections as spans that a collector gets, without secrets; and
nothing that makes spans where none are configured.
"""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from infra.faults import Fault
from infra.settings import read_settings
from infra.tracing import wanted
from services.bench.common import temporary_home
from services.bots import Client
from tests.services.cli.test_serve import BODY, khrap, said, with_free_port

REASON = "the lamp fell on the table"


class Collector:
    """What an OpenTelemetry collector does at its HTTP port: it takes spans."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Span] = []
        self.resources: set[str] = set()
        self.raw = b""


@contextmanager
def collector() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/traces"
            taken.raw += body
            for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                taken.resources |= {a.value.string_value for a in each.resource.attributes if a.key == "service.name"}
                taken.spans += [span for scope in each.scope_spans for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Not to standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    taken = Collector(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield taken
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def facts(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in span.attributes:
        kind = each.value.WhichOneof("value")
        value = getattr(each.value, kind or "string_value")
        found[each.key.removeprefix("khrap.")] = (
            [item.string_value for item in value.values] if kind == "array_value" else value
        )
    return found


async def test_a_command_is_followed_from_its_request_to_the_projections() -> None:
    with temporary_home() as given, collector() as taken:
        settings = replace(with_free_port(given), otlp_endpoint=taken.url)
        address = f"http://127.0.0.1:{settings.port}"
        async with khrap(settings, "serve") as process:
            await Client(address, None).get("/readyz")
            _, operator, _ = await said(given, "token", "--subject", "olga", "--role", "operator")
            _, ops, _ = await said(given, "token", "--subject", "oona", "--role", "ops")
            table_id = (await Client(address, operator.strip()).post("/v1/tables", BODY))["table_id"]
            await Client(address, ops.strip()).post(f"/v1/tables/{table_id}/halt", {"reason": REASON})
            process.terminate()
            async with asyncio.timeout(40):
                assert await process.wait() == 0
    assert taken.resources == {"khrap"}
    by_id = {span.span_id: span for span in taken.spans}
    named: dict[str, list[Span]] = {}
    for span in taken.spans:
        named.setdefault(span.name, []).append(span)

    halting = next(s for s in named["request"] if facts(s).get("route") == "/v1/tables/{table_id}/halt")
    assert (facts(halting)["method"], facts(halting)["status"]) == ("POST", 200)
    decided = next(s for s in named["decide"] if s.parent_span_id == halting.span_id)
    assert facts(decided)["table"] == table_id
    command = facts(decided)["command"]
    appended = next(s for s in named["append"] if s.parent_span_id == halting.span_id)
    assert (facts(appended)["command"], facts(appended)["verdict"]) == (command, "appended")
    assert appended.trace_id == decided.trace_id == halting.trace_id
    commit = next(s for s in named["commit"] if appended.span_id in {link.span_id for link in s.links})
    assert facts(commit)["commands"] == len(commit.links)
    projected = next(s for s in named["project"] if command in facts(s)["commands"])
    assert "ledger_v1" in facts(projected)["projections"]

    assert all(span.status.code != Status.STATUS_CODE_ERROR for span in taken.spans)
    assert all(not span.events for span in by_id.values())  # exceptions would be told here, with their words
    for secret in (REASON, operator.strip(), ops.strip(), "eyJ", "Bearer"):
        assert secret.encode() not in taken.raw


def test_nothing_that_makes_spans_is_imported_where_no_traces_are_configured() -> None:
    code = (
        "import sys, services.runtime, services.traced, projections.runner, infra.tracing as t; "
        "t.span('x', command='y').__enter__().set(a=1); "
        # Not `opentelemetry` itself: the Redis client imports its metrics by itself where they are installed.
        "ours = ('opentelemetry.sdk.trace', 'opentelemetry.exporter', 'infra.otel'); "
        "print(t.recording(), [m for m in sys.modules if m.startswith(ours)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False []"


@pytest.mark.parametrize(
    ("endpoint", "environment", "expected"),
    [
        (None, {}, False),
        ("http://collector:4318", {}, True),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (None, {"OTEL_SERVICE_NAME": "cards"}, False),
        ("http://collector:4318", {"OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_traces_are_wanted_where_somebody_says_where_to(
    endpoint: str | None, environment: dict[str, str], expected: bool
) -> None:
    assert wanted(endpoint, environment) is expected


def test_an_endpoint_is_a_url_of_http_and_is_not_shown() -> None:
    settings = read_settings({"KHRAP_OTLP_ENDPOINT": "https://me:hunter2@collector:4318"})
    assert "hunter2" not in repr(settings)
    with pytest.raises(Fault, match="KHRAP_OTLP_ENDPOINT does not begin with http:// or https://"):
        read_settings({"KHRAP_OTLP_ENDPOINT": "collector:4317"})
