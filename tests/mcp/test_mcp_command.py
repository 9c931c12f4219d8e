from __future__ import annotations

import subprocess
import sys

import pytest

from torchlint.__main__ import run


def test_without_the_package_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from torchlint.__main__ import run; sys.exit(run(['mcp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, input=""
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: The server for assistants needs the package mcp, version 2 or newer; run "
        "`pip install 'mcp>=2'`.\n"
    )


@pytest.mark.parametrize(
    "words", [["--config", "a.toml", "--isolated"], ["--no-cache", "--cache-dir", "x"], ["gone"]]
)
def test_words_that_make_no_sense_are_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mcp", *words]) == 2
    assert capsys.readouterr().out == ""
