"""The service to be broken: embedded servers in a folder of its own, processes, and a link between each two."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from infra.keys import EMBEDDED_AUDIENCE, EMBEDDED_ISSUER
from infra.settings import Settings
from infra.store.connect import APP_ROLE
from projections.catalogue import VERSIONS
from services.chaos.fleet import Fleet, Member, fleet
from services.chaos.proxy import Link
from services.chaos.schedule import Targets
from services.core import Core, open_core
from services.processes import free_port
from services.runtime import PARTS, Part

EACH = 2
"""So many processes of each part: enough for one to take over from the other, and not too many for two cores."""
COMMANDS = "khrap"
"""Whose link commands go by."""
PROJECTIONS = tuple(sorted(VERSIONS))


class World(Struct, frozen=True):
    """All that runs. `nodes` are the API's addresses, `commands` the settings of a command."""

    home: Path
    core: Core
    fleet: Fleet
    links: dict[str, Link]
    nodes: tuple[str, ...]
    commands: Settings

    @property
    def targets(self) -> Targets:
        """What can be hit."""
        links = tuple(name for name in self.links if not name.startswith(f"{COMMANDS}:"))
        return Targets(processes=tuple(self.fleet.members), links=links, projections=PROJECTIONS)

    def heal(self) -> None:
        """Everything connected, awake and on time again."""
        self.fleet.heal()
        for link in self.links.values():
            link.heal()


@contextmanager
def own_home() -> Iterator[Path]:
    """A folder for the servers, which is gone afterwards, unless somebody has put a file `keep` into it."""
    folder = Path(tempfile.mkdtemp(prefix="khrap-chaos-"))
    folder.chmod(0o711)  # the servers' user, where root runs this, must pass through it
    try:
        yield folder
    finally:
        if not (folder / "keep").exists():
            shutil.rmtree((folder / "postgres").resolve(), ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def world(home: Path, logs: Path) -> AsyncIterator[World]:
    """Servers and processes for as long as the block runs. Raises Fault."""
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_core(Settings(home=str(home))))
        links: dict[str, Link] = {}
        names = [f"{part}-{number}" for part in PARTS for number in range(1, EACH + 1)]
        for name in (*names, COMMANDS):
            for server, where in _sockets(core).items():
                links[f"{name}:{server}"] = await stack.enter_async_context(Link(where))
        members, nodes = [], []
        for name in names:
            part = _part(name)
            port = free_port()
            if part == "api":
                nodes.append(f"http://127.0.0.1:{port}")
            members.append(Member(name, part, _settings(home, links, name, port), logs))
        running = await stack.enter_async_context(fleet(members))
        yield World(home, core, running, links, tuple(nodes), _settings(home, links, COMMANDS, 0))


def _part(name: str) -> Part:
    return next(part for part in PARTS if name.startswith(part))


def _sockets(core: Core) -> dict[str, str]:
    """The embedded servers' sockets."""
    folder = parse_qs(urlsplit(core.addresses.application).query)["host"][0]
    return {"postgres": f"{folder}/.s.PGSQL.5432", "redis": urlsplit(core.addresses.redis).path}


def _settings(home: Path, links: dict[str, Link], name: str, port: int) -> Settings:
    """Those of a process: to it the servers are given ones, which it reaches by its own links."""
    keys = home / "keys"
    database = urlsplit(f"postgresql://{APP_ROLE}@127.0.0.1:{links[f'{name}:postgres'].port}/khrap?sslmode=disable")
    return Settings(
        home=str(home),
        database_url=database.geturl(),
        redis_url=f"redis://127.0.0.1:{links[f'{name}:redis'].port}/0",
        master_key_file=str(keys / "master.key"),
        audit_key_file=str(keys / "audit.pem"),
        token_public_key_file=str(keys / "token.pub"),
        token_issuer=EMBEDDED_ISSUER,
        token_audience=EMBEDDED_AUDIENCE,
        port=port,
        log_level="warning",
    )
