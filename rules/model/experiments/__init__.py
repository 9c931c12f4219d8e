"""Experiments about layers of a model."""
