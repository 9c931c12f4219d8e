"""Whether this process is one of several that train together."""

from torch import distributed


def has_ranks() -> bool:
    """Whether others may need this process to come as far as it has come."""
    return bool(distributed.is_available() and distributed.is_initialized())
