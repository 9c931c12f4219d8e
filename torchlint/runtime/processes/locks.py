"""Which processes wait for which, as far as the kernel knows."""

from __future__ import annotations


def waiting() -> list[tuple[int, int]]:
    """The processes that wait for a lock on a file, each with the one that holds it.

    None where the system is not Linux
    (https://man7.org/linux/man-pages/man5/proc_locks.5.html).
    """
    waits: list[tuple[int, int]] = []
    try:
        with open("/proc/locks", encoding="ascii") as stream:
            lines = [line.split() for line in stream]
    except OSError:
        return waits
    holder = 0
    for _number, *words in lines:
        # A process that waits is listed below the one that holds.
        if words[0] == "->":
            waits.append((int(words[4]), holder))
        else:
            holder = int(words[3])
    return waits
