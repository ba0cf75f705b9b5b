"""The world: event store, Postgres, Redis, keys, clock, entropy, settings, telemetry and the embedded servers."""
