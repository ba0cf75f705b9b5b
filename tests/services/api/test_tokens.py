"""Which tokens are taken, and which are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

from infra.clock import ManualClock
from infra.entropy import SystemEntropy
from infra.keys import Keys, TokenTrust, load_keys
from infra.settings import Settings
from services.api.tokens import CODE, NotValid, Sessions, Signer, Verifier
from services.play.types import Caller

NOW_MS = 1_800_000_000_000
NOW_S = NOW_MS // 1_000


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return load_keys(Settings(home=str(tmp_path_factory.mktemp("home"))))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_MS)


def claims(**changes: Any) -> dict[str, Any]:
    given = {"iss": "khrap-embedded", "aud": "khrap", "exp": NOW_S + 60, "sub": "anna", "role": "player"} | changes
    return {name: value for name, value in given.items() if value is not ...}


def signed(keys: Keys, **changes: Any) -> str:
    assert keys.token_signing is not None
    return jwt.encode(claims(**changes), keys.token_signing, algorithm="EdDSA")


def test_our_own_tokens_are_taken(keys: Keys, clock: ManualClock) -> None:
    token = Signer(keys, clock, SystemEntropy()).bearer("anna", "player", 60)
    verified = Verifier.of(keys.tokens, clock).verify(token)
    assert verified.caller == Caller("anna", "player")
    assert verified.expires_ms == NOW_MS + 60_000


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "somebody"},
        {"iss": ...},
        {"aud": "khrap/code"},
        {"aud": ["khrap", "khrap/code"]},
        {"aud": ...},
        {"exp": ...},
        {"exp": NOW_S},
        {"exp": "soon"},
        {"exp": True},
        {"exp": 2**60},
        {"sub": ...},
        {"sub": ""},
        {"sub": "Anna"},
        {"sub": "anna\n"},
        {"sub": "a" * 65},
        {"sub": "steward"},
        {"sub": 7},
        {"role": ...},
        {"role": "steward"},
        {"role": ["ops"]},
        {"nbf": NOW_S * 2},
    ],
    ids=str,
)
def test_a_claim_that_is_missing_or_wrong_is_not_taken(keys: Keys, clock: ManualClock, changes: dict[str, Any]) -> None:
    with pytest.raises(NotValid):
        Verifier.of(keys.tokens, clock).verify(signed(keys, **changes))


def test_an_algorithm_of_the_tokens_own_choice_is_not_taken(keys: Keys, clock: ManualClock) -> None:
    assert keys.token_signing is not None
    public = keys.token_signing.public_key()
    raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    forged = [
        jwt.encode(claims(), raw, algorithm="HS256"),
        jwt.encode(claims(), "", algorithm="none"),
        jwt.encode(claims(), Ed25519PrivateKey.generate(), algorithm="EdDSA"),
        signed(keys)[:-4] + "AAAA",
        "",
        "a.b",
        "ä.ö.ü",
    ]
    for token in forged:
        with pytest.raises(NotValid):
            Verifier.of(keys.tokens, clock).verify(token)


def test_what_was_verified_is_remembered_until_it_expires_and_no_longer(keys: Keys, clock: ManualClock) -> None:
    verifier, token = Verifier.of(keys.tokens, clock), signed(keys)
    assert verifier.verify(token) is verifier.verify(token)
    clock.advance(60_000)
    with pytest.raises(NotValid):
        verifier.verify(token)


def test_a_one_time_code_is_no_bearer_token_and_the_other_way_round(keys: Keys, clock: ManualClock) -> None:
    signer = Signer(keys, clock, SystemEntropy())
    bearer, code = Verifier.of(keys.tokens, clock), Verifier.of(keys.tokens, clock, CODE)
    assert code.verify(signer.code("anna", "player")).jti is not None
    with pytest.raises(NotValid):
        bearer.verify(signer.code("anna", "player"))
    with pytest.raises(NotValid):
        code.verify(signer.bearer("anna", "player"))


def test_a_session_is_neither(keys: Keys, clock: ManualClock) -> None:
    sessions = Sessions(b"s" * 32, clock)
    session = sessions.sign(Caller("anna", "player"), "0" * 32)
    assert sessions.verify(session).caller == Caller("anna", "player")
    for other in (Verifier.of(keys.tokens, clock), Verifier.of(keys.tokens, clock, CODE), Sessions(b"t" * 32, clock)):
        with pytest.raises(NotValid):
            other.verify(session)
    with pytest.raises(NotValid):
        sessions.verify(signed(keys))


def test_of_a_key_set_each_key_is_for_its_own_algorithm(clock: ManualClock) -> None:
    okp, ec = Ed25519PrivateKey.generate(), generate_private_key(SECP256R1())
    jwks = [
        {**OKPAlgorithm.to_jwk(okp.public_key(), as_dict=True), "kid": "okp"},
        {**ECAlgorithm.to_jwk(ec.public_key(), as_dict=True), "kid": "ec"},
    ]
    trust = TokenTrust(issuer="khrap-embedded", audience="khrap", keys=jwt.PyJWKSet.from_dict({"keys": jwks}))
    verifier = Verifier.of(trust, clock)
    for key, algorithm, kid in ((okp, "EdDSA", "okp"), (ec, "ES256", "ec")):
        token = jwt.encode(claims(), key, algorithm=algorithm, headers={"kid": kid})
        assert verifier.verify(token).caller.subject == "anna"
    forged = [
        jwt.encode(claims(), okp, algorithm="EdDSA", headers={"kid": "ec"}),
        jwt.encode(claims(), okp, algorithm="EdDSA", headers={"kid": "nobody"}),
        jwt.encode(claims(), okp, algorithm="EdDSA"),
        jwt.encode(claims(), "x" * 32, algorithm="HS256", headers={"kid": "okp"}),
    ]
    for token in forged:
        with pytest.raises(NotValid):
            verifier.verify(token)


def test_nothing_is_signed_that_would_not_be_taken(keys: Keys, clock: ManualClock, tmp_path: Path) -> None:
    signer = Signer(keys, clock, SystemEntropy())
    for subject, role in (("Anna", "player"), ("steward", "ops"), ("anna", "king")):
        with pytest.raises(NotValid):
            signer.bearer(subject, role)
