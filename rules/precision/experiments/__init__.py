"""Experiments about the format of numbers and the code that computes with them."""
