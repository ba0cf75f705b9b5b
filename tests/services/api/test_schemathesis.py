"""The running service against its own document: schemathesis finds no 5xx, and no answer that the document lacks.

The endless routes (event streams) are left out. Each operation is asked as a role that may.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import Database
from tests.services.api.following import play_hand
from tests.services.api.nodes import ROLES, Node, running_node, until

ANSWERS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def rejection(ctx: Any, response: Any, case: Case[Any]) -> bool | None:
    """Invalid data are refused; with 413 too, where they are longer than any body may be."""
    return None if response.status_code == 413 else negative_data_rejection(ctx, response, case)


CHECKS = {
    # Not positive_data_acceptance: to JSON Schema 1.0 is an integer, and here an amount with a point is refused.
    GenerationMode.POSITIVE: ANSWERS,
    GenerationMode.NEGATIVE: [*ANSWERS, rejection],
}
EXAMPLES = int(os.environ.get("KHRAP_EXAMPLES", "8"))
"""For each operation and mode."""


class Live:
    """A node in a thread of its own, with a table, seated players, accounts and a played hand."""

    def __init__(self, url: str, document: dict[str, Any], tokens: dict[str, str], known: dict[str, Any]) -> None:
        self.url = url
        self.document = document
        self.tokens = tokens
        self.known = known


@pytest.fixture(scope="module")
def live(
    fresh_database: Callable[[], AbstractContextManager[Database]],
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Live]:
    home = tmp_path_factory.mktemp("home")
    ready: list[Live | BaseException] = []
    started, stop = threading.Event(), threading.Event()

    async def serve(database: Database) -> None:
        async with running_node(database, redis_url, home) as node:
            ready.append(await _prepared(node))
            started.set()
            await asyncio.to_thread(stop.wait)

    with fresh_database() as database:

        def work() -> None:
            try:
                asyncio.run(serve(database))
            except BaseException as error:
                ready.append(error)
                started.set()
                raise

        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert started.wait(60)
            assert isinstance(ready[0], Live), ready
            yield ready[0]
        finally:
            stop.set()
            thread.join()


async def _disputed(node: Node, hand_id: str) -> str:
    """The hand's dispute, opened as soon as the projection has the hand."""

    async def opened() -> str | None:
        done = await node.as_("anna").post("/v1/disputes", {"hand_id": hand_id, "statement": "The trick was mine."})
        return str(done.json()["dispute_id"]) if done.status_code == 201 else None

    return str(await until(opened))


async def _prepared(node: Node) -> Live:
    table_id = await node.open_table(turn_ms=3_600_000)
    await node.seat(table_id, "anna", "boris")
    hand_id = (await play_hand(node, table_id, "anna", "boris"))["hand_id"]
    document = (await node.http.get("/schema/openapi.json")).json()
    tokens = {role: node.token("anna" if role == "player" else role, role) for role in ROLES}
    known: dict[str, Any] = {"table_id": table_id, "hand_id": hand_id, "player": "anna", "currency": "RUB"}
    known |= {"code": "stale_turn", "dispute_id": await _disputed(node, hand_id), "proposal": 1}
    known |= {"part": node.core.store.part_of(f"table-{table_id}"), "number": 1}
    async with node.checkpoints() as checkpoints:
        await checkpoints.seal(node.core.clock.now_ms())
    return Live(node.url, document, tokens, known)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
def test_no_5xx_and_no_answer_that_is_not_described(live: Live, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_dict(live.document)
    tried = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        endless = operation.path.endswith("/events")
        nothing_to_break = mode is GenerationMode.NEGATIVE and not operation.definition.raw["parameters"]
        if endless or nothing_to_break:
            continue
        tried += 1
        try:
            _ask(live, operation, mode)
        except BaseException as error:
            error.add_note(f"{operation.method.upper()} {operation.path}, {mode.value}")
            raise
    assert tried >= 25


def _ask(live: Live, operation: Any, mode: GenerationMode) -> None:
    role = next(role for role in live.tokens if role in operation.definition.raw["x-roles"])
    headers = {"Authorization": f"Bearer {live.tokens[role]}"}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Case[Any]) -> None:
        if mode is GenerationMode.POSITIVE:
            for name in case.path_parameters or {}:
                case.path_parameters[name] = live.known[name]
        case.call_and_validate(base_url=live.url, headers=headers, checks=CHECKS[mode])

    ask()


def test_the_document_itself_is_valid(live: Live) -> None:
    schemathesis.openapi.from_dict(live.document).validate()
    assert httpx.get(f"{live.url}/schema/openapi.json").json() == live.document
