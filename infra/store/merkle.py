"""The Merkle tree of RFC 6962, section 2.1, over a part's events: leaf n is the hash of the event at position n + 1.

It is kept as tiles: level 0 are the leaves' hashes, a node of level k is the root of 256^k leaves, and only whole nodes
are kept. So a tree grows by what is new, and a proof reads a few tiles, whatever the length of the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""
TILE_BITS = 8
TILE = 1 << TILE_BITS

Range = tuple[int, int]
"""Leaves from the first up to before the second, counted from 0."""
Node = tuple[int, int, bytes]
"""Level, number in its level from 0, hash."""


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf; `leaf` is an event's hash."""
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash over two subtrees."""
    return sha256(b"\x01" + left + right).digest()


def whole(hashes: Sequence[bytes]) -> bytes:
    """The root over subtrees of one size, as many as a power of two."""
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
    return hashes[0]


def joined(subtrees: Sequence[bytes]) -> bytes:
    """The root over whole subtrees, the larger ones first."""
    *others, root = subtrees
    for left in reversed(others):
        root = node_hash(left, root)
    return root


class Tree:
    """A growing tree. It holds its right edge alone: of each level the nodes that the next level does not cover yet."""

    def __init__(self, size: int = 0, edge: Sequence[Sequence[bytes]] = ()) -> None:
        """An empty tree, or one of `size` leaves whose edge, from level 0 on, `edge_of` names."""
        self.size = size
        self._edge = [list(nodes) for nodes in edge] or [[]]
        assert [len(nodes) for nodes in self._edge] == [end - start for _, start, end in edge_of(size)]

    def add(self, leaves: Sequence[bytes]) -> list[Node]:
        """Add leaves, at the end; the nodes above level 0 that became whole, in their order."""
        edge = self._edge
        self.size += len(leaves)
        edge[0] += [sha256(b"\x00" + leaf).digest() for leaf in leaves]
        made: list[Node] = []
        count, level = self.size, 0
        while len(edge[level]) >= TILE:
            if level + 1 == len(edge):
                edge.append([])
            nodes = edge[level]
            first = (count - len(nodes)) >> TILE_BITS
            full = len(nodes) >> TILE_BITS
            tops = [whole(nodes[i << TILE_BITS : (i + 1) << TILE_BITS]) for i in range(full)]
            made += [(level + 1, first + i, top) for i, top in enumerate(tops)]
            del nodes[: full << TILE_BITS]
            edge[level + 1] += tops
            count >>= TILE_BITS
            level += 1
        return made

    def root(self) -> bytes:
        """The root of the tree as it is."""
        subtrees: list[bytes] = []
        for nodes in reversed(self._edge):
            start = 0
            for bit in reversed(range(TILE_BITS)):
                if len(nodes) >> bit & 1:
                    subtrees.append(whole(nodes[start : start + (1 << bit)]))
                    start += 1 << bit
        return joined(subtrees) if subtrees else EMPTY


def edge_of(size: int) -> list[tuple[int, int, int]]:
    """The nodes that are the right edge of a tree: (level, first, end) of each level from 0 on."""
    edge, level = [], 0
    while True:
        count = size >> (level * TILE_BITS)
        edge.append((level, count & ~(TILE - 1), count))
        level += 1
        if not size >> (level * TILE_BITS):
            return edge


def inclusion(index: int, size: int) -> list[Range]:
    """PATH of section 2.1.1: the subtrees whose roots prove that leaf `index` is in the tree of `size`."""
    assert 0 <= index < size, (index, size)
    found: list[Range] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _half(end - start)
        if index < middle:
            found.append((middle, end))
            end = middle
        else:
            found.append((start, middle))
            start = middle
    return found[::-1]


def consistency(first: int, second: int) -> list[Range]:
    """PROOF of section 2.1.2: the subtrees that prove that a tree of `first` leaves begins one of `second`."""
    assert 0 < first <= second, (first, second)
    found: list[Range] = []
    start, end = 0, second
    while end != first:
        middle = start + _half(end - start)
        if first <= middle:
            found.append((middle, end))
            end = middle
        else:
            found.append((start, middle))
            start = middle
    if start:  # else the first tree is a subtree of the second, and its root is known to who asks
        found.append((start, end))
    return found[::-1]


def perfect(leaves: Range) -> Iterator[tuple[int, int, int]]:
    """The nodes that make up a subtree: (level, first, end), each a power of two of them, the larger subtrees first."""
    start, end = leaves
    while start < end:
        bits = (end - start).bit_length() - 1
        level = bits // TILE_BITS
        first = start >> (level * TILE_BITS)
        yield level, first, first + (1 << (bits % TILE_BITS))
        start += 1 << bits


def _half(size: int) -> int:
    """The largest power of two below `size`, which is at least 2."""
    return 1 << ((size - 1).bit_length() - 1)


def included(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `path` proves that `leaf` is number `index` (from 0) of the tree of `size` with this root.

    RFC 9162, section 2.1.3.2, whose trees are those of RFC 6962.
    """
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf_hash(leaf)
    for other in path:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = node_hash(other, found)
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            found = node_hash(found, other)
        number >>= 1
        last >>= 1
    return last == 0 and found == root


def consistent(first: int, second: int, path: Sequence[bytes], first_root: bytes, second_root: bytes) -> bool:
    """Whether `path` proves that the tree of `first` leaves is the beginning of that of `second`.

    RFC 9162, section 2.1.4.2.
    """
    if first == second:
        return not path and first_root == second_root
    if not 0 < first < second or not path:
        return False
    hashes = list(path) if first & (first - 1) else [first_root, *path]
    number, last = first - 1, second - 1
    while number & 1:
        number >>= 1
        last >>= 1
    old = new = hashes[0]
    for other in hashes[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            new = node_hash(new, other)
        number >>= 1
        last >>= 1
    return last == 0 and old == first_root and new == second_root
