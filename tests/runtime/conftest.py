"""What the tests of running programs share."""

from tests.scenes import scene, signals_as_on_a_terminal, turns, waits_until
from tests.warm_start import warm_start

__all__ = ["scene", "signals_as_on_a_terminal", "turns", "waits_until", "warm_start"]
