"""Bearer tokens: signed by us where the service is embedded, verified always. Source: DESIGN "The API".

Claims: `iss`, `aud`, `iat`, `exp`, `sub` (the player or person), `role`; `jti` in one-time codes. A one-time code is
a token of the same issuer for another audience, so that neither stands for the other. The session that it is exchanged
for is ours alone: signed (HMAC) under a key derived from the master key, so that it works with any issuer.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import jwt
from msgspec import Struct

from infra.clock import Clock
from infra.entropy import Entropy
from infra.keys import Keys, TokenTrust
from services.api.forms import CONSOLE_PREFIX, PLAYER
from services.api.roles import ROLES
from services.play.types import Caller

SET_ALGORITHMS = ("EdDSA", "ES256", "RS256")
"""What a key of a key set may be for; a single key is Ed25519 and takes EdDSA alone."""
RESERVED = frozenset({"steward"})
"""Subjects of the service's own parts: a person under such a name could take their command ids."""
CODE = "code"
SESSION = "khrap-session"
CODE_S = 120
SESSION_S = 8 * 3_600
CACHED = 10_000
LEEWAY_MS = 5_000  # for an issuer whose clock is a little ahead of ours
OPTIONS: Any = {
    "require": ["iss", "aud", "exp", "sub"],
    "strict_aud": True,
    # Times are compared with our own clock, here and each time that a verified token comes again.
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
}

_SUBJECT = re.compile(PLAYER)


class NotValid(Exception):
    """A token that is not accepted. The text says why, and holds nothing of the token."""


class Verified(Struct, frozen=True):
    """Who a token speaks for, until when (milliseconds since 1970), and its `jti` where it has one."""

    caller: Caller
    expires_ms: int
    jti: str | None = None


class Verifier:
    """Verifies tokens of one issuer for one audience; what was verified is remembered until it expires."""

    def __init__(self, keys: Any, issuer: str, aud: str, clock: Clock, algorithms: Sequence[str] = ("EdDSA",)) -> None:
        """`keys`: one key for `algorithms`, or a PyJWKSet, each of whose keys is for its own."""
        self._keys = keys
        self._issuer = issuer
        self._audience = aud
        self._algorithms = list(algorithms)
        self._clock = clock
        self._known: OrderedDict[bytes, Verified] = OrderedDict()

    @classmethod
    def of(cls, trust: TokenTrust, clock: Clock, purpose: str = "") -> Verifier:
        """The verifier of bearer tokens, or of one-time codes (`CODE`)."""
        return cls(trust.keys, trust.issuer, audience(trust, purpose), clock)

    def verify(self, token: str) -> Verified:
        """Raises NotValid."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._known.get(digest)
        if known is None:
            known = self._verify(token)
            self._known[digest] = known
            while len(self._known) > CACHED:
                self._known.popitem(last=False)
        if known.expires_ms <= self._clock.now_ms():
            self._known.pop(digest, None)
            raise NotValid("the token has expired")
        return known

    def _verify(self, token: str) -> Verified:
        try:
            key, algorithms = self._key(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=algorithms,
                issuer=self._issuer,
                audience=self._audience,
                options=OPTIONS,
            )
        except (jwt.PyJWTError, UnicodeError) as error:
            raise NotValid(f"the token is not accepted ({type(error).__name__})") from None
        not_before = claims.get("nbf", 0)
        if not isinstance(not_before, int | float) or not_before * 1_000 > self._clock.now_ms() + LEEWAY_MS:
            raise NotValid("the token is not valid yet")
        return _verified(claims)

    def _key(self, token: str) -> tuple[Any, list[str]]:
        """The key that the token names, and the algorithms that this key is for: the token has no say in that."""
        if not isinstance(self._keys, jwt.PyJWKSet):
            return self._keys, self._algorithms
        kid = jwt.get_unverified_header(token).get("kid")
        named = [k for k in self._keys.keys if kid is None or k.key_id == kid]
        if len(named) != 1 or named[0].algorithm_name not in SET_ALGORITHMS:
            raise NotValid("the token names no key of its issuer")
        return named[0].key, [named[0].algorithm_name]


class Sessions:
    """Session tokens, which the cookie holds: `secret` (32 bytes) is derived from the master key."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        self._secret = secret
        self._clock = clock
        self._verifier = Verifier(secret, SESSION, SESSION, clock, ("HS256",))

    def sign(self, caller: Caller, jti: str, lifetime_s: int = SESSION_S) -> str:
        """A session of this caller's, begun with the one-time code `jti`, by which it is ended too."""
        claims = _claims(caller, self._clock.now_ms(), lifetime_s) | {"iss": SESSION, "aud": SESSION, "jti": jti}
        return jwt.encode(claims, self._secret, algorithm="HS256")

    def verify(self, token: str) -> Verified:
        """Raises NotValid. Whether it was ended since, its stream says: see `services.api.sessions`."""
        verified = self._verifier.verify(token)
        if verified.jti is None:
            raise NotValid("a session without a name could not be ended; sign in anew")
        return verified


def _verified(claims: dict[str, Any]) -> Verified:
    subject, role, expires, jti = claims["sub"], claims.get("role"), claims["exp"], claims.get("jti")
    if not isinstance(subject, str) or not _SUBJECT.match(subject) or subject in RESERVED:
        raise NotValid("the token's `sub` is no player or person: right is [a-z0-9_-], 1 to 64 of them")
    if subject.startswith(CONSOLE_PREFIX):
        raise NotValid(f"the token's `sub` begins with {CONSOLE_PREFIX}, as the users of the command line do")
    if role not in ROLES:
        raise NotValid(f"the token's `role` is none of {', '.join(ROLES)}")
    if not isinstance(expires, int) or isinstance(expires, bool) or not 0 <= expires < 2**40:
        raise NotValid("the token's `exp` is no time in seconds")
    if jti is not None and not isinstance(jti, str):
        raise NotValid("the token's `jti` is no text")
    return Verified(Caller(subject, role), expires * 1_000, jti)


def audience(trust: TokenTrust, purpose: str) -> str:
    """The `aud` of tokens for a purpose: none for bearer tokens."""
    return f"{trust.audience}/{purpose}" if purpose else trust.audience


class Signer:
    """Signs tokens where they are our own (embedded)."""

    def __init__(self, keys: Keys, clock: Clock, entropy: Entropy) -> None:
        if keys.token_signing is None:
            raise NotValid("tokens are the configured issuer's business; this service has no key to sign them")
        self._key = keys.token_signing
        self._trust = keys.tokens
        self._clock = clock
        self._entropy = entropy

    def bearer(self, subject: str, role: str, lifetime_s: int = SESSION_S) -> str:
        """A bearer token. Raises NotValid for a subject or role that would not be accepted."""
        return self._sign(subject, role, lifetime_s, "")

    def code(self, subject: str, role: str, lifetime_s: int = CODE_S) -> str:
        """A one-time code that a page exchanges for a session."""
        return self._sign(subject, role, lifetime_s, CODE)

    def _sign(self, subject: str, role: str, lifetime_s: int, purpose: str) -> str:
        claims = _claims(Caller(subject, role), self._clock.now_ms(), lifetime_s)
        claims |= {"iss": self._trust.issuer, "aud": audience(self._trust, purpose)}
        if purpose == CODE:
            claims["jti"] = self._entropy.random_bytes(16).hex()
        return jwt.encode(claims, self._key, algorithm="EdDSA")


def _claims(caller: Caller, now_ms: int, lifetime_s: int) -> dict[str, Any]:
    now_s = now_ms // 1_000
    claims = {"iat": now_s, "exp": now_s + lifetime_s, "sub": caller.subject, "role": caller.role}
    _verified(claims)
    return claims
