"""Checkpoints: made of what is new, proven from, and held against the log by whoever kept one. DESIGN "Audit"."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable

import msgspec
import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace
from psycopg import errors

from infra.audit import Audited, CheckpointError, Checkpoints, NotSealed, audit, read_document, read_kept
from infra.audit.checkpoint import SealedPart, document, head_document, signed
from infra.audit.checkpoints import _row
from infra.faults import Fault
from infra.store import EventStore, StreamHead
from infra.store.merkle import Tree, consistent, included
from infra.store.verify import _Counter, _Worker
from infra.store.walk import PartWalked
from tests.conftest import Database
from tests.infra.store.streams import in_part, new_stream, until, write

NOW = 1_767_323_045_678
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.fixture
async def store(database: Database) -> AsyncIterator[EventStore]:
    async with await EventStore.open(database.app_url) as opened:
        yield opened


@pytest.fixture
async def checkpoints(database: Database, store: EventStore) -> AsyncIterator[Checkpoints]:
    async with Checkpoints(database.app_url, store.parts, KEY) as opened:
        yield opened


def by_owner(database: Database, *statements: str) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement.encode())


async def leaves(store: EventStore, part: int) -> list[bytes]:
    return [event.hash for event in await store.read_parts({part: 0}, 100_000)]


async def root(store: EventStore, part: int, size: int) -> bytes:
    tree = Tree()
    tree.add((await leaves(store, part))[:size])
    return tree.root()


async def test_an_empty_log_is_not_sealed(checkpoints: Checkpoints, store: EventStore) -> None:
    assert await checkpoints.seal(NOW) is None
    assert await checkpoints.latest() is None
    assert (await audit(store, checkpoints)).is_intact


async def test_a_checkpoint_seals_all_parts_with_events_and_the_one_before(
    checkpoints: Checkpoints, store: EventStore
) -> None:
    head = await write(store, in_part(store, 7), 3)
    await write(store, in_part(store, 200), 1)
    first = await checkpoints.seal(NOW)
    assert first is not None
    assert [(p.part, p.size) for p in first.sealed] == [(7, 3), (200, 1)]
    assert first.sealed[0].root == await root(store, 7, 3)
    assert (first.number, first.previous, first.is_signed()) == (1, bytes(32), True)
    assert await checkpoints.seal(NOW) is None
    await write(store, head, 2)
    second = await checkpoints.seal(NOW - 5_000)
    assert second is not None
    assert (second.number, second.previous, second.at_ms) == (2, first.hash, NOW)
    assert [(p.part, p.size) for p in second.sealed] == [(7, 5), (200, 1)]
    assert await checkpoints.page(0, 10) == [first, second]
    assert await checkpoints.get(2) == await checkpoints.latest() == second
    assert await checkpoints.get(3) is None


async def test_sealing_reads_what_is_new_and_the_edge(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    """The events of whole tiles are not read again: here they could not be, they are gone."""
    head = await write(store, in_part(store, 7), 1, events=600)
    await checkpoints.seal(NOW)
    all_leaves = await leaves(store, 7)
    by_owner(database, "delete from store.event where part = 7 and pos <= 512")
    head = await write(store, head, 1, events=300)
    sealed = await checkpoints.seal(NOW)
    assert sealed is not None
    tree = Tree()
    with psycopg.connect(database.owner_url) as owner:
        rows = owner.execute("select hash from store.event where part = 7 and pos > 600 order by pos").fetchall()
    tree.add([*all_leaves, *[row[0] for row in rows]])
    assert (sealed.size_of(7), sealed.sealed[0].root) == (900, tree.root())


async def test_two_that_seal_at_once_make_one_row_of_checkpoints(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    async def writing() -> None:
        head = new_stream()
        for _ in range(30):
            head = await write(store, head, 1)

    async with Checkpoints(database.app_url, store.parts, KEY) as other:
        await asyncio.gather(
            writing(), *[each.seal(NOW) for _ in range(4) for each in (checkpoints, other)], return_exceptions=True
        )
    await checkpoints.seal(NOW)
    audited = await audit(store, checkpoints)
    assert audited.is_intact
    assert (audited.events, audited.sealed) == (30, 30)


async def test_inclusion_and_consistency_are_proven(checkpoints: Checkpoints, store: EventStore) -> None:
    with pytest.raises(NotSealed, match="no checkpoint has sealed an event of part 7"):
        await checkpoints.inclusions(7, [1])
    head = await write(store, in_part(store, 7), 3)
    await checkpoints.seal(NOW)
    await write(store, head, 1, events=700)
    await checkpoints.seal(NOW)
    hashes = await leaves(store, 7)
    for found in await checkpoints.inclusions(7, [1, 3, 4, 256, 257, 703]):
        assert found.hash == hashes[found.pos - 1]
        assert (found.size, found.root) == (703, await root(store, 7, 703))
        assert included(found.hash, found.pos - 1, found.size, found.path, found.root)
    (small,) = await checkpoints.inclusions(7, [2], size=3)
    assert included(small.hash, 1, 3, small.path, await root(store, 7, 3))
    for first in (1, 3, 256, 512, 700, 703):
        proof = await checkpoints.consistency(7, first)
        assert (proof.first_root, proof.second_root) == (await root(store, 7, first), await root(store, 7, 703))
        assert consistent(first, 703, proof.path, proof.first_root, proof.second_root)
    for wrong in (
        checkpoints.inclusions(7, [704]),
        checkpoints.inclusions(7, [0]),
        checkpoints.inclusions(7, [1], 704),
    ):
        with pytest.raises(NotSealed):
            await wrong
    for wrong_sizes in (checkpoints.consistency(7, 704), checkpoints.consistency(7, 5, 4)):
        with pytest.raises(NotSealed):
            await wrong_sizes


async def test_a_lost_node_is_a_fault_that_says_so(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    head = await write(store, in_part(store, 7), 1, events=600)
    await checkpoints.seal(NOW)
    by_owner(database, "delete from store.node where idx = 1")
    await write(store, head, 1)
    with pytest.raises(Fault, match="node 1 of level 1 of the sealed tree is missing"):
        await checkpoints.seal(NOW)
    with pytest.raises(Fault, match="node 1 of level 1"):
        await checkpoints.consistency(7, 1)


# --- what a document says


async def sealed_log(store: EventStore, checkpoints: Checkpoints) -> StreamHead:
    """Part 7 with 300 events under checkpoint 1 and 3 more under 2; part 8 with 1 under both."""
    head = await write(store, in_part(store, 7), 1, events=300)
    await write(store, in_part(store, 8), 1)
    await checkpoints.seal(NOW)
    head = await write(store, head, 1, events=3)
    await checkpoints.seal(NOW)
    return head


async def test_every_field_of_a_document_is_bound(checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    latest = await checkpoints.latest()
    assert latest is not None
    for whole in (document(latest), head_document(latest)):
        given = msgspec.to_builtins(whole)
        assert read_document(msgspec.json.encode(given)) == whole
        for name, value in given.items():
            changed = {**given, name: _changed(value)}
            with pytest.raises(CheckpointError):
                read_document(msgspec.json.encode(changed))
        with pytest.raises(CheckpointError):
            read_document(msgspec.json.encode({**given, "more": 1}))
    parts = msgspec.to_builtins(document(latest))
    for n, part in enumerate(parts["sealed"]):
        for name, value in part.items():
            sealed = [*parts["sealed"]]
            sealed[n] = {**part, name: _changed(value)}
            with pytest.raises(CheckpointError, match="`sealed_hash` is not that of its parts"):
                read_document(msgspec.json.encode({**parts, "sealed": sealed}))


def _changed(value: object) -> object:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return ("1" if value[0] == "0" else "0") + value[1:]
    return []


async def test_what_was_kept_is_read_in_each_form(checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    whole = [document(each) for each in await checkpoints.page(0, 10)]
    heads = [head_document(each) for each in await checkpoints.page(0, 10)]
    assert read_kept(msgspec.json.encode(whole[0])) == [whole[0]]
    assert read_kept(b"\n".join(map(msgspec.json.encode, [heads[0], whole[1]])) + b"\n") == [heads[0], whole[1]]
    assert read_kept(msgspec.json.encode({"checkpoints": heads, "next": None})) == heads
    deep = b"[" * 100_000
    odd = (
        b'{"checkpoints": %s}' % each
        for each in (b"5", b"null", b'"x"', b"{}", b"[5]", b"[[]]", b"[" * 500 + b"]" * 500)
    )
    for nothing in (b"", b"[]", b"{}", b"no", b'{"checkpoints": []}', b"\xff", deep, b'{"a": ' + deep, *odd):
        with pytest.raises(CheckpointError):
            read_kept(nothing)


# --- what is found


async def audited(database: Database, store: EventStore, checkpoints: Checkpoints, *statements: str) -> Audited:
    by_owner(database, *statements)
    return await audit(store, checkpoints)


async def test_a_log_that_was_left_alone_is_intact(checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    found = await audit(store, checkpoints, read_kept(msgspec.json.encode(document((await checkpoints.page(0, 1))[0]))))
    assert (found.events, found.streams, found.checkpoints, found.sealed) == (304, 2, 2, 304)
    assert found.is_intact


CUT_OFF = (
    "delete from store.event where part = 7 and pos > 300",
    "update store.part_head set last_pos = 300 where part = 7",
    """update store.stream_head h set last_seq = e.seq, last_hash = e.hash from store.event e
    where e.part = 7 and e.pos = 300 and h.part = 7""",
)


async def test_an_end_cut_off_with_its_counters_is_found(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    await sealed_log(store, checkpoints)
    by_owner(database, *CUT_OFF)
    assert (await store.verify()).is_intact  # alone it cannot be seen
    found = await audit(store, checkpoints)
    (broken,) = found.broken
    assert (broken.part, broken.pos) == (7, 301)
    assert broken.what == "checkpoint 2 sealed 303 events of this part, and 300 are there: its end was cut off"


async def test_an_end_cut_off_with_its_checkpoints_is_found_by_one_kept_elsewhere(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    await sealed_log(store, checkpoints)
    whole = read_kept(msgspec.json.encode(document((await checkpoints.page(1, 1))[0])))
    head = read_kept(msgspec.json.encode(head_document((await checkpoints.page(1, 1))[0])))
    by_owner(database, *CUT_OFF, "delete from store.checkpoint where number = 2")
    assert (await audit(store, checkpoints)).is_intact
    for kept in (whole, head):
        found = await audit(store, checkpoints, kept)
        assert [str(each) for each in found.broken_checkpoints] == [
            f"checkpoint 2: it is gone; one was kept, whose hash is {kept[0].hash}"
        ]
    (broken,) = (await audit(store, checkpoints, whole)).broken
    assert broken.what.startswith("the kept checkpoint 2 sealed 303 events of this part, and 300 are there")


async def test_a_log_that_was_written_anew_is_found_by_one_kept_elsewhere(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    """Chain, counters, checkpoints, signatures: all right again, and yet not what was."""
    await sealed_log(store, checkpoints)
    kept = read_kept(b"\n".join(msgspec.json.encode(document(each)) for each in await checkpoints.page(0, 9)))
    tables = ("event", "stream_head", "checkpoint", "node")
    by_owner(database, *[f"delete from store.{table}" for table in tables], "update store.part_head set last_pos = 0")
    await sealed_log(store, checkpoints)
    assert (await audit(store, checkpoints)).is_intact
    found = await audit(store, checkpoints, kept)
    assert [each.number for each in found.broken_checkpoints] == [1, 2]
    assert found.broken_checkpoints[0].what.startswith("it is another than the one that was kept")
    assert [(each.part, each.pos) for each in found.broken] == [(7, 1), (8, 1)]
    assert found.broken[0].what == (
        "the kept checkpoint 1 sealed other events: one of the positions 1 to 300 was changed, chain and all"
    )
    assert isinstance(found.first, type(found.broken[0]))


@pytest.mark.parametrize(
    ("at", "pos", "hint"),
    [
        (289, 257, "; by the kept nodes one of the positions 257 to 300"),
        (100, 1, "; by the kept nodes one of the positions 1 to 256"),
        (302, 301, ""),
    ],
)
async def test_a_stream_hashed_anew_is_found_and_the_event_narrowed_down(
    database: Database, checkpoints: Checkpoints, store: EventStore, at: int, pos: int, hint: str
) -> None:
    await sealed_log(store, checkpoints)
    events = await store.read_parts({7: 0}, 1_000)
    rehash = _hashed_anew(events, at)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.cursor().executemany("update store.event set body = %s, hash = %s where part = 7 and pos = %s", rehash)
        owner.execute("update store.stream_head set last_hash = %s where part = 7", (rehash[-1][1],))
    assert (await store.verify()).is_intact
    (broken,) = (await audit(store, checkpoints)).broken
    assert (broken.part, broken.pos, broken.stream, broken.seq) == (7, pos, events[0].stream, pos)
    sealed = "checkpoint 1 sealed other events: one of the positions 1 to 300"
    if at > 300:
        sealed = "checkpoint 2 sealed other events: one of the positions 301 to 303"
    assert broken.what == f"{sealed} was changed, chain and all{hint}"


def _hashed_anew(events: list, at: int) -> list[tuple[bytes, bytes, int]]:  # type: ignore[type-arg]
    from infra.store.chain import event_hash

    rows, previous = [], bytes(32)
    for event in events:
        body = b'{"n":"forged"}' if event.pos == at else event.body
        previous = event_hash(
            previous, event.stream, event.seq, event.type, event.version, event.command_id, event.idx, body, event.meta
        )
        rows.append((body, previous, event.pos))
    return rows


async def test_two_events_swapped_among_streams_are_found(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    """The chains of both streams hold; only the part's tree knows the order."""
    for _ in range(2):
        await write(store, in_part(store, 7), 1)
    await checkpoints.seal(NOW)
    swap = (
        "update store.event set pos = -pos where part = 7",
        "update store.event set pos = 3 + pos where part = 7",
    )
    found = await audited(database, store, checkpoints, *swap)
    (broken,) = found.broken
    assert (broken.part, broken.pos, broken.seq) == (7, 1, 1)
    assert broken.what == "checkpoint 1 sealed other events: one of the positions 1 to 2 was changed, chain and all"


TAMPERED = {
    "a number": ("set number = 3 where number = 2", 3, "checkpoint 2 is missing"),
    "a time": ("set at_ms = at_ms + 1 where number = 2", 2, "the signature is not that of its content"),
    "the hash before": ("set previous = sha256(previous) where number = 2", 2, "the hash of the checkpoint before"),
    "the parts": ("set parts = 255 where number = 2", 2, "the signature is not that of its content"),
    "a root": ("set sealed = set_byte(sealed, 20, 1 - get_byte(sealed, 20)) where number = 2", 2, "the signature"),
    "a size": ("set sealed = set_byte(sealed, 9, 77) where number = 2", 2, "the signature is not that"),
    "half a part": ("set sealed = substr(sealed, 1, 50) where number = 2", 2, "cannot be read"),
    "a part left out": ("set sealed = substr(sealed, 1, 42) where number = 2", 2, "the signature is not that"),
    "a key": ("set key = sha256(key) where number = 2", 2, "it is signed with the key"),
    "a signature": (
        "set signature = signature || key where number = 2",
        2,
        "the s",
    ),
    "the first one's time": ("set at_ms = at_ms + 1 where number = 1", 1, "the signature is not that"),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_a_changed_checkpoint_is_named(
    database: Database, checkpoints: Checkpoints, store: EventStore, name: str
) -> None:
    change, number, what = TAMPERED[name]
    await sealed_log(store, checkpoints)
    found = await audited(database, store, checkpoints, f"update store.checkpoint {change}")
    broken = found.broken_checkpoints[0]
    assert what in broken.what
    assert broken.number == number or "cannot be read" in what
    assert str(found.first) == str(broken)


async def test_a_checkpoint_taken_out_is_found(database: Database, checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    found = await audited(database, store, checkpoints, "delete from store.checkpoint where number = 1")
    assert found.broken_checkpoints[0].what == "checkpoint 1 is missing"


async def test_a_changed_node_is_named_and_not_taken_for_an_event(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    await sealed_log(store, checkpoints)
    found = await audited(database, store, checkpoints, "update store.node set hash = sha256(hash)")
    (broken,) = found.broken
    assert broken.what == "the events are those that were sealed, but the kept node 0 of level 1 is another"


async def test_another_key_is_not_ours(database: Database, checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    kept = read_kept(msgspec.json.encode(document((await checkpoints.page(0, 1))[0])))
    async with Checkpoints(database.app_url, store.parts, Ed25519PrivateKey.generate()) as other:
        found = await audit(store, other, kept)
    assert [each.number for each in found.broken_checkpoints] == [1, 1, 2]
    assert "the kept one is signed with the key" in found.broken_checkpoints[0].what


async def test_processes_find_what_one_finds(database: Database, checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    by_owner(database, "update store.event set body = 'x' where part = 7 and pos = 290")
    seen: list[int] = []
    alone = await audit(store, checkpoints)
    many = await audit(store, checkpoints, progress=seen.append, processes=2)
    assert many == alone
    assert (alone.broken[0].pos, alone.broken[0].seq) == (290, 290)
    assert sum(seen) == 290


@pytest.mark.parametrize("table", ["checkpoint", "node"])
@pytest.mark.parametrize("what", ["update store.{} set {}", "delete from store.{}", "truncate store.{}"])
async def test_the_application_only_adds_to_them(
    database: Database, checkpoints: Checkpoints, store: EventStore, table: str, what: str
) -> None:
    await sealed_log(store, checkpoints)
    change = "at_ms = 0" if table == "checkpoint" else "idx = 0"
    with psycopg.connect(database.app_url, autocommit=True) as app, pytest.raises(errors.InsufficientPrivilege):
        app.execute(what.format(table, change).encode())
    assert (await audit(store, checkpoints)).is_intact


COLUMNS = {
    "pos": "pos + 1000",
    "part": "part + 1",
    "stream_id": "stream_id || 'x'",
    "seq": "seq + 1000",
    "command_id": "gen_random_uuid()",
    "idx": "idx + 100",
    "type": "type || 'x'",
    "version": "version + 1",
    "body": "body || ' '",
    "meta": "set_byte(meta, 3, 0)",
    "hash": "sha256(hash)",
}


@pytest.mark.parametrize("column", COLUMNS)
async def test_any_field_of_any_stored_event_is_bound(
    database: Database, checkpoints: Checkpoints, store: EventStore, column: str
) -> None:
    """Changed in turn: what is named is the event, or the place where it is missed."""
    for _ in range(2):
        await write(store, in_part(store, 7), 2, events=2)
    await checkpoints.seal(NOW)
    for pos in range(1, 9):
        with psycopg.connect(database.owner_url) as owner:
            owner.execute("create table public.kept as select * from store.event where part = 7 and pos = %s", (pos,))
            change = f"update store.event set {column} = {COLUMNS[column]} where part = 7 and pos = {pos}"
            owner.execute(change.encode())
            owner.commit()
            found = await audit(store, checkpoints)
            assert not found.is_intact, (column, pos)
            broken = next(each for each in found.broken if each.part == 7)
            if column in ("pos", "part"):
                assert broken.what in (f"position {pos} is missing", "the part's counter is 8, its last event 7")
            else:
                assert broken.pos == pos, broken
            owner.execute(
                "delete from store.event e using public.kept k where e.hash = k.hash or e.command_id = "
                "k.command_id and e.idx = k.idx or (e.part, e.pos) = (k.part, k.pos)"
            )
            owner.execute("insert into store.event select * from public.kept")
            owner.execute("drop table public.kept")
            owner.commit()
    assert (await audit(store, checkpoints)).is_intact


async def test_a_walking_process_that_is_ended_is_a_fault(checkpoints: Checkpoints, store: EventStore) -> None:
    await sealed_log(store, checkpoints)
    walking = asyncio.create_task(audit(store, checkpoints, processes=2))
    await until(lambda: len(multiprocessing.active_children()) > 0)
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(Fault, match="was ended from outside"):
        await walking
    assert (await audit(store, checkpoints)).is_intact


async def test_a_walk_whose_connection_is_lost_begins_the_part_again(
    database: Database, checkpoints: Checkpoints, store: EventStore
) -> None:
    await sealed_log(store, checkpoints)
    worker = _Worker(database.app_url, _Counter())
    assert isinstance(first := worker.walk(7, 256, b""), PartWalked)
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
            "and application_name = 'khrap'"
        )
    assert worker.walk(7, 256, b"") == first
    worker.close()
    assert _Worker("postgresql:///none?host=/nowhere", _Counter()).walk(7, 256, b"").startswith("connection is bad")  # type: ignore[union-attr]


def smaller(sealed: tuple[SealedPart, ...]) -> tuple[SealedPart, ...]:
    return (replace(sealed[0], size=sealed[0].size - 1), *sealed[1:])


def another(sealed: tuple[SealedPart, ...]) -> tuple[SealedPart, ...]:
    return (replace(sealed[0], root=bytes(32)), *sealed[1:])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (smaller, "it seals 302 events of part 7, one before it 303"),
        (lambda sealed: sealed[1:], "it seals 0 events of part 7, one before it 303"),
        (another, "it seals another tree of part 7 than one before it, of as many events"),
        (lambda sealed: (*sealed, sealed[-1]), "its parts are not in order"),
        (lambda sealed: sealed[::-1], "its parts are not in order"),
    ],
)
async def test_a_checkpoint_that_contradicts_those_before_is_found_though_it_is_signed(
    database: Database,
    checkpoints: Checkpoints,
    store: EventStore,
    change: Callable[[tuple[SealedPart, ...]], tuple[SealedPart, ...]],
    what: str,
) -> None:
    """Whoever holds the key can sign two stories, and not have both believed."""
    await sealed_log(store, checkpoints)
    last = await checkpoints.latest()
    assert last is not None
    third = signed(replace(last, number=3, previous=last.hash, sealed=change(last.sealed)), KEY)
    with psycopg.connect(database.app_url, autocommit=True) as app:
        app.execute("insert into store.checkpoint values (%s, %s, %s, %s, %s, %s, %s)", _row(third))
    found = await audit(store, checkpoints)
    assert [str(each) for each in found.broken_checkpoints] == [f"checkpoint 3: {what}"]
    assert not found.broken
