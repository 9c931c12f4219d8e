"""Keeps the project as it is while a run writes, and says what the run would have done."""
