"""In which language a page begins: what the visitor chose, else what his browser asks for."""

from __future__ import annotations

from collections.abc import Mapping

COOKIE = "khrap_language"
LANGUAGES = ("en", "ru")
"""The first is for those who want neither."""


def language_of(cookies: Mapping[str, str], accept: str) -> str:
    """One of `LANGUAGES`: the cookie's, else the best of the header `Accept-Language` (RFC 9110, 12.5.4)."""
    chosen = cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    ranked = sorted((_ranked(each) for each in accept.split(",")), key=lambda r: -r[1])
    return next((language for language, weight in ranked if language in LANGUAGES and weight > 0), LANGUAGES[0])


def _ranked(item: str) -> tuple[str, float]:
    """`ru-RU;q=0.8` → `("ru", 0.8)`; what cannot be read weighs nothing."""
    tag, _, parameter = item.strip().partition(";")
    name, _, value = parameter.strip().partition("=")
    try:
        weight = float(value) if name else 1.0
    except ValueError:
        weight = 0.0
    return tag.strip().partition("-")[0].lower(), weight if name in ("", "q") else 0.0
