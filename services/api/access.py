"""What is recorded of access: privileged looks at hidden cards, and sessions begun. Source: DESIGN "Audit"."""

from __future__ import annotations

import re
from typing import Literal

from domain.events import HandExamined, SessionOpened
from domain.refusal import Refused
from infra.clock import Clock
from infra.codec import Codec
from infra.entropy import Entropy
from infra.faults import Fault
from infra.meta import command_id
from infra.projection_store import ProjectionReader
from infra.store import GENESIS, Appended, Conflict, Duplicate, EventStore
from projections.hands import HandRow
from services.disputes.facts import holds_seat
from services.play.types import Caller, Request
from services.play.writing import Draft, same_request

STREAM = "audit-access"
ATTEMPTS = 10
_JTI = re.compile(r"[0-9a-f]{32}")

What = Literal["view", "file", "bundle"]


async def barred(reader: ProjectionReader, row: HandRow, reviewer: str) -> Refused | None:
    """R2, R7: why this reviewer may not look at the hand's cards, or None. Raises Fault."""
    if any(p.player == reviewer for p in row.players):
        detail = "you were dealt into this hand: as its player you see what it shows to you"
        return Refused("not_impartial", "R7", detail)
    return await unseated(reader, reviewer)


async def unseated(reader: ProjectionReader, reviewer: str) -> Refused | None:
    """R2: the refusal of a reviewer who sits at a table, or None. Raises Fault."""
    if await holds_seat(reader, reviewer):
        return Refused("holds_seat", "R2", "a reviewer holds no seat; leave the table first")
    return None


class Access:
    """Writes the stream `audit-access`, and one short stream for each session begun."""

    def __init__(self, store: EventStore, codec: Codec, clock: Clock, entropy: Entropy) -> None:
        self._store = store
        self._codec = codec
        self._clock = clock
        self._entropy = entropy

    async def looked(self, caller: Caller, hand_id: str, table_id: str, what: What, reason: str) -> None:
        """Record a look before it is granted. Raises Fault: then there is no look either."""
        event = HandExamined(hand_id=hand_id, table_id=table_id, person=caller.subject, what=what, reason=reason)
        request = Request(caller, self._entropy.random_bytes(16).hex(), "")
        for _ in range(ATTEMPTS):
            head = await self._store.head(STREAM)
            draft = Draft(command_id(caller.subject, STREAM, request.key), request, self._codec)
            to = draft.stream(STREAM, head.seq if head else 0, head.hash if head else GENESIS)
            draft.add(to, (event,), self._clock.now_ms())
            if not isinstance(await self._store.append(draft.done()), Conflict):
                return
        raise Fault("conflict", "too many look at hands at once; try again")

    async def spend(self, caller: Caller, jti: str, key: str, digest: str) -> bool:
        """Whether the one-time code `jti` is used by this request, now or when it came first. Raises Fault."""
        if not _JTI.fullmatch(jti):
            return False
        stream = f"session-{jti}"
        request = Request(caller, key, digest)
        draft = Draft(command_id(caller.subject, stream, key), request, self._codec)
        event = SessionOpened(person=caller.subject, role=caller.role)
        draft.add(draft.stream(stream, 0, GENESIS), (event,), self._clock.now_ms())
        match await self._store.append(draft.done()):
            case Appended():
                return True
            case Duplicate(events):
                return same_request(events[0], request)
            case Conflict():
                return False
