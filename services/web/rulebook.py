"""The rulebook's clauses by their names, for pages that cite them."""

from __future__ import annotations

import re
from pathlib import Path

import domain

RULES = Path(domain.__file__).parent / "RULES.md"
_CLAUSE = re.compile(r"^- ([A-Z]\d+)\. (.+?)(?=^- |^#|^$|\Z)", re.MULTILINE | re.DOTALL)


def clauses() -> dict[str, str]:
    """`K15` → its text, as one paragraph without marks of Markdown."""
    found = _CLAUSE.findall(RULES.read_text(encoding="utf-8"))
    return {name: re.sub(r"\*\*|`", "", " ".join(text.split())) for name, text in found}
