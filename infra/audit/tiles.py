"""Reading the parts' trees: subtrees for proofs, and trees to go on from, out of kept nodes and events' hashes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from infra.faults import Fault
from infra.store.arrays import Binary, int2s, int8s
from infra.store.merkle import TILE, TILE_BITS, Range, Tree, edge_of, joined, leaf_hash, perfect, whole

SQL = Path(__file__).parent / "sql"
NODES = (SQL / "nodes.sql").read_bytes()
HASHES = (SQL / "hashes.sql").read_bytes()

AT_ONCE = 50_000
"""So many events' hashes are read at a time."""


async def subtrees(
    connection: AsyncConnection[Any], wanted: Mapping[int, Iterable[Range]]
) -> dict[tuple[int, Range], bytes]:
    """The roots of subtrees of the parts' trees, all of them sealed. Raises Fault(`checkpoints_broken`)."""
    ranges = {(part, leaves) for part, each in wanted.items() for leaves in each}
    tiles = {(part, level, first >> TILE_BITS) for part, leaves in ranges for level, first, _ in perfect(leaves)}
    events = sorted((part, n) for part, level, n in tiles if level == 0)
    above = sorted(each for each in tiles if each[1])
    nodes: dict[tuple[int, int, int], bytes] = {}
    if events:
        parts, numbers = zip(*events, strict=True)
        begin, end = _ends(numbers)
        rows = await _rows(connection, HASHES, int2s(parts), begin, end)
        nodes |= {(part, 0, pos - 1): leaf_hash(hash_) for part, pos, hash_ in rows}
    if above:
        parts, levels, numbers = zip(*above, strict=True)
        begin, end = _ends(numbers)
        rows = await _rows(connection, NODES, int2s(parts), int2s(levels), begin, end)
        nodes |= {(part, level, n): hash_ for part, level, n, hash_ in rows}
    try:
        return {
            (part, leaves): joined(
                [whole([nodes[part, level, n] for n in range(first, end)]) for level, first, end in perfect(leaves)]
            )
            for part, leaves in ranges
        }
    except KeyError as error:
        raise _missing(*error.args[0]) from None


def _ends(tiles: Sequence[int]) -> tuple[Binary, Binary]:
    """Where each tile begins, and where it ends."""
    return int8s([n * TILE for n in tiles]), int8s([(n + 1) * TILE for n in tiles])


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
