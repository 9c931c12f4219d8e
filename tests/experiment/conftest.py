"""What the tests of what runs a script share."""

from tests.scenes import scene, signals_as_on_a_terminal, turns, waits_until
from tests.warm_start import gpu_start, warm_start

__all__ = ["gpu_start", "scene", "signals_as_on_a_terminal", "turns", "waits_until", "warm_start"]
