"""The hand file `khrap-hand/1`: read, replayed, compared, redacted and written. Source: rulebook H."""

from __future__ import annotations

from domain.handfile.checking import Report, check, differences
from domain.handfile.exporting import from_events, to_json
from domain.handfile.file import Audience, FileAction, Finding, HandFile, HandFileError
from domain.handfile.parsing import parse
from domain.handfile.redacting import redact
from domain.handfile.replaying import Step
from domain.handfile.showing import replay
from domain.handfile.shuffles import check_shuffles, holds_shuffles, parse_shuffles
from domain.handfile.splitting import Piece, split

__all__ = [
    "Audience",
    "FileAction",
    "Finding",
    "HandFile",
    "HandFileError",
    "Piece",
    "Report",
    "Step",
    "check",
    "check_shuffles",
    "differences",
    "from_events",
    "holds_shuffles",
    "parse",
    "parse_shuffles",
    "redact",
    "replay",
    "split",
    "to_json",
]
