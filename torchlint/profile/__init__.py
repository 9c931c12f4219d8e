"""Watches a run, and says which parts of its step could be avoided."""
