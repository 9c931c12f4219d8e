"""Experiments about the update of the parameters."""
