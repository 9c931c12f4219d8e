"""Where packages are installed, and how another interpreter imports this copy of torchlint."""

from __future__ import annotations

import os

_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

_OURS = os.path.join(os.path.realpath(_ROOT), "")
_INSTALLED = {"site-packages", "dist-packages"}

LOAD = f"""\
import sys
if "torchlint" not in sys.modules:
    from importlib.util import module_from_spec, spec_from_file_location
    spec = spec_from_file_location("torchlint", {os.path.join(_ROOT, "__init__.py")!a})
    sys.modules["torchlint"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["torchlint"])
"""
"""Python that does it, and leaves `sys.path` as it is."""


def is_ours(path: str) -> bool:
    """Whether a file is one of torchlint, whose own checkout may contain the script.

    Args:
        path: a real one.
    """
    return path.startswith(_OURS)


def is_installed(path: str) -> bool:
    """Whether a file is one of an installed package."""
    return not _INSTALLED.isdisjoint(path.split(os.sep))
