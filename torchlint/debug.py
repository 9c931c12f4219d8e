"""Whether a crash shows its traceback."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "TORCHLINT_DEBUG"


def debugging() -> bool:
    """True under `--debug`, which sets a variable for worker processes too."""
    return os.environ.get(VARIABLE, "") not in ("", "0")
