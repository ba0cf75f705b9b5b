"""A log made of random evenings, appended to a real store as the service would: command by command."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

import msgspec

from domain.events import Event
from domain.options import GameName
from infra.codec import Codec
from infra.entropy import SystemEntropy
from infra.meta import Meta, encode_meta
from infra.sealing import Sealer
from infra.store import GENESIS, Append, Appended, EventStore, NewEvent, StreamAppend
from projections.engine.types import Recorded
from tests.domain.ledger.evenings import TABLE_ID, TABLE_STREAM, Entry, Evening

MASTER = bytes(range(32))


def codec() -> Codec:
    """The codec of every test here."""
    return Codec(Sealer(MASTER, SystemEntropy()))


def table_id(seed: int) -> str:
    """The id of an evening's table; a later seed's is greater."""
    return f"018f0000-0000-7000-8000-{seed:012x}"


def evening(seed: int, hands: int = 5, game: GameName = "khrap", *, close: bool = True) -> list[Entry]:
    """A random evening at a table of its own, with players of its own: `e<seed>p0`, …"""
    made = Evening(seed, game)
    made.players = [f"e{seed}{player}" for player in made.players]
    return [_renamed(entry, seed, n) for n, entry in enumerate(made.play(hands, close=close))]


def _renamed(entry: Entry, seed: int, n: int) -> Entry:
    stream = f"table-{table_id(seed)}" if entry.stream == TABLE_STREAM else entry.stream
    event = entry.event
    if getattr(event, "table_id", None) == TABLE_ID:
        event = msgspec.structs.replace(event, table_id=table_id(seed))
    # The accounts are opened by commands that share an id in the evening; in a log no two do.
    own = entry.command_id if entry.command_id != b"\1" * 16 else hashlib.sha256(f"{seed} {n}".encode()).digest()[:16]
    return msgspec.structs.replace(entry, stream=stream, event=event, command_id=own)


class World:
    """A store with a log that grows. `heads` are the streams' numbers and hashes."""

    def __init__(self, store: EventStore) -> None:
        self.store = store
        self.codec = codec()
        self.heads: dict[str, tuple[int, bytes]] = {}
        self.events = 0

    async def append(self, *evenings: list[Entry]) -> None:
        """Append whole commands, each once; evenings that share no stream go on beside each other."""

        async def one(entries: list[Entry]) -> None:
            for command in commands(entries):
                await self.command(command)

        await asyncio.gather(*(one(each) for each in evenings))

    async def command(self, entries: list[Entry]) -> None:
        """Append one command's events, which may be of several streams."""
        streams: dict[str, list[NewEvent]] = {}
        for entry in entries:
            meta = encode_meta(Meta(entry.at_ms, "anna", "player", "player", "00" * 32))
            new = self.codec.encode(entry.event, entry.stream, entry.seq, meta)
            streams.setdefault(entry.stream, []).append(new)
        await self.new(entries[0].command_id, streams)

    async def new(self, command_id: bytes, streams: dict[str, list[NewEvent]]) -> None:
        """Append stored forms."""
        appends = [StreamAppend(s, *self.heads.get(s, (0, GENESIS)), tuple(new)) for s, new in streams.items()]
        verdict = await self.store.append(Append(command_id, tuple(appends)))
        assert isinstance(verdict, Appended), verdict
        self.heads.update({head.stream: (head.seq, head.hash) for head in verdict.heads})
        self.events += sum(len(new) for new in streams.values())

    async def recorded(self) -> list[Recorded]:
        """The whole log as projections see it, decoded by itself: each part's events in order."""
        vector = dict.fromkeys(await self.store.part_heads(), 0)
        found: list[Recorded] = []
        while events := await self.store.read_parts(vector, 5_000):
            for stored in events:
                vector[stored.part] = stored.pos
                found.append(
                    Recorded(
                        stream=stored.stream,
                        seq=stored.seq,
                        part=stored.part,
                        pos=stored.pos,
                        command_id=stored.command_id,
                        event=self.codec.decode_public(stored),
                        meta=stored.meta,
                    )
                )
        return found


def commands(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries, command by command."""
    for _, command in groupby(entries, key=lambda entry: entry.command_id):
        yield list(command)


def pieces(entries: list[Entry], count: int) -> list[list[Entry]]:
    """The entries in so many pieces, no command torn in two."""
    whole = list(commands(entries))
    ends = [len(whole) * n // count for n in range(count + 1)]
    return [[e for each in whole[a:b] for e in each] for a, b in pairwise(ends)]


def halves(entries: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The first and the second half, no command torn in two."""
    first, second = pieces(entries, 2)
    return first, second


def event_of(entries: Iterable[Entry], kind: type[Event]) -> Entry:
    """The first event of a kind."""
    return next(entry for entry in entries if isinstance(entry.event, kind))
