"""The store's SQL, which stands in `sql/`: one object or query a file."""

from pathlib import Path

SQL = Path(__file__).parent / "sql"


def query(name: str) -> bytes:
    """The text of `sql/queries/<name>.sql`."""
    return (SQL / "queries" / f"{name}.sql").read_bytes()
