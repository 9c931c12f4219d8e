"""Blocks of code in Markdown pages, and the commands in them, run as a reader would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FENCE = re.compile(
    r"(?:^[ ]*<!--\ not\ run:\ (?P<reason>[^\n]*?)\ -->\n\n?)?"
    r"^(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,})(?P<language>\w*)(?P<rest>[^\n]*)\n"
    r"(?P<text>.*?)^(?P=indent)(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its first line in the page, and its text without indent.

    A block with a title, as in ```` ```python title="train.py" ````, is the file of that name.
    `reason` says why nothing of it is run: `<!-- not run: it needs a GPU -->` is above it.
    """

    language: str
    row: int
    text: str
    title: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Command:
    """What follows a `$ ` prompt, and the lines that it is said to print."""

    words: str
    printed: tuple[str, ...]


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(
            match["language"],
            page.count("\n", 0, match.start("fence")) + 1,
            textwrap.dedent(match["text"]),
            title[1] if (title := _TITLE.search(match["rest"])) else None,
            match["reason"],
        )
        for match in _FENCE.finditer(page)
    ]


def commands(block: Block) -> list[Command]:
    """The commands of a console block. A line that starts with `> ` continues a command.

    Raises:
        ValueError: the block does not begin with a prompt.
    """
    lines = block.text.splitlines()
    if not lines or not lines[0].startswith("$ "):
        raise ValueError(f"the block in row {block.row} does not begin with `$ `")
    found = []
    starts = [row for row, line in enumerate(lines) if line.startswith("$ ")]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        more = list(takewhile(lambda line: line.startswith("> "), lines[start + 1 : stop]))
        words = [line[2:] for line in (lines[start], *more)]
        found.append(Command("\n".join(words), tuple(lines[start + 1 + len(more) : stop])))
    return found


def agrees(printed: Sequence[str], actual: Sequence[str]) -> bool:
    """Whether a page shows what was printed. A line `...` matches any lines, and `...` within a
    line for any text of that line; blanks at the end of lines do not count."""
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"
        for line in _without_blank_ends(printed)
    )
    text = "".join(line.rstrip() + "\n" for line in _without_blank_ends(actual))
    return re.fullmatch(pattern, text) is not None


def _without_blank_ends(lines: Sequence[str]) -> list[str]:
    return "\n".join(line.rstrip() for line in lines).strip("\n").splitlines()


class Shell:
    """Runs commands one after the other, as one session: its folder and `$?` carry over.

    Args:
        folder: where it begins.
        environment: in addition to this process's own.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = str(folder)
        # A test that a hook of git starts must not work on the repository of that hook.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {**ours, **environment}
        self._code = 0

    def run(self, words: str) -> list[str]:
        """What a command prints, on either stream."""
        reading, writing = os.pipe()
        script = f"(exit {self._code})\n{words}\n_code=$?; pwd >&{writing}; exit $_code"
        try:
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                pass_fds=(writing,),
                check=False,
            )
        finally:
            os.close(writing)
            with open(reading, encoding="utf-8") as said:
                self._folder = said.read().strip() or self._folder
        self._code = done.returncode
        return done.stdout.splitlines()


def reader(folder: Path) -> Shell:
    """The session of a reader: its `torchlint` and `python` are those of this process, and its pip
    installs into a folder of its own, without a network."""
    plugins = folder.parent / "installed"
    environment = {
        "COLUMNS": "100",
        "GIT_AUTHOR_EMAIL": "reader@example.org",
        "GIT_AUTHOR_NAME": "Reader",
        "GIT_COMMITTER_EMAIL": "reader@example.org",
        "GIT_COMMITTER_NAME": "Reader",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(folder.parent),
        "NO_COLOR": "1",
        "PYTEST_ADDOPTS": "",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads 0 as: no isolation
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_TARGET": str(plugins),
        "PYTHONPATH": str(plugins),
        "TORCHLINT_CACHE_DIR": str(folder.parent / "cache"),
    }
    return Shell(folder, environment)


def replay(page: str, folder: Path, shell: Shell) -> Iterator[tuple[Block, Command, list[str]]]:
    """Follows a page: writes the files that it shows, runs its commands, and yields each command
    that did not print what the page says, with what it did print."""
    for block in blocks(page):
        if block.title is not None and block.reason is None:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        if block.language != "console" or block.reason is not None:
            continue
        for command in commands(block):
            actual = shell.run(command.words)
            if not agrees(command.printed, actual):
                yield block, command, actual
