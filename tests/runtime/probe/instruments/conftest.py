"""What the tests of instruments share."""

from __future__ import annotations

import sys
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    """As in a process that is new: other tests compile, and instruments ask for it."""
    dynamo: Any = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
        dynamo.utils.counters.clear()
