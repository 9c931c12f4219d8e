"""Lines of a cell that IPython reads and Python does not."""

from __future__ import annotations

from textwrap import dedent

import pytest

from torchlint.notebooks.magics import stand_ins


def python_of(cell: str) -> list[str]:
    """The lines of a cell, with what replaces those that are not Python."""
    lines = dedent(cell).split("\n")
    instead = stand_ins(lines)
    return [instead.get(index, line) for index, line in enumerate(lines)]


@pytest.mark.parametrize(
    "line",
    [
        "%matplotlib inline",
        "!pip install torch",
        "!!ls",
        "?torch.nn",
        "model.fit?",
        "torch.nn.Linear??",
        "%timeit f(x)",
        "/f x",
        ",f a b",
        ";f a b",
        "*int*?",
    ],
)
def test_a_line_for_ipython_does_nothing(line: str) -> None:
    assert python_of(line) == ["pass"]


def test_what_it_binds_is_unknown() -> None:
    assert python_of("files = !ls") == ["files = get_ipython()"]
    assert python_of("a, b = %system ls") == ["a, b = get_ipython()"]
    assert python_of("seen['x']=!ls") == ["seen['x'] = get_ipython()"]


def test_indentation_stays() -> None:
    assert python_of("if x:\n    !ls\n    y = %pwd") == [
        "if x:",
        "    pass",
        "    y = get_ipython()",
    ]


def test_a_line_that_goes_on_is_one() -> None:
    assert python_of("!pip install a \\\n  b \\\n  c\nx = 1") == ["pass", "", "", "x = 1"]


@pytest.mark.parametrize("magic", ["time", "timeit -n 3", "capture out", "prun"])
def test_python_under_a_cell_magic_is_read(magic: str) -> None:
    assert python_of(f"\n%%{magic}\nloss.item()") == ["", "pass", "loss.item()"]


def test_two_cell_magics_of_python() -> None:
    assert python_of("%%capture\n%%time\nx = 1") == ["pass", "pass", "x = 1"]


@pytest.mark.parametrize(
    "magic", ["bash", "writefile train.py", "html", "script python", "R", "javascript"]
)
def test_what_another_program_reads_is_left_out(magic: str) -> None:
    assert python_of(f"%%{magic}\nloss.item()\n\nx = 1") == ["pass", "", "", ""]


@pytest.mark.parametrize(
    "cell",
    [
        "x = (a\n  % b)",
        "x = a \\\n  % b",
        's = """\n%matplotlib inline\n!ls\n"""',
        "s = '''\n\\'''\n!ls\n'''",
        "f(\n  '(',\n  !x\n)",
        "x = a != b",
        "x = a % b",
        "s = '='\nt = '!'",
        "s = 'a\\\n!b'",
        "# what?",
        "x = 'why?'",
        "x = {  # (\n% 3}",
        "@decorate\ndef f(): ...",
        "y = x if x else '%s' % x",
        "assert x == y, '?'",
    ],
)
def test_python_stays(cell: str) -> None:
    assert python_of(cell) == cell.split("\n")


def test_a_string_that_nobody_closes_ends_with_its_line() -> None:
    assert python_of("x = 'abc\n!ls") == ["x = 'abc", "pass"]


def test_magics_after_a_statement_of_many_lines() -> None:
    assert python_of("f(\n  a,\n)\n%pwd") == ["f(", "  a,", ")", "pass"]
