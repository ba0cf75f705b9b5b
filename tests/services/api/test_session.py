"""A page's session: a one-time code for a cookie, and writes from our own pages alone."""

from __future__ import annotations

from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest
from psycopg import sql

from domain.events import SessionEnded, SessionOpened
from infra.migrations import FOLDERS
from infra.store.migrate import migrate
from services.api.auth import COOKIE
from services.api.sessions import SessionEnds
from services.api.tokens import Sessions, Signer
from services.play.types import Caller
from tests.conftest import Database, _execute, _name, as_application, with_database
from tests.infra.store.own_server import own_server
from tests.services.api.following import following
from tests.services.api.nodes import Node, running_node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


def code_for(node: Node, subject: str, role: str = "player") -> str:
    return Signer(node.core.keys, node.core.clock, node.core.entropy).code(subject, role)


async def exchange(node: Node, code: str, key: str = "a", origin: str | None = None) -> httpx.Response:
    headers = {"Idempotency-Key": key, "Content-Type": "application/json", "Origin": origin or node.url}
    async with httpx.AsyncClient(base_url=node.url) as http:
        return await http.post("/v1/session", json={"code": code}, headers=headers)


def cookie_of(begun: httpx.Response) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={begun.cookies[COOKIE]}"}


async def test_a_code_is_exchanged_once_for_a_cookie_that_no_script_reads(node: Node) -> None:
    code = code_for(node, "anna")
    first = await exchange(node, code)
    assert first.status_code == 200, first.text
    assert (first.json()["subject"], first.json()["role"]) == ("anna", "player")
    cookie = SimpleCookie(first.headers["set-cookie"])[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "strict"
    assert cookie["path"] == "/"
    assert code not in first.headers["set-cookie"]
    # The answer was lost: the same request again is the same use.
    assert (await exchange(node, code)).status_code == 200
    spent = await exchange(node, code, key="b")
    assert (spent.status_code, spent.json()["code"]) == (422, "code_spent")
    assert "set-cookie" not in spent.headers


async def test_what_is_no_code_is_refused(node: Node) -> None:
    for code in ("abc", node.token("anna", "player"), "a.b.c", code_for(node, "anna")[:-3] + "AAA"):
        refused = await exchange(node, code)
        assert (refused.status_code, refused.json()["code"]) == (422, "code_spent")
    foreign = await exchange(node, code_for(node, "anna"), origin="http://evil.example")
    assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign_origin")


async def test_the_cookie_speaks_for_its_player_and_writes_need_our_origin(node: Node) -> None:
    begun = await exchange(node, code_for(node, "cookie-olga", "operator"))
    cookies = {COOKIE: begun.cookies[COOKIE]}
    body = {"currency": "RUB", "stake": 100, "options": {"game": "khrap"}}
    async with httpx.AsyncClient(base_url=node.url, cookies=cookies) as http:
        for origin, status in ((None, 403), ("null", 403), ("http://evil.example", 403), (node.url, 201)):
            headers = {"Idempotency-Key": "c", **({} if origin is None else {"Origin": origin})}
            opened = await http.post("/v1/tables", json=body, headers=headers)
            assert opened.status_code == status, opened.text
        # A bearer token goes before the cookie, and is not sent by a browser by itself: it needs no origin.
        both = {"Idempotency-Key": "d", "Authorization": f"Bearer {node.token('olga', 'operator')}"}
        assert (await http.post("/v1/tables", json=body, headers=both)).status_code == 201
        assert (await http.get("/v1/hands")).status_code == 403
        ended = await http.delete("/v1/session", headers={"Idempotency-Key": "e", "Origin": node.url})
        assert ended.status_code == 204
        assert "Max-Age=0" in ended.headers["set-cookie"]


async def test_a_session_that_was_ended_speaks_for_nobody(node: Node) -> None:
    """Signing out once ended nothing here: a copy of the cookie was good for hours."""
    begun = await exchange(node, code_for(node, "ended-anna"))
    cookie = cookie_of(begun)
    jti = verified(node, begun)
    async with httpx.AsyncClient(base_url=node.url) as http:

        async def reads() -> bool:
            return (await http.get("/v1/hands", headers=cookie)).status_code == 200

        await until(reads)  # the projections may not be there yet
        for key in ("a", "b"):
            headers = {"Idempotency-Key": key, "Origin": node.url}
            assert (await http.delete("/v1/session", headers={**headers, **cookie})).status_code == 204
        assert (await http.get("/v1/hands", headers=cookie)).status_code == 401
        assert (await http.get("/v1/session", headers=cookie)).json()["subject"] is None
    stored = await node.core.store.read_stream(f"session-{jti}")
    assert [node.core.codec.decode(each) for each in stored] == [
        SessionOpened(person="ended-anna", role="player"),
        SessionEnded(person="ended-anna"),
    ]


async def test_a_stream_ends_with_the_session_that_opened_it(node: Node) -> None:
    """Signing out once left it open until the cookie would have expired, hours later."""
    begun = await exchange(node, code_for(node, "streaming-anna"))
    table_id = await node.open_table()
    caller = node.anyone()
    caller.headers = cookie_of(begun)
    async with following(caller, f"/v1/tables/{table_id}/events") as stream:
        assert (await stream.until(lambda m: m.event == "snapshot"))[-1].data
        headers = {**caller.headers, "Idempotency-Key": "a", "Origin": node.url}
        assert (await caller.http.delete("/v1/session", headers=headers)).status_code == 204
        assert (await stream.until(lambda m: m.event == "end"))[-1].data == {"reason": "signed_out"}
        assert await stream.next() is None


async def test_a_bearer_token_ends_no_session(node: Node) -> None:
    begun = await exchange(node, code_for(node, "still-anna"))
    cookie = cookie_of(begun)
    async with httpx.AsyncClient(base_url=node.url) as http:
        headers = {"Idempotency-Key": "a", "Authorization": f"Bearer {node.token('still-anna', 'player')}"}
        assert (await http.delete("/v1/session", headers={**headers, **cookie})).status_code == 204
        assert (await http.get("/v1/hands", headers=cookie)).status_code == 200


async def test_other_processes_know_of_the_end_when_what_they_read_is_old(node: Node) -> None:
    jti = verified(node, await exchange(node, code_for(node, "far-anna")))
    core = node.core
    here, soon, later = (
        SessionEnds(core.store, core.codec, core.clock, core.entropy, fresh_s) for fresh_s in (3_600.0, 0.0, 3_600.0)
    )
    for each in (here, soon, later):
        assert not await each.is_ended(jti)
    await here.end(Caller("far-anna", "player"), jti)
    assert await here.is_ended(jti)
    assert await soon.is_ended(jti)
    assert not await later.is_ended(jti)
    assert await here.is_ended("0" * 32), "a session that was never begun"


async def test_while_the_store_is_away_a_session_is_not_taken_on_trust(redis_url: str, tmp_path: Path) -> None:
    with own_server() as server:
        name = _name()
        _execute(server.url, sql.SQL("create database {}").format(sql.Identifier(name)))
        owner = with_database(server.url, name)
        await migrate(owner, FOLDERS)
        async with running_node(Database(name, owner, as_application(owner)), redis_url, tmp_path, ("api",)) as far:
            begun = await exchange(far, code_for(far, "anna"))
            cookie = cookie_of(begun)
            server.kill()
            async with httpx.AsyncClient(base_url=far.url, timeout=60) as http:
                now = await http.get("/v1/session", headers=cookie)
                assert (now.status_code, now.json()["subject"]) == (200, None)
                assert (await http.get("/v1/hands", headers=cookie)).status_code == 503
                headers = {"Idempotency-Key": "a", "Origin": far.url}
                not_ended = await http.delete("/v1/session", headers={**headers, **cookie})
                assert not_ended.status_code == 503


def verified(node: Node, begun: httpx.Response) -> str:
    jti = Sessions(node.core.sealer.session_key, node.core.clock).verify(begun.cookies[COOKIE]).jti
    assert jti is not None
    return jti


async def test_an_old_cookie_is_no_caller_and_no_obstacle(node: Node) -> None:
    cookies = {COOKIE: "x.y.z"}
    table_id = await node.open_table()
    async with httpx.AsyncClient(base_url=node.url, cookies=cookies) as http:
        assert (await http.get(f"/v1/tables/{table_id}")).status_code == 200
        assert (await http.get("/v1/hands")).status_code == 401
    bearer_as_cookie = {COOKIE: node.token("anna", "player")}
    async with httpx.AsyncClient(base_url=node.url, cookies=bearer_as_cookie) as http:
        assert (await http.get("/v1/hands")).status_code == 401


async def test_headers_of_every_answer(node: Node) -> None:
    table_id = await node.open_table()
    anyone, anna = node.anyone(), node.as_("anna")
    answers = [
        await anyone.get(f"/v1/tables/{table_id}"),
        await anna.get("/v1/hands"),
        await anyone.get("/v1/hands"),
        await anyone.get("/nowhere"),
        await anyone.get("/healthz"),
        await anna.post(f"/v1/tables/{table_id}/leave"),
    ]
    for answer in answers:
        assert answer.headers["cache-control"] == "private, no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["server-time"].endswith("Z")
        assert "server" not in answer.headers


async def test_metrics_count_routes_and_name_nobody(node: Node) -> None:
    await node.anyone().get("/v1/tables/018f0000-0000-7000-8000-0000000000ee")
    await node.anyone().get("/made/up/by/a/caller")
    text = (await node.as_("oona", "ops").get("/metrics")).text
    assert 'khrap_http_requests_total{method="GET",route="/v1/tables/{table_id}",status="404"}' in text
    assert 'khrap_http_requests_total{method="GET",route="none",status="404"}' in text
    assert "0000000000ee" not in text
    assert "made" not in text


async def test_the_type_of_a_problem_can_be_looked_up(node: Node) -> None:
    problem = (await node.anyone().get("/v1/hands")).json()
    meaning = await node.anyone().saw(problem["type"])
    assert meaning == {"type": problem["type"], "title": problem["title"], "status": problem["status"]}
