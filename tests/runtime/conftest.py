"""What the tests of running programs share."""

from tests.scenes import scene, signals_as_on_a_terminal, turns, waits_until

__all__ = ["scene", "signals_as_on_a_terminal", "turns", "waits_until"]
