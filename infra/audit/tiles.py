"""Reading the parts' trees: subtrees for proofs, and trees to go on from, out of kept nodes and events' hashes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from infra.faults import Fault
from infra.store.arrays import int2s, int8s
from infra.store.merkle import TILE, TILE_BITS, Range, Tree, edge_of, joined, leaf_hash, perfect, whole

SQL = Path(__file__).parent / "sql"
NODES = (SQL / "nodes.sql").read_bytes()
HASHES = (SQL / "hashes.sql").read_bytes()

AT_ONCE = 50_000
"""So many events' hashes are read at a time."""


async def subtrees(connection: AsyncConnection[Any], part: int, ranges: Iterable[Range]) -> dict[Range, bytes]:
    """The roots of subtrees of a part's tree, all of them sealed. Raises Fault(`checkpoints_broken`)."""
    wanted = set(ranges)
    tiles = {(level, first >> TILE_BITS) for leaves in wanted for level, first, _ in perfect(leaves)}
    events = sorted(n for level, n in tiles if level == 0)
    above = sorted((level, n) for level, n in tiles if level)
    nodes: dict[tuple[int, int], bytes] = {}
    if events:
        rows = await _rows(
            connection,
            HASHES,
            int2s([part] * len(events)),
            int8s([n * TILE for n in events]),
            int8s([(n + 1) * TILE for n in events]),
        )
        nodes |= {(0, pos - 1): leaf_hash(hash_) for _, pos, hash_ in rows}
    if above:
        rows = await _rows(
            connection,
            NODES,
            int2s([part] * len(above)),
            int2s([level for level, _ in above]),
            int8s([n * TILE for _, n in above]),
            int8s([(n + 1) * TILE for _, n in above]),
        )
        nodes |= {(level, n): hash_ for _, level, n, hash_ in rows}
    try:
        return {
            leaves: joined(
                [whole([nodes[level, n] for n in range(first, end)]) for level, first, end in perfect(leaves)]
            )
            for leaves in wanted
        }
    except KeyError as error:
        raise _missing(part, *error.args[0]) from None


async def trees(connection: AsyncConnection[Any], sizes: Mapping[int, int]) -> dict[int, Tree]:
    """The tree of each part as it was at a size that is a multiple of a tile. Raises Fault(`checkpoints_broken`)."""
    edges = {part: edge_of(size) for part, size in sizes.items()}
    asked = [(part, *each) for part, edge in edges.items() for each in edge if each[0]]
    nodes: dict[tuple[int, int, int], bytes] = {}
    if asked:
        parts, levels, firsts, ends = zip(*asked, strict=True)
        rows = await _rows(connection, NODES, int2s(parts), int2s(levels), int8s(firsts), int8s(ends))
        nodes = {(part, level, n): hash_ for part, level, n, hash_ in rows}
    try:
        return {
            part: Tree(sizes[part], [[nodes[part, level, n] for n in range(first, end)] for level, first, end in edge])
            for part, edge in edges.items()
        }
    except KeyError as error:
        raise _missing(*error.args[0]) from None


async def hashes(
    connection: AsyncConnection[Any], after: Mapping[int, int], upto: Mapping[int, int]
) -> AsyncIterator[tuple[int, list[bytes]]]:
    """The events' hashes of each part after one position and up to another. Raises Fault(`store_gap`)."""
    todo = [(part, after.get(part, 0), last) for part, last in upto.items()]
    while todo:
        batch, room = [], AT_ONCE
        while todo and room > 0:
            part, first, last = todo.pop()
            end = min(last, first + room)
            batch.append((part, first, end))
            room -= end - first
            if end < last:
                todo.append((part, end, last))
        batch.sort()
        parts, firsts, ends = zip(*batch, strict=True)
        begin = dict(zip(parts, firsts, strict=True))
        found: dict[int, list[bytes]] = {part: [] for part in parts}
        for part, pos, hash_ in await _rows(connection, HASHES, int2s(parts), int8s(firsts), int8s(ends)):
            if pos != begin[part] + len(found[part]) + 1:
                break  # a hole, which is told below
            found[part].append(hash_)
        for part, first, end in batch:
            if len(found[part]) != end - first:
                gap = first + len(found[part]) + 1
                raise Fault("store_gap", f"part {part}: position {gap} is missing; run `khrap audit verify`")
            yield part, found[part]


def _missing(part: int, level: int, n: int) -> Fault:
    what = f"event {n + 1}" if level == 0 else f"node {n} of level {level}"
    return Fault("checkpoints_broken", f"part {part}: {what} of the sealed tree is missing; run `khrap audit verify`")


async def _rows(connection: AsyncConnection[Any], text: bytes, *parameters: Any) -> list[Any]:
    cursor = connection.cursor(binary=True)
    await cursor.execute(text, parameters)
    return await cursor.fetchall()
