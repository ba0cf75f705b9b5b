"""The keys: one to seal, one to sign checkpoints, and whose tokens are accepted.

Embedded, they are made on first use in `.khrap/keys` and tokens are our own. With given servers they are given too, as
files named by settings; without them the service does not start.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from jwt import PyJWKSet, PyJWTError
from msgspec import Struct

from infra.entropy import Entropy, SystemEntropy
from infra.faults import Fault
from infra.home import make_home
from infra.settings import Settings

MASTER_KEY_BYTES = 32
EMBEDDED_ISSUER = "khrap-embedded"
EMBEDDED_AUDIENCE = "khrap"

# The settings that go with given servers.
_GIVEN = (
    "master_key_file",
    "audit_key_file",
    "token_public_key_file",
    "token_jwks_file",
    "token_issuer",
    "token_audience",
)


class TokenTrust(Struct, frozen=True):
    """Whose tokens are accepted: issuer, audience, and the public keys, either one Ed25519 key or a key set."""

    issuer: str
    audience: str
    keys: Ed25519PublicKey | PyJWKSet


class Keys(Struct, frozen=True):
    """All keys of a process. `master` is 32 bytes; `token_signing` is there only where tokens are our own."""

    master: bytes
    audit_signing: Ed25519PrivateKey
    tokens: TokenTrust
    token_signing: Ed25519PrivateKey | None = None

    def __repr__(self) -> str:
        """Nothing of them."""
        return "Keys(…)"


def load_keys(settings: Settings, entropy: Entropy | None = None) -> Keys:
    """The keys, made first if they are ours to make. Raises Fault("keys") that says which file is missing or wrong."""
    if settings.is_embedded:
        given = [name for name in _GIVEN if getattr(settings, name) is not None]
        if given:
            raise Fault("keys", f"{_variables(given)} given without KHRAP_DATABASE_URL; embedded keys are our own")
        return _embedded(settings.home_folder, entropy or SystemEntropy())
    return _given(settings)


def _variables(names: list[str]) -> str:
    return ", ".join(f"KHRAP_{name.upper()}" for name in names)


def make_keys(folder: Path, entropy: Entropy) -> None:
    """Make the key files missing in `folder`: master.key, audit.pem, token.pem and its public half, token.pub."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Fault("keys", f"{folder} cannot be made: {error.strerror}") from error
    _require_closed(folder, 0o700)
    _make(folder / "master.key", lambda: entropy.random_bytes(MASTER_KEY_BYTES).hex().encode() + b"\n")
    for name in ("audit.pem", "token.pem"):
        _make(folder / name, lambda: _private_pem(Ed25519PrivateKey.from_private_bytes(entropy.random_bytes(32))))
    _make(folder / "token.pub", lambda: _public_pem(_private_key(folder / "token.pem").public_key()))


def _embedded(home: Path, entropy: Entropy) -> Keys:
    make_home(home)
    folder = home / "keys"
    make_keys(folder, entropy)
    signing = _private_key(folder / "token.pem")
    return Keys(
        master=_master_key(folder / "master.key"),
        audit_signing=_private_key(folder / "audit.pem"),
        tokens=TokenTrust(issuer=EMBEDDED_ISSUER, audience=EMBEDDED_AUDIENCE, keys=signing.public_key()),
        token_signing=signing,
    )


def _given(settings: Settings) -> Keys:
    missing = [name for name in _GIVEN if not name.startswith("token_") and getattr(settings, name) is None]
    missing += [name for name in ("token_issuer", "token_audience") if getattr(settings, name) is None]
    wanted = [_variables(missing)] if missing else []
    if settings.token_public_key_file is None and settings.token_jwks_file is None:
        wanted.append("KHRAP_TOKEN_PUBLIC_KEY_FILE or KHRAP_TOKEN_JWKS_FILE")
    if wanted:
        raise Fault("keys", f"with KHRAP_DATABASE_URL these must be set too: {', '.join(wanted)}")
    assert settings.master_key_file is not None
    assert settings.audit_key_file is not None
    assert settings.token_issuer is not None
    assert settings.token_audience is not None
    trusted: Ed25519PublicKey | PyJWKSet
    if settings.token_public_key_file is not None:
        trusted = _public_key(Path(settings.token_public_key_file))
    else:
        assert settings.token_jwks_file is not None
        trusted = _key_set(Path(settings.token_jwks_file))
    return Keys(
        master=_master_key(Path(settings.master_key_file)),
        audit_signing=_private_key(Path(settings.audit_key_file)),
        tokens=TokenTrust(issuer=settings.token_issuer, audience=settings.token_audience, keys=trusted),
    )


def _make(path: Path, content: Callable[[], bytes]) -> None:
    """Make the file if there is none, whole or not at all: of two processes at once, one makes it and both use it."""
    if path.exists():
        return
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(aside, path)
        except FileExistsError:
            return
    finally:
        Path(aside).unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _private_pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public_pem(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _require_closed(path: Path, right_mode: int) -> None:
    """Raise Fault if anyone but the owner, who must be ourselves or root, has any permission on it."""
    status = path.stat()
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        mode = stat.S_IMODE(status.st_mode)
        raise Fault("keys", f"{path} is open to others (mode {mode:04o}); close it: chmod {right_mode:o} {path}")
    if status.st_uid not in (os.geteuid(), 0):
        raise Fault("keys", f"{path} belongs to user {status.st_uid}, and must belong to the service's user or root")


def _read(path: Path, is_secret: bool) -> bytes:
    try:
        if is_secret:
            _require_closed(path, 0o600)
        return path.read_bytes()
    except OSError as error:
        raise Fault("keys", f"{path} cannot be read: {error.strerror}") from error


def _master_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(_read(path, is_secret=True).decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != MASTER_KEY_BYTES:
        raise Fault("keys", f"{path} is no sealing key: it must hold 64 hexadecimal digits (openssl rand -hex 32)")
    return key


def _private_key(path: Path) -> Ed25519PrivateKey:
    content = _read(path, is_secret=True)
    try:
        key = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise Fault(
            "keys", f"{path} is no Ed25519 private key in PEM without a password (openssl genpkey -algorithm ed25519)"
        )
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    content = _read(path, is_secret=False)
    try:
        key = serialization.load_pem_public_key(content)
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise Fault("keys", f"{path} is no Ed25519 public key in PEM (openssl pkey -pubout)")
    return key


def _key_set(path: Path) -> PyJWKSet:
    """The issuer's key set. A symmetric key in it would let whoever reads the file sign tokens, so it is refused."""
    content = _read(path, is_secret=False)
    try:
        keys = PyJWKSet.from_json(content.decode())
    except (PyJWTError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise Fault("keys", f"{path} is no JSON Web Key Set with a usable key ({type(error).__name__})") from error
    if any(each.key_type == "oct" for each in keys.keys):
        raise Fault("keys", f"{path} holds a symmetric key; right are public keys only (OKP, EC, RSA)")
    return keys


if __name__ == "__main__":  # python -m infra.keys FOLDER: for deployments that have no keys yet (infra/compose.yaml)
    make_keys(Path(sys.argv[1]), SystemEntropy())
