"""The page of ops in a real browser: what is wrong is said in words, and two persons care for a table. T12."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from playwright.async_api import Browser, Page, expect

from tests.services.api.nodes import Node, until
from tests.services.web.browsing import PHONE, WIDTHS, Visit, sign_in, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIZES = pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)


@asynccontextmanager
async def as_ops(node: Node, chrome: Browser, subject: str, path: str = "/ops", **window: Any) -> AsyncIterator[Visit]:
    async with visit(chrome, node.url, **window) as here:
        await here.page.goto(sign_in(node, subject, "ops", path))
        await expect(here.page.locator(".figures")).to_be_visible()
        yield here


async def table_that_plays(node: Node, *players: str) -> str:
    table_id = await node.open_table(turn_ms=300_000)
    await node.seat(table_id, *players)

    async def plays() -> Any:
        return (await node.as_("oona", "ops").saw(f"/v1/ops/tables/{table_id}"))["hand_id"]

    await until(plays)
    return table_id


async def act(page: Page, button: str, reason: str) -> None:
    """Ask for an act, give the reason, and do it."""
    await page.get_by_role("button", name=button, exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Reason, for the record").fill(reason)
    await dialog.get_by_role("button", name=button, exact=True).click()
    await expect(dialog).to_be_hidden()


@SIZES
async def test_a_service_that_is_well_says_so(node: Node, chrome: Browser, size: tuple[int, int]) -> None:
    async with as_ops(node, chrome, "oona", size=size) as here:
        page = here.page
        await expect(page.get_by_text("Nothing is wrong")).to_be_visible()
        ledger = page.get_by_role("row", name=re.compile("ledger_v1"))
        await expect(ledger).to_contain_text("serves")
        await expect(ledger).to_contain_text("100 %")
        await expect(page.locator(".figure", has_text="Redis")).to_contain_text("✓ there")
        await expect(page.get_by_role("link", name="Operation")).to_have_attribute("aria-current", "page")
        first = await page.locator(".asof").inner_text()
        await expect(page.locator(".asof")).not_to_have_text(first)  # it is asked for again by itself
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_text("Paused")).to_be_visible()


@SIZES
async def test_t12_two_persons_void_a_hand_and_each_sees_what_the_other_did(
    node: Node, chrome: Browser, size: tuple[int, int]
) -> None:
    names = [f"{name}-{size[0]}" for name in ("anna", "boris")]
    table_id = await table_that_plays(node, *names)
    path = f"/ops#table={table_id}"
    async with (
        as_ops(node, chrome, "oona", path, size=size) as first,
        as_ops(node, chrome, "otto", path, size=size) as second,
    ):
        await act(first.page, "Halt", "a question of the books")
        await expect(first.page.locator(".cared")).to_contain_text("! halted")
        await expect(second.page.locator(".cared")).to_contain_text("By ops: a question of the books")
        await expect(second.page.get_by_role("region", name="Halted tables")).to_contain_text(table_id)
        await act(first.page, "Propose to void the hand", "the lamp fell on the table")
        await expect(first.page.get_by_role("button", name="Propose to void the hand")).to_be_disabled()
        await expect(second.page.locator(".cared")).to_contain_text(
            "oona has proposed it: “the lamp fell on the table”"
        )
        await act(second.page, "Confirm: void the hand", "so it did")
        await expect(second.page.locator(".cared")).to_contain_text("none runs")
        await act(second.page, "Resume", "the books are right")
        await expect(first.page.locator(".cared")).to_contain_text("✓ goes on")
        await first.sound()
    care = await node.as_("oona", "ops").saw(f"/v1/ops/tables/{table_id}")
    assert (care["halt"], care["voiding"]) == (None, None)


async def test_a_table_is_halted_by_keyboard_alone(node: Node, chrome: Browser) -> None:
    table_id = await table_that_plays(node, "key-a", "key-b")
    async with as_ops(node, chrome, "oona") as here:
        page = here.page
        await page.get_by_label("The table's id").focus()
        await page.keyboard.type("no id")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("A table's id is a UUID")).to_be_visible()
        await page.get_by_label("The table's id").fill("")
        await page.keyboard.type(table_id)
        await page.keyboard.press("Enter")
        await expect(page.locator(".cared")).to_contain_text("✓ goes on")
        assert page.url.endswith(f"/ops#table={table_id}")
        await page.get_by_role("button", name="Halt", exact=True).focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Reason, for the record")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await expect(page.get_by_role("button", name="Halt", exact=True)).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.type("by keyboard")
        await page.keyboard.press("Enter")
        await expect(page.locator(".cared")).to_contain_text("! halted")
    await node.as_("oona", "ops").did(f"/v1/tables/{table_id}/resume", {"reason": "done"})


@SIZES
async def test_what_waits_what_is_missing_and_what_is_built_is_said_in_words(
    node: Node, chrome: Browser, size: tuple[int, int]
) -> None:
    await table_that_plays(node, f"waits-{size[0]}", f"misses-{size[0]}")

    async def made() -> Any:
        status = await node.as_("oona", "ops").saw("/v1/ops/status")
        return {"players_v1", "ledger_v1"} <= {p["generation"] for p in status["projections"]}

    await until(made)
    with psycopg.connect(node.core.addresses.owner or "", autocommit=True) as owner:
        owner.execute(
            "insert into projection.parked (schema_name, stream, part, seq, code, reason, since_ms) "
            "values ('players_v1', 'table-nowhere', 3, 7, 'failed', 'ValueError: of a test', 1)"
        )
        owner.execute("insert into projection.stopped (part, pos, reason, since_ms) values (5, 9, 'of a test', 1)")
        owner.execute(
            "insert into projection.generation (name, version, generation, schema_name, ddl_digest, state, serving) "
            "values ('ledger', 1, 9, 'ledger_v1_g9', '', 'building', false)"
        )
        owner.execute(
            "insert into projection.checkpoint (schema_name, part, pos) "
            "select 'ledger_v1_g9', part, last_pos / 2 from store.part_head"
        )
        try:
            async with as_ops(node, chrome, "oona", size=size) as here:
                page = here.page
                alarms = page.get_by_role("region", name="Alarms")
                await expect(alarms).to_contain_text("A part of the log has a hole")
                await expect(alarms).to_contain_text("A stream waits in a projection")
                assert set(await alarms.locator("li.alarm .kind").all_inner_texts()) == {"! Alarm"}
                waits = page.get_by_role("region", name="Streams that wait, and holes")
                await expect(waits).to_contain_text("Part 5 is not read after position 9")
                await expect(waits).to_contain_text("ValueError: of a test")
                built = page.get_by_role("row", name=re.compile("ledger_v1_g9"))
                await expect(built).to_contain_text("is built")
                await expect(built).to_contain_text("! no")  # nobody is at it
                await expect(alarms).to_contain_text("A rebuild has stopped")
                assert 0 < int(await built.get_by_role("progressbar").get_attribute("value") or "") < 100
                await page.get_by_text("Build one anew, compare, go back").click()
                await page.get_by_role("combobox", name="Projection").select_option("ledger")
                await expect(page.get_by_text("khrap projections rebuild ledger")).to_be_visible()
        finally:
            owner.execute("delete from projection.parked where stream = 'table-nowhere'")
            owner.execute("delete from projection.stopped where part = 5")
            owner.execute("delete from projection.generation where schema_name = 'ledger_v1_g9'")


async def test_a_server_that_is_away_leaves_what_was_seen_and_says_so(node: Node, chrome: Browser) -> None:
    async with as_ops(node, chrome, "oona", size=PHONE) as here:
        here.expect("ERR_INTERNET_DISCONNECTED")
        await here.page.context.set_offline(True)
        await expect(here.page.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
        await expect(here.page.locator(".figures")).to_be_visible()
        await here.page.context.set_offline(False)
        await expect(here.page.get_by_role("alert").filter(has_text="does not answer")).to_be_hidden()


async def test_it_is_for_ops_alone(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        asked: list[str] = []
        here.page.on("request", lambda request: asked.append(request.url))
        await here.page.goto("/ops")
        await expect(here.page.get_by_role("alert")).to_contain_text("Sign in first")
        await here.page.goto(sign_in(node, "anna", "player", "/ops"))
        await expect(here.page.get_by_role("alert")).to_contain_text("This page is for ops")
        await expect(here.page.get_by_role("link", name="Operation")).to_have_count(0)
        assert not [url for url in asked if "/v1/ops" in url]


async def test_it_speaks_russian(node: Node, chrome: Browser) -> None:
    async with as_ops(node, chrome, "oona", size=PHONE, locale="ru-RU", scheme="dark") as here:
        await expect(here.page.get_by_role("heading", name="Эксплуатация")).to_be_visible()
        await expect(here.page.get_by_role("heading", name="Пробный баланс")).to_be_visible()
        missing = await here.page.evaluate(
            """async () => {
              const { WORDS } = await import("/assets/ops/words.js");
              const keys = (one, other) => Object.keys(WORDS[one]).filter((key) => !(key in WORDS[other]));
              return [...keys("en", "ru"), ...keys("ru", "en")];
            }"""
        )
        assert missing == []
