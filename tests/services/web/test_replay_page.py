"""The replay page in a real browser, at the size of a phone and of a desk, by keyboard, slider and link.

Each window must end sound: no complaint on the console, no request elsewhere, nothing wider than the window.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, Response, expect

from tests.services.api.nodes import Node
from tests.services.web import scenes
from tests.services.web.browsing import DESK, PHONE, WIDTHS, Visit, sign_in, visit
from tests.services.web.scenes import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZES = pytest.mark.parametrize("size", WIDTHS.values(), ids=WIDTHS)
Size = tuple[int, int]
CARD = re.compile(r'"([2-9TJQKA][shdc])"')
NAMES = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}
RANKS = {"T": "10", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hands(node: Node) -> AsyncIterator[dict[str, Scene]]:
    """One of each kind."""
    yield {
        "fines": await scenes.pyatok_with_fines(node, "anna", "boris", "vera", "gleb"),
        "flown": await scenes.flown(node, "anna", "boris", "vera"),
        "blind": await scenes.blind(node, "anna", "boris", "vera", "gleb", "dina"),
        "full": await scenes.full(node, "a" * 64, *(f"guest-{i}-with-a-name" for i in range(11))),
        "voided": await scenes.voided(node, "anna", "boris", "vera", seed_disclosure="compliance_only"),
    }


async def opened(here: Visit, node: Node, scene: Scene, player: str | None = None, after: str = "") -> Page:
    """The hand's page as compliance sees it, or a player."""
    who, role = ("carla", "compliance") if player is None else (player, "player")
    await here.page.goto(sign_in(node, who, role, f"/hands/{scene.hand_id}{after}"))
    if player is None:
        await here.page.get_by_label("Reason").fill("dispute 17")
        await here.page.keyboard.press("Enter")
    await expect(here.page.locator(".table")).to_be_visible()
    return here.page


async def seen_by_api(node: Node, scene: Scene, player: str | None = None) -> Any:
    """What the API answers."""
    path = f"/v1/hands/{scene.hand_id}/replay"
    if player is None:
        return await node.as_("carla", "compliance").saw(path, reason="a test")
    return await node.as_(player).saw(path)


def current(page: Page) -> Locator:
    """The step that the log has as the current one."""
    return page.locator('.log li[aria-current="step"]')


def card_name(card: str) -> str:
    """As it is read aloud."""
    return f"{RANKS.get(card[0], card[0])} of {NAMES[card[1]]}"


@SIZES
async def test_keys_move_through_the_hand(node: Node, chrome: Browser, hands: dict[str, Scene], size: Size) -> None:
    steps = (await seen_by_api(node, hands["fines"]))["steps"]
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands["fines"])
        count = page.locator(".count")
        await expect(count).to_have_text(f"1 of {len(steps)}")
        last = len(steps)
        right, left = "ArrowRight", "ArrowLeft"
        moves = [
            (right, 2),
            (right, 3),
            (left, 2),
            ("End", last),
            (right, last),
            (left, last - 1),
            ("Home", 1),
            (left, 1),
        ]
        for key, at in moves:
            await page.keyboard.press(key)
            await expect(count).to_have_text(f"{at} of {last}")
            await expect(current(page).locator(".no")).to_have_text(str(at))
        await page.keyboard.press("End")
        await page.wait_for_url(f"**#step={len(steps)}")
        await page.keyboard.press("ArrowLeft")
        await page.keyboard.press("Space")  # plays the last step, and stops there
        await expect(page.get_by_role("button", name="Pause")).to_be_visible()
        await expect(count).to_have_text(f"{len(steps)} of {len(steps)}")
        await expect(page.get_by_role("button", name="Play")).to_be_visible()


@SIZES
async def test_the_slider_the_buttons_and_the_log_go_to_a_step(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands["fines"])
        slider, count = page.get_by_role("slider", name="Step"), page.locator(".count")
        await slider.fill("7")
        await expect(count).to_contain_text("7 of")
        await slider.focus()
        await page.keyboard.press("ArrowRight")
        await expect(count).to_contain_text("8 of")
        await page.get_by_role("button", name="Step back").click()
        await expect(count).to_contain_text("7 of")
        await page.get_by_role("button", name="Last step").click()
        await page.get_by_role("link", name="Step 5", exact=True).click()
        await expect(count).to_contain_text("5 of")
        await page.get_by_label("Speed").select_option("4")
        await page.get_by_role("button", name="Play").click()
        await expect(count).not_to_contain_text("5 of")
        await page.get_by_role("button", name="Pause").click()


@SIZES
async def test_a_link_opens_at_a_step(node: Node, chrome: Browser, hands: dict[str, Scene], size: Size) -> None:
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands["blind"], "anna", "#step=12")
        await expect(page.locator(".count")).to_contain_text("12 of")
        assert page.url == f"{node.url}/hands/{hands['blind'].hand_id}#step=12"
        await page.evaluate("location.hash = 'step=3'")
        await expect(page.locator(".count")).to_contain_text("3 of")
        await page.evaluate("location.hash = 'step=9999'")
        last = len((await seen_by_api(node, hands["blind"], "anna"))["steps"])
        await expect(page.locator(".count")).to_have_text(f"{last} of {last}")
        for nonsense in ("step=x", "step=-4", "step="):
            await page.evaluate(f"location.hash = {nonsense!r}")
            await expect(page.locator(".count")).to_contain_text("1 of")


async def test_a_look_of_compliance_needs_a_reason_and_is_recorded_with_it(
    node: Node, chrome: Browser, hands: dict[str, Scene]
) -> None:
    hand_id = hands["flown"].hand_id

    async def looks() -> list[str]:
        stored = await node.core.store.read_stream("audit-access")
        events: list[Any] = [node.core.codec.decode(each) for each in stored]
        return [e.reason for e in events if e.hand_id == hand_id and e.person == "rita"]

    async with visit(chrome, node.url) as here:
        await here.page.goto(sign_in(node, "rita", "compliance", f"/hands/{hand_id}"))
        await here.page.get_by_role("button", name="Record and open").click()
        assert await here.page.locator("input[name=reason]:invalid").count() == 1
        assert await looks() == []
        await here.page.get_by_label("Reason").fill("жалоба boris")
        await here.page.get_by_role("button", name="Record and open").click()
        await expect(here.page.locator(".table")).to_be_visible()
        assert await looks() == ["жалоба boris"]
        await here.page.get_by_label("Seen").select_option(label="as boris saw it")
        seat = hands["flown"].players.index("boris")
        await expect(here.page.locator(".seat").first.locator(".name")).to_contain_text("boris")
        assert await looks() == ["жалоба boris"] * 2
        assert seat == 1


@pytest.mark.parametrize(("kind", "size"), [("fines", PHONE), ("flown", DESK), ("blind", DESK)])
async def test_every_step_shows_the_table_as_the_api_has_it(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size, kind: str
) -> None:
    scene = hands[kind]
    steps = (await seen_by_api(node, scene))["steps"]
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, scene)
        for i, step in enumerate(steps):
            await expect(page.locator(".count")).to_contain_text(f"{i + 1} of")
            shown: dict[str, Any] = await page.evaluate(
                """() => ({
                  bank: document.querySelector('.middle .bank b').textContent,
                  seats: Object.fromEntries([...document.querySelectorAll('.seat')].map((seat) => [
                    seat.querySelector('.name b').textContent,
                    [...seat.querySelectorAll('.fan .card')].map((card) => card.ariaLabel)])),
                  clauses: [...document.querySelectorAll('.why .clause')].map((c) => c.textContent),
                  bankrow: document.querySelector('.money .bank-row b').textContent})"""
            )
            held = {h["seat"]: h["cards"] for h in step["held"]}
            expected = {p["player"]: [card_name(c) for c in held[p["seat"]]] for p in step["hand"]["players"]}
            assert shown["seats"] == expected, (i, step["event"])
            bank = f"{step['hand']['bank'] // 100:,}.{step['hand']['bank'] % 100:02d}".replace(",", "\u202f")
            assert shown["bank"] == shown["bankrow"] == bank
            assert shown["clauses"] == step["clauses"]
            await page.keyboard.press("ArrowRight")


OVERLAPS = """
() => {
  const box = (e) => e.getBoundingClientRect();
  const text = (e) => e.textContent.trim().slice(0, 20);
  const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
  const above = (a, b) => a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  const apart = (a, b) => beside(box(a), box(b)) || above(box(a), box(b));
  const things = [...document.querySelectorAll('.seat, .middle .pile, .middle .bank')];
  const pairs = things.flatMap((a, i) => things.slice(i + 1).map((b) => [a, b]));
  const found = pairs.filter(([a, b]) => !apart(a, b)).map(([a, b]) => `${text(a)} / ${text(b)}`);
  for (const card of document.querySelectorAll('.played')) {
    found.push(...things.filter((each) => !apart(card, each)).map((each) => `a played card / ${text(each)}`));
  }
  for (const status of document.querySelectorAll('.seat .status')) {
    const cut = status.scrollWidth > status.clientWidth || status.title !== status.textContent;
    if (cut) found.push(`${text(status)} is cut`);
  }
  for (const card of document.querySelectorAll('.seat .card')) {
    const seat = card.closest('.seat');
    if (box(card).right > box(seat).right) found.push(`${text(seat)}: a card sticks out`);
  }
  return found;
}
"""

HIDDEN_CORNERS = """
() => [...document.querySelectorAll('.played .card')].filter((card) => {
  card.scrollIntoView({ block: 'center' });
  const corner = card.querySelector('.corner');
  return [...corner.children].some((mark) => {
    const { x, y, width, height } = mark.getBoundingClientRect();
    return !corner.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  });
}).map((card) => card.ariaLabel)
"""


@SIZES
@pytest.mark.parametrize("kind", ["fines", "flown", "blind", "full"])
async def test_seats_and_pile_lie_apart_and_hold_their_cards(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size, kind: str
) -> None:
    steps = (await seen_by_api(node, hands[kind]))["steps"]
    most = max(range(len(steps)), key=lambda i: max(p["cards"] for p in steps[i]["hand"]["players"]))
    trick = max(range(len(steps)), key=lambda i: len(steps[i]["hand"]["trick"]))
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands[kind])
        for step in (3, most + 1, trick + 1, len(steps)):
            await page.evaluate(f"location.hash = 'step={step}'")
            await expect(page.locator(".count")).to_contain_text(f"{step} of")
            assert await page.evaluate(OVERLAPS) == [], step
            assert await page.evaluate(HIDDEN_CORNERS) == [], step


@SIZES
async def test_k14_rank_and_suit_of_every_card_of_a_trick_are_seen_with_two_to_twelve_players(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    answer = await seen_by_api(node, hands["full"], hands["full"].players[0])
    whole = max(answer["steps"], key=lambda step: len(step["hand"]["trick"]))
    players = whole["hand"]["players"]
    assert len(whole["hand"]["trick"]) == len(players) == 12
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands["full"], hands["full"].players[0])
        await page.route("**/replay", lambda route: route.fulfill(json=answer))
        for count in range(2, 13):
            seats = {p["seat"] for p in players[:count]}
            trick = [each for each in whole["hand"]["trick"] if each["seat"] in seats]
            hand = whole["hand"] | {"players": players[:count], "trick": trick}
            answer["steps"] = [whole | {"hand": hand}]
            await page.reload()
            await expect(page.locator(".played")).to_have_count(count)
            assert await page.evaluate(OVERLAPS) == [], count
            assert await page.evaluate(HIDDEN_CORNERS) == [], count


@pytest.mark.parametrize("after", ["", "#step=12"])
@pytest.mark.parametrize("kind", ["flown", "blind", "full"])
async def test_a_phone_opens_at_the_table_with_one_s_own_seat_above_the_transport(
    node: Node, chrome: Browser, hands: dict[str, Scene], kind: str, after: str
) -> None:
    async with visit(chrome, node.url, size=PHONE) as here:
        page = await opened(here, node, hands[kind], hands[kind].players[0], after)
        own = await page.locator(".seat").first.bounding_box()
        transport = await page.locator(".transport").bounding_box()
        telling = await page.locator(".telling").bounding_box()
        assert own is not None
        assert transport is not None
        assert telling is not None
        assert 0 <= telling["y"] < telling["y"] + telling["height"] <= own["y"]
        assert own["y"] + own["height"] <= transport["y"] <= PHONE[1] - transport["height"]


@SIZES
async def test_t7_t9_the_settlement_stands_beside_the_record_line_by_line(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    working = (await seen_by_api(node, hands["fines"]))["working"]
    assert any(p["fine_due"] for p in working["players"])
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands["fines"], "anna")
        panel = page.get_by_role("region", name="Settlement, line by line")
        await expect(panel.locator(".verdict")).to_contain_text("in every line")
        assert await panel.locator(".equal.bad").count() == 0
        for player in working["players"]:
            table = panel.locator("table", has=page.locator("caption", has_text=player["player"]))
            row = table.locator("tr").filter(has_text="Purse")
            amount = f"{player['purse'] / 100:.2f}"
            assert await row.locator("td.number").all_text_contents() == [amount, amount]
            fine = table.locator("tr").filter(has_text="Fine due")
            await expect(fine).to_contain_text(f"{player['fine_times']} ×" if player["fine_times"] else "nothing owed")


async def test_a_settlement_that_differs_is_told_in_words_and_marks(
    node: Node, chrome: Browser, hands: dict[str, Scene]
) -> None:
    answer = await seen_by_api(node, hands["fines"], "anna")
    answer["working"]["recorded"]["carried_bank"] += 1
    answer["working"]["differences"] = [{"field": "result.carried_bank", "message": "1 in the file, 0 by the rules"}]
    answer["chain"] |= {"state": "fails", "broken_at": 12}
    async with visit(chrome, node.url) as here:
        await here.page.route("**/replay", lambda route: route.fulfill(json=answer))
        page = await opened(here, node, hands["fines"], "anna")
        panel = page.get_by_role("region", name="Settlement, line by line")
        await expect(panel.locator(".verdict")).to_contain_text("1 line differs")
        await expect(panel.locator("tr", has=page.locator(".equal.bad"))).to_contain_text("Carried on")
        await expect(panel.locator(".equal.bad .hidden")).to_have_text("differs")
        badge = page.get_by_role("button", name=re.compile("^.?Chain"))
        await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        await expect(page.get_by_text("Checks, files, dispute · ✗ 1 of 5 fail")).to_be_visible()
        await expect(badge).to_contain_text("fails")
        await badge.click()
        await expect(page.locator("#proof")).to_contain_text("First event whose hash is not its own12")


@SIZES
async def test_badges_open_to_the_numbers_and_clauses_to_their_text(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    answer = await seen_by_api(node, hands["fines"])
    async with visit(chrome, node.url, size=size) as here:
        page = await opened(here, node, hands["fines"])
        proof = page.locator("#proof")
        if size == PHONE:
            await expect(proof).to_be_hidden()
            await page.get_by_text(re.compile(r"Checks, files, dispute · ✓ [45] of 5 hold")).click()
        for name, number in (
            ("Rules", f"{answer['rules']['actions']} actions"),
            ("Books", f"{answer['books']['entries']} entries"),
            ("Chain", answer["chain"]["head"]),
            ("Shuffle", answer["shuffle"]["server_seed"]),
            ("Checkpoint", "checkpoint covers"),
        ):
            badge = page.locator(".badge", has_text=name)
            await badge.click()
            await expect(badge).to_have_attribute("aria-expanded", "true")
            await expect(proof).to_contain_text(number)
        await page.locator(".badge", has_text="Checkpoint").click()
        await expect(proof).to_be_hidden()
        await page.get_by_role("button", name="Clause T4 of the rulebook").first.click()
        await expect(page.get_by_role("dialog")).to_contain_text(
            "A hand starts when at least two seated players are ready"
        )
        await page.keyboard.press("ArrowRight")  # the page behind the dialog stays where it is
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await expect(page.locator(".count")).to_contain_text("1 of")


async def test_s6_a_player_s_page_holds_no_card_that_he_did_not_see(
    node: Node, chrome: Browser, hands: dict[str, Scene]
) -> None:
    scene = hands["voided"]
    whole = await seen_by_api(node, scene)
    for player in scene.players:
        own = json.dumps((await node.as_(player).saw(f"/v1/hands/{scene.hand_id}/file")) | {"seats": []})
        hidden = set(CARD.findall(json.dumps(whole["steps"]))) - set(CARD.findall(own))
        assert len(hidden) > 20
        async with visit(chrome, node.url) as here:
            answers: list[Response] = []

            def keep(answer: Response, kept: list[Response] = answers) -> None:
                kept.append(answer)

            here.page.on("response", keep)

            page = await opened(here, node, scene, player)
            await expect(page.locator(".closed")).to_contain_text("as you saw it", ignore_case=True)
            labels: set[str] = set()
            for _ in range(len(whole["steps"])):
                labels |= set(await page.locator("[role=img]").evaluate_all("all => all.map((e) => e.ariaLabel)"))
                await page.keyboard.press("ArrowRight")
            assert labels & {card_name(c) for c in hidden} == set()
            bodies = [await each.text() for each in answers if "/v1/hands/" in each.url]
            assert bodies
            assert not [c for body in bodies for c in CARD.findall(body) if c in hidden]


@SIZES
async def test_t12_a_voided_hand_says_why_and_what_goes_back(
    node: Node, chrome: Browser, hands: dict[str, Scene], size: Size
) -> None:
    async with visit(chrome, node.url, size=size, scheme="dark") as here:
        page = await opened(here, node, hands["voided"], "boris")
        await page.keyboard.press("End")
        await expect(page.locator(".sentence")).to_have_text("The hand is voided: the lamp fell on the table")
        panel = page.get_by_role("region", name="Settlement, line by line")
        await expect(panel).to_contain_text("0.00 carried; paid in 3.00, returned 3.00")
        await expect(panel).to_contain_text("500.00 − 1.00 + 1.00 returned")
        await expect(panel).to_contain_text("voided")


async def test_the_page_speaks_russian(node: Node, chrome: Browser, hands: dict[str, Scene]) -> None:
    async with visit(chrome, node.url, size=PHONE, locale="ru-RU") as here:
        page = here.page
        await page.goto(sign_in(node, "anna", "player", f"/hands/{hands['flown'].hand_id}"))
        await expect(page.get_by_role("heading", level=1)).to_have_text("Храп, раздача 1 за столом")
        await expect(page.get_by_text("вертолёт").first).to_be_visible()
        english = re.compile(r"[A-Za-z]{3,}")
        words = set(english.findall(await page.locator("main").inner_text()))
        assert words <= {"anna", "boris", "vera", "RUB", "UTC", *english.findall(hands["flown"].hand_id)}


async def test_a_hand_that_is_not_there_is_told_so(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        here.expect("404")
        await here.page.goto(sign_in(node, "anna", "player", "/hands/018f0000-0000-7000-8000-0000000000aa"))
        await expect(here.page.get_by_role("alert")).to_contain_text("no hand")
        assert await here.page.get_by_role("button", name="Try again").count() == 0
        await here.page.goto("/hands/nope")
        await expect(here.page.get_by_role("alert")).to_contain_text("This is no hand’s id")
        await here.page.get_by_role("alert").get_by_role("link", name="All hands").click()
        await expect(here.page.get_by_role("heading", level=1)).to_have_text("Your hands")
    async with visit(chrome, node.url) as here:
        await here.page.goto("/hands/018f0000-0000-7000-8000-0000000000aa")
        await expect(here.page.get_by_role("alert")).to_contain_text("Sign in first")
        await here.page.goto(sign_in(node, "oona", "ops", "/hands/018f0000-0000-7000-8000-0000000000aa"))
        await expect(here.page.get_by_role("alert")).to_contain_text("players (their own) and compliance")


async def test_both_languages_have_the_same_words(node: Node, chrome: Browser) -> None:
    async with visit(chrome, node.url) as here:
        await here.page.goto("/")
        differing = await here.page.evaluate(
            """async () => {
              const { WORDS } = await import("/assets/replay/words.js");
              const places = (m) => [...JSON.stringify(m).matchAll(/\\{(\\w+)\\}/g)].map((p) => p[1]).sort().join();
              const keys = new Set([...Object.keys(WORDS.en), ...Object.keys(WORDS.ru)]);
              const unlike = (a, b) => typeof a !== typeof b || (typeof a === "string" && places(a) !== places(b));
              return [...keys].filter((key) => unlike(WORDS.en[key], WORDS.ru[key]));
            }"""
        )
        assert differing == []
