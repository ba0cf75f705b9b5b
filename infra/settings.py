"""What the environment tells the service: variables that begin with KHRAP_, all checked before anything runs."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from infra.faults import Fault

PREFIX = "KHRAP_"
NOT_SETTINGS = ("KHRAP_TEST_", "KHRAP_EXAMPLES")  # the tests' own


class Settings(Struct, frozen=True, kw_only=True):
    """One field per variable: `port` is KHRAP_PORT. A field's description says what a right value is.

    Without `database_url` the service starts embedded servers and makes its own keys, all under `home`. With it, it
    uses the given servers, and the keys must be given too (`infra.keys`).
    """

    home: Annotated[str, Meta(description="a folder for keys, data and logs of the embedded servers")] = ".khrap"

    database_url: Annotated[
        str | None, Meta(description="the application role's URL, such as postgresql://khrap_app:…@db.example/khrap")
    ] = None
    database_owner_url: Annotated[
        str | None, Meta(description="the owner's URL, for `khrap db`, such as postgresql://khrap:…@db.example/khrap")
    ] = None
    redis_url: Annotated[str | None, Meta(description="a URL such as redis://cache.example:6379/0")] = None

    master_key_file: Annotated[str | None, Meta(description="a file with the sealing key, 64 hex digits")] = None
    audit_key_file: Annotated[str | None, Meta(description="a file with an Ed25519 private key in PEM")] = None
    token_public_key_file: Annotated[str | None, Meta(description="a file with an Ed25519 public key in PEM")] = None
    token_jwks_file: Annotated[str | None, Meta(description="a file with the issuer's JSON Web Key Set")] = None
    token_issuer: Annotated[str | None, Meta(description="the `iss` of accepted tokens")] = None
    token_audience: Annotated[str | None, Meta(description="the `aud` of accepted tokens")] = None

    host: Annotated[str, Meta(description="an address to listen on, such as 127.0.0.1 or 0.0.0.0")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="a port from 1 to 65535, or 0 for any free one")] = 8000
    trusted_proxies: Annotated[
        str | None,
        Meta(description="addresses of proxies, with commas, whose X-Forwarded-For is believed"),
    ] = None
    metrics_host: Annotated[str, Meta(description="an address to listen on for metrics, such as 127.0.0.1")] = (
        "127.0.0.1"
    )
    metrics_port: Annotated[
        Annotated[int, Meta(ge=0, le=65535)] | None,
        Meta(description="a port from 1 to 65535 for metrics without a token, or 0 for any free one"),
    ] = None
    seal_interval_s: Annotated[
        int, Meta(ge=1, le=86_400, description="seconds from 1 to 86400: how often the log is sealed by a checkpoint")
    ] = 600
    otlp_endpoint: Annotated[
        str | None, Meta(description="where traces go by OTLP over HTTP, such as http://collector.example:4318")
    ] = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="debug, info, warning or error")
    ] = "info"

    @property
    def is_embedded(self) -> bool:
        """Whether we bring the servers and keys ourselves."""
        return self.database_url is None

    @property
    def home_folder(self) -> Path:
        """`home`, as a path from the root."""
        return Path(self.home).absolute()

    def __repr__(self) -> str:
        """Without the URLs, which may hold passwords."""
        shown = {
            name: "…" if name.endswith(("_url", "_endpoint")) and value else value
            for name, value in msgspec.structs.asdict(self).items()
        }
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


SCHEMES = {
    "database_url": ("postgresql://", "postgres://"),
    "database_owner_url": ("postgresql://", "postgres://"),
    "redis_url": ("redis://", "rediss://", "unix://"),
    "otlp_endpoint": ("http://", "https://"),
}


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings, or one Fault("settings"): a line for each wrong variable, what is wrong and what would be right."""
    fields = {PREFIX + field.name.upper(): field for field in msgspec.structs.fields(Settings)}
    complaints: list[str] = []
    values: dict[str, object] = {}
    for variable, text in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable.startswith(NOT_SETTINGS):
            continue
        field = fields.get(variable)
        if field is None:
            complaints.append(_unknown(variable, list(fields)))
            continue
        try:
            values[field.name] = _value(field, text)
        except ValueError as error:
            complaints.append(f"{variable} {error}; right would be {_right(field)}")
    if not complaints:
        complaints += _together(values)
    if complaints:
        raise Fault("settings", "\n".join(complaints))
    return Settings(**values)  # type: ignore[arg-type]  # each value was converted to its field's type


def _value(field: msgspec.structs.FieldInfo, text: str) -> object:
    """The variable's text as the field's type. Raises ValueError, which never repeats a URL."""
    if not text.strip():
        raise ValueError("is empty")
    schemes = SCHEMES.get(field.name)
    if schemes is not None and not text.startswith(schemes):
        raise ValueError(f"does not begin with {' or '.join(schemes)}")
    try:
        return msgspec.convert(text, field.type, strict=False)
    except msgspec.ValidationError:
        raise ValueError(f"is {text!r}") from None


def _right(field: msgspec.structs.FieldInfo) -> str:
    """The field's description."""
    for info in getattr(field.type, "__metadata__", ()):
        if isinstance(info, Meta) and info.description is not None:
            return info.description
    raise AssertionError(f"{field.name} has no description")


def _unknown(variable: str, known: list[str]) -> str:
    near = difflib.get_close_matches(variable, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    return f"{variable} is not a variable of this service; {hint}"


def _together(values: Mapping[str, object]) -> list[str]:
    """What is wrong with the values beside each other."""
    complaints = []
    if "database_url" in values and "redis_url" not in values:
        complaints.append("KHRAP_REDIS_URL is missing; with KHRAP_DATABASE_URL no servers of our own are started")
    if "database_url" not in values:
        complaints += [
            f"{PREFIX}{name.upper()} is given without KHRAP_DATABASE_URL; give both, or neither for embedded servers"
            for name in ("database_owner_url", "redis_url")
            if name in values
        ]
    if "token_public_key_file" in values and "token_jwks_file" in values:
        complaints.append("KHRAP_TOKEN_PUBLIC_KEY_FILE and KHRAP_TOKEN_JWKS_FILE are both given; give one of them")
    return complaints
