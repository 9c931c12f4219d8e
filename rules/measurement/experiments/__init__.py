"""Experiments about the machine."""
