"""Bots: players who know nothing but the HTTP API and what it offers them. Source: DESIGN "Who uses it"."""

from services.bots.bot import Bot
from services.bots.client import Client, Problem

__all__ = ["Bot", "Client", "Problem"]
