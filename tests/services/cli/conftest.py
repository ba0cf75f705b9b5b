"""`khrap` as a user runs it, on embedded servers of its own."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from infra.embedded import EmbeddedServers
from services.cli.entry import run


class Said(Struct, frozen=True):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one line of JSON."""
        (line,) = self.out.splitlines()
        return json.loads(line)


Khrap = Callable[..., Said]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """An empty home. The servers are held for the module, so that each command joins them instead of starting them."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-cli-"))
    folder.chmod(0o711)
    with EmbeddedServers.start(folder / "home"):
        yield folder / "home"
    shutil.rmtree((folder / "home" / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def khrap(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Khrap:
    """Run one command."""
    for name in [n for n in os.environ if n.startswith("KHRAP_") and not n.startswith("KHRAP_TEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KHRAP_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "200")

    def khrap(*arguments: str) -> Said:
        capsys.readouterr()
        code = run(list(arguments))
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return khrap
