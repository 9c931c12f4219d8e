"""Experiments about what is written while a model trains."""
