"""docs/adopt.md, followed word for word: each command prints what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adopt.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """Each command of the page, what the page says that it prints, and what it printed."""
    folder = tmp_path_factory.mktemp("adopt")
    shutil.copytree(ROOT / "fixtures", folder / "fixtures")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **inherited,
        "NO_COLOR": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "r@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }  # fmt: skip
    script = [f'torchlint() {{ {shlex.quote(sys.executable)} -m torchlint "$@"; }}']
    expected: list[tuple[str, str]] = []
    for language, title, text in BLOCK.findall(PAGE):
        if title:
            script.append(
                f"cat > {shlex.quote(str(folder / title))} <<'END OF FILE'\n{text}END OF FILE"
            )
        for part in (
            re.split(r"^\$ ", text, flags=re.MULTILINE)[1:] if language == "console" else ()
        ):
            command, _, printed = part.partition("\n")
            expected.append((command, printed))
            script.append(f"printf '\\036'\n{command}")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    parts = done.stdout.split("\x1e")[1:]
    assert len(parts) == len(expected)
    return [(*each, actual) for each, actual in zip(expected, parts, strict=True)]


def test_every_command_prints_what_the_page_shows(said: list[tuple[str, str, str]]) -> None:
    for command, printed, actual in said:
        pattern = re.escape(printed.rstrip("\n")).replace(re.escape("...\n"), r"(?:.*\n)*?")
        assert re.fullmatch(pattern, actual.rstrip("\n")), f"$ {command}\n{actual}"


def test_the_page_shows_green_red_and_a_smaller_number(said: list[tuple[str, str, str]]) -> None:
    checks = [
        actual for command, _, actual in said if command.startswith("torchlint baseline check")
    ]
    assert [int(actual.rstrip()[-1]) for actual in checks] == [0, 1, 0, 1, 0, 1, 0]
    (pruned,) = [actual for command, _, actual in said if "→" in actual]
    assert "8 → 7 findings" in pruned
