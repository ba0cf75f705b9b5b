"""A log that only grew between two checkpoints, proven to who kept the earlier one; and every forgery of that proof."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from infra.audit import Checkpoint, Checkpoints, NotSealed, verifier
from infra.audit.checkpoint import document, head_document, signed
from infra.audit.growth import Growth, growth_document
from infra.store import EventStore
from tests.conftest import Database
from tests.infra.store.streams import in_part, write

NOW = 1_767_323_045_678
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw().hex()
SIZES = (1, 2, 3, 4, 7, 8, 255, 256, 257, 600)
"""Of part 7 at each checkpoint; part 200 stays as it is, part 9 comes with the fourth."""


@pytest.fixture
async def checkpoints(database: Database) -> AsyncIterator[Checkpoints]:
    """A log with a checkpoint at each of `SIZES`."""
    async with (
        await EventStore.open(database.app_url) as store,
        Checkpoints(database.app_url, store.parts, KEY) as opened,
    ):
        await write(store, in_part(store, 200), 3)
        head, there = in_part(store, 7), 0
        for number, size in enumerate(SIZES):
            head = await write(store, head, 1, events=size - there)
            there = size
            if number == 3:
                await write(store, in_part(store, 9), 5)
            assert await opened.seal(NOW + number) is not None
        yield opened


def as_json(growth: Growth) -> bytes:
    return msgspec.json.encode(growth_document(growth))


def kept(checkpoint: Checkpoint) -> bytes:
    return msgspec.json.encode(head_document(checkpoint))


def failures(given: bytes | dict[str, Any], held: bytes | None = None) -> dict[str, str]:
    """The checks that fail, and why."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    return {name: why for name, state, why in verifier.check(data, PUBLIC, held) if state == verifier.FAILED}


async def test_any_two_checkpoints_prove_that_the_log_only_grew(checkpoints: Checkpoints) -> None:
    for first in range(1, len(SIZES) + 1):
        for second in (*range(first, len(SIZES) + 1), None):
            growth = await checkpoints.growth(first, second)
            found = verifier.check(as_json(growth), PUBLIC, kept(growth.first))
            assert [(name, state) for name, state, _ in found] == [(name, "ok") for name in verifier.GROWTH_CHECKS]
    for wrong in (checkpoints.growth(11), checkpoints.growth(1, 11), checkpoints.growth(3, 2)):
        with pytest.raises(NotSealed):
            await wrong


async def test_without_a_key_or_what_was_kept_that_is_said(checkpoints: Checkpoints) -> None:
    growth = await checkpoints.growth(2, 6)
    found = verifier.check(as_json(growth))
    assert {name for name, state, _ in found if state == verifier.NOT_CHECKED} == {"signatures", "kept"}
    assert verifier.exit_code(found) == 3
    assert growth.first.hash.hex() in {name: why for name, _, why in found}["kept"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every text and number."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*path, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from places(each, (*path, number))
    else:
        yield path


async def test_no_figure_can_be_changed_or_left_out(checkpoints: Checkpoints) -> None:
    growth = await checkpoints.growth(5, 10)
    given = json.loads(as_json(growth))
    held = kept(growth.first)
    assert failures(given, held) == {}
    for path in places(given):
        for drop in (False, True):
            forged = copy.deepcopy(given)
            at = forged
            for step in path[:-1]:
                at = at[step]
            was = at[path[-1]]
            if drop:
                del at[path[-1]]
            elif isinstance(was, int):
                at[path[-1]] = was + 1
            else:
                at[path[-1]] = ("1" if was[0] == "0" else "0") + was[1:]
            assert failures(forged, held), (path, drop)


async def test_a_log_that_was_written_anew_is_found_out_however_well_it_is_signed(checkpoints: Checkpoints) -> None:
    """The service signs what it likes; it cannot have the new log begin with the one that was kept."""
    growth = await checkpoints.growth(5, 10)
    other = sha256(b"another history").digest()

    def altered(checkpoint: Checkpoint, **parts: Any) -> Checkpoint:
        sealed = tuple(replace(p, **parts) if p.part == 7 else p for p in checkpoint.sealed)
        return signed(replace(checkpoint, sealed=sealed), KEY)

    held = kept(growth.first)
    rewritten = replace(growth, second=altered(growth.second, root=other))
    assert failures(as_json(rewritten), held).keys() == {"growth"}
    shorter = replace(growth, second=altered(growth.second, size=6))
    assert "seals 6 events of this part" in failures(as_json(shorter), held)["growth"]
    gone = replace(
        growth,
        second=signed(replace(growth.second, sealed=growth.second.sealed[1:]), KEY),
        paths={},
    )
    assert "seals 0 events of this part" in failures(as_json(gone), held)["growth"]
    both = replace(growth, first=altered(growth.first, root=other), second=altered(growth.second, root=other))
    assert failures(as_json(both), held).keys() == {"growth", "kept"}
    alien = Ed25519PrivateKey.from_private_bytes(bytes(32))
    resigned = replace(growth, second=signed(replace(growth.second, key=alien.public_key().public_bytes_raw()), alien))
    assert "the key of the first" in failures(as_json(resigned), held)["signatures"]
    turned = replace(growth, first=growth.second, second=growth.first, paths={})
    assert "earlier than first" in failures(as_json(turned))["order"]
    following = await checkpoints.growth(5, 6)
    unchained = replace(following, second=signed(replace(following.second, previous=other), KEY))
    assert "the checkpoint before it" in failures(as_json(unchained), held)["order"]


def test_a_file_of_another_form_is_said_to_be_one() -> None:
    found = verifier.check(b'{"format":"khrap-consistency/1"}')
    assert [name for name, _, _ in found] == list(verifier.GROWTH_CHECKS)
    assert found[0][1] == verifier.FAILED
    assert "missing" in found[0][2]
    assert {state for _, state, _ in found[1:]} == {verifier.NOT_CHECKED}


@pytest.mark.parametrize(
    ("held", "complaint"),
    [
        (b"", "the file holds no checkpoint 5"),
        (b"{}", "not checkpoints"),
        (b"[]", "not checkpoints"),
        (b'{"checkpoints":7}', "not checkpoints"),
        (b"\xff\n", "not JSON"),
        (b'{"number":4,"hash":"00"}', "the file holds no checkpoint 5"),
        (b'{"number":5,"hash":"00"}', "that of the checkpoint that you kept"),
    ],
)
async def test_what_was_kept_is_read_or_it_is_said_why_not(
    checkpoints: Checkpoints, held: bytes, complaint: str
) -> None:
    given = as_json(await checkpoints.growth(5, 10))
    assert complaint in failures(given, held)["kept"]


async def test_alone_it_says_the_same(checkpoints: Checkpoints, tmp_path: Path) -> None:
    """One file and a Python: every form in which checkpoints are kept, and the exit codes."""
    growth = await checkpoints.growth(1)
    (tmp_path / "growth.json").write_bytes(as_json(growth))
    file = Path(verifier.__file__)
    page = {"checkpoints": [json.loads(kept(each)) for each in await checkpoints.page(0, 3)], "next": None}
    forms = (
        msgspec.json.encode(document(growth.first)),
        b"\n".join([kept(each) for each in await checkpoints.page(0, 9)]),
        json.dumps(page).encode(),
    )

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, str(file), "growth.json", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    for number, form in enumerate(forms):
        (tmp_path / f"kept{number}").write_bytes(form)
        code, said = run("--key", PUBLIC, "--kept", f"kept{number}")
        assert (code, "all is right" in said) == (0, True), said
    assert run()[0] == 3
    assert run("--key", "00" * 32)[0] == 1
    for wrong in (("--kept",), ("--kept", "nothing"), ("--key",), ("more",)):
        code, said = run(*wrong)
        assert (code, said.startswith("error: ")) == (2, True), said
