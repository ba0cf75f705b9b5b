"""Commands to disputes: decide on what the log has, seal, append with the money that goes with it, answer.

A dispute is short, so it is read whole each time and nothing is cached. Source: rulebook R.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from uuid import UUID

from domain.disputes import Dispute, decide, evolve
from domain.disputes.commands import DisputeCommand, EraseTexts, OpenDispute, Reviewer
from domain.events import (
    CompensationProposed,
    CorrectionProposed,
    DisputeEvent,
    OpenedAs,
    ProposalApproved,
    ProposalDropped,
)
from domain.refusal import Refused
from infra.clock import Clock
from infra.codec import Codec
from infra.dispute_keys import DisputeKey, DisputeKeys
from infra.faults import Fault
from infra.meta import command_id, decode_meta
from infra.projection_store import ProjectionReader
from infra.store import GENESIS, Appended, Conflict, Duplicate, EventStore, StoredEvent
from projections.disputes import keys_left
from services.disputes.facts import ended_hand, reviewer
from services.disputes.money import Money
from services.disputes.showing import shown
from services.disputes.types import (
    CorrectionPreview,
    DisputeAnswer,
    DisputeOutcome,
    DisputeRead,
    EndedHand,
)
from services.play.service import Play
from services.play.types import KeyReused, NotFound, Refusal, Request
from services.play.writing import Draft, same_request

ATTEMPTS = 5
PREFIX = "dispute-"

Seal = Callable[[str], str]
Make = Callable[[int, Dispute, Seal], DisputeCommand]
"""At a moment, for a dispute as it stands, with what seals a text for its place → the command."""


def dispute_stream(dispute_id: str) -> str:
    """The stream of a dispute."""
    return f"{PREFIX}{dispute_id}"


def dispute_id_of(hand_id: str, opener: str) -> str:
    """R1: one disputes a hand once, so hand and opener name the dispute. A UUIDv7 in form, its time bits a digest's."""
    digest = bytearray(hashlib.sha256(f"khrap-dispute/1\0{hand_id}\0{opener}".encode()).digest()[:16])
    digest[6] = 0x70 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F
    return str(UUID(bytes=bytes(digest)))


class Read:
    """A dispute as read: its stored events, decoded, and the state after them."""

    def __init__(self, stored: Sequence[StoredEvent], events: Sequence[DisputeEvent]) -> None:
        self.stored = stored
        self.events = events
        self.states: list[Dispute] = []
        dispute: Dispute | None = None
        for each, event in zip(stored, events, strict=True):
            dispute = evolve(dispute, event, decode_meta(each.meta).at_ms)
            self.states.append(dispute)

    @property
    def dispute(self) -> Dispute:
        """The dispute as it stands."""
        return self.states[-1]

    @property
    def version(self) -> int:
        """The number of its last event."""
        return self.stored[-1].seq


class Disputes:
    """All that may be asked of disputes. One for each process."""

    def __init__(
        self,
        store: EventStore,
        codec: Codec,
        play: Play,
        reader: ProjectionReader,
        keys: DisputeKeys,
        clock: Clock,
    ) -> None:
        self._store = store
        self._codec = codec
        self._reader = reader
        self._keys = keys
        self._clock = clock
        self._money = Money(store, codec, play, self.hand)

    async def hand(self, hand_id: str) -> EndedHand | None:
        """The hand, where it is over. Raises Fault."""
        return await ended_hand(self._store, self._codec, self._reader, hand_id)

    async def dispute(self, dispute_id: str) -> Dispute | None:
        """The dispute as it stands, or None. Raises Fault."""
        read = await self._read(dispute_id)
        return None if read is None else read.dispute

    async def reviewer(self, name: str, dispute: Dispute) -> Reviewer:
        """R2: what stands against this reviewer in the dispute. Raises Fault."""
        return await reviewer(self._reader, name, dispute.players, dispute.opened_ms)

    async def read(self, dispute_id: str, audience: OpenedAs) -> DisputeRead | None:
        """The dispute with its course, for its opener or for reviewers; None where there is none. Raises Fault."""
        read = await self._read(dispute_id)
        if read is None:
            return None
        key = None if read.dispute.erased else await self._keys.get(dispute_id)
        entries = [shown(each, event, key, audience) for each, event in zip(read.stored, read.events, strict=True)]
        return DisputeRead(
            version=read.version, dispute=read.dispute, entries=tuple(e for e in entries if e is not None)
        )

    async def open(self, request: Request, hand: EndedHand, statement: str, role: OpenedAs) -> DisputeOutcome:
        """R1. Raises Fault."""
        name = request.caller.subject
        dispute_id = dispute_id_of(hand.hand_id, name)
        stream = dispute_stream(dispute_id)
        for _ in range(ATTEMPTS):
            read = await self._read(dispute_id)
            at_ms = self._clock.now_ms()
            # Who has opened it already may be repeating himself: the key is there, or it was destroyed for good.
            key = await self._keys.get(dispute_id) if read else await self._keys.make(dispute_id, at_ms)
            command = OpenDispute(
                at_ms=at_ms,
                hand_id=hand.hand_id,
                table_id=hand.table_id,
                currency=hand.currency,
                players=hand.players,
                ended_ms=hand.ended_ms,
                opener=name,
                reviewer=await reviewer(self._reader, name, (), at_ms) if role == "reviewer" else None,
                evidence=hand.evidence,
                statement="" if read or key is None else key.seal(stream, 1, statement),
            )
            events = decide(None if read is None else read.dispute, command)
            keyed = _keyed(request, key)
            if isinstance(events, Refused):
                return await self._refused(dispute_id, keyed, events, 0 if read is None else read.version)
            draft = Draft(command_id(name, stream, request.key), keyed, self._codec)
            draft.add(draft.stream(stream, 0, GENESIS), events, at_ms)
            outcome = await self._append(dispute_id, draft, keyed)
            if outcome is not None:
                return outcome
        raise Fault("conflict", f"the dispute changed {ATTEMPTS} times in a row while this was decided; try again")

    async def command(self, dispute_id: str, request: Request, make: Make, *, writes: bool = False) -> DisputeOutcome:
        """Decide and append; where others were faster, again. `writes`: the command has a text. Raises Fault."""
        stream = dispute_stream(dispute_id)
        name = command_id(request.caller.subject, stream, request.key)
        for _ in range(ATTEMPTS):
            read = await self._read(dispute_id)
            if read is None:
                return NotFound(f"dispute {dispute_id}")
            dispute, version = read.dispute, read.version
            key = await self._keys.get(dispute_id) if writes else None
            keyed = _keyed(request, key) if writes else request
            at_ms = max(self._clock.now_ms(), dispute.at_ms)
            command = make(at_ms, dispute, _sealing(key, stream, version + 1))
            events = decide(dispute, command)
            if isinstance(events, Refused):
                if isinstance(command, EraseTexts) and dispute.erased:
                    await self._keys.erase(dispute_id, at_ms)
                return await self._refused(dispute_id, keyed, events, version)
            assert key is not None or not writes or dispute.erased, dispute_id
            draft = Draft(name, keyed, self._codec)
            draft.add(draft.stream(stream, version, read.stored[-1].hash), events, at_ms)
            refused = await self._money.include(draft, dispute_id, dispute, events, at_ms)
            if refused is not None:
                return await self._refused(dispute_id, keyed, refused, version)
            outcome = await self._append(dispute_id, draft, keyed)
            if outcome is not None:
                if isinstance(command, EraseTexts) and isinstance(outcome, DisputeAnswer):
                    await self._keys.erase(dispute_id, at_ms)
                return outcome
        raise Fault("conflict", f"the dispute changed {ATTEMPTS} times in a row while this was decided; try again")

    async def correction(self, dispute_id: str, dispute: Dispute) -> CorrectionPreview | Refused:
        """R5: what a correction would come to now, for those who sign it. Raises Fault."""
        return await self._money.correction(dispute_id, dispute, self._clock.now_ms())

    async def destroy_keys(self) -> list[str]:
        """R6: destroy what keys erased disputes still have, since a process ended too early or a backup brought them
        back; their ids. Raises Fault."""
        left = await keys_left(self._reader)
        for dispute_id in left:
            await self._keys.erase(dispute_id, self._clock.now_ms())
        return left

    async def _append(self, dispute_id: str, draft: Draft, request: Request) -> DisputeOutcome | None:
        """None where a stream was no longer as it was read."""
        match await self._store.append(draft.done()):
            case Appended(heads):
                return await self._answer(dispute_id, heads[0].seq)
            case Duplicate(stored):
                return await self._repeat(dispute_id, stored, request)
            case Conflict():
                return None

    async def _refused(self, dispute_id: str, request: Request, refused: Refused, version: int) -> DisputeOutcome:
        """The first answer where the command was done before."""
        stream = dispute_stream(dispute_id)
        name = command_id(request.caller.subject, stream, request.key)
        stored = await self._store.find_command(name, (stream,))
        return await self._repeat(dispute_id, stored, request) if stored else Refusal(refused, version)

    async def _repeat(self, dispute_id: str, stored: Sequence[StoredEvent], request: Request) -> DisputeOutcome:
        if not same_request(stored[0], request):
            return KeyReused(request.key)
        stream = dispute_stream(dispute_id)
        return await self._answer(dispute_id, max(each.seq for each in stored if each.stream == stream))

    async def _answer(self, dispute_id: str, seq: int) -> DisputeAnswer:
        """From what is stored alone, so that a repeat gets the same."""
        read = await self._read(dispute_id)
        assert read is not None, dispute_id
        event, after = read.events[seq - 1], read.states[seq - 1]
        proposal = None
        if isinstance(event, CompensationProposed | CorrectionProposed | ProposalApproved | ProposalDropped):
            proposal = event.proposal
        phase = str(type(after.phase).__struct_config__.tag)
        return DisputeAnswer(dispute_id=dispute_id, version=seq, phase=phase, proposal=proposal)

    async def _read(self, dispute_id: str) -> Read | None:
        stored = await self._store.read_stream(dispute_stream(dispute_id))
        if not stored:
            return None
        events = []
        for each in stored:
            event = self._codec.decode(each)
            assert isinstance(event, DisputeEvent), each.type
            events.append(event)
        return Read(stored, events)


def _keyed(request: Request, key: DisputeKey | None) -> Request:
    """R6: the digest of a request with a text goes under the dispute's key: without it nobody can try texts out."""
    return request if key is None else Request(request.caller, request.key, key.digest(request.digest))


def _sealing(key: DisputeKey | None, stream: str, seq: int) -> Seal:
    def seal(text: str) -> str:
        # Without a key the dispute is erased, and the rules refuse what has a text.
        return "" if key is None else key.seal(stream, seq, text)

    return seal
