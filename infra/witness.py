"""Whether the log is shorter than it was: somebody restored an older backup. Source: DESIGN "Projections".

All in the database goes back together, so somebody outside must remember how far the log was: Redis, which loses it at
times, and then it is not noticed here. What the projections have passed stands beside the log, and tells where the log
alone was restored.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import structlog

from infra import redis
from infra.faults import Fault
from infra.projection_store import Generations
from infra.store import EventStore

log = structlog.get_logger(__name__)


class Ahead(msgspec.Struct, frozen=True):
    """Who has passed what the log does not have: `who`, and how many events at least are lost."""

    who: str
    lost: int

    def fault(self) -> Fault:
        """What to say of it, and what to do."""
        return Fault(
            "log_restored",
            f"{self.who} knows of {self.lost:,} events that the log does not have: an older backup was restored. Stop "
            "all processes, and run `khrap db restored --by NAME --and NAME --reason …`: two ops answer for it",
        )


class Witness:
    """Remembers in Redis how far one log was. What Redis does not answer is passed over: it stops nobody."""

    def __init__(self, url: str, log_id: str) -> None:
        self._url = url
        self._key = f"khrap:log:{log_id}"

    async def note(self, heads: Mapping[int, int]) -> bool:
        """The log is at `heads` (part → last position) now; whether Redis has taken it."""
        text = msgspec.json.encode({str(part): pos for part, pos in heads.items() if pos})
        client = redis.connect(self._url)
        try:
            await client.set(self._key, text)
        except redis.Broken as error:
            log.debug("witness_away", error=str(error))
            return False
        else:
            return True
        finally:
            await client.aclose()

    async def last(self) -> dict[int, int]:
        """How far the log was when it was noted last; nothing where Redis does not know."""
        client = redis.connect(self._url)
        try:
            text = await client.get(self._key)
        except redis.Broken as error:
            log.debug("witness_away", error=str(error))
            return {}
        finally:
            await client.aclose()
        return {} if text is None else msgspec.json.decode(text, type=dict[int, int])


async def ahead(store: EventStore, database_url: str, redis_url: str) -> list[Ahead]:
    """Who has passed what the log does not have; nobody where no older backup was restored."""
    # What others say is read first: the log only grows meanwhile.
    said = {"Redis": await Witness(redis_url, await store.log_id()).last()}
    async with Generations.open(database_url) as generations:
        for each in await generations.all():
            said[each.schema] = await generations.vector(each.schema)
    heads = await store.part_heads()
    found = [Ahead(who, missing(vector, heads)) for who, vector in said.items()]
    return [each for each in found if each.lost]


def missing(vector: Mapping[int, int], heads: Mapping[int, int]) -> int:
    """How many of the events that lie before `vector` are not in a log that ends at `heads`."""
    return sum(max(0, pos - heads.get(part, 0)) for part, pos in vector.items())
