"""The one error of the world outside the rules."""

from __future__ import annotations

from typing import Any


class Fault(Exception):
    """Something in the world failed, and may pass or be mended: a store that is away, a key file that is missing.

    `code` is a stable lower-case word for programs; `detail` says to a person what is wrong and what would be right,
    and never holds a secret. It knows nothing of HTTP or exit codes.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        """As it is, whatever its class is made from: it may have to come from another process."""
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[Fault], args: tuple[Any, ...]) -> Fault:
    return kind.__new__(kind, *args)
