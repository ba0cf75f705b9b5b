"""Disputes: a command's way from a caller to the log, with the texts sealed and the money moved. Source: rulebook R."""
