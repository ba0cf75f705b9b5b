"""Checks a dispute bundle (`khrap-bundle/1`) of one hand, without the service that made it; or that a log only grew.

    python verifier.py BUNDLE [--key KEY] [--json]
    python verifier.py CONSISTENCY [--key KEY] [--kept CHECKPOINTS] [--json]

This file stands alone. With Python's standard library it checks of a bundle the chain of events, the proofs that they
are in the log that a checkpoint sealed, the hand's key, and the shuffle; where the package `cryptography` is there also
the checkpoint's signature and the sealed cards, and where khrap's package `domain` is there too the result by the rules
and the ledger's entries. KEY is the service's public key as you had it from elsewhere: 64 hex digits, or a file with
them. Without it the signature is not checked: anyone can sign a bundle with a key of his own.

Of a proof of consistency (`khrap-consistency/1`) it checks that the later of two checkpoints seals all that the earlier
one sealed, unchanged. CHECKPOINTS is a file with the earlier one, as you kept it.

Exit code 0: all is right. 1: something is wrong, and it is said where. 2: the file cannot be read. 3: nothing is wrong,
and something was not checked, and it is said why.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

FORMAT = "khrap-bundle/1"
GROWTH = "khrap-consistency/1"
HEX_KEY = re.compile("[0-9a-fA-F]{64}")
OK, FAILED, NOT_CHECKED = "ok", "failed", "not checked"
EXIT_CODES = {OK: 0, FAILED: 1, NOT_CHECKED: 3}
UNREADABLE = 2
CHECKS = (
    "form",
    "hand",
    "chain",
    "proofs",
    "checkpoint",
    "signature",
    "hand key",
    "sealed cards",
    "shuffle",
    "dealt cards",
    "rules",
    "ledger",
)

GROWTH_CHECKS = ("form", "first", "second", "order", "growth", "signatures", "kept")

Found = tuple[str, str, str]
"""The check, what came of it (`ok`, `failed`, `not checked`), and where and why."""
Json = Any


BROKEN = (
    ValueError,
    LookupError,
    AssertionError,
    AttributeError,
    TypeError,
    OverflowError,
    RecursionError,
    StopIteration,
)
"""What may be raised over events that no hand can have."""


class Wrong(Exception):
    """What is wrong, and where in the bundle."""


class Missing(Exception):
    """Why something cannot be checked."""


def check(data: bytes, key: str | None = None, kept: bytes | None = None) -> list[Found]:
    """Check a bundle or a proof of consistency. One line a check, in order.

    `key` is the service's public key (hex) as known from elsewhere, `kept` a file with the first checkpoint.
    """
    try:
        given = parse(data)
    except (Wrong, RecursionError) as wrong:
        names = GROWTH_CHECKS if GROWTH.encode() in data else CHECKS
        left = [(name, NOT_CHECKED, "the file has not the form that it should have") for name in names[1:]]
        return [("form", FAILED, plain(str(wrong))), *left]
    found: list[Found] = [("form", OK, given["format"])]
    steps = bundle_steps(given, key) if given["format"] == FORMAT else growth_steps(given, key, kept)
    for name, step in steps.items():
        try:
            found.append((name, OK, plain(step())))
        except Wrong as wrong:
            found.append((name, FAILED, plain(str(wrong))))
        except Missing as missing:
            found.append((name, NOT_CHECKED, plain(str(missing))))
        except BROKEN as error:
            found.append((name, FAILED, plain(f"the file holds what cannot be: {error!r:.200}")))
    return found


Steps = dict[str, Callable[[], str]]


def bundle_steps(bundle: Json, key: str | None) -> Steps:
    """The checks of a bundle."""
    opened = Opened(bundle)
    return {
        "hand": lambda: check_hand(bundle),
        "chain": lambda: check_chain(bundle),
        "proofs": lambda: check_proofs(bundle),
        "checkpoint": lambda: check_checkpoint(bundle["checkpoint"], "checkpoint"),
        "signature": lambda: check_signature(bundle["checkpoint"], "checkpoint", key),
        "hand key": lambda: check_hand_key(bundle),
        "sealed cards": opened.check,
        "shuffle": lambda: check_shuffle(bundle),
        "dealt cards": lambda: check_dealt(bundle, opened),
        "rules": lambda: check_rules(bundle, opened),
        "ledger": lambda: check_ledger(bundle, opened),
    }


def growth_steps(given: Json, key: str | None, kept: bytes | None) -> Steps:
    """The checks of a proof of consistency."""
    return {
        "first": lambda: check_checkpoint(given["first"], "first"),
        "second": lambda: check_checkpoint(given["second"], "second"),
        "order": lambda: check_order(given),
        "growth": lambda: check_growth(given),
        "signatures": lambda: check_signatures(given, key),
        "kept": lambda: check_kept(given["first"], kept),
    }


def plain(text: str) -> str:
    """Text that holds words of a bundle, as it may go to any terminal: printable ASCII, the rest as Python escapes."""
    return "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in text)


def exit_code(found: list[Found]) -> int:
    """1 where something failed, else 3 where something was not checked, else 0."""
    states = {state for _, state, _ in found}
    return EXIT_CODES[FAILED if FAILED in states else NOT_CHECKED if NOT_CHECKED in states else OK]


def told(found: list[Found]) -> str:
    """The findings as lines of text."""
    lines = [f"{state:<12} {name:<13} {detail}" for name, state, detail in found]
    verdict = {0: "all is right", 1: "something is wrong", 3: "nothing is wrong; not all was checked"}
    return "\n".join([*lines, verdict[exit_code(found)], ""])


# --- the form


class Text:
    """A text of a form."""

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern, re.DOTALL)


HEX_32, HEX_16 = Text("[0-9a-f]{64}"), Text("[0-9a-f]{32}")
UUID = Text("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ANY = Text(".*")
EVENT = {
    "pos": int,
    "seq": int,
    "type": ANY,
    "version": int,
    "command_id": HEX_16,
    "idx": int,
    "body": ANY,
    "meta": ANY,
    "hash": HEX_32,
    "path": [HEX_32],
}
ENTRY = {"seq": int, "clause": ANY, "currency": ANY, "debit": ANY, "credit": ANY, "amount": int}
CHECKPOINT = {
    "format": Text("khrap-checkpoint/1"),
    "number": int,
    "at": Text("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"),
    "previous": HEX_32,
    "parts": int,
    "sealed": [{"part": int, "size": int, "root": HEX_32}],
    "sealed_hash": HEX_32,
    "hash": HEX_32,
    "key": HEX_32,
    "signature": Text("[0-9a-f]{128}"),
}
BUNDLE = {
    "format": Text(FORMAT),
    "hand_id": UUID,
    "table_id": UUID,
    "stream": ANY,
    "part": int,
    "game": ANY,
    "rules": int,
    "hand_key": HEX_32,
    "previous_hash": HEX_32,
    "events": [EVENT],
    "result": dict,
    "ledger": [ENTRY],
    "shuffle": {
        "server_seed": HEX_32,
        "commitment": HEX_32,
        "client_seeds": [Text("([0-9a-f]{2}){0,64}")],
        "decks": [[Text("[2-9TJQKA][shdc]")]],
    },
    "checkpoint": CHECKPOINT,
}
CONSISTENCY = {
    "format": Text(GROWTH),
    "first": CHECKPOINT,
    "second": CHECKPOINT,
    "paths": [{"part": int, "path": [HEX_32]}],
}


def parse(data: bytes) -> Json:
    """The bundle, or the proof of consistency, which has all its fields and no others. Raises Wrong."""
    given = read_json(data)
    is_growth = isinstance(given, dict) and given.get("format") == GROWTH
    fits(given, CONSISTENCY if is_growth else BUNDLE, "")
    if not is_growth and not given["events"]:
        raise Wrong("events: none")
    return given


def read_json(data: bytes) -> Json:
    """JSON in which no name stands twice in one object. Raises Wrong."""

    def once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Wrong(f"a name stands twice in one object: {', '.join(name for name, _ in pairs)}")
        return found

    try:
        return json.loads(data.decode(), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise Wrong(f"not JSON: {error}") from None


def fits(value: Json, shape: Json, place: str) -> None:
    """That a value has a shape. Raises Wrong, which names the place."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise Wrong(f"{place or 'the whole'}: not an object")
        for name in shape.keys() | value.keys():
            at = f"{place}.{name}" if place else name
            if name not in value:
                raise Wrong(f"{at}: missing")
            if name not in shape:
                raise Wrong(f"{at}: not a field of this format")
            fits(value[name], shape[name], at)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise Wrong(f"{place}: not a list")
        for number, each in enumerate(value):
            fits(each, shape[0], f"{place}[{number}]")
    elif isinstance(shape, Text):
        if not isinstance(value, str) or shape.pattern.fullmatch(value) is None:
            raise Wrong(f"{place}: {value!r:.80} is not of the form {shape.pattern.pattern}")
    elif type(value) is not shape or (shape is int and not 0 <= value < 2**63):
        raise Wrong(f"{place}: {value!r:.80} is not {'an object' if shape is dict else 'a whole number from 0'}")


# --- hand, chain, proofs


def bodies(bundle: Json, *kinds: str) -> Iterator[tuple[int, Json]]:
    """The bodies of the events of these types that are of the bundle's hand, each with its number in `events`."""
    for number, event in enumerate(bundle["events"]):
        if event["type"] in kinds:
            body = body_of(event, number)
            if body.get("hand_id") == bundle["hand_id"]:
                yield number, body


def body_of(event: Json, number: int) -> Json:
    """An event's body. Raises Wrong."""
    try:
        body = json.loads(event["body"])
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Wrong(f"events[{number}].body: not a JSON object")
    return body


def only(bundle: Json, *kinds: str) -> tuple[int, Json]:
    """The one event of these types. Raises Wrong."""
    found = list(bodies(bundle, *kinds))
    if len(found) != 1:
        raise Wrong(f"events: {len(found)} of {' or '.join(kinds)} are of hand {bundle['hand_id']}, not one")
    return found[0]


def field(value: Json, path: str, place: str) -> Json:
    """A field of an event's body. Raises Wrong."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise Wrong(f"{place}.body: no field {path}")
        value = value[name]
    return value


def same(place: str, theirs: Json, ours: Json, what: str) -> None:
    """That two JSON values are the same, by type too. Raises Wrong."""
    if json.dumps(theirs, sort_keys=True) != json.dumps(ours, sort_keys=True):
        raise Wrong(f"{place}: {theirs!r:.200} is not {ours!r:.200}, {what}")


def check_hand(bundle: Json) -> str:
    """The events are those of one hand, from its commitment on, to its seed's disclosure (S6), and what the bundle says
    of it."""
    first, _ = only(bundle, "hand_committed")
    start, started = only(bundle, "hand_started")
    end, ended = only(bundle, "hand_settled", "hand_voided")
    if first != 0:
        raise Wrong("events[0]: not the hand's commitment (hand_committed)")
    if not first < start < end:
        raise Wrong("events: the hand ends before it starts")
    disclosed, _ = only(bundle, "seed_disclosed")
    if not end < disclosed == len(bundle["events"]) - 1:
        raise Wrong(
            f"events[{len(bundle['events']) - 1}]: not the disclosure of the hand's seed, which follows its end"
        )
    same("stream", bundle["stream"], f"table-{bundle['table_id']}", "the stream of the table")
    settings = field(started, "table.settings", f"events[{start}]")
    same("rules", bundle["rules"], field(settings, "rules", f"events[{start}]"), "the rules by which it was played")
    same("game", bundle["game"], field(settings, "options.game", f"events[{start}]"), "the game of the table")
    same("result", bundle["result"], field(ended, "result", f"events[{end}]"), "the recorded result")
    of = f"hand {bundle['hand_id']} of table {bundle['table_id']}, {bundle['game']}, rules {bundle['rules']}"
    begins, ends = bundle["events"][start], bundle["events"][end]
    return f"{of}: from event {begins['seq']} to {ends['seq']}, whose hash is {ends['hash']}"


def lp(data: bytes) -> bytes:
    """A u16 length, then the bytes."""
    return len(data).to_bytes(2, "big") + data


def raw(text: str) -> bytes:
    """The stored bytes of a body or meta."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Wrong("events: a body or meta that no bytes stand for") from None


def event_hash(previous: bytes, stream: str, event: Json) -> bytes:
    """The hash that chains an event to the one before of its stream."""
    body, meta = raw(event["body"]), raw(event["meta"])
    parts = (
        b"khrap-event/1\x00",
        previous,
        lp(stream.encode()),
        event["seq"].to_bytes(8, "big"),
        lp(event["type"].encode()),
        event["version"].to_bytes(2, "big"),
        bytes.fromhex(event["command_id"]),
        event["idx"].to_bytes(2, "big"),
        len(body).to_bytes(4, "big"),
        body,
        len(meta).to_bytes(4, "big"),
        meta,
    )
    return sha256(b"".join(parts)).digest()


def check_chain(bundle: Json) -> str:
    """Each event's hash follows from its bytes and from the event before."""
    events = bundle["events"]
    previous = bytes.fromhex(bundle["previous_hash"])
    if events[0]["seq"] == 1 and any(previous):
        raise Wrong("previous_hash: not zeros, though the stream begins here")
    for number, event in enumerate(events):
        place = f"events[{number}] (event {event['seq']} of {bundle['stream']})"
        if event["seq"] != events[0]["seq"] + number:
            raise Wrong(f"{place}: not the event after the one before it")
        if number and event["pos"] <= events[number - 1]["pos"]:
            raise Wrong(f"{place}: its position is not after that of the event before")
        try:
            hash_ = event_hash(previous, bundle["stream"], event)
        except (OverflowError, UnicodeEncodeError):
            raise Wrong(f"{place}: a number or name that no event can have") from None
        if hash_.hex() != event["hash"]:
            raise Wrong(f"{place}: its hash does not follow from it and the hash before")
        previous = hash_
    return f"{len(events)} events, {events[0]['seq']} to {events[-1]['seq']} of {bundle['stream']}"


def included(leaf: bytes, index: int, size: int, path: list[bytes], root: bytes) -> bool:
    """RFC 9162, section 2.1.3.2: whether the path proves leaf `index` (from 0) of the tree of `size` with this root."""
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, sha256(b"\x00" + leaf).digest()
    for other in path:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = sha256(b"\x01" + other + found).digest()
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            found = sha256(b"\x01" + found + other).digest()
        number >>= 1
        last >>= 1
    return last == 0 and found == root


def check_proofs(bundle: Json) -> str:
    """Each event is in the tree of its part, at its position, as the checkpoint sealed it."""
    checkpoint = bundle["checkpoint"]
    if not checkpoint["parts"]:
        raise Wrong("checkpoint.parts: 0")
    part = int.from_bytes(sha256(raw(bundle["stream"])).digest()[:8], "big") % checkpoint["parts"]
    same("part", bundle["part"], part, "the part that the stream's name gives")
    tree = next((each for each in checkpoint["sealed"] if each["part"] == part), None)
    if tree is None:
        raise Wrong(f"checkpoint.sealed: nothing of part {part}")
    root = bytes.fromhex(tree["root"])
    for number, event in enumerate(bundle["events"]):
        path = [bytes.fromhex(each) for each in event["path"]]
        if not included(bytes.fromhex(event["hash"]), event["pos"] - 1, tree["size"], path, root):
            at = f"events[{number}].path (event {event['seq']})"
            raise Wrong(f"{at}: does not lead to the root that the checkpoint sealed for position {event['pos']}")
    return f"{len(bundle['events'])} events in the tree of part {part}, {tree['size']} events"


# --- checkpoint, signature, key


def check_checkpoint(checkpoint: Json, place: str) -> str:
    """Its hash follows from what it says."""
    sealed = b""
    last = -1
    for number, tree in enumerate(checkpoint["sealed"]):
        if not last < tree["part"] < checkpoint["parts"] <= 32_767 or tree["size"] < 1:
            raise Wrong(f"{place}.sealed[{number}]: not a part with events, in order")
        last = tree["part"]
        sealed += tree["part"].to_bytes(2, "big") + tree["size"].to_bytes(8, "big") + bytes.fromhex(tree["root"])
    sealed_hash = sha256(b"khrap-sealed/1\x00" + sealed).hexdigest()
    same(f"{place}.sealed_hash", checkpoint["sealed_hash"], sealed_hash, "the hash over its parts")
    content = (
        b"khrap-checkpoint/1\x00",
        checkpoint["number"].to_bytes(8, "big"),
        lp(checkpoint["at"].encode()),
        bytes.fromhex(checkpoint["previous"]),
        checkpoint["parts"].to_bytes(2, "big"),
        bytes.fromhex(sealed_hash),
        bytes.fromhex(checkpoint["key"]),
    )
    same(f"{place}.hash", checkpoint["hash"], sha256(b"".join(content)).hexdigest(), "the hash of its fields")
    return f"checkpoint {checkpoint['number']} of {checkpoint['at']}, hash {checkpoint['hash']}"


def check_signature(checkpoint: Json, place: str, key: str | None) -> str:
    """It is signed, with the service's key."""
    if key is not None:
        same(f"{place}.key", checkpoint["key"], key.strip().lower(), "the key that you gave")
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise Missing("the package `cryptography` is not installed") from None
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(checkpoint["key"]))
        public.verify(bytes.fromhex(checkpoint["signature"]), bytes.fromhex(checkpoint["hash"]))
    except (InvalidSignature, ValueError):
        raise Wrong(f"{place}.signature: not that of {place}.key under {place}.hash") from None
    if key is None:
        raise Missing(
            f"by the key {checkpoint['key']}, which anyone may have made: give the service's with --key, as you had it "
            "from elsewhere (`khrap audit key` and GET /v1/audit/key tell it)"
        )
    return f"by the key {checkpoint['key']}, which is the one it was held against"


def check_hand_key(bundle: Json) -> str:
    """The key is the one that was committed to before the hand started."""
    number, committed = only(bundle, "hand_committed")
    commitment = sha256(b"khrap-key/1\x00" + bytes.fromhex(bundle["hand_key"])).hexdigest()
    stated = field(committed, "key_commitment", f"events[{number}]")
    if commitment != stated:
        raise Wrong(f"hand_key: not the key that events[{number}] committed to")
    return f"the key that event {bundle['events'][number]['seq']} committed to"


# --- sealed cards


class Opened:
    """The events' sealed fields, opened with the hand's key."""

    def __init__(self, bundle: Json) -> None:
        self._bundle = bundle
        self._secrets: dict[int, Json] | None = None
        self._failed = ""

    def check(self) -> str:
        """Raises Wrong and Missing."""
        try:
            self._secrets = dict(self._opened())
        except Wrong as wrong:
            self._failed = str(wrong)
            raise
        return f"{len(self._secrets)} sealed events opened with the hand's key"

    @property
    def secrets(self) -> dict[int, Json]:
        """What was sealed, by the event's number in `events`. Raises Missing."""
        if self._secrets is None:
            raise Missing("the sealed cards were not opened")
        return self._secrets

    def _opened(self) -> Iterator[tuple[int, Json]]:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise Missing("the package `cryptography` is not installed") from None
        cipher = AESGCM(bytes.fromhex(self._bundle["hand_key"]))
        stream = lp(raw(self._bundle["stream"]))
        for number, event in enumerate(self._bundle["events"]):
            body = body_of(event, number)
            if "sealed" not in body or body.get("hand_id") != self._bundle["hand_id"]:
                continue  # public, or of another hand, whose key this is not
            try:
                sealed = base64.b64decode(body["sealed"], validate=True)
                place = stream + event["seq"].to_bytes(8, "big")
                yield number, json.loads(cipher.decrypt(sealed[:12], sealed[12:], place))
            except (InvalidTag, ValueError, TypeError, OverflowError, binascii.Error):
                raise Wrong(f"events[{number}].body: `sealed` does not open with hand_key") from None


# --- the shuffle: rulebook S2 to S5


def shuffled(seeds: bytes, size: int) -> list[str]:
    """S3 to S5: the deck of a deal."""
    cards = [rank + suit for suit in "shdc" for rank in "23456789TJQKA"[{32: 5, 36: 4, 52: 0}[size] :]]
    key, value, updates, left = bytes(32), b"\1" * 32, [b"\0" + seeds, b"\1" + seeds], size
    while left > 1:
        for update in updates:  # S3: instantiate, then the end of each Generate call
            key = hmac.digest(key, value + update, "sha256")
            value = hmac.digest(key, value, "sha256")
        updates = [b"\0"]
        for _ in range(8):  # S3: 256 bytes
            value = hmac.digest(key, value, "sha256")
            for byte in value:
                if left > 1 and byte < 256 - 256 % left:  # S4
                    index, left = byte % left, left - 1
                    cards[left], cards[index] = cards[index], cards[left]  # S5
    return cards


def check_shuffle(bundle: Json) -> str:
    """The decks come of the seeds, and the seeds are those that were committed to and given."""
    shuffle = bundle["shuffle"]
    hand_id = bytes.fromhex(bundle["hand_id"].replace("-", ""))
    server = bytes.fromhex(shuffle["server_seed"])
    commitment = sha256(b"khrap-commit/1\x00" + hand_id + server).hexdigest()
    same("shuffle.commitment", shuffle["commitment"], commitment, "the commitment to shuffle.server_seed (S2)")
    for kind in ("hand_committed", "hand_started"):
        number, body = only(bundle, kind)
        stated = field(body, "commitment", f"events[{number}]")
        same("shuffle.commitment", commitment, stated, f"what events[{number}] committed to (S2)")
    start, started = only(bundle, "hand_started")
    seeds = field(started, "client_seeds", f"events[{start}]")
    same("shuffle.client_seeds", shuffle["client_seeds"], seeds, f"those of events[{start}] (S2)")
    given = [bytes.fromhex(seed) for seed in shuffle["client_seeds"]]
    tail = lp(b"khrap-shuffle/1") + bytes([len(given)]) + b"".join([lp(seed) for seed in given])
    for no, deck in enumerate(shuffle["decks"], start=1):
        if len(deck) not in (32, 36, 52):
            raise Wrong(f"shuffle.decks[{no - 1}]: {len(deck)} cards; a deck has 32, 36 or 52")
        right = shuffled(server + hand_id + no.to_bytes(8, "big") + tail, len(deck))
        same(f"shuffle.decks[{no - 1}]", deck, right, f"the deck of deal {no} by the seeds (S5)")
    dealt = sum(1 for _ in bodies(bundle, "cards_dealt"))
    if dealt != len(shuffle["decks"]):
        raise Wrong(f"shuffle.decks: {len(shuffle['decks'])} decks, and {dealt} deals in the events")
    fresh = sum(1 for seed in given if seed)
    return f"decks: {dealt}, from the seed that was committed to; seeds of players: {fresh}"


def check_dealt(bundle: Json, opened: Opened) -> str:
    """The decks of the shuffle are those that were dealt, and its seed is the one that was sealed."""
    shuffle, secrets = bundle["shuffle"], opened.secrets
    for no, (number, _) in enumerate(bodies(bundle, "cards_dealt")):
        deck = field(secrets.get(number), "deck", f"events[{number}]")
        ours = shuffle["decks"][no] if no < len(shuffle["decks"]) else None
        same(f"events[{number}].body", deck, ours, f"shuffle.decks[{no}]")
    for number, secret in secrets.items():
        if isinstance(secret, dict) and "server_seed" in secret:
            same(f"events[{number}].body", secret["server_seed"], shuffle["server_seed"], "shuffle.server_seed")
    return f"decks dealt as they were shuffled: {len(shuffle['decks'])}"


# --- the rules and the ledger, by khrap's own package


def events_of(bundle: Json, opened: Opened) -> list[tuple[int, Json]]:
    """The hand's events from its start to its end as the package has them, each with its number. Raises Missing."""
    secrets = opened.secrets
    try:
        import msgspec

        from domain.events import EVENTS
    except ImportError:
        raise Missing("khrap's package `domain` is not installed") from None
    kinds = {str(kind.__struct_config__.tag): kind for kind in EVENTS}
    start, _ = only(bundle, "hand_started")
    end, _ = only(bundle, "hand_settled", "hand_voided")
    found = []
    for number in range(start, end + 1):
        event = bundle["events"][number]
        kind = kinds.get(event["type"])
        if kind is None or event["version"] != kind.VERSION:
            raise Missing(f"the installed `domain` does not know {event['type']} version {event['version']}")
        body = {name: value for name, value in body_of(event, number).items() if name != "sealed"}
        try:
            found.append((number, msgspec.convert(body | secrets.get(number, {}), kind)))
        except msgspec.ValidationError as error:
            raise Wrong(f"events[{number}].body: {error}") from None
    return found


def check_rules(bundle: Json, opened: Opened) -> str:
    """Replayed by the rules by which it was played, the hand comes to the recorded result."""
    events = [event for _, event in events_of(bundle, opened)]
    from domain import handfile
    from domain.games import game_of

    settings = events[0].table.settings
    try:
        game_of(settings.options, settings.rules)
    except LookupError as error:
        raise Missing(f"the installed `domain` does not know these rules: {error}") from None
    try:
        file = handfile.from_events(events)
        report = handfile.check(file)
    except BROKEN as error:
        raise Wrong(f"events: they cannot be replayed: {error!r}") from None
    if report.problems:
        raise Wrong(f"result: {'; '.join(str(each) for each in report.problems)}")
    if report.unchecked or report.compared != "result":
        raise Missing("; ".join(str(each) for each in report.unchecked) or f"compared: {report.compared}")
    return f"{len(file.actions)} actions replayed come to the recorded result"


def check_ledger(bundle: Json, opened: Opened) -> str:
    """The ledger's second reckoning of the hand comes to the entries of the bundle."""
    events = events_of(bundle, opened)
    from domain.ledger import Mismatch, Postings, TableBook, post
    from domain.ledger.books import Purse
    from domain.ledger.laws import UnknownRules

    table = events[0][1].table
    book: Any = TableBook(
        stream=bundle["stream"],
        settings=table.settings,
        purses=tuple(Purse(seat.seat, seat.player, seat.purse) for seat in table.seats),
        bank=table.carried_bank,
        last_dealt_in=tuple((each.seat, each.player) for each in table.last_dealt_in),
    )
    reckoned = []
    for number, event in events:
        stored = bundle["events"][number]
        try:
            book, outcome = post(book, event, stored["seq"], bytes.fromhex(stored["command_id"]))
        except UnknownRules as error:
            raise Missing(f"the installed `domain` does not know these rules: {error}") from None
        except BROKEN as error:
            raise Wrong(f"events[{number}]: the ledger cannot take it: {error!r}") from None
        if isinstance(outcome, Mismatch):
            difference = f"{outcome.what} is recorded as {outcome.recorded}, reckoned as {outcome.reckoned}"
            raise Wrong(f"events[{number}] (event {outcome.seq}): {difference} ({outcome.clause})")
        if isinstance(outcome, Postings):
            reckoned += [(outcome.currency, entry) for entry in outcome.entries if entry.hand_id == bundle["hand_id"]]
    ours: list[dict[str, Json]] = [
        {
            "seq": entry.seq,
            "clause": entry.clause,
            "currency": currency,
            "debit": entry.debit,
            "credit": entry.credit,
            "amount": entry.amount,
        }
        for currency, entry in reckoned
    ]
    if len(ours) != len(bundle["ledger"]):
        raise Wrong(f"ledger: {len(bundle['ledger'])} entries, reckoned are {len(ours)}")
    for number, (theirs, right) in enumerate(zip(bundle["ledger"], ours, strict=True)):
        same(f"ledger[{number}]", theirs, right, "the entry as reckoned")
    return f"{len(ours)} entries, the amounts {sum(each['amount'] for each in ours)} in all"


# --- that a log only grew


def consistent(first: int, second: int, path: list[bytes], first_root: bytes, second_root: bytes) -> bool:
    """RFC 9162, section 2.1.4.2: whether the path proves that the tree of `first` leaves begins that of `second`."""
    if first == second:
        return not path and first_root == second_root
    if not 0 < first < second or not path:
        return False
    hashes = path if first & (first - 1) else [first_root, *path]
    number, last = first - 1, second - 1
    while number & 1:
        number >>= 1
        last >>= 1
    old = new = hashes[0]
    for other in hashes[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            old, new = (sha256(b"\x01" + other + each).digest() for each in (old, new))
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            new = sha256(b"\x01" + new + other).digest()
        number >>= 1
        last >>= 1
    return last == 0 and (old, new) == (first_root, second_root)


def check_order(given: Json) -> str:
    """The second checkpoint is not before the first, and of the same log."""
    first, second = given["first"], given["second"]
    same("second.parts", second["parts"], first["parts"], "as many as at first.parts")
    if second["number"] < first["number"] or second["at"] < first["at"]:
        raise Wrong("second: earlier than first, by its number or its time")
    if second["number"] == first["number"]:
        same("second.hash", second["hash"], first["hash"], "that of first, which has the same number")
    if second["number"] == first["number"] + 1:
        same("second.previous", second["previous"], first["hash"], "first.hash, the checkpoint before it")
    return f"checkpoint {first['number']} of {first['at']}, then {second['number']} of {second['at']}"


def check_growth(given: Json) -> str:
    """Every part's tree as the first checkpoint sealed it is the beginning of the same part's in the second."""
    trees = {each["part"]: each for each in given["second"]["sealed"]}
    paths = {each["part"]: [bytes.fromhex(hash_) for hash_ in each["path"]] for each in given["paths"]}
    if len(paths) != len(given["paths"]):
        raise Wrong("paths: a part stands twice")
    for number, old in enumerate(given["first"]["sealed"]):
        place = f"first.sealed[{number}] (part {old['part']}, {old['size']} events)"
        new = trees.get(old["part"])
        if new is None or new["size"] < old["size"]:
            raise Wrong(f"{place}: the second checkpoint seals {0 if new is None else new['size']} events of this part")
        roots = bytes.fromhex(old["root"]), bytes.fromhex(new["root"])
        if not consistent(old["size"], new["size"], paths.pop(old["part"], []), *roots):
            raise Wrong(f"{place}: not proven to be the beginning of the {new['size']} that the second seals")
    if paths:
        raise Wrong(f"paths: of part {min(paths)}, of which the first checkpoint seals nothing")
    counts = [sum(tree["size"] for tree in given[name]["sealed"]) for name in ("first", "second")]
    return f"the {counts[0]} events of the first are the beginning of the {counts[1]} of the second, part by part"


def check_signatures(given: Json, key: str | None) -> str:
    """Both are signed, with the service's key."""
    same("second.key", given["second"]["key"], given["first"]["key"], "the key of the first")
    missing: Missing | None = None
    detail = ""
    for name in ("first", "second"):
        try:
            detail = check_signature(given[name], name, key)
        except Missing as error:
            missing = error
    if missing is not None:
        raise missing
    return detail


def check_kept(first: Json, kept: bytes | None) -> str:
    """The first checkpoint is the one that was kept."""
    if kept is None:
        raise Missing(
            f"whether you know checkpoint {first['number']} as {first['hash']}: give what you kept with --kept"
        )
    hashes = {each["hash"] for each in kept_in(kept) if each.get("number") == first["number"]}
    if not hashes:
        raise Wrong(f"--kept: the file holds no checkpoint {first['number']}, with which the proof begins")
    same("first.hash", [first["hash"]], sorted(hashes), "that of the checkpoint that you kept")
    return f"checkpoint {first['number']} is the one that you kept"


def kept_in(kept: bytes) -> list[Json]:
    """The checkpoints of a file: one, one a line, or an answer of the API's list. Raises Wrong."""
    try:
        pieces = [read_json(kept)]
    except Wrong:
        try:
            pieces = [read_json(line) for line in kept.splitlines() if line.strip()]
        except Wrong as wrong:
            raise Wrong(f"--kept: {wrong}") from None
    found = []
    for piece in pieces:
        listed = piece.get("checkpoints", [piece]) if isinstance(piece, dict) else None
        if not isinstance(listed, list) or not all(isinstance(c, dict) and type(c.get("hash")) is str for c in listed):
            raise Wrong("--kept: not checkpoints (khrap-checkpoint/1): one, one a line, or a list of the API's")
        found += listed
    return found


# --- the command


USAGE = "usage: verifier.py FILE [--key KEY] [--kept CHECKPOINTS] [--json]"


def main(arguments: list[str]) -> int:
    """Check the file that the arguments name, print what was found, and return the exit code."""
    as_json = "--json" in arguments
    left = [each for each in arguments if each != "--json"]
    try:
        given = option(left, "--key", "64 hex digits, or a file with them")
        key = None if given is None else read_key(given)
        file = option(left, "--kept", "a file of checkpoints")
        kept = None if file is None else read(file)
        if len(left) != 1:
            raise ValueError(
                f"one file is needed, of a bundle or of a proof of consistency, and {len(left)} were named"
            )
        data = read(left[0])
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n{USAGE}\n")
        return UNREADABLE
    found = check(data, key, kept)
    if as_json:
        checks = [{"check": name, "state": state, "detail": detail} for name, state, detail in found]
        sys.stdout.write(json.dumps({"checks": checks, "exit_code": exit_code(found)}) + "\n")
    else:
        sys.stdout.write(told(found))
    return exit_code(found)


def option(arguments: list[str], name: str, what: str) -> str | None:
    """An option's value, taken out of the arguments; None without it. Raises ValueError."""
    if name not in arguments:
        return None
    at = arguments.index(name)
    if at + 1 == len(arguments):
        raise ValueError(f"{name}: its value is missing: {what}")
    value = arguments[at + 1]
    del arguments[at : at + 2]
    return value


def read_key(given: str) -> str:
    """64 hex digits, or a file that holds them: alone, or as `public_key` in JSON. Raises ValueError."""
    if HEX_KEY.fullmatch(given):
        return given.lower()
    if not Path(given).is_file():
        raise ValueError(f"--key {given}: neither a public key of 64 hex digits nor a file with one")
    text = read(given).decode(errors="replace").strip()
    if text.startswith("{"):
        try:
            text = str(json.loads(text).get("public_key"))
        except ValueError:
            text = ""
    if not HEX_KEY.fullmatch(text):
        raise ValueError(f"--key {given}: holds no public key of 64 hex digits")
    return text.lower()


def read(name: str) -> bytes:
    """A file's content. Raises ValueError."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ValueError(f"{name}: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
