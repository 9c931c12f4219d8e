"""Checks that the packages that measuring needs are installed, without importing them."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from torchlint.experiment.errors import ExperimentError

_NEEDED = ("torch", "jinja2", "numpy", "scipy", "psutil")
_WITHOUT_CUDA = (
    " On a machine without a GPU, run `pip install torch --index-url "
    "https://download.pytorch.org/whl/cpu` first, or pip installs several GB of CUDA."
)


def require_packages() -> None:
    """Check that every package that measuring needs is installed, without importing it.

    Raises:
        ExperimentError: a package is missing, or this system cannot pause processes.
    """
    if sys.platform == "win32":
        raise ExperimentError(
            "Measuring stops and continues processes as Linux and macOS do; do it there or in WSL."
        )
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        small = _WITHOUT_CUDA if "torch" in missing and sys.platform == "linux" else ""
        raise ExperimentError(
            f"Measuring needs {', '.join(missing)} in the environment of {sys.executable}; "
            f"run `pip install {' '.join(missing)}` there.{small}"
        )
