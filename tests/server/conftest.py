"""Servers in processes of their own, and a client that talks to them."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from benchmarks.editor_client import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def start() -> Iterator[Callable[..., Client]]:
    """Starts servers; they end with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_one(*options: str) -> Client:
        process = subprocess.Popen(
            [sys.executable, "-m", "torchlint", "server", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return Client(process)

    yield start_one
    for process in started:
        process.kill()
        with suppress(OSError), process:
            pass


@pytest.fixture
def client(start: Callable[..., Client]) -> Client:
    """A server that was just started."""
    return start("--no-cache")
