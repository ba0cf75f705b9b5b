"""R2: what is known of a reviewer, and what where the projections are behind the log."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from infra.faults import Fault
from infra.projection_store import ProjectionReader
from projections import current
from services.disputes.facts import holds_seat, reviewer
from tests.conftest import Database
from tests.services.api.nodes import running_node, until

pytestmark = pytest.mark.asyncio


@pytest.mark.timeout(120)
async def test_r2_nobody_reviews_while_it_is_not_known_whether_he_sits(
    fresh_database: Callable[[], AbstractContextManager[Database]],
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once the projections were believed while nobody kept them up: who had sat down since then could judge."""
    rita = f"rita-{secrets.token_hex(3)}"
    with fresh_database() as database:
        async with running_node(database, redis_url, tmp_path) as node:
            table_id = await node.open_table()
            compliance = node.as_(rita, "compliance")

            async def known() -> bool:
                return (await compliance.get("/v1/signals")).status_code == 200

            await until(known)
        async with running_node(database, redis_url, tmp_path, parts=("api",)) as node:
            await node.seat(table_id, rita)
            monkeypatch.setattr(current, "PATIENCE_S", 0.1)
            async with ProjectionReader(database.app_url) as reader:
                for asked in (holds_seat(reader, rita), reviewer(reader, rita, (), 0)):
                    with pytest.raises(Fault) as fault:
                        await asked
                    assert fault.value.code == "unavailable"
            refused = await node.as_(rita, "compliance").get("/v1/signals")
            assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
            monkeypatch.undo()
        async with running_node(database, redis_url, tmp_path) as node, ProjectionReader(database.app_url) as reader:
            assert await asyncio.wait_for(holds_seat(reader, rita), 30)
