"""What the tests of what runs a script share."""

from tests.scenes import scene, turns, waits_until
from tests.warm_start import gpu_start, warm_start

__all__ = ["gpu_start", "scene", "turns", "waits_until", "warm_start"]
