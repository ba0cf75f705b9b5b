"""Keys: made once, whole, closed to others; with given servers, given too."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from jwt.algorithms import OKPAlgorithm

from infra.entropy import SeededEntropy
from infra.faults import Fault
from infra.keys import Keys, load_keys, make_keys
from infra.settings import Settings


def fault(settings: Settings) -> str:
    with pytest.raises(Fault) as caught:
        load_keys(settings)
    assert caught.value.code == "keys"
    return caught.value.detail


@pytest.fixture
def embedded(tmp_path: Path) -> Settings:
    return Settings(home=str(tmp_path / "home"))


@pytest.fixture
def given(tmp_path: Path) -> Settings:
    """Settings of given servers with right keys; the token's private key lies beside them."""
    private, public = tmp_path / "audit.pem", tmp_path / "token.pub"
    key = Ed25519PrivateKey.generate()
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    public.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    master = tmp_path / "master.key"
    master.write_text("ab" * 32 + "\n")
    for path in (private, master):
        path.chmod(0o600)
    return Settings(
        database_url="postgresql://db.example/khrap",
        redis_url="redis://cache.example",
        master_key_file=str(master),
        audit_key_file=str(private),
        token_public_key_file=str(public),
        token_issuer="https://issuer.example",
        token_audience="khrap",
    )


def test_embedded_keys_are_made_once_and_closed(embedded: Settings) -> None:
    keys = load_keys(embedded)
    folder = embedded.home_folder / "keys"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["audit.pem", "master.key", "token.pem", "token.pub"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    again = load_keys(embedded)
    assert again.master == keys.master
    assert len(keys.master) == 32
    assert again.audit_signing.private_bytes_raw() == keys.audit_signing.private_bytes_raw()


def test_embedded_tokens_are_signed_and_checked_with_one_pair(embedded: Settings) -> None:
    keys = load_keys(embedded)
    assert keys.token_signing is not None
    assert isinstance(keys.tokens.keys, Ed25519PublicKey)
    claims = {"sub": "anna", "iss": keys.tokens.issuer, "aud": keys.tokens.audience}
    token = jwt.encode(claims, keys.token_signing, algorithm="EdDSA")
    checked = jwt.decode(
        token, keys.tokens.keys, algorithms=["EdDSA"], issuer=keys.tokens.issuer, audience=keys.tokens.audience
    )
    assert checked == claims


def test_many_first_uses_at_once_agree_on_the_keys(embedded: Settings) -> None:
    with ThreadPoolExecutor(16) as threads:
        made = list(threads.map(lambda _: load_keys(embedded).master, range(64)))
    assert len(set(made)) == 1
    assert len(list((embedded.home_folder / "keys").iterdir())) == 4


@pytest.mark.parametrize("name", ["master.key", "audit.pem", "token.pem"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_file_open_to_others_is_refused(embedded: Settings, name: str, mode: int) -> None:
    load_keys(embedded)
    path = embedded.home_folder / "keys" / name
    path.chmod(mode)
    assert fault(embedded) == f"{path} is open to others (mode {mode:04o}); close it: chmod 600 {path}"


def test_a_key_folder_open_to_others_is_refused(embedded: Settings) -> None:
    load_keys(embedded)
    folder = embedded.home_folder / "keys"
    folder.chmod(0o750)
    assert fault(embedded) == f"{folder} is open to others (mode 0750); close it: chmod 700 {folder}"


def test_keys_show_nothing_of_themselves(embedded: Settings) -> None:
    keys = load_keys(embedded)
    assert repr(keys) == "Keys(…)"
    assert f"{keys}" == "Keys(…)"


def test_given_keys_are_read(given: Settings) -> None:
    keys = load_keys(given)
    assert keys.master == bytes.fromhex("ab" * 32)
    assert keys.token_signing is None
    assert (keys.tokens.issuer, keys.tokens.audience) == ("https://issuer.example", "khrap")


def test_given_servers_without_keys_are_refused_with_a_list() -> None:
    settings = Settings(database_url="postgresql://db.example/khrap", redis_url="redis://cache.example")
    assert fault(settings) == (
        "with KHRAP_DATABASE_URL these must be set too: KHRAP_MASTER_KEY_FILE, KHRAP_AUDIT_KEY_FILE, "
        "KHRAP_TOKEN_ISSUER, KHRAP_TOKEN_AUDIENCE, KHRAP_TOKEN_PUBLIC_KEY_FILE or KHRAP_TOKEN_JWKS_FILE"
    )


def test_given_keys_without_given_servers_are_refused(embedded: Settings, tmp_path: Path) -> None:
    settings = Settings(home=embedded.home, master_key_file=str(tmp_path / "master.key"), token_issuer="x")
    assert fault(settings) == (
        "KHRAP_MASTER_KEY_FILE, KHRAP_TOKEN_ISSUER given without KHRAP_DATABASE_URL; embedded keys are our own"
    )


@pytest.mark.parametrize(
    ("setting", "content", "words"),
    [
        ("master_key_file", "ab" * 31, "must hold 64 hexadecimal digits"),
        ("master_key_file", "not hexadecimal", "must hold 64 hexadecimal digits"),
        ("audit_key_file", "nothing", "is no Ed25519 private key in PEM"),
        ("token_public_key_file", "nothing", "is no Ed25519 public key in PEM"),
    ],
)
def test_a_file_that_holds_something_else_is_refused(given: Settings, setting: str, content: str, words: str) -> None:
    path = Path(getattr(given, setting))
    path.write_text(content)
    assert fault(given).startswith(f"{path} ")
    assert words in fault(given)


def test_keys_made_in_a_folder_are_right_to_be_given(given: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    make_keys(folder, SeededEntropy("test"))
    settings = msgspec.structs.replace(
        given,
        master_key_file=str(folder / "master.key"),
        audit_key_file=str(folder / "audit.pem"),
        token_public_key_file=str(folder / "token.pub"),
    )
    assert len(load_keys(settings).master) == 32


def test_a_file_that_is_gone_is_named(given: Settings) -> None:
    path = Path(str(given.master_key_file))
    path.unlink()
    assert fault(given) == f"{path} cannot be read: No such file or directory"


def with_key_set(given: Settings, tmp_path: Path, *keys: dict[str, str]) -> Settings:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": keys}))
    return msgspec.structs.replace(given, token_public_key_file=None, token_jwks_file=str(path))


def test_a_key_set_of_the_issuer_is_read(given: Settings, tmp_path: Path) -> None:
    public = OKPAlgorithm.to_jwk(Ed25519PrivateKey.generate().public_key(), as_dict=True)
    keys: Keys = load_keys(with_key_set(given, tmp_path, {**public, "kid": "one"}))
    assert isinstance(keys.tokens.keys, jwt.PyJWKSet)
    assert [each.key_id for each in keys.tokens.keys.keys] == ["one"]


def test_a_key_set_with_a_symmetric_key_is_refused(given: Settings, tmp_path: Path) -> None:
    settings = with_key_set(given, tmp_path, {"kty": "oct", "kid": "two", "k": "c2VjcmV0", "alg": "HS256"})
    assert fault(settings).endswith("holds a symmetric key; right are public keys only (OKP, EC, RSA)")


def test_an_empty_key_set_is_refused(given: Settings, tmp_path: Path) -> None:
    assert "is no JSON Web Key Set with a usable key" in fault(with_key_set(given, tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_file_of_another_user_is_refused(given: Settings) -> None:
    path = Path(str(given.master_key_file))
    os.chown(path, 12345, 12345)
    assert "belongs to user 12345" in fault(given)
