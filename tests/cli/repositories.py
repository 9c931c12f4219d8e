"""A real repository with a small training script, for commands that ask git."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TRAIN = """\
import torch
from torch import nn
from helper import accuracy


def train(model: nn.Module, loader, optimizer):
    model.cuda()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        output = model(images)
        loss = nn.functional.cross_entropy(output, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(loss.item())
"""
HELPER = """\
import torch


def accuracy(output, target):
    return (output.argmax(1) == target).sum().item()
"""


def git(*words: str) -> None:
    """Run git in the current folder."""
    subprocess.run(["git", *words], check=True, capture_output=True)


def commit(message: str = "more") -> None:
    """Commit everything."""
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


def begin(here: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """Make the current folder, in which a checkout was only pretended, a repository with these
    files, none of them committed; nobody's settings count."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test")
    (here / ".git").rmdir()
    for name, text in files.items():
        (here / f"{name}.py").write_text(text)
    git("init", "--quiet", "--initial-branch=main")
