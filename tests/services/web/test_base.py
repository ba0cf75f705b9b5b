"""What every page has, in a real browser: sign-in by a link, the language, the suits, and how a problem is shown."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.services.api.nodes import Node
from tests.services.web.browsing import PHONE, WIDTHS, sign_in, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
async def test_a_link_signs_in_once_and_leaves_no_code_behind(
    node: Node, chrome: Browser, size: tuple[int, int]
) -> None:
    link = sign_in(node, "carla", "compliance", "/#step=3")
    async with visit(chrome, node.url, size=size) as here:
        await here.page.goto(link)
        await expect(here.page.locator(".who")).to_contain_text("carla")
        assert here.page.url == f"{node.url}/#step=3"
        assert await here.page.evaluate("document.cookie") == ""
        await here.page.reload()
        await expect(here.page.locator(".who")).to_contain_text("carla")
        await here.page.get_by_role("button", name="Sign out").click()
        await expect(here.page.locator(".who")).to_have_text("Not signed in")
    async with visit(chrome, node.url, size=size) as there:
        there.expect("422")
        await there.page.goto(link)
        await expect(there.page.get_by_role("alert")).to_contain_text("Ask for a new one")
        await expect(there.page.locator(".who")).to_have_text("Not signed in")


@pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
async def test_the_language_is_the_browser_s_until_another_is_chosen(
    node: Node, chrome: Browser, size: tuple[int, int]
) -> None:
    async with visit(chrome, node.url, size=size, locale="ru-RU") as here:
        await here.page.goto("/")
        await expect(here.page.get_by_role("heading", name="Открытые столы")).to_be_visible()
        await here.page.get_by_role("button", name="English").click()
        await expect(here.page.get_by_role("heading", name="Open tables")).to_be_visible()
        assert await here.page.title() == "Start · Khrap"
        await here.page.reload()
        await expect(here.page.get_by_role("heading", name="Open tables")).to_be_visible()
        assert await here.page.evaluate("document.documentElement.lang") == "en"


async def test_four_colours_of_suits_are_remembered(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        await here.page.get_by_label("Four-colour suits").check()
        await here.page.reload()
        await expect(here.page.get_by_label("Four-colour suits")).to_be_checked()
        assert await here.page.evaluate("document.documentElement.dataset.suits") == "four"


async def test_the_first_page_lists_the_open_tables(node: Node, chrome: Browser) -> None:
    table_id = await node.open_table(stake=12_345)
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        row = here.page.get_by_role("row").filter(has_text=table_id[-8:])
        await expect(row).to_contain_text("123.45 RUB")


async def test_a_short_id_tells_its_whole_where_it_may_not_be_copied_and_is_copied_where_it_may(
    node: Node, chrome: Browser
) -> None:
    table_id = await node.open_table()
    async with visit(chrome, node.url, size=PHONE) as here:
        await here.page.goto("/")
        button = here.page.get_by_role("button", name=f"Copy: {table_id}")
        await expect(button).to_have_text(f"…{table_id[-8:]}")
        await here.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await button.focus()
        await here.page.keyboard.press("Enter")
        await expect(button).to_have_text(table_id)
        await expect(here.page.get_by_role("row").filter(has_text=table_id)).to_contain_text("Copied")
        assert await here.page.evaluate("navigator.clipboard.readText()") == table_id
        await here.page.reload()
        await here.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        await button.click()
        await expect(button).to_have_text(table_id)
        await expect(here.page.get_by_text("Copied")).to_have_count(0)


@pytest.mark.parametrize(
    ("subject", "role", "pages"),
    [
        ("anna", "player", {"/review"}),
        ("clara", "cashier", set()),
        ("olga", "operator", {"/reports"}),
        ("carla", "compliance", {"/review", "/reports"}),
        ("oona", "ops", {"/ops"}),
    ],
)
async def test_the_first_page_offers_what_the_role_may_open(
    node: Node, chrome: Browser, subject: str, role: str, pages: set[str]
) -> None:
    table_id = await node.open_table()
    async with visit(chrome, node.url) as here:
        await here.page.goto(sign_in(node, subject, role))
        await expect(here.page.locator(".who")).to_contain_text(subject)
        offered = await here.page.locator(".tile").evaluate_all("all => all.map((each) => each.pathname)")
        assert set(offered) == pages | {"/schema/openapi.json"}
        row = here.page.get_by_role("row").filter(has_text=table_id[-8:])
        care = row.get_by_role("link", name=f"Look after it {table_id}")
        await expect(care).to_have_count(1 if role == "ops" else 0)
        if role == "ops":
            await care.click()
            await expect(here.page.locator(".cared")).to_contain_text(table_id)


async def test_both_languages_have_the_same_words(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        only_english = await here.page.evaluate(
            """async () => {
              const { WORDS } = await import("/assets/base/words.js");
              return Object.keys(WORDS.en).filter((key) => !(key in WORDS.ru));
            }"""
        )
        assert only_english == []
