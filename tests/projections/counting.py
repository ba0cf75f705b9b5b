"""A small projection for tests of the engine: counts events, remembers the last number of each stream, may refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from domain.events import EVENTS, Event
from projections.engine.types import Add, CannotApply, Change, Insert, Projection, Put, Recorded

DDL = """
create table seen (stream text collate "C", seq bigint, type text not null, primary key (stream, seq));
create table last (stream text collate "C" primary key, seq bigint not null);
create table tally (
    type text collate "C" primary key,
    events bigint not null default 0,
    numbers bigint not null default 0
);
"""


class Last(Struct, frozen=True):
    """The last number of a stream."""

    seq: int = 0


Refuse = Callable[[Recorded], bool]


def counting(
    name: str = "counting",
    refuse: Refuse = lambda recorded: False,
    events: tuple[type[Event], ...] = EVENTS,
    version: int = 1,
) -> Projection[Last]:
    """Every event is a row, a state and a sum; one applied twice, passed over or out of order shows.

    Where `refuse` says so the event cannot be applied.
    """

    def step(state: Last, recorded: Recorded) -> tuple[Last, list[Change]]:
        if refuse(recorded):
            raise CannotApply("refused", "the test wants it so")
        assert recorded.seq == state.seq + 1, f"{recorded.stream}: {recorded.seq} after {state.seq}"
        kind = str(type(recorded.event).__struct_config__.tag)
        changes: list[Change] = [
            Insert("seen", {"stream": recorded.stream, "seq": recorded.seq, "type": kind}),
            Put("last", {"stream": recorded.stream, "seq": recorded.seq}),
            Add("tally", {"type": kind}, {"events": 1, "numbers": recorded.seq}),
        ]
        return Last(recorded.seq), changes

    return Projection(
        name=name,
        version=version,
        ddl=DDL,
        streams=("table-", "account-"),
        handles=events,
        state=Last,
        initial=Last(),
        step=step,
    )


def rejecting(name: str, reject: Refuse) -> Projection[Any]:
    """Makes rows that Postgres does not take where `reject` says so."""

    def step(state: None, recorded: Recorded) -> tuple[None, list[Change]]:
        number = 2**63 if reject(recorded) else recorded.seq
        return None, [Insert("seen", {"stream": recorded.stream, "seq": number, "type": "any"})]

    return Projection(
        name=name,
        version=1,
        ddl=DDL,
        streams=("table-",),
        handles=EVENTS,
        state=None,
        initial=None,
        step=step,
    )
