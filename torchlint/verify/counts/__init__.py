"""How much a step does, counted rather than timed."""
