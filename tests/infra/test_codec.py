"""Events to stored bytes and back: golden files, sealed secrets, older versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from msgspec import Struct

from domain.events import EVENTS, SECRETS, CardPlayed, CardsDealt, Event, HandStarted
from infra.codec import Codec, UnknownEvent
from infra.entropy import SeededEntropy
from infra.faults import Fault
from infra.sealing import PAD_TO, Sealer
from infra.store import StoredEvent
from tests.infra import golden

NAMES = [event.__name__ for event in EVENTS]
STREAM, SEQ = golden.STREAM, golden.SEQ


@pytest.fixture
def codec() -> Codec:
    """A codec with the golden files' master key."""
    return golden.codec("test")


def stored(codec: Codec, event: Event, stream: str = STREAM, seq: int = SEQ) -> StoredEvent:
    """The event as the store gives it back."""
    new = codec.encode(event, stream, seq, b"{}")
    return StoredEvent(0, 1, stream, seq, new.type, new.version, bytes(16), 0, new.body, new.meta, bytes(32))


def test_every_event_has_a_golden_file() -> None:
    """If this fails for a new event or version: `python -m tests.infra.golden`. Never change a file that is there."""
    missing = [golden.path_of(event).name for event in EVENTS if not golden.path_of(event).exists()]
    assert missing == []


@pytest.mark.parametrize("path", sorted(golden.FOLDER.glob("*.json")), ids=lambda path: str(path.stem))
def test_a_golden_file_is_read_back(codec: Codec, path: Path) -> None:
    """Whatever was stored can be read, in every version there ever was."""
    kept = golden.read(path)
    event = codec.decode(kept.stored)
    assert golden.as_json(event) == kept.event or kept.version < type(event).VERSION


@pytest.mark.parametrize("event", EVENTS, ids=NAMES)
def test_a_version_is_stored_as_on_the_day_it_was_made(event: type[Event]) -> None:
    kept = golden.read(golden.path_of(event))
    assert golden.make(event) == kept


@pytest.mark.parametrize("event", EVENTS, ids=NAMES)
def test_an_event_comes_back_as_it_was(codec: Codec, event: type[Event]) -> None:
    sample = golden.sample_of(event)
    assert codec.decode(stored(codec, sample)) == sample


def test_many_events_are_read_as_one_by_one(codec: Codec) -> None:
    samples = [golden.sample_of(event) for event in EVENTS if golden.path_of(event).exists()]
    log = [stored(codec, sample, seq=seq) for seq, sample in enumerate(samples, 1)]
    assert codec.decode_all(log) == samples
    assert codec.decode_all([]) == []


@pytest.mark.parametrize("broken", [b"{", b"1", b"null"], ids=["half", "number", "null"])
def test_of_many_events_the_broken_one_is_named(codec: Codec, broken: bytes) -> None:
    good = stored(codec, golden.sample_of(CardPlayed))
    bad = msgspec.structs.replace(good, seq=good.seq + 1, body=broken)
    with pytest.raises(Fault, match=f"event_broken: event {bad.seq} of"):
        codec.decode_all([good, bad, good])


def test_what_was_altered_into_two_events_is_not_read_as_two(codec: Codec) -> None:
    good = stored(codec, golden.sample_of(CardPlayed))
    with pytest.raises(Fault, match="event_broken"):
        codec.decode_all([good, msgspec.structs.replace(good, body=good.body + b"," + good.body)])


@pytest.mark.parametrize("event", SECRETS, ids=[event.__name__ for event in SECRETS])
def test_secrets_are_sealed_and_the_public_form_has_none(codec: Codec, event: type[Event]) -> None:
    sample = golden.sample_of(event)
    given = stored(codec, sample)
    public = codec.decode_public(given)
    defaults = {field.name: field.default for field in msgspec.structs.fields(event)}
    assert [getattr(public, name) for name in SECRETS[event]] == [defaults[name] for name in SECRETS[event]]
    for field in msgspec.structs.fields(event):
        if field.name not in SECRETS[event]:
            assert getattr(public, field.name) == getattr(sample, field.name)
    fields = msgspec.json.decode(given.body)
    assert not set(SECRETS[event]) & set(fields)
    for name in SECRETS[event]:
        assert msgspec.json.encode(getattr(sample, name)) not in given.body


def test_the_length_of_what_is_sealed_tells_nothing(codec: Codec) -> None:
    few = CardsDealt(hand_id=golden.HAND_ID, deal_no=1, deck=())
    some = CardsDealt(hand_id=golden.HAND_ID, deal_no=1, deck=golden.read(golden.path_of(CardsDealt)).event["deck"])
    assert len(stored(codec, few).body) == len(stored(codec, some).body)
    assert PAD_TO == 192


@pytest.mark.parametrize(
    "moved", [("table-elsewhere", SEQ), (STREAM, SEQ + 1)], ids=["another stream", "another number"]
)
def test_a_sealed_field_opens_only_in_its_place(codec: Codec, moved: tuple[str, int]) -> None:
    given = stored(codec, golden.sample_of(HandStarted))
    stream, seq = moved
    with pytest.raises(Fault, match="seal_broken"):
        codec.decode(msgspec.structs.replace(given, stream=stream, seq=seq))


def test_another_master_key_opens_nothing(codec: Codec) -> None:
    given = stored(codec, golden.sample_of(HandStarted))
    other = Codec(Sealer(bytes(32), SeededEntropy("test")))
    with pytest.raises(Fault, match="seal_broken"):
        other.decode(given)
    assert other.decode_public(given) == codec.decode_public(given)


@pytest.mark.parametrize("changed", [{"type": "card_eaten"}, {"version": 99}], ids=["type", "version"])
def test_what_a_newer_program_wrote_is_told(codec: Codec, changed: dict[str, Any]) -> None:
    given = msgspec.structs.replace(stored(codec, golden.sample_of(CardPlayed)), **changed)
    for decode in (codec.decode, codec.decode_public):
        with pytest.raises(UnknownEvent, match="not known to this program"):
            decode(given)


@pytest.mark.parametrize("body", [b"", b'{"type":"card_played"', b'{"type":"card_played"}', b'{"type":"\xff"}'])
def test_a_body_that_no_program_wrote_is_told_by_its_place(codec: Codec, body: bytes) -> None:
    given = msgspec.structs.replace(stored(codec, golden.sample_of(CardPlayed)), body=body)
    for decode in (codec.decode, codec.decode_public, lambda each: codec.decode_all([each])):
        with pytest.raises(Fault, match=f"event_broken: event {given.seq} of {given.stream} cannot be read"):
            decode(given)


class Shown(Event, frozen=True, kw_only=True, tag="shown"):
    """An event at its third version: `who` was `seat` once, and `cards` came with the second."""

    VERSION: ClassVar[int] = 3

    hand_id: str
    who: int
    cards: tuple[str, ...] = ()


def test_an_older_version_is_lifted_step_by_step() -> None:
    """Sealed fields stay sealed on the way up."""

    def to_2(fields: dict[str, Any]) -> dict[str, Any]:
        return fields | {"lifted": True}

    def to_3(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: fields[name] for name in ("type", "hand_id", "sealed")} | {"who": fields["seat"]}

    sealer = Sealer(golden.MASTER, SeededEntropy("test"))
    upcasters = {("shown", 1): to_2, ("shown", 2): to_3}
    codec = Codec(sealer, (Shown,), {Shown: ("cards",)}, upcasters)
    event = Shown(hand_id=golden.HAND_ID, who=3, cards=("As",))
    now = stored(codec, event)
    body = msgspec.json.decode(now.body)
    body["seat"] = body.pop("who")
    for version in (1, 2):
        then = msgspec.structs.replace(now, version=version, body=msgspec.json.encode(body))
        assert codec.decode(then) == event
    with pytest.raises(UnknownEvent):
        Codec(sealer, (Shown,), {Shown: ("cards",)}).decode(msgspec.structs.replace(now, version=1))


def test_each_sealed_event_names_its_hand() -> None:
    """The hand's key is found by it; and without the secrets the event is whole."""
    for event, secrets in SECRETS.items():
        fields: dict[str, Any] = {field.name: field for field in msgspec.structs.fields(event)}
        assert fields["hand_id"].type is str
        assert all(fields[name].default is not msgspec.NODEFAULT for name in secrets)
    assert all(issubclass(event, Struct) for event in EVENTS)
