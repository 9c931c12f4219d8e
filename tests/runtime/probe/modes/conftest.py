"""Steps and numbers are the same however Python was started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.warm_start import Start


@pytest.fixture
def start_python(warm_start: Start) -> Start:
    """Scripts run in a Python that has imported torch."""
    return warm_start
