"""Servers in processes of their own, and a client that talks to them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.editor_client import Client
from tests.warm_start import started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.warm_start import Start

IMPORTED = ("libcst", "torchlint.cli", "torchlint.engine.check", "torchlint.server.features")


@pytest.fixture(scope="session")
def warm_torchlint() -> Iterator[Start]:
    """Starts a torchlint whose imports are done."""
    yield from started(*IMPORTED)


@pytest.fixture
def start() -> Iterator[Callable[..., Client]]:
    """Starts servers; they end with the test."""
    begun: list[Client] = []

    def start_one(*options: str, python: Start = subprocess.Popen) -> Client:
        process = python(
            [sys.executable, "-m", "torchlint", "server", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        begun.append(Client(process))
        return begun[-1]

    yield start_one
    for each in begun:
        each.kill()


@pytest.fixture
def client(start: Callable[..., Client], warm_torchlint: Start) -> Client:
    """A server that was just started, warm."""
    return start("--no-cache", python=warm_torchlint)
