"""Where projections are kept in Postgres: rows, states, checkpoints, parked streams, and which version serves."""

from infra.projection_store.generations import Comparison, Generations, Snapshot, overtaken
from infra.projection_store.queries import FOLDER
from infra.projection_store.reader import ProjectionReader
from infra.projection_store.types import (
    Checkpoint,
    Definition,
    Difference,
    Generation,
    Law,
    Parked,
    Retaken,
    RowWrite,
    Shape,
    Standing,
    Stopped,
    StoredState,
    Work,
    WriteBroken,
    WriteRefused,
    WriteStale,
    schema_of,
)
from infra.projection_store.writer import ProjectionWriter

__all__ = [
    "FOLDER",
    "Checkpoint",
    "Comparison",
    "Definition",
    "Difference",
    "Generation",
    "Generations",
    "Law",
    "Parked",
    "ProjectionReader",
    "ProjectionWriter",
    "Retaken",
    "RowWrite",
    "Shape",
    "Snapshot",
    "Standing",
    "Stopped",
    "StoredState",
    "Work",
    "WriteBroken",
    "WriteRefused",
    "WriteStale",
    "overtaken",
    "schema_of",
]
