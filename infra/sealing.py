"""Sealing at rest: AES-GCM under a key for each hand, so that a stolen database shows no card.

The key is HKDF-SHA256(master key, hand id); each hand publishes a commitment to it, so that one hand can be opened
to an outsider, provably and alone. Source: DESIGN "Sealed at rest".
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from infra.entropy import Entropy
from infra.faults import Fault
from infra.store.chain import lp

KEY_BYTES = 32
NONCE_BYTES = 12
PAD_TO = 192
"""Sealed texts are padded to a multiple of this, so that their lengths tell nothing."""
WARM_HANDS = 4_096


class Sealer:
    """Seals and opens under the hands' keys, which are derived from the master key (32 bytes)."""

    def __init__(self, master: bytes, entropy: Entropy) -> None:
        assert len(master) == KEY_BYTES, len(master)
        self._master = master
        self._entropy = entropy
        self._ciphers: OrderedDict[str, AESGCM] = OrderedDict()
        self._wrapping = _derive(master, b"khrap-wrap/1")
        self.request_key = _derive(master, b"khrap-request/1")
        """For `infra.meta.request_digest`."""
        self.session_key = _derive(master, b"khrap-session/1")
        """For the sessions of pages."""

    def hand_key(self, hand_id: str) -> bytes:
        """The 32-byte key of a hand. Whoever has it can open that hand, and no other."""
        return _derive(self._master, b"khrap-hand/1" + bytes.fromhex(hand_id.replace("-", "")))

    def key_commitment(self, hand_id: str) -> bytes:
        """What `HandCommitted` says of the hand's key: SHA-256("khrap-key/1" || 0x00 || key)."""
        return sha256(b"khrap-key/1\x00" + self.hand_key(hand_id)).digest()

    def seal(self, hand_id: str, stream: str, seq: int, text: bytes) -> bytes:
        """Nonce and ciphertext of `text` (JSON, padded with spaces), bound to its place in the log."""
        nonce = self._entropy.random_bytes(NONCE_BYTES)
        padded = text + b" " * (-len(text) % PAD_TO)
        return nonce + self._cipher(hand_id).encrypt(nonce, padded, place(stream, seq))

    def open(self, hand_id: str, stream: str, seq: int, sealed: bytes) -> bytes:
        """The text that was sealed for this place. Raises Fault(`seal_broken`)."""
        cipher = self._ciphers.get(hand_id) or self._cipher(hand_id)
        try:
            return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place(stream, seq))
        except InvalidTag as error:
            detail = f"event {seq} of {stream} does not open with this master key: another key, or altered bytes"
            raise Fault("seal_broken", detail) from error

    def wrap(self, name: str, key: bytes) -> bytes:
        """Another key (32 bytes), as it may be kept: under the master key, and good for `name` alone."""
        assert len(key) == KEY_BYTES, len(key)
        nonce = self._entropy.random_bytes(NONCE_BYTES)
        return nonce + AESGCM(self._wrapping).encrypt(nonce, key, lp(name.encode()))

    def unwrap(self, name: str, wrapped: bytes) -> bytes:
        """The key that was wrapped for `name`. Raises Fault(`seal_broken`)."""
        try:
            return AESGCM(self._wrapping).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], lp(name.encode()))
        except InvalidTag as error:
            raise Fault("seal_broken", f"the key of {name} does not open with this master key") from error

    def _cipher(self, hand_id: str) -> AESGCM:
        cipher = self._ciphers.get(hand_id)
        if cipher is None:
            cipher = self._ciphers[hand_id] = AESGCM(self.hand_key(hand_id))
            if len(self._ciphers) > WARM_HANDS:
                self._ciphers.popitem(last=False)
        return cipher


def place(stream: str, seq: int) -> bytes:
    """The associated data: lp(stream) || u64 seq."""
    return lp(stream.encode()) + seq.to_bytes(8, "big")


def _derive(master: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(master)
