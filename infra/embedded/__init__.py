"""PostgreSQL 18 and Valkey out of two wheels, started and stopped by our own small supervisor.

Nothing but Python has to be installed. Both listen on Unix sockets only; Postgres keeps its data between runs; both
stop when the last process that uses them is gone, however it went.
"""

from infra.embedded.servers import EmbeddedServers

__all__ = ["EmbeddedServers"]
