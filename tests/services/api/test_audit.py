"""What an outsider can have without a token, and check; and the bundle, which compliance alone takes out."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from infra.audit import audit, read_document, read_kept
from infra.audit.verifier import check, exit_code, read_key
from infra.store.merkle import consistent, included
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "/v1/audit/key"
CHECKPOINTS = "/v1/audit/checkpoints"


async def seal(node: Node) -> None:
    async with node.checkpoints() as checkpoints:
        await checkpoints.seal(node.core.clock.now_ms())


async def played(node: Node, *players: str, **settings: Any) -> tuple[str, str]:
    """A table, and a hand of it that is over."""
    table_id = await node.open_table(turn_ms=3_600_000, **settings)
    await node.seat(table_id, *players)
    return table_id, str((await play_hand(node, table_id, *players))["hand_id"])


async def bundle_of(node: Node, hand_id: str) -> bytes:
    """The bundle, as soon as the projections have the hand."""

    async def found() -> bytes | None:
        response = await node.as_("zoe", "compliance").get(f"/v1/hands/{hand_id}/bundle", reason="a dispute")
        return response.content if response.status_code == 200 else None

    return bytes(await until(found))


async def test_the_key_is_the_one_that_signs(node: Node) -> None:
    shown = await node.anyone().saw(KEY)
    pem = serialization.load_pem_public_key(shown["pem"].encode())
    assert isinstance(pem, Ed25519PublicKey)
    assert shown["public_key"] == pem.public_bytes_raw().hex()
    assert shown["public_key"] == node.core.keys.audit_signing.public_key().public_bytes_raw().hex()


async def test_anyone_keeps_checkpoints_and_holds_the_log_against_them(node: Node) -> None:
    for name in ("kept-a", "kept-b", "kept-c"):
        await node.as_("clara", "cashier").did("/v1/accounts", {"player": name, "currency": "RUB"})
        await seal(node)
    anyone = node.anyone()
    key = (await anyone.saw(KEY))["public_key"]
    seen: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = await anyone.saw(CHECKPOINTS, after=after, limit=2)
        seen += page["checkpoints"]
        after = page["next"]
    assert [each["number"] for each in seen] == list(range(1, len(seen) + 1))
    assert len(seen) >= 3
    for before, each in pairwise(seen):
        assert each["previous"] == before["hash"]
    for each in seen:
        response = await anyone.get(f"{CHECKPOINTS}/{each['number']}")
        assert "immutable" in response.headers["cache-control"]
        whole = read_document(response.content)
        assert (whole.hash, whole.key) == (each["hash"], key)
        assert read_document(msgspec.json.encode(each)).hash == each["hash"]
    kept = read_kept((await anyone.get(CHECKPOINTS, limit=200)).content)
    async with node.checkpoints() as checkpoints:
        assert (await audit(node.core.store, checkpoints, kept)).is_intact
    assert (await anyone.get(f"{CHECKPOINTS}/999999")).status_code == 404


async def test_anyone_proves_an_event_and_that_nothing_was_changed(node: Node) -> None:
    table_id, _ = await played(node, "proof-a", "proof-b")
    await seal(node)
    part = node.core.store.part_of(f"table-{table_id}")
    anyone = node.anyone()
    newest = (await anyone.saw(CHECKPOINTS, limit=200))["checkpoints"][-1]["number"]
    sealed = (await anyone.saw(f"{CHECKPOINTS}/{newest}"))["sealed"]
    tree = next(each for each in sealed if each["part"] == part)
    for event in await node.core.store.read_stream(f"table-{table_id}", limit=5):
        shown = await anyone.saw(f"/v1/audit/parts/{part}/inclusion", pos=event.pos)
        assert (shown["hash"], shown["size"], shown["root"]) == (event.hash.hex(), tree["size"], tree["root"])
        path = [bytes.fromhex(each) for each in shown["path"]]
        assert included(event.hash, event.pos - 1, shown["size"], path, bytes.fromhex(shown["root"]))
    shown = await anyone.saw(f"/v1/audit/parts/{part}/consistency", first=3)
    roots = [bytes.fromhex(shown[name]) for name in ("first_root", "second_root")]
    assert consistent(3, tree["size"], [bytes.fromhex(each) for each in shown["path"]], *roots)
    assert shown["second_root"] == tree["root"]
    for path_, query in (
        ("inclusion", {"pos": tree["size"] + 1}),
        ("inclusion", {"pos": 1, "size": tree["size"] + 1}),
        ("consistency", {"first": tree["size"] + 1}),
    ):
        response = await anyone.get(f"/v1/audit/parts/{part}/{path_}", **query)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    unused = next(p for p in range(256) if all(each["part"] != p for each in sealed))
    assert (await anyone.get(f"/v1/audit/parts/{unused}/inclusion", pos=1)).status_code == 404


async def test_anyone_has_it_proven_that_the_log_only_grew(node: Node) -> None:
    anyone = node.anyone()
    await played(node, "grown-a", "grown-b")
    await seal(node)
    first = (await anyone.saw(CHECKPOINTS, limit=200))["checkpoints"][-1]
    await played(node, "grown-c", "grown-d")
    await seal(node)
    shown = await anyone.get(f"{CHECKPOINTS}/{first['number']}/consistency")
    key = (await anyone.saw(KEY))["public_key"]
    assert exit_code(check(shown.content, key, json.dumps(first).encode())) == 0
    newest = shown.json()["second"]["number"]
    assert newest > first["number"]
    same = await anyone.get(f"{CHECKPOINTS}/{newest}/consistency", second=newest)
    assert exit_code(check(same.content, key)) == 3
    for number, query in ((newest + 1, {}), (newest, {"second": newest + 1}), (newest, {"second": newest - 1})):
        response = await anyone.get(f"{CHECKPOINTS}/{number}/consistency", **query)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_compliance_takes_a_bundle_that_is_all_right_and_its_look_is_an_event(node: Node, tmp_path: Path) -> None:
    _, hand_id = await played(node, "bundle-a", "bundle-b")
    content = await bundle_of(node, hand_id)
    (tmp_path / "key.json").write_bytes((await node.anyone().get(KEY)).content)
    found = check(content, read_key(str(tmp_path / "key.json")))
    assert exit_code(found) == 0, found
    looked = json.loads((await node.core.store.read_stream("audit-access"))[-1].body)
    assert (looked["hand_id"], looked["what"], looked["reason"], looked["person"]) == (
        hand_id,
        "bundle",
        "a dispute",
        "zoe",
    )


async def test_a_look_without_a_reason_is_refused(node: Node) -> None:
    _, hand_id = await played(node, "reason-a", "reason-b")
    await bundle_of(node, hand_id)
    looks = len(await node.core.store.read_stream("audit-access"))
    response = await node.as_("zoe", "compliance").get(f"/v1/hands/{hand_id}/bundle")
    assert (response.status_code, response.json()["code"]) == (422, "invalid")
    assert len(await node.core.store.read_stream("audit-access")) == looks


async def test_r7_nobody_takes_out_a_hand_of_his_own(node: Node) -> None:
    _, hand_id = await played(node, "own-a", "own-b")
    await bundle_of(node, hand_id)
    response = await node.as_("own-a", "compliance").get(f"/v1/hands/{hand_id}/bundle", reason="my own")
    assert (response.status_code, response.json()["code"]) == (409, "not_impartial")


async def test_a_running_hand_is_nobodys(node: Node) -> None:
    table_id = await node.open_table(turn_ms=3_600_000)
    await node.seat(table_id, "running-a", "running-b")

    async def running() -> str | None:
        events = await node.core.store.read_stream(f"table-{table_id}")
        started = [json.loads(event.body)["hand_id"] for event in events if event.type == "hand_started"]
        return started[-1] if started else None

    hand_id = await until(running)
    response = await node.as_("zoe", "compliance").get(f"/v1/hands/{hand_id}/bundle", reason="curiosity")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
