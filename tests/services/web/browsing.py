"""A real browser on the pages: the system's Chromium, two sizes of window, and what must hold on every page."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from msgspec import Struct
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, async_playwright

from services.api.tokens import Signer
from tests.services.api.nodes import Node

NAMES = ("chromium", "chromium-browser", "google-chrome")
PHONE, DESK = (390, 844), (1440, 900)
WIDTHS = {"phone": PHONE, "desk": DESK}


def chromium() -> str:
    """Where the system's Chromium is. Without one the test is left out, and where one is asked for it fails."""
    given = os.environ.get("KHRAP_TEST_CHROMIUM")
    found = given or next(filter(None, map(shutil.which, NAMES)), None)
    if found is not None:
        return found
    missing = f"there is no Chromium here (none of {', '.join(NAMES)}): the pages are not tested in a browser"
    if os.environ.get("KHRAP_TEST_BROWSER") == "required":
        pytest.fail(missing)
    pytest.skip(missing)


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """One for many tests; each takes a window of its own."""
    path = chromium()
    async with async_playwright() as playwright:
        # As root Chromium has no sandbox; it opens nothing here but our own pages.
        launched = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield launched
        finally:
            await launched.close()


class Visit(Struct):
    """A window: its page, and what went wrong or elsewhere in it."""

    page: Page
    url: str
    complaints: list[str]
    elsewhere: list[str]
    expected: list[str]

    def expect(self, text: str) -> None:
        """A complaint of the browser's that the test itself brings about, such as an answer 404."""
        self.expected.append(text)

    async def sound(self) -> None:
        """No complaint on the console, no request to elsewhere, nothing wider than the window."""
        unexpected = [c for c in self.complaints if not any(each in c for each in self.expected)]
        assert unexpected == []
        assert self.elsewhere == []
        width, inner = await self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= inner, f"the page is {width} wide in a window of {inner}"


@asynccontextmanager
async def visit(
    chrome: Browser,
    url: str,
    *,
    size: tuple[int, int] = DESK,
    locale: str = "en-GB",
    scheme: Literal["light", "dark"] = "light",
    motion: Literal["reduce", "no-preference"] = "reduce",
) -> AsyncIterator[Visit]:
    """A window of its own, with no cookies yet; at its end the page must be sound."""
    context: BrowserContext = await chrome.new_context(
        base_url=url,
        viewport={"width": size[0], "height": size[1]},
        locale=locale,
        color_scheme=scheme,
        reduced_motion=motion,
        has_touch=size == PHONE,
    )
    page = await context.new_page()
    page.set_default_timeout(15_000)
    visited = Visit(page, url, [], [], [])

    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            visited.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def asked(request: Request) -> None:
        if not request.url.startswith((url + "/", "data:")):
            visited.elsewhere.append(request.url)

    page.on("console", said)
    page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    page.on("request", asked)
    try:
        yield visited
        await visited.sound()
    finally:
        await context.close()


def sign_in(node: Node, subject: str, role: str, path: str = "/") -> str:
    """The path of a sign-in link."""
    code = Signer(node.core.keys, node.core.clock, node.core.entropy).code(subject, role)
    return f"{path}{'&' if '#' in path else '#'}code={code}"
