"""What is committed to for the next hand, and what is disclosed of an ended one. Source: rulebook S2, S6, S7."""

from __future__ import annotations

from domain import shuffle
from domain.commands import Fresh
from domain.events import HandCommitted, SeedDisclosed
from domain.table import Table


def commit(fresh: Fresh) -> HandCommitted:
    """S2."""
    commitment = shuffle.commitment(bytes.fromhex(fresh.server_seed), hand_bytes(fresh.hand_id))
    return HandCommitted(
        hand_id=fresh.hand_id,
        commitment=commitment.hex(),
        key_commitment=fresh.key_commitment,
        server_seed=fresh.server_seed,
    )


def hand_bytes(hand_id: str) -> bytes:
    """S1: the 16 bytes of a hand's id."""
    return bytes.fromhex(hand_id.replace("-", ""))


def disclose(table: Table, hand_id: str, server_seed: str, used: bool) -> tuple[SeedDisclosed, ...]:
    """S6; S7: a seed that is lost, and so empty, is disclosed to nobody."""
    if not server_seed:
        return ()
    to = table.settings.seed_disclosure
    return (SeedDisclosed(hand_id=hand_id, to=to, used=used, server_seed=server_seed),)
