"""What tests of reports and commands share: findings without a linter behind them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.lint.finding import Applicability, Edit, Finding, Fix, Position, Tier

MakeFinding = Callable[..., Finding]


def _finding(
    path: str = "train.py",
    row: int = 3,
    column: int = 5,
    *,
    end: tuple[int, int] | None = None,
    code: str = "TL201",
    name: str = "item-in-step-loop",
    message: str = "`.item()` waits for the GPU on every step; read it once after the loop.",
    fix: Applicability | None = None,
    tier: Tier = Tier.DEFAULT,
    **rest: object,
) -> Finding:
    start = Position(row, column)
    stop = Position(*end) if end else Position(row, column + 4)
    mend = fix and Fix(fix, "Read it after the loop", (Edit(start, stop, "loss"),))
    return Finding(code, name, tier, message, path, start, stop, mend, **rest)  # type: ignore[arg-type]


@pytest.fixture
def make_finding() -> MakeFinding:
    """Builds a finding; every part has a default."""
    return _finding
