"""What is recorded of access: privileged looks at hidden cards, and sessions begun. Source: DESIGN "Audit"."""

from __future__ import annotations

import re
from typing import Literal

from domain.events import HandExamined, SessionOpened
from infra.clock import Clock
from infra.codec import Codec
from infra.entropy import Entropy
from infra.faults import Fault
from infra.meta import command_id
from infra.store import GENESIS, Appended, Conflict, Duplicate, EventStore
from services.play.types import Caller, Request
from services.play.writing import Draft, same_request

STREAM = "audit-access"
ATTEMPTS = 10
_JTI = re.compile(r"[0-9a-f]{32}")

What = Literal["view", "file", "bundle"]


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
