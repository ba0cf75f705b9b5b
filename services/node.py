"""An API node: the feeds of the tables that its clients follow, the app over them, and the server that answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from litestar.types import ControllerRouterHandler

from infra.audit import Checkpoints
from infra.beat import Beat
from infra.dispute_keys import DisputeKeys
from infra.keeping import kept
from infra.meta import request_digest
from infra.projection_store import ProjectionReader
from infra.redis import LOBBY, Subscriber
from infra.tracing import recording
from projections.catalogue import VERSIONS
from projections.lobby import LobbyTable, changed_tables, open_tables, tables_vector
from services.api.access import Access
from services.api.app import create_app
from services.api.house import House
from services.api.sessions import SessionEnds
from services.api.tokens import CODE, Sessions, Verifier
from services.audit.bundle import Bundles
from services.core import Core
from services.disputes.service import Disputes
from services.live.hub import Hub, Versions
from services.live.lobby import Lobby, LobbyReads
from services.live.streams import Streams
from services.play.service import table_stream
from services.server import HttpServer
from services.traced import Traced
from services.watch import Watch
from services.web import PAGES


class Node:
    """`run` it in a task until `stop`; `ready` returns when it accepts connections at `url`."""

    def __init__(self, core: Core, host: str, port: int, more: Sequence[ControllerRouterHandler] = ()) -> None:
        """`more` are routes beside the API's and the pages. Raises Fault(`listen`) where the address cannot be had."""
        self._reader = ProjectionReader(core.addresses.application, versions=VERSIONS)
        streams = Streams()
        lobby = Lobby(_lobby_reads(self._reader), core.clock, streams)
        subscriber = Subscriber(core.addresses.redis, [LOBBY])
        self._hub = hub = Hub(core.play, _versions(core), core.clock, subscriber, lobby, streams)
        beat = Beat(core.addresses.application)
        self._watch = Watch(core.store, self._reader, beat, core.clock, lambda: hub.linked)
        self._keys = DisputeKeys(core.addresses.application, core.sealer, core.entropy)
        self._checkpoints = Checkpoints(core.addresses.application, core.store.parts, core.keys.audit_signing)
        rooms = _house(core, self._reader, self._hub, self._watch, self._keys, self._checkpoints)
        app = create_app(rooms, more=(*PAGES, *more))
        self._server = HttpServer(Traced(app) if recording() else app, host, port, core.settings.trusted_proxies)

    @property
    def url(self) -> str:
        """Where the API is to be found."""
        return self._server.url

    async def ready(self) -> None:
        """Returns when it accepts connections."""
        await self._server.ready()

    async def run(self) -> None:
        """Serve until `stop`, then let go of those who follow, and answer what has begun."""
        async with self._reader, asyncio.TaskGroup() as group:
            beside = [
                group.create_task(self._hub.run(), name="hub"),
                group.create_task(kept("clock", self._watch.keep_time), name="clock"),
            ]
            await self._server.run()
            for task in beside:
                task.cancel()
        await self._watch.close()
        await self._keys.close()
        await self._checkpoints.close()

    def stop(self) -> None:
        """Take no more connections, and end the event streams: their clients resume elsewhere."""
        self._hub.close()
        self._server.stop()


def _house(
    core: Core, reader: ProjectionReader, hub: Hub, watch: Watch, keys: DisputeKeys, checkpoints: Checkpoints
) -> House:
    def digest(method: str, path: str, body: bytes) -> str:
        return request_digest(core.sealer.request_key, method, path, body)

    return House(
        store=core.store,
        codec=core.codec,
        play=core.play,
        reader=reader,
        hub=hub,
        access=Access(core.store, core.codec, core.clock, core.entropy),
        checkpoints=checkpoints,
        bundles=Bundles(core.store, core.codec, core.sealer, checkpoints, reader, core.clock),
        disputes=Disputes(core.store, core.codec, core.play, reader, keys, core.clock),
        watch=watch,
        clock=core.clock,
        digest=digest,
        bearer=Verifier.of(core.keys.tokens, core.clock),
        codes=Verifier.of(core.keys.tokens, core.clock, CODE),
        sessions=Sessions(core.sealer.session_key, core.clock),
        ends=SessionEnds(core.store, core.codec, core.clock, core.entropy),
        # Embedded, pages come over plain HTTP from this machine; elsewhere a proxy brings them over HTTPS.
        secure_cookies=not core.settings.is_embedded,
    )


def _lobby_reads(reader: ProjectionReader) -> LobbyReads:
    async def open_now(limit: int) -> tuple[tuple[LobbyTable, ...], str | None]:
        page = await open_tables(reader, limit=limit)
        return page.items, page.next

    return LobbyReads(
        vector=lambda: tables_vector(reader),
        changed=lambda since: changed_tables(reader, since),
        open_tables=open_now,
    )


def _versions(core: Core) -> Versions:
    async def versions(table_ids: Iterable[str]) -> Mapping[str, int]:
        by_stream = {table_stream(table_id): table_id for table_id in table_ids}
        heads = await core.store.heads(by_stream)
        return {by_stream[stream]: head.seq for stream, head in heads.items()}

    return versions
