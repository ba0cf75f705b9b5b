"""A bundle proves its hand alone: whatever is changed in it is named, and what cannot be checked is said.

The verifier is tested as an outsider has it: one file, and the bundle's bytes.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from infra.audit import verifier
from infra.audit.checkpoint import public_key
from infra.store import merkle
from infra.store.merkle import Tree
from tests.services.api.nodes import Node, until
from tests.services.api.test_audit import bundle_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(verifier.__file__).parents[2]
FILE = Path(verifier.__file__)
Json = Any
kept: dict[str, bytes] = {}


async def bundle(node: Node, game: str = "khrap") -> bytes:
    """The bundle of a played hand of the game, with a client's seed, made once."""
    if game not in kept:
        players = [f"{game}-{n}" for n in range(3)]
        table_id = await node.open_table(turn_ms=3_600_000, options={"game": game}, pause_ms=1_500)
        await node.seat(table_id, *players)
        await node.as_(players[0]).did(f"/v1/tables/{table_id}/client-seed", {"client_seed": "00ff12"})
        kept[game] = await bundle_of(node, await _played(node, table_id, players))
    return kept[game]


async def _played(node: Node, table_id: str, players: list[str]) -> str:
    """Play hands by chance until one is played out; its id."""
    path, chance = f"/v1/tables/{table_id}", random.Random(5)

    async def act() -> str | None:
        view = await node.as_(players[0]).saw(path)
        hand = view["hand"]
        if hand is not None and hand["result"] and hand["result"]["ending"] in ("played", "four_aces"):
            return str(hand["hand_id"])
        if view["turn"] is None:
            return None
        asked = node.as_(next(s["player"] for s in view["seats"] if s["seat"] == view["turn"]["seat"]))
        own = (await asked.saw(path))["you"]["legal_actions"]
        if own:
            body = {"turn": view["turn"]["turn"], **_chosen(own, chance)}
            done = await asked.post(f"{path}/actions", body)
            for event in done.json().get("events", ()):
                if event["type"] == "hand_settled" and event["result"]["ending"] != "uncontested":
                    return str(event["hand_id"])
        return None

    return str(await until(act, within_s=60))


def _chosen(offers: list[dict[str, Any]], chance: random.Random) -> dict[str, Any]:
    bold = [offer for offer in offers if offer["do"] not in ("pass", "decline")] or offers
    offer = chance.choice(bold)
    if offer["do"] == "play":
        return {"do": "play", "card": offer["cards"][0]}
    if offer["do"] in ("discard", "draw"):
        return {"do": offer["do"], "cards": offer["cards"][: offer.get("least", 0)]}
    return {"do": offer["do"]}


def own_key(node: Node) -> str:
    """The service's public key, as somebody has it who asked for it before."""
    return public_key(node.core.keys.audit_signing).hex()


def failures(content: Json) -> dict[str, str]:
    """The checks that fail, and why."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return {name: detail for name, state, detail in verifier.check(data) if state == verifier.FAILED}


@pytest.mark.parametrize("game", ["khrap", "frap", "khrap5"])
async def test_a_hand_of_each_game_is_all_right(node: Node, game: str) -> None:
    events = json.loads(await bundle(node, game))["events"]
    # The next hand runs by now: nothing of it is in the bundle.
    assert sum(event["type"] == "hand_started" for event in events) == 1
    assert events[-1]["type"] in ("hand_settled", "seed_disclosed")
    found = verifier.check(await bundle(node, game), own_key(node))
    assert [(name, state) for name, state, _ in found] == [(name, "ok") for name in verifier.CHECKS]


async def test_a_voided_hand_is_all_right(node: Node) -> None:
    table_id = await node.open_table(turn_ms=3_600_000)
    await node.seat(table_id, "voided-a", "voided-b")
    path = f"/v1/tables/{table_id}"

    async def hand() -> str | None:
        view = await node.as_("voided-a").saw(path)
        return str(view["hand"]["hand_id"]) if view["turn"] is not None else None

    hand_id = await until(hand)
    await node.as_("oona", "ops").did(f"{path}/void", {"reason": "the lamp fell"})
    await node.as_("otto", "ops").did(f"{path}/void", {"reason": "it did"})
    found = verifier.check(await bundle_of(node, hand_id), own_key(node))
    assert verifier.exit_code(found) == 0, found


# --- whatever is changed is named


def places(value: Json, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a bundle, leaves and what holds them."""
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*at, name))
    elif isinstance(value, list):
        for n in range(len(value)):
            yield from places(value[n], (*at, n))


def changed(value: Json, chance: random.Random) -> Json:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return "something"
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        if not value:
            return "x"
        at = chance.randrange(len(value))
        other = next(c for c in ("0123456789" if value[at].isdigit() else "abcdefgh") if c != value[at])
        return value[:at] + other + value[at + 1 :]
    if isinstance(value, list):
        return value[1:] if value else ["x"]
    return {**value, "more": 1}


def with_change(bundle: Json, place: tuple[Any, ...], change: Callable[[Json], Json]) -> Json:
    """A copy in which one place is changed."""
    if not place:
        return change(bundle)
    head, *rest = place
    copy = list(bundle) if isinstance(bundle, list) else dict(bundle)
    copy[head] = with_change(bundle[head], tuple(rest), change)
    return copy


def named(place: tuple[Any, ...], failed: dict[str, str]) -> bool:
    """Whether one of the failures points to the place."""
    top, *rest = place
    text = "\n".join(failed.values())
    if top == "hand_id":
        return "of hand" in text
    if top == "table_id":
        return "stream: " in text
    if top == "previous_hash":
        return "events[0] " in text
    if top == "events" and rest:
        return f"events[{rest[0]}]" in text or "events: " in text
    if top == "result":
        return "result: " in text or "result." in text
    return str(top) in text


async def test_every_single_field_is_bound_and_named(node: Node) -> None:
    whole = json.loads(await bundle(node))
    chance = random.Random(7)
    tried = 0
    for place in places(whole):
        if not place:
            continue
        tried += 1
        failed = failures(with_change(whole, place, lambda value: changed(value, chance)))
        assert failed, place
        assert named(place, failed), (place, failed)
    assert tried > 300


async def test_every_field_that_is_gone_or_new_is_named(node: Node) -> None:
    whole = json.loads(await bundle(node))
    for place in places(whole):
        value = whole
        for name in place:
            value = value[name]
        if not isinstance(value, dict) or place[:1] == ("result",):
            continue
        for name in value:
            without = with_change(whole, place, partial(_without, name))
            assert failures(without)["form"].endswith(f"{name}: missing"), (place, name)
        assert "more: not a field" in failures(with_change(whole, place, lambda each: {**each, "more": 1}))["form"]


def _instead(value: Json, _: Json) -> Json:
    return value


def _without(name: str, value: Json) -> Json:
    return {k: v for k, v in value.items() if k != name}


async def test_an_event_left_out_or_moved_is_named(node: Node) -> None:
    whole = json.loads(await bundle(node))
    events = whole["events"]
    for n in range(1, len(events) - 1):
        assert f"events[{n}]" in failures({**whole, "events": events[:n] + events[n + 1 :]})["chain"]
        swapped = [*events[:n], events[n + 1], events[n], *events[n + 2 :]]
        assert f"events[{n}]" in failures({**whole, "events": swapped})["chain"]
    assert failures({**whole, "events": []}) == {"form": "events: none"}
    # Its end, which no later event binds to it.
    assert "0 of seed_disclosed" in failures({**whole, "events": events[:-1]})["hand"]
    assert "hand" in failures({**whole, "events": events[:-2]})
    twice = failures({**whole, "events": [*events, events[-1]]})
    assert {"hand", "chain"} <= twice.keys()


async def test_what_says_the_same_in_another_way_is_not_the_same(node: Node) -> None:
    content = await bundle(node)
    whole = json.loads(content)
    assert "a name stands twice" in failures(content.replace(b'"rules":1,', b'"rules":1,"rules":1,', 1))["form"]
    for place in places(whole["result"]):
        value = whole["result"]
        for name in place:
            value = value[name]
        if type(value) is int:
            as_float = with_change(whole, ("result", *place), float)
            assert "result" in failures(as_float)["hand"], place
            if value in (0, 1):
                assert "result" in failures(with_change(whole, ("result", *place), bool))["hand"], place
    assert len(whole["ledger"]) > 1
    assert failures({**whole, "ledger": whole["ledger"][::-1]}).keys() == {"ledger"}
    assert failures({**whole, "ledger": [*whole["ledger"], whole["ledger"][-1]]}).keys() == {"ledger"}
    for encoded in (b"\xef\xbb\xbf" + content, content.decode().encode("utf-16"), content + b"{}"):
        assert failures(encoded)["form"].startswith("not JSON: ")


async def test_nothing_that_a_bundle_may_hold_ends_the_verifier(node: Node) -> None:
    """Anything in any place, also where the events' own bodies are JSON of another shape."""
    whole = json.loads(await bundle(node))
    chance = random.Random(11)
    odd: list[Json] = [None, True, -1, 2**70, 1.5, "", "00", "\ud800", [], {}, [[]], {"hand_id": []}]
    spots = [place for place in places(whole) if place]
    for place in chance.sample(spots, 150):
        assert failures(with_change(whole, place, lambda _: chance.choice(odd))), place
    for n, event in enumerate(whole["events"]):
        body = json.loads(event["body"])
        for name in body:
            changed_body = json.dumps({**body, name: chance.choice(odd)})
            assert failures(with_change(whole, ("events", n, "body"), partial(_instead, changed_body))), (n, name)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000, b'{"format": "khrap-bundle/1", "format": "khrap-bundle/1"}'],
)
async def test_what_is_no_bundle_is_said_to_be_none(content: bytes) -> None:
    found = verifier.check(content)
    assert found[0][:2] == ("form", verifier.FAILED)
    assert verifier.exit_code(found) == 1
    assert {state for _, state, _ in found[1:]} == {verifier.NOT_CHECKED}


# --- a forger who hashes and signs all of it anew


def forged(whole: Json, change: Callable[[Json], None]) -> Json:
    """The bundle with its events' bodies changed, chained, proven and signed anew, by a key of the forger's."""
    forgery = json.loads(json.dumps(whole))
    bodies = [json.loads(event["body"]) for event in forgery["events"]]
    change(bodies)
    previous = bytes.fromhex(forgery["previous_hash"])
    for event, body in zip(forgery["events"], bodies, strict=True):
        event["body"] = json.dumps(body, separators=(",", ":"))
        previous = verifier.event_hash(previous, forgery["stream"], event)
        event["hash"] = previous.hex()
    leaves = [bytes.fromhex(event["hash"]) for event in forgery["events"]]

    def root(start: int, end: int) -> bytes:
        tree = Tree()
        tree.add(leaves[start:end])
        return tree.root()

    for n, event in enumerate(forgery["events"]):
        event["pos"] = n + 1
        event["path"] = [root(*span).hex() for span in merkle.inclusion(n, len(leaves))]
    key, checkpoint = Ed25519PrivateKey.generate(), forgery["checkpoint"]
    size = len(leaves)
    checkpoint["sealed"] = [{"part": forgery["part"], "size": size, "root": root(0, size).hex()}]
    sealed = forgery["part"].to_bytes(2, "big") + size.to_bytes(8, "big") + root(0, size)
    checkpoint["sealed_hash"] = sha256(b"khrap-sealed/1\x00" + sealed).hexdigest()
    checkpoint["key"] = key.public_key().public_bytes_raw().hex()
    at = checkpoint["at"].encode()
    checkpoint["hash"] = sha256(
        b"khrap-checkpoint/1\x00"
        + checkpoint["number"].to_bytes(8, "big")
        + len(at).to_bytes(2, "big")
        + at
        + bytes.fromhex(checkpoint["previous"] + f"{checkpoint['parts']:04x}" + checkpoint["sealed_hash"])
        + bytes.fromhex(checkpoint["key"])
    ).hexdigest()
    checkpoint["signature"] = key.sign(bytes.fromhex(checkpoint["hash"])).hex()
    return forgery


async def test_only_the_key_tells_a_forgery_that_changes_nothing(node: Node) -> None:
    whole = json.loads(await bundle(node))
    forgery = json.dumps(forged(whole, lambda bodies: None)).encode()
    assert failures(forgery) == {}
    without = verifier.check(forgery)
    ((name, _, why),) = [each for each in without if each[1] == verifier.NOT_CHECKED]
    assert (name, verifier.exit_code(without)) == ("signature", 3)
    assert ("--key" in why, "khrap audit key" in why) == (True, True)
    found = verifier.check(forgery, whole["checkpoint"]["key"])
    assert [name for name, state, _ in found if state == verifier.FAILED] == ["signature"]
    assert verifier.exit_code(verifier.check(await bundle(node), whole["checkpoint"]["key"])) == 0


ODD_TEXTS = ("\x1b[2J\x1b[Hall is right\n", "\ud800", "\u202e", "\x9b31m", "имя")


@pytest.mark.parametrize("odd", ODD_TEXTS)
async def test_no_text_of_a_bundle_reaches_the_terminal_as_it_is(node: Node, folder: Path, odd: str) -> None:
    whole = json.loads(await bundle(node))
    changes: list[Json] = [{**whole, odd: odd}]
    changes += [{**whole, name: odd} for name in whole]
    changes += [with_change(whole, ("events", 2, name), partial(_instead, odd)) for name in whole["events"][2]]
    changes += [{**whole, "result": {odd: odd}}, {**whole, "ledger": [{**whole["ledger"][0], "clause": odd}]}]
    for changed in changes:
        found = verifier.check(json.dumps(changed).encode())
        told = verifier.told(found)
        assert verifier.FAILED in {state for _, state, _ in found}, told
        assert re.fullmatch(r"[ -~\n]*", told), told
        assert told.count("\n") == len(verifier.CHECKS) + 1
    (folder / "bundle.json").write_text(json.dumps({**whole, "stream": odd, odd: 1}))
    assert alone(folder, given=("bundle.json",), path=str(ROOT))[0] == 1


def the(bodies: Json, kind: str) -> Json:
    return next(body for body in bodies if body["type"] == kind)


def _a_share(bodies: Json) -> None:
    the(bodies, "share_paid")["amount"] += 1


def _a_key(bodies: Json) -> None:
    the(bodies, "hand_committed")["key_commitment"] = "00" * 32


def _a_commitment(bodies: Json) -> None:
    the(bodies, "hand_started")["commitment"] = "00" * 32


def _a_client_seed(bodies: Json) -> None:
    the(bodies, "hand_started")["client_seeds"][0] = "ff"


def _a_card(bodies: Json) -> None:
    plays = [body for body in bodies if body["type"] == "card_played"]
    plays[0]["card"], plays[1]["card"] = plays[1]["card"], plays[0]["card"]


def _a_purse(bodies: Json) -> None:
    the(bodies, "hand_started")["table"]["carried_bank"] += 500


def _a_sealed_deck(bodies: Json) -> None:
    the(bodies, "cards_dealt")["sealed"] = the(bodies, "hand_started")["sealed"]


FORGED: dict[str, tuple[Callable[[Json], None], set[str]]] = {
    "a share": (_a_share, {"ledger"}),
    "the key that was committed to": (_a_key, {"hand key"}),
    "the commitment to the seed": (_a_commitment, {"shuffle", "rules"}),
    "a client's seed": (_a_client_seed, {"shuffle", "rules"}),
    "two cards exchanged": (_a_card, {"rules"}),
    "money from nowhere": (_a_purse, {"rules", "ledger"}),
    "a sealed deck": (_a_sealed_deck, {"sealed cards"}),
}


@pytest.mark.parametrize("name", FORGED)
async def test_a_forgery_that_is_hashed_and_signed_anew_is_named(node: Node, name: str) -> None:
    change, wrong = FORGED[name]
    failed = failures(forged(json.loads(await bundle(node)), change)).keys()
    # Whether the ledger comes to the same money with two cards exchanged is chance.
    assert failed - ({"ledger"} if name == "two cards exchanged" else set()) == wrong


async def test_a_forged_result_is_named(node: Node) -> None:
    """In the events and in the bundle alike."""
    whole = json.loads(await bundle(node))

    def change(bodies: Json) -> None:
        first, second, *_ = the(bodies, "hand_settled")["result"]["players"]
        first["purse"] += 100
        second["purse"] -= 100

    forgery = forged(whole, change)
    forgery["result"] = (
        json.loads(forgery["events"][-1]["body"]).get("result")
        or json.loads(next(e["body"] for e in forgery["events"] if e["type"] == "hand_settled"))["result"]
    )
    failed = failures(forgery)
    assert failed.keys() == {"rules", "ledger"}
    assert "result.players[0].purse" in failed["rules"]


# --- alone


def alone(folder: Path, *python: str, given: tuple[str, ...] = (), path: str | None = None) -> tuple[int, str]:
    environment = {"PATH": os.environ["PATH"]} | ({"PYTHONPATH": path} if path else {})
    command = [sys.executable, *python, "verifier.py", *given]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
async def folder(node: Node, tmp_path: Path) -> Path:
    """An empty folder with the verifier and a bundle."""
    shutil.copy(FILE, tmp_path)
    (tmp_path / "bundle.json").write_bytes(await bundle(node))
    return tmp_path


async def test_alone_it_checks_what_it_can_and_lists_what_it_could_not(folder: Path) -> None:
    code, said = alone(folder, "-S", "-I", given=("bundle.json", "--json"))
    assert code == 3, said
    found = {each["check"]: each["state"] for each in json.loads(said)["checks"]}
    not_checked = {name for name, state in found.items() if state == "not checked"}
    assert not_checked == {"signature", "sealed cards", "dealt cards", "rules", "ledger"}
    assert {state for name, state in found.items() if name not in not_checked} == {"ok"}
    code, said = alone(folder, "-S", "-I", given=("bundle.json",))
    assert (code, said.count("not checked")) == (3, 5)
    assert "the package `cryptography` is not installed" in said


async def test_with_the_package_and_the_key_it_checks_all(node: Node, folder: Path) -> None:
    code, said = alone(folder, given=("bundle.json",), path=str(ROOT))
    assert (code, said.count("not checked"), "all is right" in said) == (3, 1, False)
    code, said = alone(folder, given=("bundle.json", "--key", own_key(node)), path=str(ROOT))
    assert code == 0, said
    assert said.endswith("all is right\n")


async def test_alone_it_finds_what_is_wrong(folder: Path) -> None:
    whole = json.loads((folder / "bundle.json").read_bytes())
    whole["events"][3]["meta"] = whole["events"][3]["meta"].replace("2", "3", 1)
    (folder / "bundle.json").write_text(json.dumps(whole))
    code, said = alone(folder, "-S", "-I", given=("bundle.json",))
    assert code == 1
    assert "failed       chain         events[3] " in said


async def test_a_key_is_given_in_hex_or_as_a_file(folder: Path) -> None:
    key = json.loads((folder / "bundle.json").read_bytes())["checkpoint"]["key"]
    (folder / "key.txt").write_text(key + "\n")
    (folder / "key.json").write_text(json.dumps({"public_key": key}))
    for right in (key, key.upper(), "key.txt", "key.json"):
        assert alone(folder, given=("bundle.json", "--key", right), path=str(ROOT))[0] == 0
    code, said = alone(folder, "-S", "-I", given=("bundle.json", "--key", "00" * 32))
    assert (code, "checkpoint.key: " in said) == (1, True)
    for wrong in ("nothing.txt", "verifier.py"):
        assert alone(folder, "-S", "-I", given=("bundle.json", "--key", wrong))[0] == 2
    assert alone(folder, "-S", "-I", given=("missing.json",))[0] == 2
    assert alone(folder, "-S", "-I")[0] == 2
