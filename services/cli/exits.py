"""Exit codes: the thing holds; it does not; it could not be tried, or was asked wrongly; stopped by Ctrl-C, SIGTERM."""

from __future__ import annotations

HOLDS, FAILS, CANNOT, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
