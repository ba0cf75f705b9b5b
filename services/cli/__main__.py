"""`python -m services.cli` is `khrap`."""

from services.cli.entry import main

main()
