"""Experiments about how batches are loaded and copied."""
