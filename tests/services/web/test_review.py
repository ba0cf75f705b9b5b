"""The page of hands in a real browser: a player's own, all for compliance, searched, paged, and linked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.services.api.nodes import Node
from tests.services.web import scenes
from tests.services.web.browsing import WIDTHS, sign_in, visit
from tests.services.web.scenes import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZES = pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
Size = tuple[int, int]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hands(node: Node) -> AsyncIterator[dict[str, Scene]]:
    """Three hands at three tables."""
    yield {
        "fines": await scenes.pyatok_with_fines(
            node, "anna", "boris", "vera", "gleb", stake=25_000, entry_limit=25_000
        ),
        "blind": await scenes.blind(node, "boris", "vera", "gleb"),
        "voided": await scenes.voided(node, "anna", "boris", "vera"),
    }


async def unfold(page: Page) -> None:
    """The form, which is folded on a phone while nothing is searched for."""
    if not await page.locator("details[open]").count():
        await page.locator("summary").click()


def link(scene: Scene) -> str:
    """The row's link."""
    return f'a[href="/hands/{scene.hand_id}"]'


@SIZES
async def test_a_player_finds_his_own_hands_and_opens_one(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    async with visit(chrome, node.url, size=size) as here:
        page = here.page
        await page.goto(sign_in(node, "anna", "player", "/review"))
        await expect(page.get_by_role("heading", level=1)).to_have_text("Your hands")
        await expect(page.locator(".hand")).to_have_count(2)
        assert await page.locator(link(hands["blind"])).count() == 0
        assert await page.get_by_label("Player").count() == 0
        await unfold(page)
        await page.get_by_label("What was in it").select_option("voided_by_ops")
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator(".hand")).to_have_count(1)
        await expect(page.locator(".hand")).to_contain_text("voided")
        assert page.url == f"{node.url}/review?flag=voided_by_ops"
        await page.go_back()
        await expect(page.locator(".hand")).to_have_count(2)
        tricks = await page.locator(".players .hidden").all_text_contents()
        assert tricks
        assert all(re.fullmatch(r"1 trick|[2-9] tricks", each) for each in tricks), tricks
        await page.locator(link(hands["fines"])).click()
        await expect(page.locator(".table")).to_be_visible()
        assert page.url.startswith(f"{node.url}/hands/{hands['fines'].hand_id}")


@SIZES
async def test_compliance_searches_by_player_table_time_amount_and_flag(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    async with visit(chrome, node.url, size=size, scheme="dark") as here:
        page = here.page

        async def found(*kinds: str) -> None:
            await expect(page.locator(".hand")).to_have_count(len(kinds))
            for kind in kinds:
                await expect(page.locator(link(hands[kind]))).to_have_count(1)

        await page.goto(sign_in(node, "carla", "compliance", "/review"))
        await found("fines", "blind", "voided")
        table_id = hands["voided"].table_id
        await page.get_by_role("button", name=f"Copy: {table_id}").click()
        await expect(page.locator(".hand").filter(has_text=table_id)).to_have_count(1)
        assert page.url == f"{node.url}/review"
        day = re.search(r"\d{4}-\d\d-\d\d", await page.locator(".hand time").first.inner_text())
        assert day is not None
        for fields, kinds in (
            ({"Player": "anna"}, ["fines", "voided"]),
            ({"Player": "nobody"}, []),
            ({"Table": hands["blind"].table_id}, ["blind"]),
            ({"Bank from": "900"}, ["fines"]),
            ({"Bank to": "999,99"}, ["blind", "voided"]),
            ({"From (UTC)": day[0], "To (UTC)": day[0]}, ["fines", "blind", "voided"]),
            ({"From (UTC)": "2001-01-01", "To (UTC)": "2001-12-31"}, []),
        ):
            await unfold(page)
            await page.get_by_role("button", name="Clear").click()
            await expect(page).to_have_url(f"{node.url}/review")
            await unfold(page)
            for label, text in fields.items():
                await page.get_by_label(label, exact=True).fill(text)
            await page.get_by_role("button", name="Search").click()
            await page.wait_for_url("**/review?*")
            await found(*kinds)
        await page.goto("/review?flag=blind")
        await found("blind")
        await expect(page.get_by_label("What was in it")).to_have_value("blind")
        await page.goto("/review?flag=nonsense")
        await expect(page.get_by_role("alert")).to_be_visible()
        assert await page.get_by_role("button", name="Try again").count() == 0
        here.expect("422")


async def test_a_hand_is_opened_by_its_id_and_a_wrong_one_is_not_sent(
    node: Node, chrome: Browser, hands: dict[str, Scene]
) -> None:
    async with visit(chrome, node.url) as here:
        page = here.page
        await page.goto(sign_in(node, "carla", "compliance", "/review"))
        await page.get_by_label("Hand", exact=True).fill("4711")
        await page.get_by_role("button", name="Search").click()
        assert await page.locator("input[name=hand_id]:invalid").count() == 1
        await page.get_by_label("Hand", exact=True).fill(hands["blind"].hand_id)
        await page.get_by_role("button", name="Search").click()
        await expect(page.get_by_label("Reason")).to_be_visible()
        assert page.url == f"{node.url}/hands/{hands['blind'].hand_id}"


async def test_who_may_not_or_is_nobody_is_told_so(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/review")
        await expect(here.page.get_by_role("alert")).to_contain_text("Sign in first")
        await here.page.goto(sign_in(node, "clara", "cashier", "/review"))
        await expect(here.page.get_by_role("alert")).to_contain_text("Not for this role")
        await expect(here.page.get_by_role("alert")).to_contain_text("a link for one of these roles")


async def test_both_languages_have_the_same_words(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        differing = await here.page.evaluate(
            """async () => {
              const { WORDS } = await import("/assets/review/words.js");
              const keys = new Set([...Object.keys(WORDS.en), ...Object.keys(WORDS.ru)]);
              return [...keys].filter((key) => typeof WORDS.en[key] !== typeof WORDS.ru[key]);
            }"""
        )
        assert differing == []
