"""Reports and signals in a real browser: chart, table, CSV and API agree; signals say their definitions. T7 to T12."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from projections.signals import DEFINITIONS
from tests.services.api.nodes import Node
from tests.services.web import scenes
from tests.services.web.browsing import PHONE, WIDTHS, sign_in, visit
from tests.services.web.scenes import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZES = pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
Size = tuple[int, int]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hands(node: Node) -> AsyncIterator[dict[str, Scene]]:
    """A hand with commission and fines, some beyond the purse, and a voided one."""
    yield {
        "fines": await scenes.pyatok_with_fines(
            node, "anna", "boris", "vera", "gleb", stake=2_000, entry_limit=2_000, buy_in=3_000
        ),
        "taken": await scenes.play(node, ("olya", "petr"), {"*": ("khrap", "decline")}, stake=2_000),
        "voided": await scenes.voided(node, "zoya", "egor"),
    }


@SIZES
async def test_t10_the_commission_is_charted_tabled_and_taken_away(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size, tmp_path: Path
) -> None:
    rows = (await node.as_("olga", "operator").saw("/v1/reports/commission"))["rows"]
    total = sum(row["amount"] for row in rows)
    assert total > 0
    async with visit(chrome, node.url, size=size) as here:
        page = here.page
        await page.goto(sign_in(node, "olga", "operator", "/reports"))
        report = page.get_by_role("region", name="House commission", exact=True)
        told = f"{total // 100}.{total % 100:02d}"
        await expect(report.locator("figcaption")).to_have_text(f"Taken in all: {told} RUB")
        chart = report.get_by_role("img")
        await expect(chart).to_have_accessible_name(re.compile(f"by day .* {told} RUB in all"))
        heights = await chart.locator("rect").evaluate_all("all => all.map((r) => r.height.baseVal.value)")
        assert (len(heights), sum(height > 0 for height in heights)) == (30, 1)
        day = report.get_by_role("region", name="By day, RUB")
        await expect(day.get_by_role("row").nth(1)).to_contain_text(f"{rows[0]['day']}{sum(r['hands'] for r in rows)}")
        async with page.expect_download() as downloading:
            await report.get_by_role("link", name="CSV").click()
        download = await downloading.value
        assert download.suggested_filename == "commission.csv"
        await download.save_as(tmp_path / "commission.csv")
        taken = list(csv.DictReader(io.StringIO((tmp_path / "commission.csv").read_text(), newline="")))
        assert sum(int(row["amount"]) for row in taken) == total
        voids = page.get_by_role("region", name="Voided hands").first
        await expect(voids).to_contain_text("the lamp fell on the table")
        await expect(voids).to_contain_text("by two of ops")


CUT_OFF = """
() => [...document.querySelectorAll("td")].filter((cell) => cell.checkVisibility() && (
  cell.getBoundingClientRect().right > innerWidth || cell.scrollWidth > cell.clientWidth)
).map((cell) => cell.textContent)
"""


@SIZES
async def test_t7_capped_fines_and_banks_and_a_statement_by_its_link(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    fines = (await node.as_("rita", "compliance").saw("/v1/reports/fines"))["rows"]
    assert fines
    async with visit(chrome, node.url, size=size, scheme="dark") as here:
        page = here.page
        await page.goto(sign_in(node, "rita", "compliance", "/reports"))
        rows = page.get_by_role("region", name="Capped fines").first.get_by_role("row")
        await expect(rows).to_have_count(len(fines) + 1)
        banks = page.get_by_role("region", name="Carried banks").first
        await expect(banks).to_contain_text(hands["fines"].table_id[-8:])
        await page.get_by_label("Statement of account").fill("player:")
        await page.get_by_role("button", name="Show").click()
        assert await page.locator("input[name=account]:invalid").count() == 1
        await page.get_by_label("Statement of account").fill("player:olya")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/reports?*account=player%3Aolya*")
        statement = page.get_by_role("region", name="Statement").first
        await expect(statement).to_contain_text("Before the period0.00 RUB")
        await expect(statement.get_by_role("row").nth(1)).to_contain_text("cash")
        assert await page.evaluate(CUT_OFF) == []
        label = "all => all.map((cell) => getComputedStyle(cell, '::before').content)"
        shown = await statement.get_by_role("row").nth(1).get_by_role("cell").evaluate_all(label)
        named = ["When", "Change", "Balance", "From or to", "Clause", "Hand"]
        assert shown == ([f'"{each}"' for each in named] if size == PHONE else ["none"] * len(named))
        await page.goto("/reports?from=2001-01-01&to=2001-12-31")
        await expect(page.get_by_text("Nothing in this period.")).to_have_count(3)
        await page.goto("/reports?from=2001-01-02&to=2001-01-01")
        await expect(page.get_by_role("alert")).to_contain_text("ends before it begins")


async def test_the_page_speaks_russian_and_is_not_for_players(
    node: Node, chrome: Browser, hands: dict[str, Scene]
) -> None:
    async with visit(chrome, node.url, locale="ru-RU", size=PHONE) as here:
        await here.page.goto(sign_in(node, "olga", "operator", "/reports"))
        await expect(here.page.get_by_role("heading", name="Комиссия заведения")).to_be_visible()
        await expect(here.page.locator("figcaption")).to_contain_text(re.compile(r"\d,\d\d RUB"))
    async with visit(chrome, node.url) as here:
        await here.page.goto(sign_in(node, "anna", "player", "/reports"))
        await expect(here.page.get_by_role("alert")).to_contain_text("Not for this role")
        assert await here.page.get_by_role("link", name="Reports").count() == 0


@SIZES
async def test_t12_signals_say_their_definition_numbers_and_hands(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    voided = hands["voided"]
    async with visit(chrome, node.url, size=size) as here:
        page = here.page
        await page.goto(sign_in(node, "rita", "compliance", "/review"))
        await page.get_by_role("link", name="Signals").click()
        await expect(page.locator(".signal")).to_have_count(2)
        await page.get_by_label("Player, or one of a pair").fill("zoya")
        await page.get_by_role("button", name="Show").click()
        await page.wait_for_url("**/review?show=signals*player=zoya")
        row = page.locator(".signal")
        await expect(row).to_have_count(1)
        await expect(row).to_contain_text(DEFINITIONS["voided"])
        await expect(row.locator(".numbers")).to_contain_text("Voided1 of 1")
        await page.get_by_text("What is counted").click()
        table = page.get_by_role("region", name="What is counted")
        await expect(table.get_by_role("row")).to_have_count(len(DEFINITIONS) + 1)
        await row.locator(f'a[href="/hands/{voided.hand_id}"]').click()
        await expect(page.get_by_label("Reason")).to_be_visible()
    async with visit(chrome, node.url, size=size) as there:
        await there.page.goto(sign_in(node, "zoya", "player", "/review?show=signals"))
        await expect(there.page.get_by_role("heading", level=1)).to_have_text("Your hands")
        assert await there.page.get_by_role("link", name="Signals").count() == 0


async def test_the_page_defines_what_the_service_counts(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        words = await here.page.evaluate('import("/assets/review/signal_words.js").then((m) => m.WORDS)')
        for kind, definition in DEFINITIONS.items():
            key = f"signal.{kind}.definition"
            assert words["en"][key] == definition
            assert set(re.findall(r"\d+", words["ru"][key])) == set(re.findall(r"\d+", definition))
        assert words["en"].keys() == words["ru"].keys()
        reports = await here.page.evaluate('import("/assets/reports/words.js").then((m) => m.WORDS)')
        assert reports["ru"].keys() - reports["en"].keys() == {"problem.holds_seat"}
        assert reports["en"].keys() <= reports["ru"].keys()
