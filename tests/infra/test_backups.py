"""`infra/BACKUPS.md`, as it stands: its commands are run, and what they bring back is what was there."""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from domain.commands import StartHand
from infra.embedded import EmbeddedServers
from infra.projection_store import ProjectionReader
from infra.settings import Settings
from projections import ledger
from projections.catalogue import VERSIONS
from services.books import caught_up
from services.core import Core, open_core
from services.play.types import Answer
from services.runtime import running
from tests.services.house import House, play_hand

PAGE = Path(__file__).parents[2] / "infra" / "BACKUPS.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BASE, BASE_BACK, DUMP, DUMP_BACK, AFTER, GO_ON, KEY_LOST = BLOCK.findall(PAGE.read_text())
VENV = Path(sys.prefix)
LOG = "select part, pos, stream_id, seq, encode(hash, 'hex') from store.event order by part, pos"
HEADS = "select * from store.part_head order by part"
BOOKS = "select account, currency, sum(balance) from ledger_v1.balance group by 1, 2 order by 1, 2"
CHECKPOINTS = "select * from projection.checkpoint order by 1, 2, 3"

pytestmark = [pytest.mark.timeout(900), pytest.mark.asyncio(loop_scope="module")]


class Place:
    """A folder to stand in, as the page has it: `.venv`, and the home `.khrap`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before: dict[str, list[str]] = {}
        folder.chmod(0o711)  # the servers' user, where root runs this, must pass through it
        (folder / ".venv").symlink_to(VENV)
        for each in ("backup", "vault"):
            (folder / each).mkdir()
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("KHRAP_")}

    def sh(self, script: str, home: str = ".khrap") -> str:
        """What the commands print; all must succeed."""
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", script],
            cwd=self.folder,
            env={**self._environment, "KHRAP_HOME": home},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def facts(self, home: str) -> dict[str, list[str]]:
        """Every event's place and hash, the counters, where the projections stand, and the balances."""
        asked = {"log": LOG, "heads": HEADS, "books": BOOKS, "checkpoints": CHECKPOINTS}
        return {
            name: self.sh(f'.venv/bin/python -m infra.embedded psql -Atc "{query}"', home).splitlines()
            for name, query in asked.items()
        }


class Playing(House):
    """A house on a core, with that core's keys."""

    def __init__(self, core: Core) -> None:
        self.store, self.clock, self.play = core.store, core.clock, core.play


@asynccontextmanager
async def playing(home: Path) -> AsyncIterator[tuple[Core, House]]:
    """A core with a projector beside it, and who plays there."""
    async with open_core(Settings(home=str(home))) as core, running(core, ("projector",)):
        yield core, Playing(core)


async def hand(house: House, table_id: str) -> None:
    """One more, from the first word to the last card."""
    answer = await house.do(table_id, "steward", lambda at, _: StartHand(at_ms=at))
    assert isinstance(answer, Answer), answer
    await play_hand(house, table_id, random.Random(7))


async def all_read(core: Core) -> None:
    """Wait until the projections are at the log's end."""
    async with ProjectionReader(core.addresses.application, versions=VERSIONS) as reader:
        await caught_up(reader, await core.store.part_heads())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncIterator[tuple[Place, str]]:
    """Hands were played at a table, backups were made in both ways, and another hand was played since."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-backups-"))
    made = Place(folder)
    async with playing(folder / ".khrap") as (core, house):
        table_id = await house.table("anna", "boris", "vera")
        await hand(house, table_id)
        await hand(house, table_id)
        await all_read(core)
        for backup in (BASE, DUMP):
            await asyncio.to_thread(made.sh, backup)
        made.before = await asyncio.to_thread(made.facts, ".khrap")
        await hand(house, table_id)
    yield made, table_id
    shutil.rmtree((folder / ".khrap" / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("way", [BASE_BACK, DUMP_BACK], ids=["pg_basebackup", "pg_dump"])
async def test_positions_chains_and_projections_survive(place: tuple[Place, str], way: str) -> None:
    # DESIGN "The event store", promises 3 and 4; "Projections": the rows and their checkpoint are of one moment.
    made, table_id = place
    restored = made.folder / "restored"
    shutil.rmtree(restored, ignore_errors=True)
    await asyncio.to_thread(made.sh, way)
    servers = await asyncio.to_thread(EmbeddedServers.start, restored)
    try:
        assert await asyncio.to_thread(made.facts, "restored") == made.before
        assert len(made.before["log"]) > 50
        said = await asyncio.to_thread(made.sh, AFTER)
        assert "the chain is intact" in said
        assert "the books are right" in said
        go_on = GO_ON.replace("--by NAME --and NAME", "--by anna --and boris --unnoticed")
        assert "events are restored" in await asyncio.to_thread(made.sh, go_on)
        # Play goes on, on top of what was restored.
        async with playing(restored) as (core, house):
            await hand(house, table_id)
            await all_read(core)
            async with ProjectionReader(core.addresses.application, versions=VERSIONS) as reader:
                assert (await ledger.reconcile(core.store, core.codec.decode_public, reader)).holds
            assert (await core.store.verify()).is_intact
    finally:
        await asyncio.to_thread(servers.close)


async def test_the_keys_are_in_no_backup_of_the_database(place: tuple[Place, str]) -> None:
    made, _ = place
    key = (made.folder / ".khrap" / "keys" / "master.key").read_bytes().strip()
    assert (made.folder / "vault" / "keys" / "master.key").read_bytes().strip() == key
    files = [each for each in (made.folder / "backup").rglob("*") if each.is_file()]
    assert len(files) > 100
    for each in files:
        content = each.read_bytes()
        assert key not in content
        assert bytes.fromhex(key.decode()) not in content


async def test_where_no_copy_of_the_key_is_left_the_log_goes_on_under_another(place: tuple[Place, str]) -> None:
    """S7. Last of the three: the key that the backups do not hold is gone after it."""
    made, table_id = place
    (made.folder / ".khrap" / "keys" / "master.key").unlink()
    said = await asyncio.to_thread(made.sh, KEY_LOST.replace("--by NAME --and NAME", "--by anna --and boris"))
    assert "0 running hands voided, 1 commitments made anew" in said
    assert "the chain is intact" in said
    assert "the books are right" in said
    async with playing(made.folder / ".khrap") as (core, house):
        await hand(house, table_id)
        assert (await core.store.verify()).is_intact


async def test_a_program_on_the_servers_says_what_is_missing() -> None:
    command = [sys.executable, "-m", "infra.embedded"]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: name a command, such as psql, pg_dump or pg_basebackup, with its arguments\n"
