"""Stored events are read for ever: one golden file for each type and version, `<type>-<version>.json`.

A file is a list of examples: `stored`, the event as JSON in plain form, which leaves out what has its default, and
`read`, every field as it is read back. A new version of an event gets a new file; a file is never changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import NODEFAULT, Struct

from domain.events import EVENTS, Event

FOLDER = Path(__file__).parent / "golden_events"
FILES = sorted(FOLDER.glob("*.json"))
CURRENT = {f"{event.__struct_config__.tag}-{event.VERSION}": event for event in EVENTS}


def examples(name: str) -> list[dict[str, Any]]:
    """The examples of a type and version."""
    loaded: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_bytes())
    return loaded


def spelled(value: Any) -> Any:
    """A value with every field in it spelled out, defaults too."""
    if isinstance(value, Struct):
        config = type(value).__struct_config__
        head = {} if config.tag_field is None else {config.tag_field: config.tag}
        return {**head, **{name: spelled(getattr(value, name)) for name in value.__struct_fields__}}
    return [spelled(each) for each in value] if isinstance(value, tuple) else value


def compact(stored: Any) -> bytes:
    """JSON as the store has it."""
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("name", CURRENT)
def test_every_event_has_a_golden_file(name: str) -> None:
    assert (FOLDER / f"{name}.json").exists(), f"write golden_events/{name}.json, and keep those of older versions"


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_golden_events_are_read_back_exactly(name: str) -> None:
    event = CURRENT[name]
    for example in examples(name):
        assert spelled(msgspec.json.decode(compact(example["stored"]), type=event)) == example["read"]


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_golden_events_are_written_as_they_were(name: str) -> None:
    for example in examples(name):
        stored = compact(example["stored"])
        assert msgspec.json.encode(msgspec.json.decode(stored, type=CURRENT[name])) == stored


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: str(e.__struct_config__.tag))
def test_the_examples_show_every_field_with_and_without_its_default(event: type[Event]) -> None:
    stored = [set(example["stored"]) for example in examples(f"{event.__struct_config__.tag}-{event.VERSION}")]
    for field in msgspec.structs.fields(event):
        assert any(field.encode_name in one for one in stored), field.name
        if field.default is not NODEFAULT:
            assert any(field.encode_name not in one for one in stored), field.name


@pytest.mark.parametrize("name", [file.stem for file in FILES])
def test_an_event_with_a_field_too_few_is_no_event(name: str) -> None:
    for example in examples(name):
        for field in msgspec.structs.fields(CURRENT[name]):
            if field.required:
                stored = {key: value for key, value in example["stored"].items() if key != field.encode_name}
                with pytest.raises(msgspec.ValidationError):
                    msgspec.json.decode(compact(stored), type=CURRENT[name])
