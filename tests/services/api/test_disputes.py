"""R1 to R7 over HTTP: disputes, what reviewers may not do, erased texts, and looks."""

from __future__ import annotations

import secrets
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from domain.disputes.commands import EraseTexts, Reviewer
from domain.disputes.dispute import DAY_MS
from infra.clock import ManualClock
from infra.dispute_keys import DisputeKeys
from infra.projection_store import ProjectionReader
from projections.ledger.reads import balances, trial_balance
from services.disputes.service import Disputes
from services.play.types import Caller as Person
from services.play.types import Request
from tests.services.api.following import play_hand
from tests.services.api.nodes import Caller, Node, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Case:
    """A played hand of two players, and reviewers of it."""

    def __init__(self, node: Node, table_id: str, hand_id: str, anna: str, boris: str) -> None:
        self.node = node
        self.table_id = table_id
        self.hand_id = hand_id
        self.anna = anna
        self.boris = boris

    def player(self, name: str) -> Caller:
        return self.node.as_(name)

    def reviewer(self, name: str) -> Caller:
        return self.node.as_(name, "compliance")

    async def opened(self, statement: str = "The trick was mine.") -> str:
        body = {"hand_id": self.hand_id, "statement": statement}
        return str((await self.player(self.anna).did("/v1/disputes", body))["dispute_id"])

    async def upheld(self) -> str:
        dispute_id = await self.opened()
        await self.reviewer("rita").did(
            f"/v1/disputes/{dispute_id}/verdict", {"outcome": "upheld", "text": "So it is."}
        )
        return dispute_id


async def _played(node: Node, table_id: str, anna: str, boris: str) -> Case:
    hand_id = (await play_hand(node, table_id, anna, boris))["hand_id"]

    async def over() -> bool:
        return (await node.as_(anna).get(f"/v1/hands/{hand_id}")).status_code == 200

    await until(over)
    return Case(node, table_id, str(hand_id), anna, boris)


@pytest_asyncio.fixture(loop_scope="module")
async def quick(node: Node) -> Case:
    """A case on a table that starts its first hand at once."""
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, anna, boris)
    return await _played(node, table_id, anna, boris)


def code(response: Any) -> tuple[int, str, str | None]:
    body = response.json()
    return response.status_code, body["code"], body.get("clause")


async def test_r1_a_player_of_the_hand_opens_it_once_and_sees_his_own(node: Node, quick: Case) -> None:
    dispute_id = await quick.opened("Шестёрка была моя.\nИ взятка тоже.")
    again = await quick.player(quick.anna).post("/v1/disputes", {"hand_id": quick.hand_id, "statement": "Again."})
    assert code(again) == (409, "dispute_exists", "R1")
    eve = await node.as_("eve").post("/v1/disputes", {"hand_id": quick.hand_id, "statement": "Mine too."})
    assert code(eve)[:2] == (404, "not_found")
    seen = await quick.player(quick.anna).saw(f"/v1/disputes/{dispute_id}")
    assert (seen["phase"], seen["opener"], seen["role"]) == ("open", quick.anna, "player")
    opened, frozen = seen["entries"]
    assert opened["text"] == "Шестёрка была моя.\nИ взятка тоже."
    assert frozen["type"] == "evidence_frozen"
    last = (await node.core.store.read_stream(f"table-{quick.table_id}", frozen["last_seq"] - 1, 1))[0]
    assert (last.hash.hex(), last.type) == (frozen["hash"], "hand_settled")
    for other in (quick.player(quick.boris), node.as_("eve")):
        assert (await other.get(f"/v1/disputes/{dispute_id}")).status_code == 404
        assert (await other.post(f"/v1/disputes/{dispute_id}/notes", {"text": "a test"})).status_code == 404
        assert (await other.post(f"/v1/disputes/{dispute_id}/withdraw")).status_code == 404
    # R2: as a reviewer one sees no dispute of a hand that one was dealt into, in the list neither.

    async def listed() -> bool:
        found = (await quick.reviewer("rita").saw("/v1/disputes", hand_id=quick.hand_id))["disputes"]
        return [row["dispute_id"] for row in found] == [dispute_id]

    await until(listed)
    for dealt in (quick.anna, quick.boris):
        assert code(await quick.reviewer(dealt).get("/v1/disputes")) == (409, "holds_seat", "R2")
        await quick.player(dealt).did(f"/v1/tables/{quick.table_id}/leave")
    # They may be in the next hand by now, which would hold them.
    for ops in ("oona", "otto"):
        await node.as_(ops, "ops").post(f"/v1/tables/{quick.table_id}/void", {"reason": "they want to go"})
    for dealt in (quick.anna, quick.boris):
        reviewer = quick.reviewer(dealt)

        async def left(reviewer: Caller = reviewer) -> bool:
            return (await reviewer.get("/v1/disputes")).status_code == 200

        await until(left)
        assert (await reviewer.saw("/v1/disputes", hand_id=quick.hand_id))["disputes"] == []
        assert (await reviewer.get(f"/v1/disputes/{dispute_id}")).status_code == 404
    # A second player of the hand opens his own.
    other = await quick.player(quick.boris).did("/v1/disputes", {"hand_id": quick.hand_id, "statement": "No, mine."})
    assert other["dispute_id"] != dispute_id


async def test_r1_a_running_hand_is_disputed_by_nobody(node: Node) -> None:
    anna, boris = (f"{name}-{secrets.token_hex(3)}" for name in ("anna", "boris"))
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, anna, boris)

    async def running() -> Any:
        return (await node.as_(anna).saw(f"/v1/tables/{table_id}"))["hand"]

    hand = await until(running)
    body = {"hand_id": hand["hand_id"], "statement": "Wrong already."}
    for caller in (node.as_(anna), node.as_("rita", "compliance")):
        assert code(await caller.post("/v1/disputes", body))[:2] == (404, "not_found")


async def test_a_write_sent_twice_is_done_once(node: Node, quick: Case) -> None:
    body = {"hand_id": quick.hand_id, "statement": "Once."}
    first = await quick.player(quick.anna).did("/v1/disputes", body, key="one")
    assert await quick.player(quick.anna).did("/v1/disputes", body, key="one") == first
    other = await quick.player(quick.anna).post("/v1/disputes", {**body, "statement": "Twice."}, key="one")
    assert code(other)[:2] == (422, "key_reused")
    path = f"/v1/disputes/{first['dispute_id']}"
    note = await quick.player(quick.anna).did(f"{path}/notes", {"text": "And so on."}, key="two")
    assert await quick.player(quick.anna).did(f"{path}/notes", {"text": "And so on."}, key="two") == note
    assert code(await quick.player(quick.anna).post(f"{path}/notes", {"text": "Else."}, key="two"))[1] == "key_reused"
    assert len((await quick.player(quick.anna).saw(path))["entries"]) == 3


async def test_r3_the_opener_reads_what_concerns_him_and_reviewers_all(node: Node, quick: Case) -> None:
    dispute_id = await quick.opened()
    path = f"/v1/disputes/{dispute_id}"
    rita = quick.reviewer("rita")
    await rita.did(f"{path}/notes", {"text": "between us"})
    await rita.did(f"{path}/notes", {"text": "we look into it", "shared": True})
    await quick.player(quick.anna).did(f"{path}/notes", {"text": "thank you"})
    await rita.did(f"{path}/verdict", {"outcome": "upheld", "text": "You are right."})
    await rita.did(f"{path}/compensations", {"player": quick.anna, "amount": 5, "text": "a sum"})
    hers = await quick.player(quick.anna).saw(path)
    assert [e.get("text") for e in hers["entries"]] == [
        "The trick was mine.", None, "we look into it", "thank you", "You are right."
    ]  # fmt: skip
    assert "between us" not in str(hers)
    assert "a sum" not in str(hers)
    all_ = await rita.saw(path)
    assert [e["text"] for e in all_["entries"] if "text" in e] == [
        "The trick was mine.", "between us", "we look into it", "thank you", "You are right.", "a sum"
    ]  # fmt: skip
    listed = await rita.saw("/v1/disputes", hand_id=quick.hand_id)
    assert [(d["dispute_id"], d["phase"]) for d in listed["disputes"]] == [(dispute_id, "judged")]
    mine = await quick.player(quick.anna).saw("/v1/disputes")
    assert [d["dispute_id"] for d in mine["disputes"]] == [dispute_id]
    others = await quick.player(quick.anna).get("/v1/disputes", opener=quick.boris)
    assert code(others)[:2] == (403, "not_allowed")


async def test_r2_a_reviewer_with_a_seat_judges_and_looks_at_nothing(node: Node, quick: Case) -> None:
    dispute_id = await quick.upheld()
    path = f"/v1/disputes/{dispute_id}"
    sitting = f"sitting-{secrets.token_hex(3)}"
    table_id = await node.open_table(pause_ms=600_000)
    await node.seat(table_id, sitting)
    reviewer = quick.reviewer(sitting)

    async def known() -> bool:
        return (await reviewer.get(f"/v1/hands/{quick.hand_id}", reason="a test")).status_code == 409

    await until(known)
    for post, body in (
        ("compensations", {"player": quick.anna, "amount": 5, "text": "a test"}),
        ("corrections", {"text": "a test"}),
        ("close", None),
        ("notes", {"text": "a test"}),
        ("verdict", {"outcome": "upheld", "text": "a test"}),
        ("erase", {"ground": "request"}),
    ):
        assert code(await reviewer.post(f"{path}/{post}", body)) == (409, "holds_seat", "R2"), post
    opened = await reviewer.post("/v1/disputes", {"hand_id": quick.hand_id, "statement": "a test"})
    assert code(opened) == (409, "holds_seat", "R2")
    for route in ("", "/file", "/replay"):
        looked = await reviewer.get(f"/v1/hands/{quick.hand_id}{route}", reason="I am curious")
        assert code(looked) == (409, "holds_seat", "R2"), route
    for read in ("/v1/disputes", path, f"{path}/correction", "/v1/signals", "/v1/reports/banks"):
        assert code(await reviewer.get(read)) == (409, "holds_seat", "R2"), read


async def test_r2_nobody_judges_his_own_hand_or_a_partner_s(node: Node, quick: Case) -> None:
    dispute_id = await quick.opened()
    path = f"/v1/disputes/{dispute_id}/verdict"
    verdict = {"outcome": "upheld", "text": "a test"}
    # Boris was dealt into the hand. He has left, and comes as a reviewer.
    await _leave(node, quick, quick.anna, quick.boris)
    for name in (quick.anna, quick.boris):
        assert code(await quick.reviewer(name).post(path, verdict)) == (409, "not_impartial", "R2")
        looked = await quick.reviewer(name).get(f"/v1/hands/{quick.hand_id}", reason="a test")
        assert code(looked) == (409, "not_impartial", "R7")
        assert (await quick.reviewer(name).get(f"/v1/disputes/{dispute_id}")).status_code == 404
    # Paul was dealt into another hand with Anna.
    paul = f"paul-{secrets.token_hex(3)}"
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, paul, quick.anna)
    await _played(node, table_id, paul, quick.anna)
    await _leave(node, Case(node, table_id, "", paul, quick.anna), paul, quick.anna)
    # He played with her after the dispute was opened, which makes him no partner in it; but in a later one he is.
    later = await quick.player(quick.boris).did("/v1/disputes", {"hand_id": quick.hand_id, "statement": "a test"})
    refused = await quick.reviewer(paul).post(f"/v1/disputes/{later['dispute_id']}/verdict", verdict)
    assert code(refused) == (409, "not_impartial", "R2")
    assert (await quick.reviewer(paul).post(path, verdict)).status_code == 200


async def _leave(node: Node, found: Case, *players: str) -> None:
    """Everybody leaves; a hand that runs is voided by two of ops."""
    path = f"/v1/tables/{found.table_id}"
    await node.as_("olga", "operator").did(f"{path}/close", {"reason": "the evening is over"})

    async def gone() -> bool:
        for ops in ("oona", "otto"):
            await node.as_(ops, "ops").post(f"{path}/void", {"reason": "the evening is over"})
        return bool((await node.anyone().saw(path))["closed"])

    await until(gone)

    async def known() -> bool:
        answers = [await node.as_(p, "compliance").get("/v1/reports/banks") for p in players]
        return all(a.status_code == 200 for a in answers)

    await until(known)


async def test_r4_compensation_by_two_reviewers_is_in_the_books(node: Node, quick: Case) -> None:
    dispute_id = await quick.upheld()
    path = f"/v1/disputes/{dispute_id}"
    rita, roman = quick.reviewer("rita"), quick.reviewer("roman")
    before = (await quick.player(quick.anna).saw(f"/v1/accounts/{quick.anna}/RUB"))["balance"]
    eve = await rita.post(f"{path}/compensations", {"player": "eve", "amount": 700, "text": "a test"})
    assert code(eve) == (409, "not_in_hand", "R4")
    proposed = await rita.did(f"{path}/compensations", {"player": quick.anna, "amount": 700, "text": "a test"})
    assert proposed["proposal"] == 1
    own = await rita.post(f"{path}/proposals/1/approve")
    assert code(own) == (409, "two_persons", "R4")
    assert code(await roman.post(f"{path}/close")) == (409, "not_offered", "R3")
    approved = await roman.did(f"{path}/proposals/1/approve", key="sign")
    assert await roman.did(f"{path}/proposals/1/approve", key="sign") == approved
    assert code(await roman.post(f"{path}/proposals/1/approve")) == (409, "not_offered", "R4")
    account = await quick.player(quick.anna).saw(f"/v1/accounts/{quick.anna}/RUB")
    assert account["balance"] == before + 700

    async def posted() -> Any:
        lines = (await quick.player(quick.anna).saw(f"/v1/accounts/{quick.anna}/RUB/statement"))["lines"]
        return [line for line in lines if line["other"] == "house:compensation"]

    (line,) = await until(posted)
    assert (line["change"], line["balance"]) == (700, before + 700)
    async with _reader(node) as reader:
        (house,) = await balances(reader, ["house:compensation"])
        assert house.balance <= -700
        assert (await trial_balance(reader)).zero
    stored = await node.core.store.read_last(f"account-{quick.anna}-RUB")
    assert stored is not None
    assert node.core.codec.decode(stored).dispute_id == dispute_id  # type: ignore[attr-defined]
    await roman.did(f"{path}/close")
    assert code(await rita.post(f"{path}/close")) == (409, "dispute_closed", "R3")


def _reader(node: Node) -> ProjectionReader:
    return ProjectionReader(node.core.addresses.application)


async def test_r5_a_hand_that_the_books_hold_for_right_is_not_corrected(node: Node, quick: Case) -> None:
    dispute_id = await quick.upheld()
    refused = await quick.reviewer("rita").post(f"/v1/disputes/{dispute_id}/corrections", {"text": "a test"})
    assert code(refused) == (409, "nothing_to_correct", "R5")
    preview = await quick.reviewer("rita").get(f"/v1/disputes/{dispute_id}/correction")
    assert code(preview) == (409, "nothing_to_correct", "R5")
    for stranger in (quick.reviewer(quick.anna), quick.player(quick.anna)):
        assert (await stranger.get(f"/v1/disputes/{dispute_id}/correction")).status_code in (403, 409)


async def test_r6_erased_texts_are_read_by_nobody_and_the_chain_is_whole(
    node: Node, quick: Case, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "СЕКРЕТ-" + secrets.token_hex(8)
    dispute_id = await quick.opened(secret)
    path = f"/v1/disputes/{dispute_id}"
    rita = quick.reviewer("rita")
    await rita.did(f"{path}/notes", {"text": secret}, key="note")
    await rita.did(f"{path}/verdict", {"outcome": "rejected", "text": secret})
    assert code(await rita.post(f"{path}/erase", {"ground": "request"})) == (409, "not_offered", "R6")
    await rita.did(f"{path}/close")
    with psycopg.connect(node.core.addresses.owner or "") as owner:
        (bodies,) = owner.execute(
            "select string_agg(encode(body, 'escape') || encode(meta, 'escape'), '') from store.event"
        ).fetchone()  # type: ignore[misc]
    assert secret not in bodies
    assert secret.encode("unicode_escape").decode() not in bodies
    assert code(await rita.post(f"{path}/erase", {"ground": "request"})) == (409, "not_impartial", "R6")
    roman = quick.reviewer("roman")
    assert code(await roman.post(f"{path}/erase", {"ground": "request"})) == (409, "not_offered", "R6")
    core = node.core
    keys = DisputeKeys(core.addresses.application, core.sealer, core.entropy)
    async with _reader(node) as reader:
        later = ManualClock(core.clock.now_ms() + 30 * DAY_MS)
        disputes = Disputes(core.store, core.codec, core.play, reader, keys, later)
        await disputes.command(
            dispute_id,
            Request(Person("roman", "compliance"), "gone", "x"),
            lambda at_ms, _, __: EraseTexts(at_ms=at_ms, reviewer=Reviewer(name="roman"), ground="request"),
        )
    await keys.close()
    assert code(await roman.post(f"{path}/erase", {"ground": "order"})) == (409, "texts_erased", "R6")
    for caller in (rita, quick.player(quick.anna)):
        seen = await caller.saw(path)
        assert seen["erased"]
        assert {e["text"] for e in seen["entries"] if "text" in e} == {None}
        assert secret not in str(seen)
        assert seen["entries"][-1]["ground"] == "request"
    with psycopg.connect(node.core.addresses.owner or "") as owner:
        row = owner.execute("select wrapped from dispute.key where dispute_id = %s", [dispute_id]).fetchone()
    assert row == (None,)
    assert (await node.core.store.verify()).is_intact
    # A text that is refused is in no problem and no log line either.
    refused = await rita.post(f"{path}/notes", {"text": secret + "\u0007"})
    assert code(refused)[:2] == (422, "invalid")
    late = await rita.post(f"{path}/notes", {"text": secret})
    assert code(late)[1] == "dispute_closed"
    logged = "".join(capfd.readouterr())
    for text in (refused.text, late.text, logged):
        assert secret not in text
    # What was sent with it cannot be tried out any more: the digest was under the destroyed key.
    assert code(await rita.post(f"{path}/notes", {"text": secret}, key="note"))[1] == "key_reused"


async def test_r7_each_look_needs_a_reason_is_recorded_and_shown_to_operators(node: Node, quick: Case) -> None:
    """Every route that shows a hand to compliance, as the document has them: also those to come."""
    document = (await node.http.get("/schema/openapi.json")).json()
    routes = [
        path
        for path, methods in document["paths"].items()
        if path.startswith("/v1/hands/{hand_id}") and "compliance" in methods.get("get", {}).get("x-roles", ())
    ]
    assert len(routes) >= 3
    name = f"rita-{secrets.token_hex(3)}"
    rita, operator = quick.reviewer(name), node.as_("olga", "operator")
    for route in routes:
        refused = await rita.get(route.format(hand_id=quick.hand_id))
        assert code(refused)[:2] == (422, "invalid"), route
        assert "reason" in refused.json()["detail"]
        looked = await rita.get(route.format(hand_id=quick.hand_id), reason=f"because of {route[-6:]}")
        assert looked.status_code == 200, looked.text

    async def shown() -> Any:
        found = (await operator.saw("/v1/audit/access", person=name))["looks"]
        return found if len(found) == len(routes) else None

    looks = await until(shown)
    assert {(look["hand_id"], look["person"]) for look in looks} == {(quick.hand_id, name)}
    assert [look["reason"] for look in looks] == [f"because of {route[-6:]}" for route in reversed(routes)]
    first = (await operator.saw("/v1/audit/access", person=name, limit=1))["next"]
    assert (await operator.saw("/v1/audit/access", person=name, cursor=first))["looks"] == looks[1:]
    # A running hand is looked at by nobody, for no reason.
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, *(f"{n}-{secrets.token_hex(3)}" for n in "ab"))

    async def running() -> Any:
        return (await node.anyone().saw(f"/v1/tables/{table_id}"))["hand"]

    hand = await until(running)
    for route in routes:
        looked = await rita.get(route.format(hand_id=hand["hand_id"]), reason="I must know")
        assert code(looked)[:2] == (404, "not_found"), route
    # A player sees that it was so, and not by whom; a stranger sees nothing.
    own = await quick.player(quick.anna).saw(f"/v1/hands/{quick.hand_id}/looks")
    assert [(look["at_ms"], look["what"]) for look in own["looks"]] == [(k["at_ms"], k["what"]) for k in looks]
    assert name not in str(own)
    assert (await node.as_("eve").get(f"/v1/hands/{quick.hand_id}/looks")).status_code == 404
