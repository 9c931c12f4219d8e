"""Where the agents find the parent: a small file in the folder that all machines share."""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

import psutil

from torchlint.runtime.decoding import MalformedError, decode
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK_S: Final = 0.2
_MOST_HOSTS: Final = 16


class NodeError(Exception):
    """The machines cannot work together; the message is one sentence or two for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Meeting:
    """What an agent has to know to join.

    Args:
        hosts: addresses of the parent's machine, the likeliest first.
        port: at which the parent listens.
        token: who does not know it is ignored.
        nodes: how many are expected.
        version: of torchlint.
    """

    hosts: tuple[str, ...]
    port: int
    token: str
    nodes: int
    version: str = __version__


def new_token() -> str:
    """One that nobody guesses."""
    return secrets.token_hex(16)


def hosts_of_this_machine() -> tuple[str, ...]:
    """Addresses at which other machines may reach this one, then those at which it reaches
    itself."""
    named: list[str] = []
    with suppress(OSError):
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
        named = [str(each[4][0]) for each in found]
    cards = [
        each.address
        for card in psutil.net_if_addrs().values()
        for each in card
        if each.family == socket.AF_INET
    ]
    every = list(dict.fromkeys([*named, *cards]))
    return tuple(sorted(every, key=lambda host: host.startswith(("127.", "::1")))[:_MOST_HOSTS])


def announce(meeting: Meeting, path: str) -> None:
    """Write the file as a whole, for this user alone.

    Raises:
        NodeError: it cannot be written.
    """
    part = f"{path}.{os.getpid()}.part"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            json.dump({"type": "meeting", **asdict(meeting)}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except OSError as error:
        raise NodeError(
            f"{os.path.dirname(path)} cannot be written to ({error.strerror}); give another folder "
            "that all nodes share with --shared."
        ) from None


def find(
    path: str, wait_s: float, join: Callable[[Meeting], socket.socket | None]
) -> tuple[Meeting, socket.socket]:
    """Wait for the file and for the parent that it names; an old file names none that answers.

    Args:
        wait_s: until it is given up.
        join: connects; None if nobody listens there.

    Raises:
        NodeError: there is no such folder or no parent, the file is another user's, or it was
            written by another version of torchlint.
    """
    folder, deadline = os.path.dirname(path), time.monotonic() + wait_s
    if not os.path.isdir(folder):
        raise NodeError(
            f"{folder} is not there on this node; give a folder that all nodes share with --shared."
        )
    while True:
        meeting = _read(path)
        wire = join(meeting) if meeting is not None else None
        if meeting is not None and wire is not None:
            return meeting, wire
        if time.monotonic() > deadline:
            what = "does not name a parent that answers" if meeting else "did not appear"
            raise NodeError(
                f"{path} {what} within {wait_s:g} s; start the same command with --node-rank 0, "
                "and give a folder that all nodes share with --shared."
            )
        time.sleep(_LOOK_S)


def _read(path: str) -> Meeting | None:
    try:
        # A link might lead to a file of somebody else's making.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise NodeError(
                f"{path} can be read or written by other users; remove it and start again."
            )
        text = stream.read(1 << 14)
    try:
        meeting = decode(text).read(Meeting)
    except MalformedError:
        return None
    if meeting.version != __version__:
        raise NodeError(
            f"Node 0 has torchlint {meeting.version} and this one {__version__}; install the same "
            "version on all nodes."
        )
    return meeting
