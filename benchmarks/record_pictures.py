"""Draws the pictures of the README and the site: real runs of torchlint, as a terminal shows them.

Usage: record_pictures.py [--check] [--verify]

    --check    write nothing, and exit with 1 if check.svg or fix.svg is stale
    --verify   measure again for verify.svg, which takes a minute and has other figures each time
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parents[1]
IMAGES: Final = ROOT / "docs" / "images"
WIDTH: Final = 100
COMMANDS: Final = {
    "check": "torchlint check --select TL1,TL2 fixtures/seven/train.py",
    "fix": "torchlint fix --unsafe --select TL105,TL2,TL401 fixtures/seven/train.py",
}
VERIFIED: Final = ROOT / "fixtures" / "tensor-from-array-list" / "train.py"
VERIFY: Final = "torchlint verify train.py --yes"
# rich's own frame fetches a font from a content delivery network; a reader's own will do.
_FRAME: Final = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
  <style>
    .{unique_id}-matrix {{
      font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
      font-size: {char_height}px;
      line-height: {line_height}px;
      font-variant-east-asian: full-width;
    }}
    .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
  </defs>
  {chrome}
  <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
      {matrix}
    </g>
  </g>
</svg>
"""


def on_a_terminal(command: str, folder: Path = ROOT) -> str:
    """What a torchlint command writes to a terminal of `WIDTH` columns, with its colours.

    Standard error, where progress goes, is left out.
    """
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    settings = {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "FORCE_COLOR": "1"}
    ours = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "torchlint", *shlex.split(command)[1:]],
        cwd=folder,
        env={**ours, **settings},
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=subprocess.DEVNULL,
    ):
        os.close(inside)
        written = _read(outside)
    return written.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:
        pass  # how Linux says that nobody has the other end any more
    finally:
        os.close(terminal)
    return b"".join(parts)


def drawn(name: str, command: str, written: str, title: str) -> str:
    """The SVG of a command and of what it wrote."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text.assemble(("$ ", "green"), command))
    console.print(Text.from_ansi(written))
    svg = console.export_svg(title=title, code_format=_FRAME, unique_id=f"torchlint-{name}")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _verified() -> str:
    """The SVG of a verification, of a script that is alone in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(VERIFIED, folder)
        written = on_a_terminal(VERIFY, Path(folder))
    return drawn("verify", VERIFY, written, "torchlint verify on a CPU")


def main() -> int:
    """Draws, or with --check compares."""
    words = set(sys.argv[1:])
    if words - {"--check", "--verify"}:
        print(__doc__)
        return 2
    pictures = {
        name: drawn(name, command, on_a_terminal(command), command)
        for name, command in COMMANDS.items()
    }
    if "--verify" in words:
        pictures["verify"] = _verified()
    stale = [
        name
        for name, svg in pictures.items()
        if not (file := IMAGES / f"{name}.svg").exists() or file.read_text("utf-8") != svg
    ]
    if "--check" in words:
        if stale:
            print(f"Stale: {', '.join(stale)}; run `python benchmarks/record_pictures.py`.")
        return int(bool(stale))
    IMAGES.mkdir(exist_ok=True)
    for name in stale:
        (IMAGES / f"{name}.svg").write_text(pictures[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
