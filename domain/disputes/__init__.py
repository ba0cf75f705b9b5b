"""Disputes of hands that are over: opened, judged, made good, closed. Pure. Source: rulebook R."""

from domain.disputes.decide import decide
from domain.disputes.dispute import Closed, Dispute, Judged, Open, Proposal
from domain.disputes.evolve import evolve

__all__ = ["Closed", "Dispute", "Judged", "Open", "Proposal", "decide", "evolve"]
