"""What the tests of rehearse share."""

from __future__ import annotations

from tests.warm_start import warm_start, warm_torchlint

__all__ = ["warm_start", "warm_torchlint"]
