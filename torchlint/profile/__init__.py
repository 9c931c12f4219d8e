"""Watches a run, and says what of its step could be spared."""
