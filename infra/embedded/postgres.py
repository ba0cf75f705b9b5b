"""The embedded PostgreSQL: its data folder, made once, and its command line."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from infra.embedded.binaries import COPIES, Binaries
from infra.embedded.plan import ServerPlan
from infra.embedded.privileges import Account, can_enter
from infra.faults import Fault

OWNER = "khrap"  # the superuser
DATABASE = "khrap"
MAJOR_VERSION = "18"

SETTINGS = {
    "listen_addresses": "",  # Unix sockets only
    "port": "5432",  # no port is opened: it names the socket
    "unix_socket_permissions": "0700",
    "max_connections": "400",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    # an acknowledged append is on the disk
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    # many short statements: compiling or spreading them costs more than it saves, and /dev/shm is small in containers
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_checkpoints": "off",
    "log_parameter_max_length": "0",  # parameters may be cards
    "log_parameter_max_length_on_error": "0",
}


def url(sockets: Path, database: str = DATABASE) -> str:
    """The owner's URL over the socket in the folder `sockets`. The folder's permissions are the password."""
    return f"postgresql://{OWNER}@/{database}?host={quote(str(sockets), safe='')}"


def plan(data: Path, sockets: Path, log: Path, binaries: Binaries) -> ServerPlan:
    """How the supervisor runs it. SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one."""
    argv = [str(binaries.postgres / "postgres"), "-D", str(data), "-k", str(sockets)]
    for name, value in SETTINGS.items():
        argv += ["-c", f"{name}={value}"]
    return {
        "name": "postgres",
        "argv": argv,
        "log": str(log),
        "ready_file": str(data / "postmaster.pid"),
        "ready_socket": None,
        "stop_signals": [signal.SIGINT, signal.SIGQUIT],
    }


def data_folder(home: Path, account: Account | None, binaries: Binaries) -> Path:
    """The data folder `home/postgres`, made at first; the caller holds the lock of `home`.

    It is made aside and renamed when it is whole, so a kill leaves no half of it. Where the servers' user cannot pass
    to `home` (root, under a closed home), it is made under COPIES and `home/postgres` is a link to it.
    """
    data = home / "postgres"
    for half_made in home.glob("postgres.new-*"):
        shutil.rmtree(half_made)
    if data.exists():
        found = (data / "PG_VERSION").read_text().strip() if (data / "PG_VERSION").exists() else "none"
        if found != MAJOR_VERSION:
            raise Fault(
                "embedded_version",
                f"{data} holds data of PostgreSQL version {found}, and this is {MAJOR_VERSION}; "
                "move it away, or take it over with pg_upgrade",
            )
        return data.resolve()
    if data.is_symlink():
        detail = f"{data} points to {data.readlink()}, which is gone; bring it back, or remove the link to begin anew"
        raise Fault("embedded_gone", detail)
    reachable = can_enter(home, account)
    if not reachable:
        COPIES.mkdir(mode=0o755, parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=home if reachable else COPIES))
    try:
        _initialize(making, account, binaries)
        if reachable:
            making.rename(data)
        else:
            final = making.with_name(making.name.replace(".new-", "-"))
            making.rename(final)
            data.symlink_to(final)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    return data.resolve()


def _initialize(data: Path, account: Account | None, binaries: Binaries) -> None:
    """Run initdb, and add the database in PostgreSQL's single-user mode, which needs no server."""
    if account is not None:
        os.chown(data, account.uid, account.gid)
    options = ["--username", OWNER, "--encoding=UTF8", "--locale=C", "--auth-local=trust", "--auth-host=reject"]
    _run([str(binaries.postgres / "initdb"), "-D", str(data), *options, "--no-instructions"], account, "")
    _run(
        [str(binaries.postgres / "postgres"), "--single", "-D", str(data), "-c", "exit_on_error=true", "postgres"],
        account,
        f"CREATE DATABASE {DATABASE}",
    )


def _run(argv: list[str], account: Account | None, text: str) -> None:
    done = subprocess.run(
        argv,
        input=text,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        cwd="/",
        env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"},
        umask=0o077,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise Fault("embedded_initdb", f"{Path(argv[0]).name} failed with code {done.returncode}:\n{tail}")
