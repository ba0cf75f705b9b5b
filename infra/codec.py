"""Events to stored bytes and back, secrets sealed. Source: DESIGN "Streams and events".

Public fields are stored as they are; an event's secret fields go, as one sealed JSON object, into the field `sealed`.
The stored type is the event's tag, the version its class's; an older version passes through its upcaster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, reduce
from operator import or_
from typing import Any

import msgspec
from msgspec import Struct, defstruct

from domain.events import EVENTS, SECRETS, Event
from infra.faults import Fault
from infra.sealing import Sealer
from infra.store import NewEvent, StoredEvent

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]


BROKEN = msgspec.MsgspecError, UnicodeDecodeError
"""What a body that no program wrote raises."""


class UnknownEvent(Fault):
    """A stored type and version that this program does not know: written by a newer one."""

    def __init__(self, stored: StoredEvent) -> None:
        super().__init__(
            "event_unknown",
            f"event {stored.seq} of {stored.stream} is of type {stored.type!r} version {stored.version}, "
            "which is not known to this program; upgrade it",
        )


class _Form:
    """How one event type is stored."""

    def __init__(self, event: type[Event], secrets: tuple[str, ...]) -> None:
        self.event = event
        self.tag = str(event.__struct_config__.tag)
        self.secrets = secrets
        fields = msgspec.structs.fields(event)
        self.public = tuple(f.name for f in fields if f.name not in secrets)
        self.decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(event)
        self.stored = _like(
            f"Stored{event.__name__}", [f for f in fields if f.name not in secrets], self.tag, sealed=True
        )
        self.secret = _like(f"Secret{event.__name__}", [f for f in fields if f.name in secrets], None, sealed=False)


_form = cache(_Form)
"""Made once for each event, not for each codec."""


@cache
def _decoder_of_all(events: tuple[type[Event], ...]) -> msgspec.json.Decoder[list[Event]]:
    """Of a list of any of these."""
    return msgspec.json.Decoder(list[reduce(or_, events)])  # type: ignore[misc]


class _Sealed(Struct, frozen=True):
    """Of a stored event with secrets, what opens them."""

    hand_id: str
    sealed: bytes


_sealed = msgspec.json.Decoder(_Sealed)


def _like(name: str, fields: Iterable[msgspec.structs.FieldInfo], tag: str | None, *, sealed: bool) -> type[Struct]:
    """A struct of some of an event's fields, with their types and defaults."""
    described: list[Any] = []
    for f in fields:
        if f.default is not msgspec.NODEFAULT:
            described.append((f.name, f.type, f.default))
        elif f.default_factory is not msgspec.NODEFAULT:
            described.append((f.name, f.type, msgspec.field(default_factory=f.default_factory)))
        else:
            described.append((f.name, f.type))
    if sealed:
        described.append(("sealed", bytes))
    options: dict[str, Any] = {"frozen": True, "kw_only": True, "omit_defaults": True}
    if tag is not None:
        options |= {"tag": tag, "tag_field": "type"}
    return defstruct(name, described, **options)


class Codec:
    """Encodes and decodes the events of one log. `upcasters` lift (type, older version) to the next version."""

    def __init__(
        self,
        sealer: Sealer,
        events: Iterable[type[Event]] = EVENTS,
        secrets: Mapping[type[Event], tuple[str, ...]] = SECRETS,
        upcasters: Mapping[tuple[str, int], Upcaster] | None = None,
    ) -> None:
        self._sealer = sealer
        self._encoder = msgspec.json.Encoder()
        self._upcasters = dict(upcasters or {})
        self._by_event = {event: _form(event, secrets.get(event, ())) for event in events}
        self._by_type = {(form.tag, form.event.VERSION): form for form in self._by_event.values()}
        self._without_secrets = frozenset([name for name, form in self._by_type.items() if not form.secrets])
        self._decoder_of_all = _decoder_of_all(tuple(self._by_event))

    def encode(self, event: Event, stream: str, seq: int, meta: bytes) -> NewEvent:
        """The event as it will stand at number `seq` of `stream`; its secrets are sealed for that place."""
        form = self._by_event[type(event)]
        if not form.secrets:
            return NewEvent(form.tag, form.event.VERSION, self._encoder.encode(event), meta)
        secret = self._encoder.encode(form.secret(**{name: getattr(event, name) for name in form.secrets}))
        sealed = self._sealer.seal(_hand_of(event), stream, seq, secret)
        public = {name: getattr(event, name) for name in form.public}
        body = self._encoder.encode(form.stored(**public, sealed=sealed))
        return NewEvent(form.tag, form.event.VERSION, body, meta)

    def decode(self, stored: StoredEvent) -> Event:
        """The event with its secrets. Raises Fault: UnknownEvent, `seal_broken`, `event_broken`."""
        try:
            form, text = self._opened(stored)
            event: Event = form.decoder.decode(text)
        except BROKEN as error:
            raise _broken(stored, error) from error
        return event

    def decode_all(self, stored: Sequence[StoredEvent]) -> list[Event]:
        """As `decode`, of many events: one text of all is decoded in two thirds of the time."""
        plain = self._without_secrets
        texts = [each.body if (each.type, each.version) in plain else self._opened(each)[1] for each in stored]
        with suppress(*BROKEN):
            events = self._decoder_of_all.decode(b"[" + b",".join(texts) + b"]")
            if len(events) == len(stored):
                return events
        return [self.decode(each) for each in stored]  # so that the first that is wrong says so

    def _opened(self, stored: StoredEvent) -> tuple[_Form, bytes]:
        """The event's JSON, with what was sealed."""
        form = self._by_type.get((stored.type, stored.version))
        body = stored.body
        if form is None:
            form, body = self._lifted(stored)
        if form.secrets:
            found = _sealed.decode(body)
            secret = self._sealer.open(found.hand_id, stored.stream, stored.seq, found.sealed)
            # Joined to one text and decoded once: building the event from both halves took as long as opening one.
            body = body if secret.startswith(b"{}") else body[:-1] + b"," + secret[1:]
        return form, body

    def decode_public(self, stored: StoredEvent) -> Event:
        """The event with its secret fields empty; needs no key. Raises Fault: UnknownEvent, `event_broken`."""
        form = self._by_type.get((stored.type, stored.version))
        body = stored.body
        try:
            if form is None:
                form, body = self._lifted(stored)
            event: Event = form.decoder.decode(body)
        except BROKEN as error:
            raise _broken(stored, error) from error
        return event

    def _lifted(self, stored: StoredEvent) -> tuple[_Form, bytes]:
        """An older version, lifted step by step to the one that the program has. Sealed fields stay sealed."""
        version = stored.version
        fields: dict[str, Any] = {}
        while (stored.type, version) not in self._by_type:
            upcaster = self._upcasters.get((stored.type, version))
            if upcaster is None:
                raise UnknownEvent(stored)
            fields = upcaster(fields or msgspec.json.decode(stored.body))
            version += 1
        return self._by_type[stored.type, version], self._encoder.encode(fields)


def _broken(stored: StoredEvent, error: Exception) -> Fault:
    return Fault("event_broken", f"event {stored.seq} of {stored.stream} cannot be read: {error}")


def _hand_of(event: Event) -> str:
    hand_id: str = event.hand_id  # type: ignore[attr-defined]
    return hand_id
