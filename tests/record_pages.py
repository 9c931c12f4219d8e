"""Writes into pages of the documentation what their commands print now.

Usage: python -m tests.record_pages docs/tour.md…

What a page shows with `...` stays as it is while it still agrees.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.markdown_blocks import Block, Command, commands, reader, replay

ROOT = Path(__file__).parents[1]


def recorded(text: str, folder: Path) -> str:
    """The page with new output for each command whose output no longer agrees."""
    renewed: dict[Block, dict[Command, list[str]]] = {}
    for block, command, actual in replay(text, folder, reader(folder)):
        renewed.setdefault(block, {})[command] = actual
    lines = text.split("\n")
    for block in sorted(renewed, key=lambda block: -block.row):
        fence = lines[block.row - 1]
        indent = fence[: len(fence) - len(fence.lstrip())]
        shown = [
            line
            for command in commands(block)
            for line in (
                *("$ " + command.words.replace("\n", "\n> ")).split("\n"),
                *renewed[block].get(command, command.printed),
            )
        ]
        rows = slice(block.row, block.row + block.text.count("\n"))
        lines[rows] = [(indent + line).rstrip(" ") for line in shown]
    return "\n".join(lines)


def main() -> int:
    """Records the pages that are named."""
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "repository"
            shutil.copytree(ROOT / "fixtures", folder / "fixtures")
            path = ROOT / name
            path.write_text(recorded(path.read_text("utf-8"), folder), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
