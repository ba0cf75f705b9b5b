"""The whole log held against itself, against its checkpoints, and against checkpoints that were kept elsewhere.

A checkpoint outside the service's reach finds what no look at the log alone can: an end cut off with its counters, or a
log that was written anew, chain, checkpoints and all. DESIGN "Audit".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from infra.audit.checkpoint import Checkpoint, CheckpointDocument, CheckpointError, CheckpointHead, SealedPart
from infra.audit.checkpoints import Checkpoints
from infra.store import GENESIS, Broken, EventStore, Seal

PAGE = 200


class BrokenCheckpoint(Struct, frozen=True):
    """What is wrong with a checkpoint."""

    number: int
    what: str

    def __str__(self) -> str:
        return f"checkpoint {self.number}: {self.what}"


class Audited(Struct, frozen=True, kw_only=True):
    """What was walked: `sealed` of the events are under the newest of the `checkpoints`.

    `broken` has the first thing wrong of each part, in order of part.
    """

    events: int
    streams: int
    checkpoints: int
    sealed: int
    broken: tuple[Broken, ...]
    broken_checkpoints: tuple[BrokenCheckpoint, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.broken and not self.broken_checkpoints

    @property
    def first(self) -> Broken | BrokenCheckpoint | None:
        """The first thing that is wrong: an event before a checkpoint."""
        if self.broken:
            return self.broken[0]
        return self.broken_checkpoints[0] if self.broken_checkpoints else None


async def audit(
    store: EventStore,
    checkpoints: Checkpoints,
    kept: Sequence[CheckpointHead] = (),
    progress: Callable[[int], None] = lambda events: None,
    processes: int | None = None,
) -> Audited:
    """Check all of it. `kept` were read by `read_kept`. `progress` is told how many events were walked since it was
    last told. Raises Fault(`store_unavailable`).
    """
    chain = _Chain(store.parts, checkpoints.key, kept)
    number = 0
    while page := await _page(checkpoints, number, chain):
        for each in page:
            chain.take(each)
        number = page[-1].number
    chain.finish()
    # The checkpoints were read first: all that they seal was there before the walk.
    walked = await store.verify(progress, {part: bytes(seals) for part, seals in chain.seals.items()}, processes)
    return Audited(
        events=walked.events,
        streams=walked.streams,
        checkpoints=chain.count,
        sealed=sum(each.size for each in chain.last.sealed) if chain.last else 0,
        broken=walked.broken,
        broken_checkpoints=tuple(chain.broken),
    )


async def _page(checkpoints: Checkpoints, after: int, chain: _Chain) -> list[Checkpoint]:
    try:
        return await checkpoints.page(after, PAGE)
    except CheckpointError as error:
        chain.broken.append(BrokenCheckpoint(after + 1, f"one of the {PAGE} from here on cannot be read: {error}"))
        return []


class _Chain:
    """The checkpoints one after another: numbers, hashes, signatures, sizes. `seals` is what they say of each part."""

    def __init__(self, parts: int, key: bytes, kept: Sequence[CheckpointHead]) -> None:
        self._parts = parts
        self._key = key
        self._kept: dict[int, list[CheckpointHead]] = {}
        for each in kept:
            self._kept.setdefault(each.number, []).append(each)
        self.count = 0
        self.last: Checkpoint | None = None
        self.seals: dict[int, bytearray] = {}
        self.broken: list[BrokenCheckpoint] = []
        self._trees: dict[int, SealedPart] = {}
        for each in kept:
            self._seal_kept(each)

    def _seal_kept(self, kept: CheckpointHead) -> None:
        if bytes.fromhex(kept.key) != self._key:
            self._wrong(
                kept.number, f"the kept one is signed with the key {kept.key}, the service's is {self._key.hex()}"
            )
        if isinstance(kept, CheckpointDocument):
            for part in kept.sealed:
                self._seal(part.part, Seal(part.size, kept.number, True, bytes.fromhex(part.root)))

    def take(self, checkpoint: Checkpoint) -> None:
        """The next one."""
        self.count += 1
        what = self._what_is_wrong(checkpoint)
        if what is not None:
            self._wrong(checkpoint.number, what)
        for kept in self._kept.pop(checkpoint.number, ()):
            if kept.hash != checkpoint.hash.hex():
                self._wrong(checkpoint.number, f"it is another than the one that was kept, whose hash is {kept.hash}")
        if what is None:
            for part in checkpoint.sealed:
                before = self._trees.get(part.part)
                if before is None or before.size != part.size:
                    self._trees[part.part] = part
                    self._seal(part.part, Seal(part.size, checkpoint.number, False, part.root))
        self.last = checkpoint

    def _what_is_wrong(self, checkpoint: Checkpoint) -> str | None:
        number, previous = (self.last.number, self.last.hash) if self.last else (0, GENESIS)
        if checkpoint.number != number + 1:
            return f"checkpoint {number + 1} is missing"
        if checkpoint.previous != previous:
            return "the hash of the checkpoint before is another"
        if checkpoint.key != self._key:
            return f"it is signed with the key {checkpoint.key.hex()}, the service's is {self._key.hex()}"
        if not checkpoint.is_signed():
            return "the signature is not that of its content"
        if checkpoint.parts != self._parts:
            return f"it is of a log of {checkpoint.parts} parts, this one has {self._parts}"
        if self.last and checkpoint.at_ms < self.last.at_ms:
            return "it is older than the one before"
        sealed = {each.part: each for each in checkpoint.sealed}
        if [*sealed] != sorted(sealed) or len(sealed) != len(checkpoint.sealed):
            return "its parts are not in order"
        for part, before in self._trees.items():
            now = sealed.get(part)
            if now is None or now.size < before.size:
                return f"it seals {0 if now is None else now.size} events of part {part}, one before it {before.size}"
            if now.size == before.size and now.root != before.root:
                return f"it seals another tree of part {part} than one before it, of as many events"
        return None

    def finish(self) -> None:
        """After the last one: what was kept and is gone."""
        for number, kept in sorted(self._kept.items()):
            self._wrong(number, f"it is gone; one was kept, whose hash is {kept[0].hash}")

    def _seal(self, part: int, seal: Seal) -> None:
        self.seals.setdefault(part, bytearray()).extend(seal.packed())

    def _wrong(self, number: int, what: str) -> None:
        self.broken.append(BrokenCheckpoint(number, what))
