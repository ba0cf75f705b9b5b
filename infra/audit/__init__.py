"""Signed checkpoints of the log, proofs from its trees, and the walk that holds the log against them."""

from infra.audit.auditing import Audited, BrokenCheckpoint, audit
from infra.audit.checkpoint import Checkpoint, CheckpointError, SealedPart, read_document, read_kept
from infra.audit.checkpoints import Checkpoints, Consistency, Inclusion, NotSealed

__all__ = [
    "Audited",
    "BrokenCheckpoint",
    "Checkpoint",
    "CheckpointError",
    "Checkpoints",
    "Consistency",
    "Inclusion",
    "NotSealed",
    "SealedPart",
    "audit",
    "read_document",
    "read_kept",
]
