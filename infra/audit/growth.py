"""That a log only grew between two checkpoints, for who kept the earlier one. Source: RFC 6962, section 2.1.2."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from infra.audit.checkpoint import Checkpoint, CheckpointDocument, Hash, document


class Growth(Struct, frozen=True, kw_only=True):
    """The log of checkpoint `first` is the beginning of that of `second`: `paths` of the parts that grew since."""

    first: Checkpoint
    second: Checkpoint
    paths: dict[int, tuple[bytes, ...]]


class PartPath(Struct, frozen=True, kw_only=True):
    """The consistency proof of a part's two trees (RFC 6962), whose sizes and roots the checkpoints say."""

    part: Annotated[int, Meta(ge=0, le=32_766)]
    path: tuple[Hash, ...]


class GrowthDocument(Struct, frozen=True, kw_only=True):
    """Two whole checkpoints and, for each part that `first` seals and that grew since, its path, by part.

    `khrap audit check-consistency` checks it, or `verifier.py` alone.
    """

    format: Literal["khrap-consistency/1"] = "khrap-consistency/1"
    first: CheckpointDocument
    second: CheckpointDocument
    paths: tuple[PartPath, ...]


def growth_document(growth: Growth) -> GrowthDocument:
    """As JSON has it."""
    return GrowthDocument(
        first=document(growth.first),
        second=document(growth.second),
        paths=tuple(
            [PartPath(part=part, path=tuple([h.hex() for h in path])) for part, path in sorted(growth.paths.items())]
        ),
    )
