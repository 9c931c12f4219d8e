"""Experiments about what Python does element by element."""
