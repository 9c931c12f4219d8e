"""Parsing: what is refused, with which words and where."""

from __future__ import annotations

import contextlib
import gc
import re
import sys
import threading

import libcst as cst
import pytest

from torchlint.files.reading import Source, SourceError, decode
from torchlint.finding import Position
from torchlint.source.deep_stack import with_deep_stack
from torchlint.source.nesting import too_much
from torchlint.source.parse import parse

FAITHFUL = {
    "carriage returns": "# a\rx = 1\rif x:\r  y\r",
    "one carriage return": "x\r",
    "carriage return and newline": "if x:\r\n    y\r\n",
    "mixed line ends": "a\nb\r\nc\rd\n",
    "mixed line ends, the last a carriage return": "a\nb\r",
    "blank carriage returns": "\r\r",
    "tabs": "if x:\n\ty\n\tif z:\n\t\tw\n",
    "no final newline": "if x:\n    y\n    # end",
    "blanks at the end": "x\n   ",
    "empty": "",
    "only a comment": "#",
    "Python 3.12": "def f[T](x: T) -> T: ...\ntype A = int\ny = f'{x['a']}'\n",
}


def source(text: str) -> Source:
    return Source("x.py", text.encode("utf-8", "replace"), text, "utf-8", bom=False)


def refusal(text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        with_deep_stack(lambda: parse(source(text)))
    assert caught.value.kind == "syntax"
    return caught.value


def refusal_below_the_first_line(text: str) -> str:
    """The message of a refusal at the place of the problem."""
    error = refusal(text)
    assert error.position is not None
    assert error.position.row >= 2
    return error.message


@pytest.mark.parametrize("text", FAITHFUL.values(), ids=FAITHFUL)
def test_the_code_of_the_tree_is_the_text(text: str) -> None:
    assert parse(source(text)).code == text


def test_the_text_counts_not_the_bytes() -> None:
    latin = decode("x.py", b"# coding: latin-1\nx = '\xe9'\n")
    assert parse(latin).code == latin.text


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("text", ["x = 1\n", "x = (\n"])
def test_garbage_collection_is_as_it_was(enabled: bool, text: str) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with contextlib.suppress(SourceError):
            parse(source(text))
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_no_garbage_is_collected_while_a_tree_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    real = cst.parse_module
    monkeypatch.setattr(
        cst, "parse_module", lambda text: (seen.append(gc.isenabled()), real(text))[1]
    )
    parse(source("x = 1\n"))
    assert seen == [False]


WRONG = {
    "unclosed": ("x = 1\nfoo(1,\n\n", Position(2, 4), "never closed"),
    "stray sign": ("a\n\nx = $\n", Position(3, 5), "invalid syntax"),
    "column counts characters": ("é = 'ü' +\n", Position(1, 10), "invalid syntax"),
    "indent": ("if x:\ny\n", Position(2, 1), "indented block"),
    "carriage returns": ("a\rb\rx = $\r", Position(3, 5), "invalid syntax"),
    "unterminated string": ("x\ny = '''abc\n", Position(2, 5), "unterminated"),
    "101 levels": ("".join(" " * i + "if x:\n" for i in range(120)), Position(101, 1), "levels"),
    "second byte order mark": ("\ufeffx\n", Position(1, 1), "second byte order mark"),
    "surrogate": ("x = '\ud800'\n", Position(1, 1), "surrogates"),
    "escape codes stay out of the message": (
        "\x1b[31m = 1\n",
        # CPython 3.10 reads on, and points at the end of what it cannot read.
        Position(1, 1 if sys.version_info >= (3, 11) else 4),
        "U+001B" if sys.version_info >= (3, 11) else "invalid decimal literal",
    ),
}


if sys.version_info < (3, 14):  # which knows all letters that LibCST knows
    WRONG["a name that only LibCST accepts"] = (
        "x = 1\ny = aé\U00010d4ab\n",
        Position(2, 7),
        "invalid",
    )


@pytest.mark.parametrize(("text", "position", "words"), WRONG.values(), ids=WRONG)
def test_a_syntax_error_has_its_place(text: str, position: Position, words: str) -> None:
    error = refusal(text)
    assert error.position == position
    assert words in error.message
    assert "\x1b" not in error.message


PYTHON_2 = {
    "print": ("x = 1\nprint 'x'\n", 2),
    "print of a name": ("def f():\n    print x\n", 2),
    "print after a colon": ("if x: print y\n", 1),
    "exec": ("exec 'x = 1'\n", 1),
    "raise": ("raise ValueError, 'x'\n", 1),
    "except": ("try:\n    pass\nexcept (A, B), error:\n    print 'x'\n", 3),
    "except alone, which PEP 758 reads as two types": (
        "'''\nexcept E, e:\n'''\ntry:\n    pass\nexcept Exception, e:\n    pass\n",
        6,
    ),
    "octal": ("x = 0777\n", 1),
    "long": ("x = 10L\n", 1),
    "backticks": ("x = `y`\n", 1),
    "unequal": ("if x <> y: pass\n", 1),
}


@pytest.mark.parametrize(("text", "row"), PYTHON_2.values(), ids=PYTHON_2)
def test_python_2_is_called_by_its_name(text: str, row: int) -> None:
    error = refusal(text)
    assert "Python 2" in error.message
    assert error.position is not None
    assert error.position.row == row


NOT_PYTHON_2 = {
    "docstring": "'''\nexcept E, e:\n'''\ntry:\n    pass\nexcept (A, e):\n    pass\n",
    "PEP 758 beside such a docstring": "'except E, e:'\ntry:\n    x\nexcept A, B:\n    pass\n",
    "PEP 758": "try:\n    pass\nexcept A, B:\n    pass\n",
}


@pytest.mark.parametrize("text", NOT_PYTHON_2.values(), ids=NOT_PYTHON_2)
def test_what_only_resembles_python_2_is_parsed(text: str) -> None:
    assert parse(source(text)).code == text


def test_other_syntax_errors_are_not_called_python_2() -> None:
    assert "Python 2" not in refusal("x = (\nprint('a b')\n").message


# too deep, too long --------------------------------------------------------------------------

TOO_DEEP = {
    "parentheses": "(" * 2000 + "1" + ")" * 2000,
    "lists": "[" * 2000 + "]" * 2000,
    "dictionaries": "{1:" * 2000 + "1" + "}" * 2000,
    "calls over lines": "f(\n" * 2000 + ")" * 2000,
    "just over the limit": "(" * 201 + "1" + ")" * 201,
    "under closing brackets in strings": "(\n" + "'))))',\n" * 100 + "(" * 201 + "1" + ")" * 202,
    "in an f-string": "f'{" + "(" * 201 + "1" + ")" * 201 + "}'",
    "never closed": "(" * 3000,
}
TOO_LONG = {
    "attributes": "x" + ".a" * 2000,
    "subscripts": "x" + "[0]" * 5000,
    "calls": "f" + "()" * 2000,
    "methods": "x" + ".a(b)" * 2000,
    "sums": "+".join(["x"] * 2000),
    "sums in a call": "f(1, " + "+".join(["x"] * 2000) + ")",
    "signs": "-" * 2000 + "x",
    "not": "not " * 2000 + "x",
    "conditions": "a if b else " * 2000 + "c",
    "lambdas": "lambda:" * 2000 + "c",
    "lambdas with parameters": "lambda a, *b: " * 2000 + "c",
    "lambdas in defaults": "lambda a=" * 2000 + "c" + ", d: e" * 2000,
}
LONG_TOGETHER = {
    "chains over many lines": "(a\n" + ".f()\n" * 2000 + ")",
    "chains over lines that are continued": "a" + "\\\n.f()" * 2000,
    "chains in a replacement field": "f'{a" + ".f()" * 2000 + "}'",
    "chains in a replacement field of many lines": "f'''{a" + ".f()\n" * 2000 + "}'''",
    "many chains": "1\n" + ("x = a" + ".f()" * 499 + "\n") * 125,
    "many chains in replacement fields": "1\n" + ("x = f'{a" + ".f()" * 200 + "}'\n") * 500,
    "chains behind strings with brackets": "(a\n" + ".f(')')\n" * 2000 + ")",
    "words over many lines": "(\n" + "not\n" * 2000 + "a)",
    "brackets, again and again": "1\n" + ("x = " + "(a := " * 190 + "1" + ")" * 190 + "\n") * 100,
}
NESTED_PATTERNS = {
    "sequences": "[" * 30 + "]" * 30,
    "mappings": "{1: " * 15 + "y" + "}" * 15,
    "classes": "C(a=" * 30 + "y" + ")" * 30,
    "groups": "(" * 30 + "y" + ")" * 30,
    "several kinds": "[{1: C(" * 10 + "y" + ")}]" * 10,
    "over lines": "[\n" * 30 + "]\n" * 30,
    "behind a continued line": "\\\n" + "[" * 30 + "]" * 30,
    "classes with names after places": "C(" * 12 + "y" + ", a=z)" * 12,
    "groups that are none": "(" * 12 + "y" + ", z)" * 12,
    "never closed": "[" * 30 + "y" + "]" * 29,
    "closed by others": "{1: " * 15 + "y" + ")" * 14,
    "to the end of the text": "C(a=" * 30,
    "many": ("[" * 12 + "]" * 12 + ":\n        pass\n    case ") * 200 + "_",
}
FINE = {
    "chains in many statements": "a.b.c(d).e[f] + g.h\nx = " * 8000 + "1",
    "names with dots, over many lines": "[\n" + "a.b.c,\n" * 2000 + "]",
    "a word that is not a keyword": "1\ncase = " + "[" * 30 + "]" * 30,
    "a pattern of usual depth": "1\nmatch x:\n    case [C(a=1, b=[1, {2: (3, 4)}]), *_] if f(g(h(i(j(k(1)))))):\n"
    "        y = f(g(h(i(j(k([[[[[[[[[[1]]]]]]]]]]))))))",
    "at the limit": "(" * 199 + "1" + ")" * 199,
    "brackets in strings": "x = ['" + "(" * 500 + "', \"" + "[" * 500 + '"]',
    "brackets in long strings": "x = '''\n'" + "(" * 500 + "\n'''",
    "brackets in comments": "x = 1  # " + "(" * 500,
    "brackets in the text of an f-string": "x = f'" + "(" * 500 + "{y}'",
    "unclosed brackets in many strings": "f('(')\n" * 300,
    "a long list": "x = [" + "-1.5, " * 3000 + "]",
    "many rows": "x = [" + "[0, 1], " * 3000 + "]",
    "a long line of text": "x = '" + "a.b + c " * 1000 + "'",
    "many statements on a line": "x = a.b + 1; " * 1000,
    "adjacent strings": "x = (" + "'a' " * 2000 + ")",
    "many lambdas": "x = [" + "lambda a, b: a + b, " * 3000 + "]",
    "comparisons": "x = " + " and ".join(["a"] * 2000),
}


@pytest.mark.parametrize("text", TOO_DEEP.values(), ids=TOO_DEEP)
def test_nesting_that_python_refuses_is_never_parsed(text: str) -> None:
    message = refusal_below_the_first_line(f"x = 1\nx = {text}\n")
    assert "Python's own limit is 200" in message


@pytest.mark.parametrize("text", TOO_LONG.values(), ids=TOO_LONG)
def test_chains_that_take_for_ever_are_never_parsed(text: str) -> None:
    error = refusal(f"x = 1\nx = {text}\n")
    assert "1,000 operations" in error.message
    assert error.position is not None
    assert error.position.row == 2


@pytest.mark.parametrize("text", LONG_TOGETHER.values(), ids=LONG_TOGETHER)
def test_what_takes_forever_together_is_never_parsed(text: str) -> None:
    message = refusal_below_the_first_line(f"x = 1\nx = {text}\n")
    assert re.search("1,000 operations|long chains|deeply nested brackets", message)


@pytest.mark.parametrize("text", NESTED_PATTERNS.values(), ids=NESTED_PATTERNS)
def test_patterns_that_are_tried_again_and_again_are_never_parsed(text: str) -> None:
    message = refusal_below_the_first_line(f"match x:\n    case {text}:\n        pass\n")
    assert "patterns of `case`" in message


@pytest.mark.parametrize("text", ["x = 1; y = 2\n" * 45_000, "[" + "0," * 130_000 + "]"])
def test_more_names_and_signs_than_memory_holds_are_never_parsed(text: str) -> None:
    assert "more than 250,000 names, numbers and signs" in refusal(text).message


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_long_but_flat_code_is_parsed(text: str) -> None:
    assert with_deep_stack(lambda: parse(source(text + "\n")).code) == text + "\n"


ODD = (
    '"""' + "a\\" * 50_000,
    "'" * 100_001,
    '"' + '\\"' * 50_000,
    "f'" + "{" * 50_000,
    "\\\n" * 25_000,
)


@pytest.mark.parametrize("text", ODD, ids=[repr(text[:6]) for text in ODD])
def test_the_look_at_nesting_ends_soon_on_anything(text: str) -> None:
    assert too_much("(" * 160 + ")" * 160 + "\n" + text) is None


# the deep stack ------------------------------------------------------------------------------


def depth(number: int) -> int:
    return 0 if number == 0 else 1 + depth(number - 1)


def test_recursion_goes_deep_and_the_limits_are_restored() -> None:
    limit, size = sys.getrecursionlimit(), threading.stack_size(2 * 1024 * 1024)
    sys.setrecursionlimit(1_234)
    try:
        assert with_deep_stack(lambda: depth(50_000)) == 50_000
        assert (sys.getrecursionlimit(), threading.stack_size()) == (1_234, 2 * 1024 * 1024)
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)


def test_errors_come_through_the_deep_stack() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: 1 // 0)
    assert sys.getrecursionlimit() == limit


def test_calls_on_the_deep_stack_share_it() -> None:
    outer, inner = with_deep_stack(
        lambda: (threading.current_thread(), with_deep_stack(threading.current_thread))
    )
    assert outer is inner
    assert outer is not threading.current_thread()


def test_a_small_stack_is_better_than_none(monkeypatch: pytest.MonkeyPatch) -> None:
    real = threading.stack_size

    def small(size: int = 0) -> int:
        if size > 100 * 1024 * 1024:
            raise ValueError("too large")
        return real(size)

    monkeypatch.setattr(threading, "stack_size", small)
    assert with_deep_stack(lambda: depth(5_000)) == 5_000


def test_without_any_thread_the_call_still_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert with_deep_stack(lambda: "done") == "done"


def test_what_fails_inside_libcst_is_an_error_of_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> cst.Module:
        raise IndexError(text)

    monkeypatch.setattr(cst, "parse_module", fail)
    with pytest.raises(SourceError, match="IndexError"):
        parse(decode("a.py", b"x = 1"))
