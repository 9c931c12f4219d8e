from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import pytest

import torchlint
from torchlint import __version__
from torchlint.cli import torchlint as group
from torchlint.cli.commands.check_command import command

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(**_words: object) -> None:
        raise error

    monkeypatch.setattr(command, "callback", crash)


def test_an_unexpected_exception_is_one_line_and_2(
    torchlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(ZeroDivisionError("by\n\x1bzero"), monkeypatch)
    outcome = torchlint("check")
    assert outcome.code == 2
    assert outcome.err == (
        "torchlint failed: ZeroDivisionError: by\\n\\x1bzero. "
        "This is a bug in torchlint; run again with --debug and report what it prints.\n"
    )


def test_debug_lets_the_exception_through(torchlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(ZeroDivisionError(), monkeypatch)
    with pytest.raises(ZeroDivisionError):
        torchlint("check", "--debug")


def test_debug_shows_the_traceback_of_a_rule_that_crashes(here: Path) -> None:
    (here / "a.py").write_text("import torch\nmodel = torch.nn.DataParallel(model)\n")
    code = (
        "import sys; from torchlint.__main__ import main; from torchlint.ruleapi.rule_definition import Rule; "
        "Rule.finding = lambda *words, **options: 1 / 0; main()"
    )
    said = {}
    for debug in ([], ["--debug"]):
        command = [sys.executable, "-c", code, "check", "--no-cache", *debug]
        said[bool(debug)] = subprocess.run(command, capture_output=True, check=False, text=True)
    assert said[False].returncode == 2
    assert "crashed (ZeroDivisionError" in said[False].stderr
    assert "Traceback" not in said[False].stderr
    assert "Traceback" in said[True].stderr


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (click.Abort(), 130, "Interrupted.\n"),
        (click.ClickException("No."), 2, "Error: No.\n"),
    ],
)
def test_exceptions_become_exit_codes(
    torchlint: Run,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    said: str,
) -> None:
    fail_with(error, monkeypatch)
    outcome = torchlint("check")
    assert (outcome.code, outcome.err) == (code, said)


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes that break")
def test_a_closed_pipe_is_quiet(here: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "check"],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_stream_in_an_old_encoding_gets_escapes(here: Path) -> None:
    code = (
        "import sys, click; from torchlint.__main__ import main; "
        "from torchlint.cli.commands import check_command as check; check.command.callback = lambda **words: click.echo('\u6a21'); "
        "sys.argv = ['torchlint', 'check']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, b"\\u6a21", b"")


@pytest.mark.parametrize("words", ["check", "fix", "baseline write", "config", "rule", "server"])
def test_without_the_built_in_rules_nothing_passes_for_clean(here: Path, words: str) -> None:
    home = os.path.dirname(torchlint.__file__)
    shutil.copytree(home, here / "torchlint", ignore=shutil.ignore_patterns("rules", "*.pyc"))
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *words.split()],
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: The built-in rules are missing, which belong in ")
    assert str(here / "rules") in done.stderr


def test_help_shows_every_command_with_exit_codes(torchlint: Run) -> None:
    assert torchlint("--help").code == 0
    text = torchlint("--help").text
    for name in ("check", "fix", "rule"):
        assert f"torchlint {name} " in text
        page = torchlint(name, "-h")
        assert page.code == 0
        assert "Examples:" in page.text
        assert "Exit codes:" in page.text


def test_the_version_is_printed(torchlint: Run) -> None:
    assert torchlint("--version").text == f"torchlint {__version__}\n"


def test_a_path_in_place_of_a_command_is_pointed_out(torchlint: Run, here: Path) -> None:
    (here / "train.py").touch()
    outcome = torchlint("train.py")
    assert outcome.code == 2
    assert "write `torchlint check train.py`" in outcome.err
    assert torchlint("trein.py").code == 2


def test_no_command_shows_the_help_and_is_2(torchlint: Run) -> None:
    outcome = torchlint()
    assert outcome.code == 2
    assert "Examples:" in outcome.err


def test_every_command_is_listed() -> None:
    context = click.Context(group)
    names = group.list_commands(context)
    assert [getattr(group.get_command(context, name), "name", None) for name in names] == names


def test_a_check_that_parses_nothing_imports_nothing_heavy(here: Path) -> None:
    """Start-up is most of what such a run costs; docs: `benchmarks/speed.py`."""
    (here / "a.py").write_text("x = 1\n")
    code = (
        "import sys; from torchlint.__main__ import run; code = run(['check']); "
        "heavy = {'libcst', 'rich', 'pathspec', 'packaging', 'msgspec', 'tomllib', 'tomli', "
        "'multiprocessing', 'concurrent.futures', 'importlib.metadata', 'asyncio', 'json', "
        "'difflib', 'unicodedata'}; "
        "sys.exit(code or ', '.join(heavy & sys.modules.keys()))"
    )
    plain = subprocess.run(
        [sys.executable, "-c", "import sys, click; print(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
    assert set(filter(None, done.stderr.strip().split(", "))) <= set(plain)
