"""The Merkle tree is RFC 6962's, however it is grown, and its proofs prove what they say and nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import sha256

import pytest

from infra.store import merkle
from infra.store.merkle import TILE, Range, Tree


def by_the_letter(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, as it is written there."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return sha256(b"\x01" + by_the_letter(leaves[:k]) + by_the_letter(leaves[k:])).digest()


def some(count: int) -> list[bytes]:
    return [sha256(str(n).encode()).digest() for n in range(count)]


def hashes_of(leaves: Sequence[bytes], ranges: Sequence[Range]) -> list[bytes]:
    return [by_the_letter(leaves[start:end]) for start, end in ranges]


# The roots of the trees over the first 0 to 8 leaves of the test data that Certificate Transparency's code comes with.
CT_LEAVES = [bytes.fromhex(h) for h in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
CT_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_certificate_transparency(size: int) -> None:
    tree = Tree()
    tree.add(CT_LEAVES[:size])
    assert tree.root().hex() == CT_ROOTS[size]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 255, 256, 257, 511, 512, 700, 65_535, 65_536, 65_537 + 300])
def test_a_tree_has_the_root_of_the_letter_however_it_grows(size: int) -> None:
    leaves, chance = some(size), random.Random(size)
    tree, made, at = Tree(), [], 0
    while at < size:
        step = chance.choice((1, 7, 255, 256, 1000, 20_000))
        made += tree.add(leaves[at : at + step])
        at = min(size, at + step)
    assert (tree.size, tree.root()) == (size, by_the_letter(leaves))
    assert sorted((level, n) for level, n, _ in made) == [
        (level, n) for level in (1, 2) for n in range(size >> (8 * level))
    ]
    for level, n, found in made:
        span = 1 << (8 * level)
        assert found == by_the_letter(leaves[n * span : (n + 1) * span])


@pytest.mark.parametrize("size", [0, 1, 255, 256, 600, 65_536 + 256 + 3])
def test_a_tree_goes_on_from_its_edge(size: int) -> None:
    leaves = some(size + 900)
    edge = [
        [by_the_letter(leaves[n << 8 * level : (n + 1) << 8 * level]) for n in range(first, end)]
        for level, first, end in merkle.edge_of(size)
    ]
    tree = Tree(size, edge)
    assert tree.root() == by_the_letter(leaves[:size])
    tree.add(leaves[size:])
    assert tree.root() == by_the_letter(leaves)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100, TILE, TILE + 1, 1_000])
def test_inclusion_is_proven_and_of_nothing_else(size: int) -> None:
    leaves = some(size)
    root = by_the_letter(leaves)
    for index in {0, 1, size // 2, size - 2, size - 1} & set(range(size)):
        path = hashes_of(leaves, merkle.inclusion(index, size))
        assert merkle.included(leaves[index], index, size, path, root)
        assert not merkle.included(leaves[index], index + 1, size, path, root)
        assert not merkle.included(sha256(b"other").digest(), index, size, path, root)
        assert not merkle.included(leaves[index], index, size, [*path, root], root)
        for n in range(len(path)):
            changed = [*path[:n], sha256(path[n]).digest(), *path[n + 1 :]]
            assert not merkle.included(leaves[index], index, size, changed, root)
            assert not merkle.included(leaves[index], index, size, path[:n], root)


@pytest.mark.parametrize("second", [1, 2, 3, 7, 8, 9, 100, TILE + 1, 1_000])
def test_consistency_is_proven_and_of_nothing_else(second: int) -> None:
    leaves = some(second)
    new = by_the_letter(leaves)
    for first in {1, 2, 3, 6, second // 2, second - 1, second} & set(range(1, second + 1)):
        old = by_the_letter(leaves[:first])
        path = hashes_of(leaves, merkle.consistency(first, second))
        assert merkle.consistent(first, second, path, old, new)
        assert not merkle.consistent(first, second, path, sha256(old).digest(), new)
        assert not merkle.consistent(first, second, path, old, sha256(new).digest())
        for n in range(len(path)):
            changed = [*path[:n], sha256(path[n]).digest(), *path[n + 1 :]]
            assert not merkle.consistent(first, second, changed, old, new)


def test_a_subtree_is_made_of_kept_nodes() -> None:
    leaves = some(3_000)
    for start, end in [(0, 3_000), (2_048, 3_000), (0, 1), (256, 512), (2_944, 3_000)]:
        parts = [
            merkle.whole([by_the_letter(leaves[n << 8 * level : (n + 1) << 8 * level]) for n in range(first, last)])
            for level, first, last in merkle.perfect((start, end))
        ]
        assert merkle.joined(parts) == by_the_letter(leaves[start:end])
