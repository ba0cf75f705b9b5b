"""Making, reading and destroying the keys of disputes; sealing texts under them. Source: rulebook R6.

A key is read anew for each use and kept by no process: once it is destroyed, nobody has it.
"""

from __future__ import annotations

import base64
import hmac
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from infra.entropy import Entropy
from infra.faults import Fault
from infra.sealing import KEY_BYTES, NONCE_BYTES, Sealer, place
from infra.store.connect import Unavailable, reason
from infra.store.connections import Connections
from infra.store.migrate import Folder

SQL = Path(__file__).parent / "sql"
FOLDER = Folder("dispute", SQL / "migrations")
MAKE = (SQL / "queries" / "make.sql").read_bytes()
GET = (SQL / "queries" / "get.sql").read_bytes()
ERASE = (SQL / "queries" / "erase.sql").read_bytes()
CONNECTIONS = 2
ATTEMPTS = 3
PAD_TO = 256
"""Texts are padded to a multiple of this, so that their lengths tell little."""


class DisputeKey:
    """The key of one dispute, for the moment."""

    def __init__(self, key: bytes, entropy: Entropy) -> None:
        self._key = key
        self._cipher = AESGCM(key)
        self._entropy = entropy

    def seal(self, stream: str, seq: int, text: str) -> str:
        """`text` sealed for its place in the log, in base64."""
        nonce = self._entropy.random_bytes(NONCE_BYTES)
        content = text.encode()
        padded = content + b"\0" * (-len(content) % PAD_TO)
        return base64.b64encode(nonce + self._cipher.encrypt(nonce, padded, place(stream, seq))).decode()

    def open(self, stream: str, seq: int, sealed: str) -> str:
        """The text that was sealed for this place. Raises Fault(`seal_broken`)."""
        try:
            content = base64.b64decode(sealed, validate=True)
            return (
                self._cipher.decrypt(content[:NONCE_BYTES], content[NONCE_BYTES:], place(stream, seq))
                .rstrip(b"\0")
                .decode()
            )
        except (InvalidTag, ValueError) as error:
            raise Fault("seal_broken", f"the text of event {seq} of {stream} does not open with its key") from error

    def digest(self, digest: str) -> str:
        """A request's digest under this key too: without it nobody can try out which text was sent."""
        return hmac.digest(self._key, digest.encode(), "sha256").hex()


class DisputeKeys:
    """The keys of all disputes of one store. Every method raises Fault(`store_unavailable`) where it is away."""

    def __init__(self, url: str, sealer: Sealer, entropy: Entropy) -> None:
        self._connections = Connections(url, CONNECTIONS)
        self._sealer = sealer
        self._entropy = entropy

    async def close(self) -> None:
        """Let go of the connections."""
        await self._connections.close()

    async def make(self, dispute_id: str, at_ms: int) -> DisputeKey | None:
        """The dispute's key, made where there was none; None where it was destroyed."""
        wrapped = self._sealer.wrap(dispute_id, self._entropy.random_bytes(KEY_BYTES))
        await self._ask(MAKE, (dispute_id, wrapped, at_ms))
        return await self.get(dispute_id)

    async def get(self, dispute_id: str) -> DisputeKey | None:
        """The dispute's key, or None where there is none or none any more. Raises Fault(`seal_broken`) too."""
        row = await self._ask(GET, (dispute_id,))
        if row is None or row[0] is None:
            return None
        return DisputeKey(self._sealer.unwrap(dispute_id, bytes(row[0])), self._entropy)

    async def erase(self, dispute_id: str, at_ms: int) -> None:
        """Destroy the dispute's key; a second time changes nothing."""
        await self._ask(ERASE, (at_ms, dispute_id))

    async def _ask(self, query: bytes, parameters: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The first row, if any. A lost connection is replaced: each query may be asked again."""
        for attempt in range(ATTEMPTS):
            try:
                async with self._connections.one() as connection:
                    cursor = await connection.execute(query, parameters)
                    return None if cursor.description is None else await cursor.fetchone()
            except Unavailable as error:
                if attempt == ATTEMPTS - 1:
                    raise Fault("store_unavailable", f"the keys of disputes are away: {reason(error)}") from error
        raise AssertionError("the last attempt returns or raises")
