"""Time never goes back; ids sort as they were made, and are UUIDv7 by RFC 9562."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.clock import ManualClock, SystemClock, from_rfc3339, rfc3339
from infra.entropy import SeededEntropy, SystemEntropy, UuidSequence

LATEST_MS = 253402300799999  # the end of the year 9999


def test_the_clock_stands_still_while_the_system_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([5_000_000_000, 3_000_000_000, 6_000_000_000])
    monkeypatch.setattr("time.time_ns", lambda: next(readings))
    clock = SystemClock()
    assert [clock.now_ms() for _ in range(3)] == [5000, 5000, 6000]


def test_a_manual_clock_goes_where_it_is_put() -> None:
    clock = ManualClock(1000)
    clock.advance(5)
    assert clock.now_ms() == 1005


def test_a_time_is_written_to_the_millisecond() -> None:
    assert rfc3339(1767323045678) == "2026-01-02T03:04:05.678Z"
    assert rfc3339(0) == "1970-01-01T00:00:00.000Z"


@given(st.integers(min_value=0, max_value=LATEST_MS))
def test_a_time_is_read_back_as_it_was(at_ms: int) -> None:
    assert from_rfc3339(rfc3339(at_ms)) == at_ms


@pytest.mark.parametrize(
    "text", ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.67Z", "2026-01-02T03:04:05.678+01:00", ""]
)
def test_a_time_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|match"):
        from_rfc3339(text)


@given(st.lists(st.tuples(st.integers(0, 3), st.binary(min_size=16, max_size=16)), max_size=50))
def test_rfc9562_ids_of_one_source_sort_as_they_were_made(steps: list[tuple[int, bytes]]) -> None:
    sequence, at_ms, made = UuidSequence(), 1767323045678, []
    for forward_ms, chance in steps:
        at_ms += forward_ms - 1  # the clock may stand, or be set back
        made.append(sequence.next(at_ms, chance))
    assert made == sorted(set(made))


def test_rfc9562_an_id_holds_its_time_version_and_variant() -> None:
    made = UUID(SystemEntropy().uuid7(1767323045678))
    assert (made.int >> 80, made.version, made.variant) == (1767323045678, 7, "specified in RFC 4122")


def test_rfc9562_when_a_milliseconds_ids_are_used_up_the_next_is_begun() -> None:
    sequence = UuidSequence()
    sequence.next(1, b"\xff" * 16)
    sequence._random = (1 << 74) - 1
    assert UUID(sequence.next(1, b"\xff" * 16)).int >> 80 == 2


def test_seeded_entropy_repeats_itself() -> None:
    first, second = SeededEntropy("a"), SeededEntropy("a")
    assert [first.random_bytes(32), first.uuid7(5)] == [second.random_bytes(32), second.uuid7(5)]
    assert first.random_bytes(32) != first.random_bytes(32)
    assert SeededEntropy("b").random_bytes(32) != SeededEntropy("a").random_bytes(32)
