"""The HTTP API: routes, problems, roles, idempotency and event streams. Source: DESIGN "The API"."""
