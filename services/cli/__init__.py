"""The command line `khrap`. Source: DESIGN "The command line"."""

from services.cli.entry import main

__all__ = ["main"]
