"""The plain reference of the append benchmark: PostgreSQL's own `pgbench`, one INSERT a transaction.

It is the least that a durable write can cost with as many clients: a table with a serial key and one column, the
statement prepared, no version, no command id, no chain.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from infra.embedded.binaries import binaries_for
from infra.embedded.privileges import server_account
from infra.faults import Fault

TABLE = "create table if not exists reference (id bigint generated always as identity primary key, row text not null)"
INSERT = "insert into reference (row) values (:row)"
ATTEMPTS = 3
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)


async def insert_rate(url: str, clients: int, seconds: int, row_bytes: int) -> float:
    """Transactions a second, each one prepared INSERT of a row of `row_bytes`, from `clients` connections at once.

    `url` is an owner's; connecting is not counted. Raises `Fault("pgbench")` with what pgbench said.
    """
    # Its clock runs while it connects, which its rate leaves out: time for that is added, and more on a busy machine.
    runs_s = seconds + clients // 64
    with tempfile.TemporaryDirectory() as folder:
        await _pgbench(url, Path(folder), TABLE, ["-t", "1", "-c", "1"])
        options = ["-M", "prepared", "-c", str(clients), "-j", str(min(clients, 2)), "-D", f"row={'x' * row_bytes}"]
        said = ""
        for _ in range(ATTEMPTS):
            said = await _pgbench(url, Path(folder), INSERT, [*options, "-T", str(runs_s)])
            match = _TPS.search(said)
            if match is not None and float(match[1]) > 0:
                return float(match[1])
            runs_s *= 2
    raise Fault("pgbench", said)


async def _pgbench(url: str, folder: Path, statement: str, options: list[str]) -> str:
    script = folder / "script.sql"
    script.write_text(statement + ";\n")
    program = binaries_for(server_account(folder / "none")).postgres / "pgbench"
    process = await asyncio.create_subprocess_exec(
        program, "-n", "-f", script, *options, url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said = (await process.communicate())[0].decode()
    if process.returncode != 0:
        raise Fault("pgbench", said)
    return said
