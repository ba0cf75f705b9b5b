"""The load generator, a process of its own: callers who act at tables, or call a no-op, as fast as they are answered.

It reads JSON lines on standard input: first a `Plan`, then a `Window` at a time, and answers each with a `Result`.
Between windows it stands still in the middle of the hands that it plays.
"""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from services.bench.course import Course
from services.bots.bot import choose
from services.bots.wire import Wire

POLL_S = (0.002, 0.02)
"""How soon a table is looked at again while the steward has not started its next hand yet; twice as late each time."""
NOOP_BODY = b'{"turn":17,"do":"play","card":"As"}'

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


Way = Literal["actions", "noop"]


class PlanTable(Struct, frozen=True):
    """A table: its id, and the bearer tokens of its players."""

    table_id: str
    tokens: tuple[str, ...]


class Plan(Struct, frozen=True):
    """Where the service is, which tables there are, their stake, what tops a purse up, and the path of the no-op."""

    host: str
    port: int
    stake: int
    top_up: int
    tables: tuple[PlanTable, ...]
    noop: str


class Window(Struct, frozen=True):
    """What to do, for how long, and how much of it a second at most, all callers together; None for all they can."""

    do: Way
    seconds: float
    most_per_s: float | None = None


class Result(Struct, frozen=True):
    """What was done: how much of it in how many seconds, how many views were read beside it, and each one's time."""

    count: int
    seconds: float
    reads: int
    latencies_ms: list[float]


class Pace:
    """Lets callers go on one after another, so many a second; who comes late does not make up for it."""

    def __init__(self, most_per_s: float) -> None:
        self._each_s = 1 / most_per_s
        self._next = time.perf_counter()

    async def __call__(self) -> None:
        """Wait for one's turn."""
        now = time.perf_counter()
        self._next = max(self._next + self._each_s, now)
        await asyncio.sleep(self._next - now)


async def at_once() -> None:
    """No pace."""


class Refused(Exception):
    """The service said no to what should be right: the measurement is void."""


class Caller:
    """One table's players, who act one after another as the game has it: one caller at a time."""

    def __init__(self, plan: Plan, table: PlanTable) -> None:
        self._plan = plan
        self._table = table
        self._path = f"/v1/tables/{table.table_id}"
        self._chance = random.Random(table.table_id)  # noqa: S311 (choices at play)
        self._wires: list[Wire] = []
        self._by_seat: dict[int, Wire] = {}
        self._course: Course | None = None
        self._hand_id = ""
        self._turn = 0
        self._keys = 0
        self.pace: Callable[[], Awaitable[None]] = at_once
        self.reads = 0

    async def connect(self) -> None:
        """A connection for each player."""
        for token in self._table.tokens:
            headers = f"Authorization: Bearer {token}\r\n"
            self._wires.append(await Wire.connect(self._plan.host, self._plan.port, headers))

    async def act(self, until: float, latencies: list[float]) -> None:
        """Act until then, by `perf_counter`; each action's time in seconds goes into `latencies`.

        What leaves one choice is done before standing still: the clock gives it a second only (T11).
        """
        while time.perf_counter() < until or (self._course is not None and self._course.is_forced):
            course = self._course
            seat = None if course is None else course.asked
            if course is None or seat is None:
                await self._join_next_hand(until)
                continue
            await self.pace()
            answer = await self._post(self._by_seat[seat], self._turn, course.choose(self._chance), latencies)
            if answer is None:
                await self._play_out(latencies)
                continue
            self._turn = answer["turn"]
            course.take(answer["events"])
            if course.over:
                await self._top_up(answer["events"])

    async def _post(
        self, wire: Wire, turn: int, action: dict[str, Any], latencies: list[float]
    ) -> dict[str, Any] | None:
        """The answer to an action; None where the clock was faster, which is no action of ours."""
        self._keys += 1
        began = time.perf_counter()
        answer = await wire.post(f"{self._path}/actions", _encode({"turn": turn, **action}), f"bench-{self._keys}")
        if answer.is_success:
            latencies.append(time.perf_counter() - began)
            return _decode(answer.body)
        if _decode(answer.body).get("code") != "stale_turn":
            raise Refused(f"{answer.status} to {action} of turn {turn}: {answer.body.decode()[:500]}")
        return None

    async def _top_up(self, events: list[dict[str, Any]]) -> None:
        """T3: whoever the hand has left without the stake."""
        for event in events:
            if event["type"] == "hand_settled":
                for player in event["result"]["players"]:
                    if player["purse"] < self._plan.stake:
                        self._keys += 1
                        body = _encode({"amount": self._plan.top_up})
                        wire = self._by_seat[player["seat"]]
                        answer = await wire.post(f"{self._path}/top-up", body, f"bench-{self._keys}")
                        if not answer.is_success:
                            raise Refused(f"{answer.status} to a top-up: {answer.body.decode()[:500]}")

    async def _play_out(self, latencies: list[float]) -> None:
        """Play the rest of a hand that the clock has had a part in, asking before each action."""
        self._course = None
        while (view := await self._view(self._wires[0]))["hand"]["phase"] != "over":
            wire = self._by_seat[view["turn"]["seat"]]
            own = (await self._view(wire))["you"]
            if own["legal_actions"]:
                await self._post(wire, view["turn"]["turn"], choose(own["legal_actions"], self._chance), latencies)

    async def call(self, until: float, latencies: list[float]) -> None:
        """Call the no-op until then."""
        now = time.perf_counter
        while now() < until:
            self._keys += 1
            began = now()
            answer = await self._wires[0].post(self._plan.noop, NOOP_BODY, f"bench-{self._keys}")
            latencies.append(now() - began)
            if not answer.is_success:
                raise Refused(f"{answer.status} to the no-op: {answer.body.decode()[:500]}")

    async def _join_next_hand(self, until: float) -> None:
        """Wait for the steward's next deal, and have each player see his cards, all at the same time."""
        view = await self._view(self._wires[0])
        pause_s = POLL_S[0]
        while not self._is_new(view["hand"]):
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, POLL_S[1])
            if time.perf_counter() >= until:
                return
            view = await self._view(self._wires[0])
        hand = view["hand"]
        cards = {}
        views = [view, *await asyncio.gather(*[self._view(wire) for wire in self._wires[1:]])]
        for wire, own in zip(self._wires, [each["you"] for each in views], strict=True):
            self._by_seat[own["seat"]] = wire
            if own["cards"] is not None:
                cards[own["seat"]] = own["cards"]
        order = [player["seat"] for player in hand["players"]]
        self._hand_id, self._turn = f"{hand['hand_id']}/{hand['deal_no']}", view["turn"]["turn"]
        self._course = Course(order, hand["dealer"], hand["trump_card"], {seat: cards[seat] for seat in order})

    def _is_new(self, hand: dict[str, Any] | None) -> bool:
        """Whether it is a deal that this caller has not played."""
        if hand is None or hand["phase"] != "declaring":
            return False
        return f"{hand['hand_id']}/{hand['deal_no']}" != self._hand_id

    async def _view(self, wire: Wire) -> dict[str, Any]:
        self.reads += 1
        answer = await wire.get(self._path)
        if not answer.is_success:
            raise Refused(f"{answer.status} to a view: {answer.body.decode()[:500]}")
        return _decode(answer.body)


async def measure(callers: list[Caller], window: Window) -> Result:
    """All callers at once, for one window."""
    latencies: list[float] = []
    reads = sum(caller.reads for caller in callers)
    began = time.perf_counter()
    until = began + window.seconds
    pace = at_once if window.most_per_s is None else Pace(window.most_per_s)
    for caller in callers:
        caller.pace = pace
    async with asyncio.TaskGroup() as group:
        for caller in callers:
            work = caller.act if window.do == "actions" else caller.call
            group.create_task(work(until, latencies))
    taken_s = time.perf_counter() - began
    return Result(
        count=len(latencies),
        seconds=taken_s,
        reads=sum(caller.reads for caller in callers) - reads,
        latencies_ms=[round(each * 1_000, 3) for each in latencies],
    )


async def main() -> None:
    """Serve the lines of standard input until it ends."""
    loop = asyncio.get_running_loop()
    plan = msgspec.json.decode(await loop.run_in_executor(None, sys.stdin.readline), type=Plan)
    callers = [Caller(plan, table) for table in plan.tables]
    for caller in callers:
        await caller.connect()
    gc.freeze()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        result = await measure(callers, msgspec.json.decode(line, type=Window))
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
