"""What a dispute does to accounts and tables, in the append that decides it: pay, put a hand right. Source: R4, R5."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from domain.commands import Compensate, CorrectHand
from domain.decide import decide
from domain.disputes import Dispute
from domain.disputes.dispute import Proposal, proposal_of
from domain.events import CorrectionProposed, DisputeEvent, HandCorrected, ProposalApproved
from domain.refusal import Refused
from infra.codec import Codec
from infra.store import EventStore
from services.disputes.correcting import correctable
from services.disputes.types import Corrected, CorrectionPreview, EndedHand
from services.play.service import Play, table_stream
from services.play.writing import Draft, StreamDraft


class Money:
    """The money of disputes. `hand` finds a hand that is over."""

    def __init__(
        self, store: EventStore, codec: Codec, play: Play, hand: Callable[[str], Awaitable[EndedHand | None]]
    ) -> None:
        self._store = store
        self._codec = codec
        self._play = play
        self._hand = hand

    async def include(
        self, draft: Draft, dispute_id: str, dispute: Dispute, events: Sequence[DisputeEvent], at_ms: int
    ) -> Refused | None:
        """R4, R5: what an approved proposal does to accounts and table, in the same append; or why it cannot.

        A correction is not even proposed where there is nothing to correct.
        """
        for event in events:
            if isinstance(event, CorrectionProposed):
                hand = await self._hand(dispute.hand_id)
                assert hand is not None, dispute.hand_id
                found = await correctable(self._store, self._codec, hand)
                return found if isinstance(found, Refused) else None
            if not isinstance(event, ProposalApproved):
                continue
            proposal = proposal_of(dispute, event.proposal)
            assert proposal is not None, event
            if proposal.kind == "compensation":
                command = Compensate(at_ms=at_ms, dispute_id=dispute_id, amount=proposal.amount)
                return await self._play.accounts.include(draft, proposal.player, dispute.currency, command, at_ms)
            return await self._correct(draft, dispute_id, dispute, proposal, event.reviewer, at_ms)
        return None

    async def _correct(
        self, draft: Draft, dispute_id: str, dispute: Dispute, proposal: Proposal, approver: str, at_ms: int
    ) -> Refused | None:
        reviewers = (proposal.reviewer, approver)
        corrected = await self._corrected(dispute_id, dispute, reviewers, at_ms)
        if isinstance(corrected, Refused):
            return corrected
        table, at_ms = corrected.table, max(at_ms, corrected.table.at_ms)
        # Where the table has grown since it was folded, the append finds it elsewhere and all is decided anew.
        to: StreamDraft = draft.stream(table_stream(dispute.table_id), corrected.version, corrected.hash)
        draft.add(to, corrected.events, at_ms)
        return await self._play.accounts.move(draft, table, corrected.events, dispute.table_id, at_ms)

    async def correction(self, dispute_id: str, dispute: Dispute, at_ms: int) -> CorrectionPreview | Refused:
        """R5: what a correction would come to at that moment, for those who sign it. Raises Fault."""
        corrected = await self._corrected(dispute_id, dispute, ("", ""), at_ms)
        if isinstance(corrected, Refused):
            return corrected
        event = corrected.events[0]
        assert isinstance(event, HandCorrected)
        return CorrectionPreview(
            hand_id=event.hand_id,
            basis=event.basis,
            recorded=corrected.recorded,
            result=event.result,
            players=event.players,
            bank_due=event.bank_due,
            bank_moved=event.bank_moved,
            commission_due=event.commission_due,
            resumes=event.resumes,
        )

    async def _corrected(
        self, dispute_id: str, dispute: Dispute, reviewers: tuple[str, str], at_ms: int
    ) -> Corrected | Refused:
        """The table as it is now, and the events by which the hand is put right there."""
        hand = await self._hand(dispute.hand_id)
        assert hand is not None, dispute.hand_id
        current = await self._play.table(dispute.table_id)
        assert current is not None, dispute.table_id
        version, table = current
        found = await correctable(self._store, self._codec, hand, version)
        if isinstance(found, Refused):
            return found
        assert found.version == version, (found.version, version)
        events = decide(
            table,
            CorrectHand(
                at_ms=max(at_ms, table.at_ms),
                hand_id=hand.hand_id,
                dispute_id=dispute_id,
                reviewers=reviewers,
                basis=found.dispute.basis,
                players=hand.players,
                recorded=found.dispute.recorded,
                right=found.dispute.right,
                resumes=found.is_last,
                corrected=found.corrected,
            ),
        )
        if isinstance(events, Refused):
            return events
        return Corrected(version, found.hash, table, found.dispute.recorded, events)
