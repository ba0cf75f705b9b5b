"""Disputes in a real browser: a player opens one from his hand and follows it, reviewers decide, two move money. R."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from domain import consequences
from tests.services.api.following import play_hand
from tests.services.api.nodes import Node, until
from tests.services.api.test_correcting import STAKE, generous
from tests.services.web import scenes
from tests.services.web.browsing import PHONE, WIDTHS, sign_in, visit
from tests.services.web.scenes import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZES = pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
Size = tuple[int, int]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hand(node: Node) -> AsyncIterator[Scene]:
    """A hand of four, with fines."""
    yield await scenes.pyatok_with_fines(node, "anna", "boris", "vera", "gleb")


async def opened(node: Node, hand: Scene, player: str) -> str:
    """A dispute, opened over the API."""
    body = {"hand_id": hand.hand_id, "statement": "The third trick was mine:\nthe trump was hearts."}
    return str((await node.as_(player).did("/v1/disputes", body))["dispute_id"])


async def do(page: Page, button: str, **fields: str) -> None:
    """Ask for an act, fill its fields, and do it."""
    await page.get_by_role("button", name=button, exact=True).first.click()
    dialog = page.get_by_role("dialog")
    for label, text in fields.items():
        await dialog.get_by_label(label).fill(text)
    await dialog.get_by_role("button", name=button, exact=True).click()
    await expect(dialog).to_be_hidden()


@SIZES
async def test_r1_r3_a_player_opens_a_dispute_from_his_hand_and_follows_it(
    node: Node, chrome: Browser, hand: Scene, size: Size
) -> None:
    player = "anna" if size == PHONE else "boris"
    async with visit(chrome, node.url, size=size) as here:
        page = here.page
        await page.goto(sign_in(node, player, "player", f"/hands/{hand.hand_id}"))
        if size == PHONE:
            await page.get_by_text("Checks, files, dispute").click()
        await page.get_by_role("link", name="Dispute", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(f"Dispute hand …{hand.hand_id[-8:]}")
        await page.get_by_label("What was wrong").fill("The trick was mine.\nLook at the trump.")
        await page.get_by_role("button", name="Open the dispute").click()
        await page.wait_for_url(re.compile("/disputes/[0-9a-f]{8}-"))
        await expect(page.locator("blockquote")).to_have_text("The trick was mine.\nLook at the trump.")
        await expect(page.locator(".phase")).to_contain_text("open")
        await expect(page.get_by_text("The evidence is frozen")).to_be_visible()
        await do(page, "Add a note", Text="Gleb saw it too.")
        await expect(page.locator("blockquote").last).to_have_text("Gleb saw it too.")
        await expect(page.get_by_role("status").filter(has_text="Your note")).to_be_visible()
        dispute_id = page.url.rsplit("/", 1)[1]
        rita = node.as_("rita", "compliance")
        await rita.did(f"/v1/disputes/{dispute_id}/notes", {"text": "between us"})
        await rita.did(f"/v1/disputes/{dispute_id}/verdict", {"outcome": "rejected", "text": "It was not so."})
        await page.reload()
        await expect(page.locator(".phase")).to_contain_text("judged, rejected")
        await expect(page.locator("blockquote").last).to_have_text("It was not so.")
        assert "between us" not in await page.content()
        assert await page.get_by_role("button", name="Withdraw the dispute").count() == 0
        # Once a hand: the page says so, and shows the way to the one that is there.
        here.expect("409")
        await page.goto(f"/disputes/new?hand={hand.hand_id}")
        await expect(page.get_by_role("region", name="Disputes of this hand").get_by_role("link")).to_have_count(1)
        await page.get_by_label("What was wrong").fill("Again.")
        await page.get_by_role("button", name="Open the dispute").click()
        await expect(page.get_by_role("alert")).to_contain_text("one disputes a hand once")
        await page.goto("/review?show=disputes")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Your disputes")
        await page.locator(f'a[href="/disputes/{dispute_id}"]').click()
        await expect(page.locator(".phase")).to_contain_text("rejected")


@SIZES
async def test_r4_two_reviewers_compensate_and_one_alone_cannot(
    node: Node, chrome: Browser, hand: Scene, size: Size
) -> None:
    dispute_id = await opened(node, hand, "vera" if size == PHONE else "gleb")
    async with visit(chrome, node.url, size=size, scheme="dark") as here:
        page = here.page
        await page.goto(sign_in(node, "rita", "compliance", "/review?show=disputes&phase=open"))
        await page.locator(f'a[href="/disputes/{dispute_id}"]').click()
        await page.get_by_role("button", name="Give the verdict").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("upheld").check()
        await dialog.get_by_label("Reasons").fill("So it is.")
        await page.keyboard.press("Escape")  # nothing is done by a dialog that is left
        await expect(page.locator(".phase")).to_contain_text("open")
        await page.get_by_role("button", name="Give the verdict").click()
        await dialog.get_by_label("upheld").check()
        await dialog.get_by_label("Reasons").fill("So it is.")
        await dialog.get_by_role("button", name="Give the verdict").click()
        await expect(page.locator(".phase")).to_contain_text("judged, upheld")
        await do(page, "Propose a compensation", Amount="12,50", Reasons="The share of the trick.")
        waits = page.get_by_role("region", name="Waiting for a second signature")
        await expect(waits).to_contain_text("12.50 RUB from the house")
        await expect(waits).to_contain_text("You proposed it")
        await expect(waits.get_by_role("button", name="Approve")).to_be_disabled()
        # The record is right: there is nothing to correct, and the dialog says so.
        here.expect("409")
        await page.get_by_role("button", name="Propose a correction").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("recorded as the rules have it")
        await expect(dialog.get_by_role("button", name="Propose a correction")).to_be_disabled()
        await dialog.get_by_role("button", name="Do nothing").click()
    async with visit(chrome, node.url, size=size) as there:
        page = there.page
        await page.goto(sign_in(node, "roman", "compliance", f"/disputes/{dispute_id}"))
        await do(page, "Approve")
        await expect(page.get_by_text("roman approves proposal 1")).to_be_visible()
        await do(page, "Close the dispute")
        await expect(page.locator(".phase")).to_contain_text("closed, upheld")
        # R6: not before 30 days have gone.
        await expect(page.get_by_text("Nothing more is decided here.")).to_be_visible()
        await expect(page.get_by_role("button", name="Erase the texts")).to_have_count(0)
        await page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=31))
        await page.reload()
        await expect(page.get_by_role("button", name="Erase the texts")).to_be_visible()
        await page.goto("/review?show=disputes&phase=closed")
        await expect(page.locator(".dispute", has=page.locator(f'a[href$="{dispute_id}"]'))).to_contain_text(
            "12.50 RUB compensated"
        )


@pytest.mark.timeout(240)
async def test_r5_who_signs_a_correction_sees_what_it_comes_to(
    node: Node, chrome: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = await node.open_table(stake=STAKE, turn_ms=300_000, pause_ms=3_000)
    await node.seat(table_id, "olya", "petr")
    with monkeypatch.context() as planted:
        planted.setattr(consequences, "settle", generous)
        hand_id = str((await play_hand(node, table_id, "olya", "petr"))["hand_id"])

    async def halted() -> Any:
        return (await node.anyone().saw(f"/v1/tables/{table_id}"))["halted"]

    await until(halted)
    body = {"hand_id": hand_id, "statement": "The share is wrong."}
    dispute_id = (await node.as_("olya").did("/v1/disputes", body))["dispute_id"]
    rita = node.as_("rita", "compliance")
    await rita.did(f"/v1/disputes/{dispute_id}/verdict", {"outcome": "upheld", "text": "The books say so too."})
    async with visit(chrome, node.url, size=PHONE) as here:
        page = here.page
        await page.goto(sign_in(node, "rita", "compliance", f"/disputes/{dispute_id}"))
        await page.get_by_role("button", name="Propose a correction").click()
        preview = page.get_by_role("dialog").get_by_role("region", name="What it comes to")
        await expect(preview).to_contain_text("−0.07")
        await page.get_by_role("dialog").get_by_label("Reasons").fill("7 kopecks too many")
        await page.get_by_role("dialog").get_by_role("button", name="Propose a correction").click()
        await expect(page.get_by_role("region", name="Waiting for a second signature")).to_contain_text("by the rules")
        assert await page.get_by_role("button", name="Propose a correction").count() == 0
    async with visit(chrome, node.url) as there:
        page = there.page
        await page.goto(sign_in(node, "roman", "compliance", f"/disputes/{dispute_id}"))
        await page.get_by_role("button", name="Approve").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("The table goes on by it.")
        await expect(dialog.get_by_role("region", name="What it comes to")).to_contain_text("−0.07")
        await dialog.get_by_role("button", name="Approve").click()
        await expect(page.get_by_text("✓ The hand was put right")).to_be_visible()
    assert await halted() is None


async def test_r2_who_sits_at_a_table_is_refused_in_words_in_russian_too(
    node: Node, chrome: Browser, hand: Scene
) -> None:
    other = await scenes.voided(node, "zoya", "egor")
    dispute_id = await opened(node, other, "zoya")
    async with visit(chrome, node.url, locale="ru-RU", size=PHONE) as here:
        here.expect("409")
        here.expect("404")
        page = here.page
        await page.goto(sign_in(node, "gleb", "compliance", f"/disputes/{dispute_id}"))
        await expect(page.get_by_role("alert")).to_contain_text("Проверяющий не сидит ни за одним столом")
        assert await page.locator("blockquote").count() == 0
        await page.goto(sign_in(node, "rita", "compliance", "/disputes/018f0000-0000-7000-8000-0000000000dd"))
        await expect(page.get_by_role("alert")).to_contain_text("Такого нет")
        await page.goto("/disputes/nope")
        await expect(page.get_by_role("alert")).to_contain_text("Это не номер спора")
        await expect(page.get_by_role("alert").get_by_role("link", name="Все споры")).to_be_visible()
        assert await page.get_by_role("button", name="Ещё раз").count() == 0


async def test_s6_who_may_not_or_is_nobody_is_told_so(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/disputes/018f0000-0000-7000-8000-0000000000dd")
        await expect(here.page.get_by_role("alert")).to_contain_text("Sign in first")
        await here.page.goto(sign_in(node, "olga", "operator", "/disputes/new?hand=x"))
        await expect(here.page.get_by_role("alert")).to_contain_text("Not for this role")


async def test_both_languages_have_the_same_words(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        differing = await here.page.evaluate(
            """async () => {
              const { en, ru } = (await import("/assets/dispute/words.js")).WORDS;
              const places = (m) => [...new Set(JSON.stringify(m ?? "").match(/\\{\\w+\\}/g))].sort().join();
              const keys = new Set([...Object.keys(en), ...Object.keys(ru)].filter((k) => !k.startsWith("problem.")));
              return [...keys].filter((k) => !(k in en && k in ru) || places(en[k]) !== places(ru[k]));
            }"""
        )
        assert differing == []
