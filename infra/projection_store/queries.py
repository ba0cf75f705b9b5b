"""The SQL of this package, which stands in `sql/`: one statement or script a file."""

from functools import lru_cache
from pathlib import Path

from infra.store.migrate import Folder

SQL = Path(__file__).parent / "sql"
FOLDER = Folder("projections", SQL / "migrations")
"""The migrations of the registry; the projections themselves are made by `ProjectionWriter.define`."""


@lru_cache
def query(name: str) -> bytes:
    """The text of `sql/<name>`."""
    return (SQL / name).read_bytes()


def one_line(error: Exception) -> str:
    """The server's or the driver's message, which may have several lines, as one."""
    return " ".join(str(error).split())
