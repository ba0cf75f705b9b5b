"""`python -m infra.embedded COMMAND …`: a program, such as PostgreSQL's own tools, on the servers of KHRAP_HOME.

They are started where they do not run. The tools are on its PATH, and connect as the owner without being told where.
"""

import os
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

from infra.embedded.binaries import binaries_for
from infra.embedded.postgres import DATABASE, OWNER
from infra.embedded.privileges import server_account
from infra.embedded.servers import EmbeddedServers
from infra.faults import Fault
from infra.settings import read_settings

CANNOT = 2


def main(command: list[str]) -> int:
    """Run it; its exit code."""
    if not command:
        sys.stderr.write("error: name a command, such as psql, pg_dump or pg_basebackup, with its arguments\n")
        return CANNOT
    try:
        home = read_settings().home_folder
        with EmbeddedServers.start(home) as servers:
            tools = binaries_for(server_account(home / "postgres")).postgres
            given = {
                "PATH": f"{tools}:{os.environ.get('PATH', os.defpath)}",
                "PGHOST": parse_qs(urlsplit(servers.postgres_url).query)["host"][0],
                "PGUSER": OWNER,
                "PGDATABASE": DATABASE,
            }
            return subprocess.run(command, env=os.environ | given, check=False).returncode
    except (Fault, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return CANNOT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
