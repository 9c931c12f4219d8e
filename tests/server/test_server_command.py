from __future__ import annotations

import subprocess
import sys

import pytest


def test_without_pygls_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None; sys.modules['lsprotocol'] = None\n"
        "from torchlint.__main__ import run; sys.exit(run(['server']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, input=""
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "Error: The language server needs the package pygls; run `pip install pygls`.\n"
    )


@pytest.mark.parametrize(
    "words", [["--config", "a.toml", "--isolated"], ["--no-cache", "--cache-dir", "x"]]
)
def test_options_that_exclude_each_other_are_refused(words: list[str]) -> None:
    from torchlint.__main__ import run

    assert run(["server", *words]) == 2
