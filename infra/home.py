"""The folder of all that is kept between runs: `.khrap`, with keys, data and logs of the embedded servers."""

from pathlib import Path

from infra.faults import Fault


def make_home(home: Path) -> None:
    """Make it where it is missing. Others may pass through it, as the servers' user must, but not list it."""
    try:
        if not home.exists():
            home.mkdir(parents=True, exist_ok=True)
            home.chmod(0o711)
    except OSError as error:
        detail = f"{home} cannot be made: {error.strerror}; choose another folder with KHRAP_HOME"
        raise Fault("home_unusable", detail) from error
