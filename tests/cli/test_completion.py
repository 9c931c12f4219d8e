"""What may follow, asked by the scripts in real shells where they are there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.cli import completions as completing
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]
Ask = Callable[..., list[str]]
BASH = """\
eval "$(torchlint completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { printf 'compopt %s %s\n' "$@"; }
_torchlint_completion torchlint
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _bash_is_new() -> bool:
    bash = shutil.which("bash")
    asks = 'test "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -ge 44'
    return bash is not None and subprocess.run([bash, "-c", asks], check=False).returncode == 0


@pytest.fixture
def path_to_torchlint(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command under test, whatever is installed."""
    folder = here / ".bin"
    folder.mkdir()
    script = folder / "torchlint"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torchlint "$@"\n')
    script.chmod(0o755)
    # Other tests leave the names of rules that they made up.
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(here / ".cache"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def bash(path_to_torchlint: None) -> Ask:
    def ask(*words: str) -> list[str]:
        command = ["bash", "--norc", "-c", BASH, "bash", "torchlint", *words]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return ask


@pytest.mark.skipif(not _bash_is_new(), reason="needs bash 4.4")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["che"], ["check"]),
        (["check", "--sel"], ["--select"]),
        (["check", "--color", "a"], ["auto", "always"]),
        (["check", "--color", "=", "n"], ["never"]),
        (["check", "--select", "tl60"], [code for code in all_rules() if code.startswith("TL60")]),
        (["check", "--ignore", "TL101,item"], ["TL101,item-in-step-loop"]),
        (["rule", "item"], ["item-in-step-loop"]),
        (["check", "tr"], ["compopt -o default", ""]),
        (["check", "--cache-dir", ""], ["compopt -o dirnames", ""]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["nosuch", ""], [""]),
    ],
)
def test_bash_completes(bash: Ask, words: list[str], offered: list[str]) -> None:
    assert bash(*words) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes(path_to_torchlint: None) -> None:
    asks = (
        "torchlint completion fish | source; complete -C 'torchlint rule TL20'; "
        "complete -C 'torchlint check --output-format=co'"
    )
    done = subprocess.run(
        ["fish", "--no-config", "-c", asks], capture_output=True, check=True, text=True
    )
    assert done.stdout == (
        "TL201\titem-in-step-loop\nTL202\thost-copy-in-step-loop\n--output-format=concise\n"
    )


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_can_read_the_script(path_to_torchlint: None) -> None:
    asks = 'compdef() { print $2; }; eval "$(torchlint completion zsh)"'
    done = subprocess.run(["zsh", "-f", "-c", asks], capture_output=True, check=True, text=True)
    assert done.stdout == "torchlint\n"


def test_zsh_gets_the_option_with_its_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMP_WORDS", "torchlint check --color=nev")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert completing.complete("zsh_complete") == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["plain", "--color=never"]


@pytest.mark.parametrize("instruction", ["nosuch_complete", "bash_complete", ""])
def test_nothing_that_goes_wrong_makes_noise_on_the_command_line(
    instruction: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COMP_WORDS", raising=False)
    assert completing.complete(instruction) == 1
    assert capsys.readouterr() == ("", "")


def test_every_value_that_names_a_file_completes_files(here: Path) -> None:
    import click

    from torchlint.cli import torchlint as group

    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        for param in command.params:
            completing._teach(param)
            words = f"{param.name} {param.metavar}".lower()
            if "file" in words or "path" in words:
                (item,) = param.shell_complete(context, "x")
                assert item.type == "file"


def test_help_says_where_to_put_the_script(torchlint: Run) -> None:
    text = torchlint("completion", "--help").text
    for place in (".bashrc", ".zshrc", "fish/completions"):
        assert place in text
