"""`khrap demo`: bots over HTTP, then the money and the chains checked. Source: DESIGN "The command line"."""

from services.demo.demo import Outcome, run_demo, too_many_players
from services.demo.summary import Player, Summary, print_summary

__all__ = ["Outcome", "Player", "Summary", "print_summary", "run_demo", "too_many_players"]
