"""Servers in processes of their own, and a client that talks to them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.editor_client import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def start() -> Iterator[Callable[..., Client]]:
    """Starts servers; they end with the test."""
    started: list[Client] = []

    def start_one(*options: str) -> Client:
        process = subprocess.Popen(
            [sys.executable, "-m", "torchlint", "server", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(Client(process))
        return started[-1]

    yield start_one
    for each in started:
        each.kill()


@pytest.fixture
def client(start: Callable[..., Client]) -> Client:
    """A server that was just started."""
    return start("--no-cache")
