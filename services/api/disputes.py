"""Routes of disputes: open, list, view, note, verdict, compensation, correction, close, erase. Source: rulebook R."""

from __future__ import annotations

from typing import Any

from litestar import Controller, Request, Response, get, post
from litestar.params import FromQuery

from domain.disputes import Dispute, Open
from domain.disputes.commands import (
    AddNote,
    Approve,
    Close,
    DisputeCommand,
    Drop,
    EraseTexts,
    GiveVerdict,
    ProposeCompensation,
    ProposeCorrection,
    Withdraw,
)
from domain.disputes.dispute import dealt_in, due_ms
from domain.events import OpenedAs
from domain.refusal import Refused
from projections.disputes import disputes
from projections.hands.partners import dealt_into
from services.api.auth import caller_of
from services.api.bodies import Body, Nothing
from services.api.dispute_bodies import (
    CompensationBody,
    CorrectionBody,
    DisputeNow,
    DisputePage,
    EraseBody,
    NoteBody,
    OpenDisputeBody,
    Phase,
    VerdictBody,
)
from services.api.examining import no_seat
from services.api.forms import EXAMPLE_HAND, Cursor, DisputeId, HandId, Number, PageSize, PlayerId, ProposalNo
from services.api.house import house
from services.api.operation import Operation, described
from services.api.paging import check_cursor
from services.api.problems import Refusing, Rejection, unless_answered
from services.api.roles import COMPLIANCE, DISPUTERS, PLAYER, Rule
from services.api.writes import written
from services.disputes.service import Make, Seal
from services.disputes.types import CorrectionPreview, DisputeAnswer, DisputeRead
from services.play import types as play

Incoming = Request[Any, Any, Any]
SEATED = ("holds_seat",)
PARTY = ("not_impartial", *SEATED, "dispute_closed")


def _commanding(summary: str, rule: Rule, refusals: tuple[str, ...], body: type[Body], **more: Any) -> dict[str, Any]:
    operation = Operation(
        tag="disputes",
        summary=summary,
        rule=rule,
        answer=DisputeAnswer,
        writes=True,
        body=body,
        refusals=refusals,
        problems=("not_found",),
        **more,
    )
    return described(operation)


class Disputes(Controller):
    """`/v1/disputes`."""

    path = "/v1/disputes"

    @post(
        "/",
        opt=_commanding(
            "Dispute a hand",
            DISPUTERS,
            ("dispute_exists", "not_in_hand", "too_late", "not_impartial", "holds_seat"),
            OpenDisputeBody,
            status=201,
            description="Who was dealt into it, once, within 30 days of its end (R1); or compliance of its own accord.",
            example={"hand_id": EXAMPLE_HAND, "statement": "The third trick was mine: the trump was hearts."},
        ),
    )
    async def open_dispute(self, request: Incoming) -> Response[DisputeAnswer]:
        """R1: what was recorded of the hand is frozen with it."""
        asked, body = await written(request, OpenDisputeBody)
        rooms, caller = house(request).disputes, asked.caller
        hand = await rooms.hand(body.hand_id)
        mine = hand is not None and any(p.player == caller.subject for p in hand.players)
        if hand is None or (caller.role == "player" and not mine):
            raise Rejection("not_found", f"there is no hand {body.hand_id} that is over and yours to dispute")
        outcome = await rooms.open(asked, hand, body.statement, _as(caller))
        answered = _answered(outcome)
        return Response(answered, status_code=201, headers={"Location": f"/v1/disputes/{answered.dispute_id}"})

    @get(
        "/",
        opt=described(
            Operation(
                tag="disputes",
                summary="Disputes",
                description="What is overdue first, what is closed last, each by age. A player sees his own alone.",
                rule=DISPUTERS,
                answer=DisputePage,
                refusals=SEATED,
            )
        ),
    )
    async def list_disputes(
        self,
        request: Incoming,
        hand_id: FromQuery[HandId | None] = None,
        opener: FromQuery[PlayerId | None] = None,
        phase: FromQuery[Phase | None] = None,
        cursor: FromQuery[Cursor | None] = None,
        limit: FromQuery[PageSize] = 50,
    ) -> DisputePage:
        """Read from the projection, which may be a moment behind."""
        caller = caller_of(request)
        if caller.role == "player":
            if opener not in (None, caller.subject):
                raise Rejection("not_allowed", "a player sees the list of his own disputes alone")
            opener = caller.subject
        else:
            await no_seat(house(request), caller)
        check_cursor(cursor, tuple[bool, bool, Number, DisputeId])
        page = await disputes(
            house(request).reader, opener=opener, hand_id=hand_id, phase=phase, cursor=cursor, limit=limit
        )
        shown = page.items
        if caller.role != "player":
            # R2: of a hand that he was dealt into a reviewer does not see the dispute; so a page may be shorter.
            own = await dealt_into(house(request).reader, caller.subject, {row.hand_id for row in shown})
            shown = tuple(row for row in shown if row.hand_id not in own)
        return DisputePage(disputes=shown, next=page.next)

    @get(
        "/{dispute_id:str}",
        opt=described(
            Operation(
                tag="disputes",
                summary="A dispute and its course",
                description="Its opener sees what concerns him, compliance all. It holds no cards: see the hand.",
                rule=DISPUTERS,
                answer=DisputeNow,
                refusals=SEATED,
                problems=("not_found",),
            )
        ),
    )
    async def dispute(self, request: Incoming, dispute_id: DisputeId) -> DisputeNow:
        """R3, R6."""
        caller = caller_of(request)
        if caller.role != "player":
            await no_seat(house(request), caller)
        found = await house(request).disputes.read(dispute_id, _as(caller))
        if found is None or not _his(caller, found.dispute):
            raise _no_dispute(dispute_id)
        return _now(dispute_id, found)

    @post(
        "/{dispute_id:str}/notes",
        status_code=200,
        opt=_commanding(
            "Add a note",
            DISPUTERS,
            ("dispute_closed", "not_offered", "holds_seat"),
            NoteBody,
            example={"text": "Boris says so too.", "shared": True},
        ),
    )
    async def note(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R3."""
        asked, body = await written(request, NoteBody)
        name, role = asked.caller.subject, _as(asked.caller)
        reviewer = await _reviewer(request, dispute_id) if role == "reviewer" else None

        def make(at_ms: int, _: Dispute, seal: Seal) -> DisputeCommand:
            return AddNote(
                at_ms=at_ms, person=name, role=role, text=seal(body.text), shared=body.shared, reviewer=reviewer
            )

        return await _done(request, dispute_id, asked, make, writes=True, own=True)

    @post(
        "/{dispute_id:str}/withdraw",
        status_code=200,
        opt=_commanding("Withdraw one's dispute", PLAYER, ("dispute_closed", "not_offered"), Nothing),
    )
    async def withdraw(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R3: until there is a verdict."""
        asked, _ = await written(request, Nothing)
        name = asked.caller.subject
        return await _done(
            request, dispute_id, asked, lambda at_ms, _, __: Withdraw(at_ms=at_ms, person=name), own=True
        )

    @post(
        "/{dispute_id:str}/verdict",
        status_code=200,
        opt=_commanding(
            "Give the verdict",
            COMPLIANCE,
            (*PARTY, "not_offered"),
            VerdictBody,
            example={"outcome": "upheld", "text": "The trick was recorded for the wrong seat."},
        ),
    )
    async def verdict(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R2, R3."""
        asked, body = await written(request, VerdictBody)
        reviewer = await _reviewer(request, dispute_id)

        def make(at_ms: int, _: Dispute, seal: Seal) -> DisputeCommand:
            return GiveVerdict(at_ms=at_ms, reviewer=reviewer, outcome=body.outcome, text=seal(body.text))

        return await _done(request, dispute_id, asked, make, writes=True)

    @post(
        "/{dispute_id:str}/compensations",
        status_code=200,
        opt=_commanding(
            "Propose a compensation",
            COMPLIANCE,
            (*PARTY, "not_offered", "not_in_hand"),
            CompensationBody,
            description="Another reviewer must approve it (R4).",
            example={"player": "anna", "amount": 12_000, "text": "The share of the trick that was taken from her."},
        ),
    )
    async def compensation(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R4: the first signature."""
        asked, body = await written(request, CompensationBody)
        reviewer = await _reviewer(request, dispute_id)

        def make(at_ms: int, _: Dispute, seal: Seal) -> DisputeCommand:
            return ProposeCompensation(
                at_ms=at_ms, reviewer=reviewer, player=body.player, amount=body.amount, text=seal(body.text)
            )

        return await _done(request, dispute_id, asked, make, writes=True)

    @post(
        "/{dispute_id:str}/corrections",
        status_code=200,
        opt=_commanding(
            "Propose a correction",
            COMPLIANCE,
            (*PARTY, "not_offered", "nothing_to_correct"),
            CorrectionBody,
            description="Of a hand whose record differs from the rules; another reviewer must approve it (R5).",
            example={"text": "The share is a kopeck too large; the books have halted the table."},
        ),
    )
    async def correction(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R5: the first signature."""
        asked, body = await written(request, CorrectionBody)
        reviewer = await _reviewer(request, dispute_id)

        def make(at_ms: int, _: Dispute, seal: Seal) -> DisputeCommand:
            return ProposeCorrection(at_ms=at_ms, reviewer=reviewer, text=seal(body.text))

        return await _done(request, dispute_id, asked, make, writes=True)

    @get(
        "/{dispute_id:str}/correction",
        opt=described(
            Operation(
                tag="disputes",
                summary="What a correction would come to",
                description="For those who sign it: by rules and books alike, at the table as it stands (R5).",
                rule=COMPLIANCE,
                answer=CorrectionPreview,
                refusals=("nothing_to_correct", "not_offered", "in_hand", *SEATED),
                problems=("not_found",),
            )
        ),
    )
    async def preview(self, request: Incoming, dispute_id: DisputeId) -> CorrectionPreview:
        """R5: the figures follow from the rules, and are nobody's choice."""
        await no_seat(house(request), caller_of(request))
        rooms = house(request).disputes
        dispute = await rooms.dispute(dispute_id)
        if dispute is None or not _his(caller_of(request), dispute):
            raise _no_dispute(dispute_id)
        found = await rooms.correction(dispute_id, dispute)
        if isinstance(found, Refused):
            raise Refusing(play.Refusal(found, 0), shows_game=False)
        return found

    @post(
        "/{dispute_id:str}/proposals/{proposal:int}/approve",
        status_code=200,
        opt=_commanding(
            "Approve a proposal of another reviewer",
            COMPLIANCE,
            (*PARTY, "not_offered", "two_persons", "account_limit", "in_hand", "nothing_to_correct"),
            Nothing,
            description="A compensation is paid, a hand is put right and its halted table goes on.",
        ),
    )
    async def approve(self, request: Incoming, dispute_id: DisputeId, proposal: ProposalNo) -> DisputeAnswer:
        """R4, R5: the second signature, by another."""
        asked, _ = await written(request, Nothing)
        reviewer = await _reviewer(request, dispute_id)
        return await _done(
            request,
            dispute_id,
            asked,
            lambda at_ms, _, __: Approve(at_ms=at_ms, reviewer=reviewer, proposal=proposal),
        )

    @post(
        "/{dispute_id:str}/proposals/{proposal:int}/drop",
        status_code=200,
        opt=_commanding(
            "Take a proposal back, or decline another reviewer's", COMPLIANCE, (*PARTY, "not_offered"), Nothing
        ),
    )
    async def drop(self, request: Incoming, dispute_id: DisputeId, proposal: ProposalNo) -> DisputeAnswer:
        """R4, R5."""
        asked, _ = await written(request, Nothing)
        reviewer = await _reviewer(request, dispute_id)
        return await _done(
            request, dispute_id, asked, lambda at_ms, _, __: Drop(at_ms=at_ms, reviewer=reviewer, proposal=proposal)
        )

    @post(
        "/{dispute_id:str}/close",
        status_code=200,
        opt=_commanding("Close a dispute that is judged", COMPLIANCE, (*PARTY, "not_offered"), Nothing),
    )
    async def close(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R3."""
        asked, _ = await written(request, Nothing)
        reviewer = await _reviewer(request, dispute_id)
        return await _done(request, dispute_id, asked, lambda at_ms, _, __: Close(at_ms=at_ms, reviewer=reviewer))

    @post(
        "/{dispute_id:str}/erase",
        status_code=200,
        opt=_commanding(
            "Erase the texts of a closed dispute, for good",
            COMPLIANCE,
            ("not_impartial", "holds_seat", "not_offered", "texts_erased"),
            EraseBody,
            description=(
                "Its key is destroyed, 30 days after its close, by a reviewer who neither judged nor proposed in it. "
                "The events stay, and the chain verifies as before (R6)."
            ),
            example={"ground": "request"},
        ),
    )
    async def erase(self, request: Incoming, dispute_id: DisputeId) -> DisputeAnswer:
        """R6."""
        asked, body = await written(request, EraseBody)
        reviewer = await _reviewer(request, dispute_id)
        return await _done(
            request,
            dispute_id,
            asked,
            lambda at_ms, _, __: EraseTexts(at_ms=at_ms, reviewer=reviewer, ground=body.ground),
            own=True,
        )


def _as(caller: play.Caller) -> OpenedAs:
    return "player" if caller.role == "player" else "reviewer"


def _his(caller: play.Caller, dispute: Dispute) -> bool:
    """R2, R3: a player sees the disputes that he opened as one, a reviewer all but those of his own hands."""
    if caller.role == "player":
        return (dispute.role, dispute.opener) == ("player", caller.subject)
    return not dealt_in(dispute, caller.subject)


def _no_dispute(dispute_id: str) -> Rejection:
    return Rejection("not_found", f"there is no dispute {dispute_id} that is yours to see")


async def _reviewer(request: Incoming, dispute_id: str) -> Any:
    """R2: the caller as a reviewer of this dispute."""
    rooms = house(request).disputes
    dispute = await rooms.dispute(dispute_id)
    if dispute is None:
        raise _no_dispute(dispute_id)
    return await rooms.reviewer(caller_of(request).subject, dispute)


async def _done(
    request: Incoming, dispute_id: str, asked: play.Request, make: Make, *, writes: bool = False, own: bool = False
) -> DisputeAnswer:
    """Do it; `own`: only who may see the dispute is told that there is one."""
    rooms = house(request).disputes
    if own:
        dispute = await rooms.dispute(dispute_id)
        if dispute is None or not _his(asked.caller, dispute):
            raise _no_dispute(dispute_id)
    return _answered(await rooms.command(dispute_id, asked, make, writes=writes))


def _answered(outcome: object) -> DisputeAnswer:
    unless_answered(outcome, shows_game=False)
    assert isinstance(outcome, DisputeAnswer), outcome
    return outcome


def _now(dispute_id: str, found: DisputeRead) -> DisputeNow:
    dispute = found.dispute
    phase = dispute.phase
    return DisputeNow(
        dispute_id=dispute_id,
        version=found.version,
        hand_id=dispute.hand_id,
        table_id=dispute.table_id,
        currency=dispute.currency,
        opener=dispute.opener,
        role=dispute.role,
        players=tuple(p.player for p in dispute.players),
        opened_ms=dispute.opened_ms,
        phase=phase.__struct_config__.tag,  # type: ignore[arg-type]
        outcome=None if isinstance(phase, Open) else phase.outcome,
        due_ms=due_ms(dispute),
        overdue=phase.overdue if isinstance(phase, Open) else 0,
        corrected=dispute.corrected,
        erased=dispute.erased,
        entries=found.entries,
    )
