"""Sessions that were ended: signing out is an event, and every process knows of it soon. Source: DESIGN "The API"."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic

from domain.events import SessionEnded
from infra.clock import Clock
from infra.codec import Codec
from infra.entropy import Entropy
from infra.faults import Fault
from infra.meta import command_id
from infra.store import Conflict, EventStore
from services.play.types import Caller, Request
from services.play.writing import Draft

FRESH_S = 30.0
"""So long a process goes by what it has read of a session: an end written by another is known here after that."""
CACHED = 10_000
ATTEMPTS = 5
ENDED = str(SessionEnded.__struct_config__.tag)


def session_stream(jti: str) -> str:
    """The stream of the session that was begun with this one-time code."""
    return f"session-{jti}"


class SessionEnds:
    """Which sessions of pages were ended; what was read of one is kept for `FRESH_S`, its end for good."""

    def __init__(
        self, store: EventStore, codec: Codec, clock: Clock, entropy: Entropy, fresh_s: float = FRESH_S
    ) -> None:
        self._store = store
        self._codec = codec
        self._clock = clock
        self._entropy = entropy
        self._fresh_s = fresh_s
        self._known: OrderedDict[str, float | None] = OrderedDict()
        """Until when a session counts as going on; None for one that was ended."""

    async def is_ended(self, jti: str) -> bool:
        """Whether it was ended. Raises Fault where that is not known and cannot be read."""
        until = self._known.get(jti, 0.0)
        if until is not None and until <= monotonic():
            last = await self._store.read_last(session_stream(jti))
            # One that was ended here while this was read stays ended.
            if self._known.get(jti, 0.0) is not None:
                self._know(jti, None if last is None or last.type == ENDED else monotonic() + self._fresh_s)
        return self._known[jti] is None

    async def end(self, caller: Caller, jti: str) -> None:
        """End it, for this process at once; a second time changes nothing. Raises Fault."""
        stream = session_stream(jti)
        request = Request(caller, self._entropy.random_bytes(16).hex(), "")
        for _ in range(ATTEMPTS):
            last = await self._store.read_last(stream)
            if last is not None and last.type != ENDED:
                draft = Draft(command_id(caller.subject, stream, request.key), request, self._codec)
                to = draft.stream(stream, last.seq, last.hash)
                draft.add(to, (SessionEnded(person=caller.subject),), self._clock.now_ms())
                if isinstance(await self._store.append(draft.done()), Conflict):
                    continue
            self._know(jti, None)
            return
        raise Fault("unavailable", "the session is ended by many at once; try again")

    def _know(self, jti: str, until: float | None) -> None:
        self._known[jti] = until
        self._known.move_to_end(jti)
        while len(self._known) > CACHED:
            self._known.popitem(last=False)
