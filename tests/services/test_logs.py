"""What is logged: each command with its table and hand, and nothing secret. At the level debug, where most is said."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.contextvars import get_contextvars

from domain.commands import HaltTable
from infra.telemetry import configure_logs
from services.play.types import Answer, Caller, Request
from tests.conftest import Database
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, running_node, until

CARD = re.compile(r"(?<![0-9A-Za-z])[2-9TJQKA][shdc](?![0-9A-Za-z])")
CLIENT = ("httpx", "httpcore")
"""The test's own client."""
SEED = "c1ee5eed" * 4
REASON = "the lamp fell on the table of Anna Karenina"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    text = io.StringIO()
    structlog.reset_defaults()
    configure_logs("debug", text)
    yield text
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


async def test_no_token_card_seed_or_reason_is_logged_and_each_command_names_its_table_and_hand(
    database: Database, redis_url: str, tmp_path: Path, log: io.StringIO
) -> None:
    async with running_node(database, redis_url, tmp_path) as node:
        table_id = await node.open_table(stake=100)
        await node.seat(table_id, "anna", "boris")
        path = f"/v1/tables/{table_id}"
        for player in ("anna", "boris"):
            await node.as_(player).post(f"{path}/client-seed", {"client_seed": SEED})
        await play_hand(node, table_id, "anna", "boris")
        await _go_wrong(node, path)
        ops = node.as_("oona", "ops")
        await ops.did(f"{path}/halt", {"reason": REASON})
        await ops.post(f"{path}/halt", {"reason": REASON})  # refused: halted already
        found = await node.core.play.table(table_id)
        assert found is not None
        hand = found[1].hand
        shuffle = found[1].shuffle
        secrets = [node.core.keys.master.hex()]
        secrets += [] if shuffle is None else [shuffle.server_seed]
        tokens = [node.token("anna", "player"), node.token("oona", "ops")]

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    ours = [line for line in lines if not str(line["logger"]).startswith(CLIENT)]
    done = [line for line in ours if line["event"] == "command_done" and line.get("table") == table_id]
    assert len(done) > 8
    assert all(re.fullmatch(r"[0-9a-f]{32}", line["command"]) for line in done)
    assert hand is not None
    assert any(line.get("hand") == hand.hand_id for line in done)
    refused = [line for line in ours if line["event"] == "command_refused"]
    assert {line["code"] for line in refused} >= {"table_halted"}
    assert all(line["command"] and line["table"] for line in refused)

    said = "\n".join(json.dumps(line, ensure_ascii=False) for line in ours)
    for secret in (*secrets, SEED, REASON, "Karenina", *tokens, *(token.split(".")[2] for token in tokens), "eyJ"):
        assert secret not in said
    for line in ours:
        for text in _texts(line):
            assert not CARD.search(text), line


async def test_what_is_logged_after_a_command_in_the_same_task_is_not_said_of_it(
    database: Database, redis_url: str, tmp_path: Path
) -> None:
    """A line of the server's end once named the last hand of the task that had started it."""
    async with running_node(database, redis_url, tmp_path) as node:
        table_id = await node.open_table()
        request = Request(Caller("oona", "ops"), "a-key", "00")
        outcome = await node.core.play.command(table_id, request, lambda at, _: HaltTable(at_ms=at, reason="x"))
        assert isinstance(outcome, Answer)
        assert get_contextvars() == {}


async def _go_wrong(node: Node, path: str) -> None:
    """Requests that fail in many ways, each with something secret in it."""
    await node.http.get("/v1/hands", headers={"Authorization": f"Bearer {node.token('anna', 'player')}x"})
    await node.http.get("/v1/hands", params={"token": node.token("anna", "player")})
    await node.as_("anna").post(f"{path}/actions", {"turn": 1, "do": "play", "card": "As"})
    await node.as_("anna").post(f"{path}/client-seed", {"client_seed": SEED + "0"})
    await node.as_("oona", "ops").post(f"{path}/void", {"reason": REASON + "\n"})

    async def between() -> Any:
        return (await node.as_("anna").saw(path))["turn"] is not None

    await until(between)


def _texts(value: object) -> Iterator[str]:
    """All texts in a line, the names left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
