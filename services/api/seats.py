"""Routes of who sits at a table: sit, leave, top up, sit out, come back, give a seed, act. Source: T2, T3, S2, H2."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, post

from domain.commands import Act, Fresh, Leave, Return, SetClientSeed, Sit, SitOut, TopUp
from services.api.bodies import ActionBody, ClientSeedBody, Nothing, SitBody, TopUpBody
from services.api.commanding import commanding, done
from services.api.forms import EXAMPLE_HAND, TableId
from services.api.roles import PLAYER
from services.api.writes import written
from services.play import types as play

Incoming = Request[Any, Any, Any]

HAND_CODES = (
    "hand_over",
    "not_in_hand",
    "not_your_turn",
    "not_offered",
    "card_not_held",
    "wrong_discard_count",
    "must_follow_suit",
    "must_trump",
    "stale_turn",
)


class Seats(Controller):
    """`/v1/tables/{table_id}`: what a player does there."""

    path = "/v1/tables/{table_id:str}"

    @post(
        "/seat",
        status_code=200,
        opt=commanding(
            "Sit down",
            PLAYER,
            (
                "already_seated",
                "below_entry_limit",
                "insufficient_funds",
                "no_account",
                "seat_taken",
                "table_full",
                "table_halted",
                "table_limit",
                "too_many_requests",
            ),
            body=SitBody,
            example={"buy_in": 40_000, "seat": 0},
        ),
    )
    async def sit(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T2."""
        asked, body = await written(request, SitBody)
        player = asked.caller.subject

        def make(at_ms: int, fresh: Fresh) -> Sit:
            return Sit(at_ms=at_ms, player=player, buy_in=body.buy_in, seat=body.seat, auto_top_up=body.auto_top_up)

        return await done(request, table_id, asked, make)

    @post("/leave", status_code=200, opt=commanding("Leave", PLAYER, ("not_seated", "not_offered"), body=Nothing))
    async def leave(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T3: at once, or after the hand for one who is dealt in."""
        asked, _ = await written(request, Nothing)
        player = asked.caller.subject
        return await done(request, table_id, asked, lambda at_ms, fresh: Leave(at_ms=at_ms, player=player))

    @post(
        "/top-up",
        status_code=200,
        opt=commanding(
            "Top up the purse",
            PLAYER,
            ("not_seated", "in_hand", "insufficient_funds", "no_account", "table_limit", "too_many_requests"),
            body=TopUpBody,
            example={"amount": 20_000},
        ),
    )
    async def top_up(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T3."""
        asked, body = await written(request, TopUpBody)
        player = asked.caller.subject
        return await done(
            request, table_id, asked, lambda at_ms, fresh: TopUp(at_ms=at_ms, player=player, amount=body.amount)
        )

    @post(
        "/sit-out",
        status_code=200,
        opt=commanding("Sit out", PLAYER, ("not_seated", "not_offered", "too_many_requests"), body=Nothing),
    )
    async def sit_out(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T3."""
        asked, _ = await written(request, Nothing)
        player = asked.caller.subject
        return await done(request, table_id, asked, lambda at_ms, fresh: SitOut(at_ms=at_ms, player=player))

    @post(
        "/return",
        status_code=200,
        opt=commanding("Come back", PLAYER, ("not_seated", "not_offered", "too_many_requests"), body=Nothing),
    )
    async def come_back(self, request: Incoming, table_id: TableId) -> play.Answer:
        """T3."""
        asked, _ = await written(request, Nothing)
        player = asked.caller.subject
        return await done(request, table_id, asked, lambda at_ms, fresh: Return(at_ms=at_ms, player=player))

    @post(
        "/client-seed",
        status_code=200,
        opt=commanding(
            "Give a seed for the next hand",
            PLAYER,
            ("not_seated", "not_offered", "too_many_requests"),
            body=ClientSeedBody,
            example={"client_seed": "6b1f0c55a2d94e01", "hand_id": EXAMPLE_HAND},
        ),
    )
    async def client_seed(self, request: Incoming, table_id: TableId) -> play.Answer:
        """S2: hidden until the hand starts."""
        asked, body = await written(request, ClientSeedBody)
        player = asked.caller.subject

        def make(at_ms: int, fresh: Fresh) -> SetClientSeed:
            return SetClientSeed(at_ms=at_ms, player=player, client_seed=body.client_seed, hand_id=body.hand_id)

        return await done(request, table_id, asked, make)

    @post(
        "/actions",
        status_code=200,
        opt=commanding(
            "Answer the open decision",
            PLAYER,
            ("not_seated", *HAND_CODES),
            body=ActionBody,
            example={"turn": 17, "do": "play", "card": "As"},
        ),
    )
    async def action(self, request: Incoming, table_id: TableId) -> play.Answer:
        """H2, without `seat`, which is the token's, and `by`, which is never the caller's."""
        asked, body = await written(request, ActionBody)
        player, action = asked.caller.subject, body.action()

        def make(at_ms: int, fresh: Fresh) -> Act:
            return Act(at_ms=at_ms, player=player, turn=body.turn, action=action, fresh=fresh)

        return await done(request, table_id, asked, make)
