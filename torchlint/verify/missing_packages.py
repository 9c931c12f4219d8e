"""What has to be installed before anything is measured, without importing it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from torchlint.verify.errors import VerifyError

_NEEDED = ("torch", "jinja2", "numpy", "scipy", "psutil")


def require_packages() -> None:
    """Look whether everything that measuring needs is installed, without importing it.

    Raises:
        VerifyError: something is missing, or this system cannot stop and continue processes.
    """
    if sys.platform == "win32":
        raise VerifyError(
            "verify stops and continues processes as Linux and macOS do; run it there or in WSL."
        )
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise VerifyError(
            f"verify needs {', '.join(missing)} in the environment of {sys.executable}; "
            'install with: pip install "torchlint[verify]"'
        )
