"""The files that pages load: read once, named by their path under `static`, each with its digest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

STATIC = Path(__file__).parent / "static"
PREFIX = "/assets/"
TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/plain",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}
_IMPORT = re.compile(r'^(?:import|export)\b[^"]*?from "(/assets/[^"]+)";', re.MULTILINE)


class Asset(Struct, frozen=True):
    """A file as it is sent."""

    content: bytes
    media_type: str
    etag: str


def asset(content: bytes, suffix: str) -> Asset:
    """`content` with its type and digest."""
    return Asset(content, TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def read_assets(folder: Path = STATIC) -> dict[str, Asset]:
    """All files under `folder`, by path: nothing else can be asked for."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): asset(path.read_bytes(), path.suffix) for path in files}


def imports_of(assets: Mapping[str, Asset], module: str) -> tuple[str, ...]:
    """Every module that `module` needs, itself first: a browser told of them all asks for them at once.

    Raises KeyError for one that is not there.
    """
    found: list[str] = []
    waiting = [module]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        found.append(name)
        imported = _IMPORT.findall(assets[name].content.decode())
        waiting += [each.removeprefix(PREFIX) for each in imported]
    return tuple(found)
