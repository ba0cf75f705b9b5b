"""As whom the servers run: PostgreSQL refuses to run as root, so root hands them to an unprivileged user."""

import os
import pwd
import stat
from pathlib import Path

from msgspec import Struct

from infra.faults import Fault

UNPRIVILEGED_NAMES = ("nobody", "daemon")


class Account(Struct, frozen=True):
    """A system user that root can turn a server over to."""

    uid: int
    gid: int


def server_account(data: Path) -> Account | None:
    """As whom the server of the folder `data` runs: its owner, or one of UNPRIVILEGED_NAMES if there is no folder yet.

    None when we are not root: then it runs as ourselves. Raises Fault where that cannot be.
    """
    owner = data.stat().st_uid if data.exists() else None
    if os.geteuid() != 0:
        if owner not in (None, os.geteuid()):
            raise Fault(
                "embedded_foreign",
                f"{data} belongs to user {owner}, and only that user or root can run its server; "
                "run as that user, or choose another folder with KHRAP_HOME",
            )
        return None
    if owner == 0:
        raise Fault(
            "embedded_foreign",
            f"{data} belongs to root, and PostgreSQL does not run as root; give it to an unprivileged user: "
            f"chown -R {UNPRIVILEGED_NAMES[0]} {data.resolve()}",
        )
    if owner is not None:
        return Account(uid=owner, gid=data.stat().st_gid)
    for name in UNPRIVILEGED_NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(uid=entry.pw_uid, gid=entry.pw_gid)
    raise Fault(
        "embedded_no_user",
        "as root the servers need an unprivileged user to run as, and there is none of "
        f"{', '.join(UNPRIVILEGED_NAMES)}; run as an ordinary user instead",
    )


def can_enter(path: Path, account: Account | None) -> bool:
    """Whether `account` may pass through the folder `path` and all above it, by their permission bits.

    None stands for ourselves, who made the path: always true.
    """
    resolved = path.resolve()
    return account is None or all(_allows(each, stat.S_IXOTH, account) for each in (resolved, *resolved.parents))


def can_read(program: Path, account: Account | None) -> bool:
    """Whether `account` may come to `program`, read and execute it. None: ourselves."""
    return account is None or (
        can_enter(program.parent, account) and _allows(program, stat.S_IROTH | stat.S_IXOTH, account)
    )


def _allows(path: Path, wanted: int, account: Account) -> bool:
    """Whether the bits that hold for `account` on `path` contain `wanted`, given as the bits for others."""
    status = path.stat()
    if status.st_uid == account.uid:
        mode = status.st_mode >> 6
    elif status.st_gid == account.gid:
        mode = status.st_mode >> 3
    else:
        mode = status.st_mode
    return mode & wanted == wanted
