"""Whether a crash shows its traceback."""

from __future__ import annotations

import os


def debugging() -> bool:
    """True under `--debug`, which sets `TORCHLINT_DEBUG` for worker processes too."""
    return os.environ.get("TORCHLINT_DEBUG", "") not in ("", "0")
