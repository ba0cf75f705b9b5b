"""A dispute bundle: one hand, with all that proves it without us. `infra.audit.verifier` checks it.

Source: DESIGN "Audit". It holds the hand's key, and so every card: whoever makes one records it as a look at the hand.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from domain.events import HandCommitted, HandStarted, SeedDisclosed
from domain.handfile import HandFile, from_events
from infra.audit import Checkpoint, Checkpoints
from infra.audit.checkpoint import document
from infra.audit.verifier import FORMAT
from infra.clock import Clock
from infra.codec import Codec
from infra.faults import Fault
from infra.projection_store import ProjectionReader
from infra.sealing import Sealer
from infra.store import GENESIS, EventStore, StoredEvent
from projections.hands import HandRow
from projections.ledger import entries_of_hand, position
from services.play.service import table_stream

ATTEMPTS = 5
AFTER_END = 100
"""Among so many events after a hand's end its seed is looked for: what comes after the next start is another hand's."""


class Bundles:
    """Makes the bundles of hands that are over. All may raise Fault."""

    def __init__(
        self,
        store: EventStore,
        codec: Codec,
        sealer: Sealer,
        checkpoints: Checkpoints,
        reader: ProjectionReader,
        clock: Clock,
    ) -> None:
        self._store = store
        self._codec = codec
        self._sealer = sealer
        self._checkpoints = checkpoints
        self._reader = reader
        self._clock = clock

    async def of(self, row: HandRow) -> bytes:
        """The bundle's JSON. Its events are under a checkpoint: one is made where there is none yet.

        Raises Fault(`unavailable`) while the books have not come to the hand's end.
        """
        assert row.last_seq is not None, "the hand runs"
        stream = table_stream(row.table_id)
        events, previous = await self._events(row, stream, row.last_seq)
        played = [each for each in events if row.first_seq <= each.seq <= row.last_seq]
        if await position(self._reader, played[-1].part) < played[-1].pos:
            raise Fault("unavailable", "the books have not come to this hand yet; try again in a moment")
        ledger = await entries_of_hand(self._reader, row.hand_id)
        file = from_events([self._codec.decode(each) for each in played])
        part, positions = events[0].part, [each.pos for each in events]
        checkpoint = await self._sealed(part, positions[-1])
        proofs = await self._checkpoints.inclusions(part, positions, checkpoint.size_of(part))
        bundle = {
            "format": FORMAT,
            "hand_id": row.hand_id,
            "table_id": row.table_id,
            "stream": stream,
            "part": part,
            "game": file.game,
            "rules": file.rules,
            "hand_key": self._sealer.hand_key(row.hand_id).hex(),
            "previous_hash": previous.hex(),
            "events": [_event(each, proof.path) for each, proof in zip(events, proofs, strict=True)],
            "result": msgspec.to_builtins(file.result),
            "ledger": [
                {
                    "seq": entry.seq,
                    "clause": entry.clause,
                    "currency": entry.currency,
                    "debit": entry.debit,
                    "credit": entry.credit,
                    "amount": entry.amount,
                }
                for entry in ledger
            ],
            "shuffle": _shuffle(file),
            "checkpoint": msgspec.to_builtins(document(checkpoint)),
        }
        # The standard library's JSON: a body that was tampered with need not be text.
        return json.dumps(bundle, separators=(",", ":")).encode()

    async def _events(self, row: HandRow, stream: str, last_seq: int) -> tuple[list[StoredEvent], bytes]:
        """The hand's events from its commitment to its end or its seed's disclosure, and the hash before the first."""
        first = await self._store.last_of(stream, (_tag(HandCommitted),), row.first_seq)
        if first is None:
            raise Fault("store_broken", f"{stream}: event {row.first_seq} starts a hand that was not committed to")
        begin = max(0, first - 2)
        stored = await self._store.read_stream(stream, begin, last_seq - begin + AFTER_END)
        previous = stored.pop(0).hash if first > 1 else GENESIS
        end = last_seq
        for each in stored:
            if each.seq > last_seq and each.type == _tag(HandStarted):
                break
            if each.seq > last_seq and each.type == _tag(SeedDisclosed):
                event = self._codec.decode_public(each)
                if isinstance(event, SeedDisclosed) and event.hand_id == row.hand_id:
                    end = each.seq
        return [each for each in stored if each.seq <= end], previous

    async def _sealed(self, part: int, pos: int) -> Checkpoint:
        """A checkpoint that covers a position."""
        for _ in range(ATTEMPTS):
            checkpoint = await self._checkpoints.latest()
            if checkpoint is not None and checkpoint.size_of(part) >= pos:
                return checkpoint
            await self._checkpoints.seal(self._clock.now_ms())
        raise Fault("unavailable", f"no checkpoint covers position {pos} of part {part}; try again in a moment")


def _tag(event: type[Any]) -> str:
    return str(event.__struct_config__.tag)


def _event(event: StoredEvent, path: tuple[bytes, ...]) -> dict[str, Any]:
    return {
        "pos": event.pos,
        "seq": event.seq,
        "type": event.type,
        "version": event.version,
        "command_id": event.command_id.hex(),
        "idx": event.idx,
        "body": event.body.decode("utf-8", "surrogateescape"),
        "meta": event.meta.decode("utf-8", "surrogateescape"),
        "hash": event.hash.hex(),
        "path": [each.hex() for each in path],
    }


def _shuffle(file: HandFile) -> dict[str, Any]:
    """H4: what the decks were made of, and the decks."""
    assert file.shuffle is not None, "the service deals from seeds alone"
    return {
        "server_seed": file.shuffle.server_seed,
        "commitment": file.shuffle.commitment,
        "client_seeds": list(file.shuffle.client_seeds),
        "decks": [list(deck) for deck in file.deals],
    }
