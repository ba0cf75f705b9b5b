"""Metrics: every process exports them, the dashboard and the alerts name none that is not there, no label is an id."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from infra.beat import Beat
from infra.projection_store import ProjectionReader
from services import exposition
from services.bench.common import temporary_home
from services.exposition import STORE_UP
from services.processes import environment
from services.watch import Watch
from tests.conftest import Database
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, running_node, until
from tests.services.cli.test_serve import khrap

INFRA = Path(exposition.__file__).parents[1] / "infra"
DASHBOARD, ALERTS = INFRA / "grafana" / "khrap.json", INFRA / "prometheus" / "alerts.yml"
NAME = re.compile(r"\bkhrap_[a-z_]+\b")
EXPRESSION = re.compile(r"^\s*expr: (.+)$", re.MULTILINE)
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16}")


def dashboard() -> list[str]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def alerts() -> list[str]:
    return EXPRESSION.findall(ALERTS.read_text())


async def exported(node: Node) -> str:
    response = await node.as_("oona", "ops").get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    return response.text


def samples(text: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            found.setdefault(each.name, []).append(each.labels)
    return found


async def test_what_dashboard_and_alerts_name_is_exported_with_the_labels_that_they_ask_for(
    database: Database, redis_url: str, tmp_path: Path
) -> None:
    async with running_node(database, redis_url, tmp_path) as node:
        table_id = await node.open_table(stake=100)
        await node.seat(table_id, "anna", "boris")
        await play_hand(node, table_id, "anna", "boris")
        refused = await node.as_("anna").post(f"/v1/tables/{table_id}/seat", {"buy_in": 50_000})
        assert refused.status_code == 409

        async def reckoned() -> Any:
            text = await exported(node)
            # Both come with time: the books are summed again now and then, and at first there are none to sum.
            wanted = r"^khrap_laws_checked_total [1-9]", r"^khrap_books_off_minor_units\{"
            return text if all(re.search(each, text, re.MULTILINE) for each in wanted) else None

        text = await until(reckoned)
    there = samples(text)
    assert len(dashboard()) > 30
    assert len(alerts()) == 14
    told = {family.name for family in text_string_to_metric_families(text)}
    for expression in (*dashboard(), *alerts()):
        names = NAME.findall(expression)
        assert names, expression
        for name in names:
            # One that has no value before something goes wrong is declared all the same.
            assert name in there or name.removesuffix("_total") in told, f"{name} is not exported: {expression}"
    for name, labels in there.items():
        if name.startswith("khrap_"):
            for given in labels:
                text = " ".join(given.values())
                assert not ID.search(text), (name, given)
                assert not {"anna", "boris", "oona"} & set(given.values()), (name, given)


async def test_the_names_are_prometheus_s(database: Database, redis_url: str, tmp_path: Path) -> None:
    async with running_node(database, redis_url, tmp_path) as node:
        text = await exported(node)
    for family in text_string_to_metric_families(text):
        if family.name.startswith("khrap_"):
            assert family.documentation, family.name
            assert not family.name.endswith(("_ms", "_us", "_milliseconds")), family.name


async def test_a_store_that_is_away_is_told_and_what_it_knows_is_left_out(
    fresh_database: Callable[[], AbstractContextManager[Database]], redis_url: str, tmp_path: Path
) -> None:
    with fresh_database() as there, fresh_database() as gone:
        async with running_node(there, redis_url, tmp_path, ("api",)) as node:
            url = gone.app_url.replace(gone.name, "khrap_test_nowhere")
            async with ProjectionReader(url) as reader:
                watch = Watch(node.core.store, reader, Beat(url), node.core.clock)
                text = (await exposition.exposition(node.core.store, watch)).decode()
                await watch.close()
    found = samples(text)
    assert f"{STORE_UP} 0.0" in text
    assert "khrap_projection_lag_events" not in found
    assert "khrap_append_seconds_count" in found


@pytest.mark.parametrize("part", ["projector", "steward"])
async def test_a_process_without_the_api_answers_prometheus_where_settings_say(part: str) -> None:
    with temporary_home() as given:
        from msgspec.structs import replace

        settings = replace(given, metrics_port=0, log_level="info")
        assert environment(settings)["KHRAP_METRICS_PORT"] == "0"
        async with khrap(settings, "serve", part) as process:
            assert process.stderr is not None
            url = ""
            async with asyncio.timeout(60):
                while not url:
                    line = json.loads(await process.stderr.readline())
                    url = line.get("metrics") or ""
            async with httpx.AsyncClient() as http:
                text = (await http.get(url)).text
                assert (await http.get(url.replace("/metrics", "/v1/tables"))).status_code == 404
            process.terminate()
            async with asyncio.timeout(30):
                assert await process.wait() == 0
    assert f"{STORE_UP} 1.0" in text
    assert "khrap_projection_lag_events" in text
