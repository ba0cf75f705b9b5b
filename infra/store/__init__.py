"""The event store: an append-only, hash-chained log of streams in Postgres."""

from infra.store.errors import StoreGap
from infra.store.store import EventStore
from infra.store.types import (
    GENESIS,
    Append,
    Appended,
    Conflict,
    Duplicate,
    NewEvent,
    StoredEvent,
    StreamAppend,
    StreamHead,
    Verdict,
)
from infra.store.verify import Walked
from infra.store.walk import Broken, Seal

__all__ = [
    "GENESIS",
    "Append",
    "Appended",
    "Broken",
    "Conflict",
    "Duplicate",
    "EventStore",
    "NewEvent",
    "Seal",
    "StoreGap",
    "StoredEvent",
    "StreamAppend",
    "StreamHead",
    "Verdict",
    "Walked",
]
