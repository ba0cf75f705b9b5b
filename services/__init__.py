"""What users touch: command handling, the steward, the HTTP API, the command line, the pages."""
