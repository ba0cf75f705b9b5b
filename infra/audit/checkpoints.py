"""The checkpoints of one database: made, read, and proven from. DESIGN "Audit"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.errors import UniqueViolation

from infra.audit import tiles
from infra.audit.checkpoint import Checkpoint, SealedPart, pack, public_key, signed, unpack
from infra.audit.growth import Growth
from infra.faults import Fault
from infra.store import merkle
from infra.store.arrays import hashes, int2s, int8s
from infra.store.connect import Unavailable, reason
from infra.store.connections import Connections
from infra.store.merkle import TILE, Range
from infra.store.queries import query
from infra.store.types import GENESIS

SQL = Path(__file__).parent / "sql"
LATEST = (SQL / "latest.sql").read_bytes()
AFTER = (SQL / "after.sql").read_bytes()
INSERT = (SQL / "insert.sql").read_bytes()
INSERT_NODES = (SQL / "insert_nodes.sql").read_bytes()
PART_HEADS = query("part_heads")

CONNECTIONS = 2
ATTEMPTS = 5
NODES_AT_ONCE = 20_000

Result = TypeVar("Result")


class NotSealed(Exception):
    """What a proof was asked for is not, or not yet, under a checkpoint. The text says what would be right."""


class Inclusion(Struct, frozen=True, kw_only=True):
    """That the event at `pos` with this `hash` is in the part's tree of `size` with this `root`."""

    part: int
    pos: int
    size: int
    root: bytes
    hash: bytes
    path: tuple[bytes, ...]


class Consistency(Struct, frozen=True, kw_only=True):
    """That the part's tree of `first` events is the beginning of that of `second`."""

    part: int
    first: int
    second: int
    first_root: bytes
    second_root: bytes
    path: tuple[bytes, ...]


class Checkpoints:
    """Any number of processes may make them. All methods raise Fault(`store_unavailable`), and those that read the
    trees Fault(`checkpoints_broken`) where a part of one is gone.
    """

    def __init__(self, url: str, parts: int, signing: Ed25519PrivateKey) -> None:
        self.key = public_key(signing)
        self._parts = parts
        self._signing = signing
        self._connections = Connections(url, CONNECTIONS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._connections.close()

    async def latest(self) -> Checkpoint | None:
        """The newest one, or None."""
        found = await self._ask(lambda connection: _checkpoints(connection, LATEST, ()))
        return found[0] if found else None

    async def get(self, number: int) -> Checkpoint | None:
        """One by its number, or None."""
        found = await self.page(number - 1, 1)
        return found[0] if found and found[0].number == number else None

    async def page(self, after: int, limit: int) -> list[Checkpoint]:
        """Those after a number, in order, at most `limit`."""
        return await self._ask(lambda connection: _checkpoints(connection, AFTER, (after, limit)))

    async def seal(self, at_ms: int) -> Checkpoint | None:
        """Seal what the log holds; None where that is what the newest checkpoint sealed already.

        Reads of each part what is new, and its tree's right edge. Raises Fault(`store_gap`) too.
        """
        for _ in range(ATTEMPTS):
            try:
                return await self._ask(lambda connection: self._seal(connection, at_ms))
            except UniqueViolation:  # somebody else was faster
                continue
        raise Fault("conflict", "too many make checkpoints at once; try again")

    async def _seal(self, connection: AsyncConnection[Any], at_ms: int) -> Checkpoint | None:
        # The heads are read after the checkpoint before, so no part can be smaller than it was there; and every
        # position up to a head that was committed can be read.
        last = next(iter(await _checkpoints(connection, LATEST, ())), None)
        heads = dict(await (await connection.execute(PART_HEADS)).fetchall())
        sealed = {each.part: each for each in last.sealed} if last else {}
        grown = {part: head for part, head in heads.items() if head > (sealed[part].size if part in sealed else 0)}
        if not grown:
            return None
        begin = {part: sealed[part].size & ~(TILE - 1) if part in sealed else 0 for part in grown}
        trees = await tiles.trees(connection, begin)
        nodes: list[tuple[int, int, int, bytes]] = []
        async for part, found in tiles.hashes(connection, begin, grown):
            nodes += [(part, *node) for node in trees[part].add(found)]
        sealed |= {part: SealedPart(part, tree.size, tree.root()) for part, tree in trees.items()}
        checkpoint = signed(
            Checkpoint(
                number=last.number + 1 if last else 1,
                at_ms=max(at_ms, last.at_ms) if last else at_ms,
                previous=last.hash if last else GENESIS,
                parts=self._parts,
                sealed=tuple([sealed[part] for part in sorted(sealed)]),
                key=self.key,
            ),
            self._signing,
        )
        async with connection.transaction():
            await connection.execute(INSERT, _row(checkpoint))
            for start in range(0, len(nodes), NODES_AT_ONCE):
                parts, levels, numbers, tops = zip(*nodes[start : start + NODES_AT_ONCE], strict=True)
                given = int2s(parts), int2s(levels), int8s(numbers), hashes(tops)
                await connection.execute(INSERT_NODES, given)
        return checkpoint

    async def inclusions(self, part: int, positions: Sequence[int], size: int | None = None) -> list[Inclusion]:
        """That events are in their part's tree, of `size` or as it was sealed last. Raises NotSealed."""
        size = await self._sealed(part, size)
        for pos in positions:
            if not 1 <= pos <= size:
                raise NotSealed(f"pos: an event from 1 to {size}, which is what the tree holds")
        paths = {pos: merkle.inclusion(pos - 1, size) for pos in positions}
        wanted: set[Range] = {(0, size), *[r for path in paths.values() for r in path]}
        found, leaves = await self._ask(lambda connection: _proven(connection, part, wanted, positions))
        return [
            Inclusion(
                part=part,
                pos=pos,
                size=size,
                root=found[part, (0, size)],
                hash=leaves[pos],
                path=tuple([found[part, r] for r in path]),
            )
            for pos, path in paths.items()
        ]

    async def consistency(self, part: int, first: int, second: int | None = None) -> Consistency:
        """That a tree is the beginning of a later one, by default the one that was sealed last. Raises NotSealed."""
        second = await self._sealed(part, second)
        if not 1 <= first <= second:
            raise NotSealed(f"first: a size from 1 to {second}, that of the second tree")
        path = merkle.consistency(first, second)
        wanted: set[Range] = {(0, first), (0, second), *path}
        found = await self._ask(lambda connection: tiles.subtrees(connection, {part: wanted}))
        return Consistency(
            part=part,
            first=first,
            second=second,
            first_root=found[part, (0, first)],
            second_root=found[part, (0, second)],
            path=tuple([found[part, r] for r in path]),
        )

    async def growth(self, first: int, second: int | None = None) -> Growth:
        """That the log of one checkpoint is the beginning of that of a later one, by default the newest.

        Raises NotSealed where there is none of these numbers.
        """
        older = await self.get(first)
        newer = await (self.latest() if second is None else self.get(second))
        if older is None or newer is None:
            raise NotSealed(f"there is no checkpoint {first if older is None else second}")
        if newer.number < older.number:
            raise NotSealed(f"first: a checkpoint from 1 to {newer.number}, which is the second")
        sizes = {each.part: each.size for each in newer.sealed}
        grown = [p for p in older.sealed if p.size < sizes.get(p.part, 0)]
        paths = {p.part: merkle.consistency(p.size, sizes[p.part]) for p in grown}
        found = await self._ask(lambda connection: tiles.subtrees(connection, paths))
        return Growth(
            first=older,
            second=newer,
            paths={part: tuple([found[part, r] for r in path]) for part, path in paths.items()},
        )

    async def _sealed(self, part: int, size: int | None) -> int:
        latest = await self.latest()
        most = latest.size_of(part) if latest else 0
        if not most:
            raise NotSealed(f"no checkpoint has sealed an event of part {part} yet")
        if size is not None and not 1 <= size <= most:
            raise NotSealed(f"a tree of part {part} has from 1 to {most} events, which is what was sealed last")
        return most if size is None else size

    async def _ask(self, question: Callable[[AsyncConnection[Any]], Awaitable[Result]]) -> Result:
        """Ask on a connection; on another, once, where that was lost."""
        for attempt in range(2):
            try:
                async with self._connections.one() as connection:
                    return await question(connection)
            except Unavailable as error:
                if attempt:
                    raise Fault("store_unavailable", reason(error)) from error
        raise AssertionError("the last attempt returns or raises")


def _row(checkpoint: Checkpoint) -> tuple[Any, ...]:
    return (
        checkpoint.number,
        checkpoint.at_ms,
        checkpoint.previous,
        checkpoint.parts,
        pack(checkpoint.sealed),
        checkpoint.key,
        checkpoint.signature,
    )


async def _checkpoints(connection: AsyncConnection[Any], text: bytes, given: tuple[Any, ...]) -> list[Checkpoint]:
    cursor = connection.cursor(binary=True)
    await cursor.execute(text, given)
    return [
        Checkpoint(
            number=number,
            at_ms=at_ms,
            previous=previous,
            parts=parts,
            sealed=unpack(sealed),
            key=key,
            signature=signature,
        )
        for number, at_ms, previous, parts, sealed, key, signature in await cursor.fetchall()
    ]


async def _proven(
    connection: AsyncConnection[Any], part: int, wanted: set[Range], positions: Sequence[int]
) -> tuple[dict[tuple[int, Range], bytes], dict[int, bytes]]:
    found = await tiles.subtrees(connection, {part: wanted})
    leaves: dict[int, bytes] = {}
    for pos in positions:
        async for _, (hash_,) in tiles.hashes(connection, {part: pos - 1}, {part: pos}):
            leaves[pos] = hash_
    return found, leaves
