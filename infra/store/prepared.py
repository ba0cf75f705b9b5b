"""One prepared statement, called over and over on a connection of its own: the write path's way to Postgres.

psycopg's cursor costs 120 µs of processor time a call with 18 parameters, this 25 µs; a commit's whole round trip takes
some 400 µs. Connecting, errors and anything out of the ordinary are still psycopg's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import psycopg
from psycopg import AsyncConnection, generators
from psycopg.abc import PQGen
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from infra.store.arrays import Binary
from infra.store.connect import connect

NAME = b"khrap"
BINARY = 1


class PreparedStatement:
    """Parameters and results are in PostgreSQL's binary form. One call at a time."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self.connection = connection
        self._pgconn = connection.pgconn

    @classmethod
    async def open(cls, url: str, statement: bytes) -> Self:
        """Connect as the application's role and have the statement prepared. Raises psycopg's errors."""
        prepared = cls(await connect(url))
        try:
            prepared._pgconn.send_prepare(NAME, statement)
            prepared._check(await prepared._results())
        except BaseException:
            await prepared.close()
            raise
        return prepared

    async def close(self) -> None:
        """Disconnect, whatever is under way."""
        await self.connection.close()

    async def __call__(self, parameters: Sequence[Binary], timeout_s: float) -> PGresult:
        """The statement's result. Raises psycopg's errors, and TimeoutError, after which the connection is useless."""
        self._pgconn.send_query_prepared(NAME, parameters, [BINARY] * len(parameters), BINARY)
        if self._pgconn.flush() != 0:
            # More than the socket takes at once: large, rare, and psycopg's to send and receive at the same time.
            async with asyncio.timeout(timeout_s):
                return self._check(await self._results())
        return self._check(await self._answer(timeout_s))

    async def _answer(self, timeout_s: float) -> list[PGresult]:
        """All results, up to the server's word that it is ready for the next call: by then it has committed."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[list[PGresult]] = loop.create_future()
        results: list[PGresult] = []
        socket = self._pgconn.socket
        is_reading = True

        def stop() -> None:
            nonlocal is_reading
            if is_reading:
                is_reading = False
                loop.remove_reader(socket)

        def read() -> None:
            if answered.done():
                return
            try:
                self._pgconn.consume_input()
                # Only what is here is taken: for anything else libpq would wait, and this whole process with it.
                while not self._pgconn.is_busy():
                    result = self._pgconn.get_result()
                    if result is None:
                        stop()
                        answered.set_result(results)
                        return
                    results.append(result)
            except psycopg.Error as error:
                # At once: where the connection is lost libpq has closed the socket, whose number is soon another's.
                stop()
                answered.set_exception(error)

        def expire() -> None:
            if not answered.done():
                stop()
                answered.set_exception(TimeoutError(f"no answer from Postgres within {timeout_s:.0f} s"))

        loop.add_reader(socket, read)
        expiry = loop.call_later(timeout_s, expire)
        try:
            return await answered
        finally:
            expiry.cancel()
            stop()

    async def _results(self) -> list[PGresult]:
        execution: PQGen[list[PGresult]] = generators.execute(self._pgconn)
        return await self.connection.wait(execution)

    def _check(self, results: Sequence[PGresult]) -> PGresult:
        for result in results:
            if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                error = psycopg.errors.error_from_result(result)
                if error.sqlstate is None:  # libpq's own word, not the server's: the connection was lost
                    raise psycopg.OperationalError(str(error))
                raise error
        if not results:
            raise psycopg.OperationalError("the connection was lost")
        return results[-1]
