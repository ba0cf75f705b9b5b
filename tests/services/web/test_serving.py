"""How pages are served: to anybody, with a strict policy, in the visitor's language, and nothing but what is there."""

from __future__ import annotations

import re

import httpx
import pytest

from services.web.assets import STATIC
from services.web.language import language_of
from services.web.pages import ASSETS
from services.web.rulebook import RULES

pytestmark = pytest.mark.asyncio(loop_scope="module")
PATHS = ("/", "/ops", "/review", "/hands/018f0000-0000-7000-8000-0000000000aa")


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_runs_and_loads_nothing_but_our_own(http: httpx.AsyncClient, path: str) -> None:
    response = await http.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(each.strip().split(" ", 1) for each in response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert {policy[each] for each in ("script-src", "style-src", "img-src", "connect-src")} == {"'self'"}
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert "no-store" in response.headers["cache-control"]
    for inline in ("<style", " style=", "onclick", "javascript:", "http://", "https://", "//cdn"):
        assert inline not in response.text
    assert response.text.count("<script") == response.text.count('<script type="module" src="/assets/')


@pytest.mark.parametrize("path", PATHS)
async def test_all_that_a_page_names_is_there(http: httpx.AsyncClient, path: str) -> None:
    text = (await http.get(path)).text
    named = [part.split('"')[0] for part in text.split('="/assets/')[1:]]
    assert len(named) > 5
    for each in named:
        assert (await http.get(f"/assets/{each}")).status_code == 200, each


async def test_an_asset_is_asked_for_again_and_sent_once(http: httpx.AsyncClient) -> None:
    first = await http.get("/assets/base/page.js")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["cache-control"] == "public, no-cache"
    again = await http.get("/assets/base/page.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/assets/", "/assets/nothing.js", "/assets/../pages.py", "/assets/..%2fpages.py", "/assets/%2e%2e/pages.py",
     "/assets//etc/passwd", "/assets/base/"],
)  # fmt: skip
async def test_nothing_else_is_an_asset(http: httpx.AsyncClient, path: str) -> None:
    response = await http.get(path)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_what_is_vendored_has_its_licence_beside_it() -> None:
    for name in ("vendor/LICENSE-htm.txt", "vendor/LICENSE-preact.txt", "vendor/README.md"):
        assert len(ASSETS[name].content) > 100
    assert {p.name for p in (STATIC / "vendor").glob("*.js")} == {"preact.js"}


@pytest.mark.parametrize(
    ("cookie", "accept", "language"),
    [
        (None, "", "en"),
        (None, "ru-RU,ru;q=0.9,en-US;q=0.8", "ru"),
        (None, "en;q=0.8, ru;q=0.9", "ru"),
        (None, "de, ru;q=0.1", "ru"),
        (None, "ru;q=0", "en"),
        (None, "ru;q=x, ;;, *", "en"),
        ("ru", "en", "ru"),
        ("en", "ru", "en"),
        ("<script>", "ru", "ru"),
    ],
)
async def test_a_page_begins_in_the_visitor_s_language(
    http: httpx.AsyncClient, cookie: str | None, accept: str, language: str
) -> None:
    cookies = {} if cookie is None else {"khrap_language": cookie}
    assert language_of(cookies, accept) == language
    headers = {"Accept-Language": accept, **({} if cookie is None else {"Cookie": f"khrap_language={cookie}"})}
    assert f'<html lang="{language}">' in (await http.get("/", headers=headers)).text


async def test_a_page_has_every_clause_of_the_rulebook_at_hand(http: httpx.AsyncClient) -> None:
    rules = (await http.get("/assets/rules.json")).json()
    assert set(rules) == set(re.findall(r"^- ([A-Z]\d+)\. ", RULES.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(rules) > 60
    assert rules["K16"] == "Trick: the highest trump; with none, the highest card of the suit led."
    assert rules["T10"].endswith("The base is the gross share.")
