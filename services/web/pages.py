"""Routes of the pages: a shell of HTML for each, and the assets. None is in the API's document.

Nothing of a request is written into a page but the choice of language, so there is nothing to escape; a page's data
comes from the API, by the caller's own rights.
"""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from services.api.auth import RULE
from services.api.problems import Rejection
from services.api.roles import ANYONE
from services.web.assets import PREFIX, asset, imports_of, read_assets
from services.web.language import language_of
from services.web.rulebook import clauses

Incoming = Request[Any, Any, Any]

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Vary": "Accept-Language, Cookie",
}
ASSET_HEADERS = {"Cache-Control": "public, no-cache"}
"""Asked for again each time, and answered with 304 while it is the same: a new version is never mixed with an old."""

ASSETS = read_assets() | {"rules.json": asset(msgspec.json.encode(clauses()), ".json")}
OPT = {RULE: ANYONE}

TITLES = {"ru": "Храп", "en": "Khrap"}
NO_SCRIPT = {
    "ru": "Этой странице нужен JavaScript; всё, что она загружает, приходит с этого же сервера.",
    "en": "This page needs JavaScript; all that it loads comes from this server.",
}


def page(path: str, module: str, *styles: str) -> HTTPRouteHandler:
    """The route of the page at `path`, whose script is `module` and whose styles come after the common ones."""
    shells = {language: _shell(language, module, styles) for language in TITLES}

    @get(path, include_in_schema=False, opt=dict(OPT), name=f"page {path}")
    async def shell(request: Incoming) -> Response[bytes]:
        content = shells[language_of(request.cookies, request.headers.get("accept-language", ""))]
        return Response(content, media_type="text/html", headers=PAGE_HEADERS)

    return shell


def _shell(language: str, module: str, styles: tuple[str, ...]) -> bytes:
    sheets = "".join(f'<link rel="stylesheet" href="{PREFIX}{each}">\n' for each in ("base/base.css", *styles))
    missing = [each for each in styles if each not in ASSETS]
    assert not missing, missing
    needed = imports_of(ASSETS, module)
    preloads = "".join(f'<link rel="modulepreload" href="{PREFIX}{each}">\n' for each in needed[1:])
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{TITLES[language]}</title>
<link rel="icon" href="{PREFIX}base/icon.svg" type="image/svg+xml">
{sheets}{preloads}<script type="module" src="{PREFIX}{module}"></script>
</head>
<body>
<noscript><p class="noscript">{NO_SCRIPT[language]}</p></noscript>
<div id="page"></div>
</body>
</html>
""".encode()


@get(PREFIX + "{name:path}", include_in_schema=False, opt=dict(OPT))
async def assets(request: Incoming, name: FromPath[str]) -> Response[bytes]:
    """One of `ASSETS`."""
    found = ASSETS.get(name.removeprefix("/"))
    if found is None:
        raise Rejection("not_found", "there is no such asset")
    headers = {**ASSET_HEADERS, "ETag": found.etag}
    if request.headers.get("if-none-match") == found.etag:
        return Response(b"", status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)


PAGES = (
    page("/", "home/home.js"),
    page("/ops", "ops/ops.js", "ops/ops.css"),
    page("/hands/{hand_id:str}", "replay/replay.js", "replay/replay.css"),
    page("/review", "review/review.js", "dispute/state.css", "review/review.css"),
    page("/reports", "reports/reports.js", "reports/reports.css"),
    page("/disputes/{dispute_id:str}", "dispute/dispute.js", "dispute/state.css", "dispute/dispute.css"),
    assets,
)
