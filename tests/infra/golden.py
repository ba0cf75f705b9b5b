"""Golden files: how each event type and version was stored on the day it was made, kept for ever.

`python -m tests.infra.golden` writes those that are missing, and touches none that is there: an event that is stored
otherwise, or means something else, is a new version with an upcaster.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from domain.events import EVENTS, Event
from infra.codec import Codec
from infra.entropy import SeededEntropy
from infra.sealing import Sealer
from infra.store import StoredEvent

FOLDER = Path(__file__).parents[1] / "vectors" / "events"
MASTER = bytes(range(32))
HAND_ID = "0190a0b0-c0d0-7e0f-8000-000000000001"
STREAM = "table-0190a0b0-c0d0-7e0f-8000-000000000002"
SEQ = 7


class Golden(Struct, frozen=True):
    """One file: where the event stands, its stored body as text, and the whole event that it must give."""

    stream: str
    seq: int
    type: str
    version: int
    body: str
    event: dict[str, Any]

    @property
    def stored(self) -> StoredEvent:
        """As the store gives it."""
        body = self.body.encode()
        return StoredEvent(0, 1, self.stream, self.seq, self.type, self.version, bytes(16), 0, body, b"", bytes(32))


def codec(seed: str) -> Codec:
    """A codec whose nonces are those of the seed."""
    return Codec(Sealer(MASTER, SeededEntropy(seed)))


def as_json(event: Event) -> dict[str, Any]:
    """The whole event, secrets and all, as JSON says it."""
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event))
    return fields


def path_of(event: type[Event]) -> Path:
    """The golden file of an event type at its present version."""
    return FOLDER / f"{event.__struct_config__.tag}.v{event.VERSION}.json"


def read(path: Path) -> Golden:
    """A golden file."""
    return msgspec.json.decode(path.read_bytes(), type=Golden)


def make(event: type[Event]) -> Golden:
    """The golden of an event type: each field has a value that is not its default."""
    sample = sample_of(event)
    new = codec(str(event.__struct_config__.tag)).encode(sample, STREAM, SEQ, b"")
    return Golden(STREAM, SEQ, new.type, new.version, new.body.decode(), as_json(sample))


def sample_of(event: type[Event]) -> Event:
    """An event of the type with a value in every field."""
    numbers = count(1)
    made: Event = _struct(event, lambda: next(numbers))
    return made


def _struct(struct: type[Struct], number: Callable[[], int]) -> Any:
    hints = get_type_hints(struct)
    fields = msgspec.structs.fields(struct)
    return struct(**{field.name: _value(hints[field.name], field, number) for field in fields})


def _value(hint: Any, field: msgspec.structs.FieldInfo, number: Callable[[], int]) -> Any:
    if field.name == "hand_id":
        return HAND_ID
    if hint is bool:
        return field.default is not True
    if get_origin(hint) is Literal:
        return next(each for each in reversed(get_args(hint)) if each != field.default)
    return _plain(hint, field.name, number)


def _plain(hint: Any, name: str, number: Callable[[], int]) -> Any:
    if isinstance(hint, NewType):
        return "As"
    if hint is int:
        return number()
    if hint is str:
        return f"{name} {number()}"
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _struct(hint, number)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _plain(next(each for each in arguments if each is not type(None)), name, number)
    if origin is tuple:
        kinds = arguments[:1] * 2 if arguments[1:] == (...,) else arguments
        return tuple(_plain(each, name, number) for each in kinds)
    if origin is Literal:
        return arguments[-1]
    raise AssertionError(f"no sample for {hint}")


def main() -> None:
    """Write what is missing."""
    FOLDER.mkdir(exist_ok=True)
    for event in EVENTS:
        path = path_of(event)
        if not path.exists():
            path.write_text(json.dumps(msgspec.to_builtins(make(event)), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
