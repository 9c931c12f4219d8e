from __future__ import annotations

import io

import pytest

from torchlint.report.terminal.safe_text import (
    Paint,
    plural,
    visible,
    visible_path,
    wants_colour,
    width_of,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]text[/bold]", "plain [bold]text[/bold]"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("abc\u202edef\u2066\u200b", "abc\\u202edef\\u2066\\u200b"),
        ("line\u2028\u2029", "line\\u2028\\u2029"),
        ("caf\udce9", "caf\\xe9"),
        ("\udc80\udcff", "\\x80\\xff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\ufffe\uffff\ufdd0", "\\ufffe\\uffff\\ufdd0"),
        ("größe 模型 🔥", "größe 模型 🔥"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a.py", "a.py"),
        ("::error::x.py", "./::error::x.py"),
        ("##[error]x.py", "./##[error]x.py"),
        ("a\n::error::x.py", "a\\n::error::x.py"),
    ],
)
def test_a_name_never_starts_what_a_ci_log_takes_for_a_command(path: str, shown: str) -> None:
    assert visible_path(path) == shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "colour"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": ""}, False),
        (Terminal(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"CLICOLOR_FORCE": "1"}, True),
        (io.StringIO(), {"CLICOLOR_FORCE": "0"}, False),
        (io.StringIO(), {"CLICOLOR_FORCE": ""}, False),
        (io.StringIO(), {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        (Terminal(), {"CLICOLOR": "0"}, False),
        (Terminal(), {"CLICOLOR": "1"}, True),
        (io.StringIO(), {"CLICOLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(
    stream: io.StringIO,
    environment: dict[str, str],
    colour: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(stream) is colour
    assert wants_colour(stream, asked=True)
    assert not wants_colour(stream, asked=False)


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert (width_of(Terminal()), width_of(io.StringIO())) == (57, None)
    monkeypatch.setenv("COLUMNS", "3")
    assert width_of(Terminal()) == 30


def test_paint_ends_what_it_starts_and_leaves_plain_text_alone() -> None:
    assert Paint(on=True).green("x") == "\x1b[32mx\x1b[0m"
    assert Paint().green("x") == "x"


def test_nouns_are_counted() -> None:
    assert [plural(count, "file") for count in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
