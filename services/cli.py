"""The command line `khrap`."""

import sys


def main() -> None:
    """Entry point of the console script; the subcommands come with the services."""
    print("khrap: no subcommand is there yet", file=sys.stderr)
    sys.exit(2)
