"""The ledger shares no rule with the rest of the domain: what the import contract says, and that it says all."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
ALLOWED = {"domain.cards", "domain.events", "domain.money", "domain.options"}
CONSTANTS = {"BPS", "MAX_AMOUNT"}


def test_the_ledger_takes_nouns_and_constants_from_the_domain_and_no_function() -> None:
    seen = set()
    for path in (ROOT / "domain" / "ledger").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.module is None or not node.module.startswith("domain"):
                continue
            if node.module == "domain.money":
                assert {a.name for a in node.names} <= CONSTANTS, path.name
            elif node.module == "domain":
                raise AssertionError(f"{path.name} imports modules of the domain by name")
            seen.add(node.module)
    assert {module for module in seen if not module.startswith("domain.ledger")} <= ALLOWED


def test_the_import_contract_names_every_other_module_of_the_domain() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c["id"] == "second-reckoning")
    modules = {
        f"domain.{p.stem}" for p in (ROOT / "domain").iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()
    }
    modules -= {"domain.__init__", "domain.ledger"}
    assert set(contract["forbidden_modules"]) == modules - ALLOWED
