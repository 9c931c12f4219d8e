"""Literals and their values; which argument of a call is which."""

from __future__ import annotations

import gc

import libcst as cst
import pytest

from torchlint.analysis.literals import (
    UNKNOWN,
    argument,
    argument_node,
    has_star_args,
    has_star_kwargs,
    literal,
)

VALUES = {
    "0": 0,
    "1_000": 1000,
    "0x10": 16,
    "1e-3": 0.001,
    "-1": -1,
    "-0.5": -0.5,
    "--2": 2,
    "True": True,
    "False": False,
    "None": None,
    "'cpu'": "cpu",
    "b'cpu'": b"cpu",
    "r'a\\b'": "a\\b",
    "''": "",
    "'''a'b'''": "a'b",
    '"""a\r\nb"""': "a\nb",
    "'\\x41\\d'": "A\\d",
    "'cu' 'da'": "cuda",
    "b'cu' rb'da'": b"cuda",
    "(1, 'a')": (1, "a"),
    "[1, 2]": (1, 2),
    "((1,), [2])": ((1,), (2,)),
    "()": (),
    "(3)": 3,
}
UNKNOWNS = ["x", "f()", "a.b", "f'{x}'", "'a' f'{x}'", "-x", "-'a'", "not True", "1 + 1", "(1, x)",
            "[1, [x]]", "{1: 2}", "...", r"'\N{no character}'", "1" * 5_000, "0x" + "f" * 5_000]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=list(VALUES))
def test_a_literal_has_its_value(text: str, value: object) -> None:
    found = literal(cst.parse_expression(text))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", UNKNOWNS)
def test_anything_else_is_unknown(text: str) -> None:
    assert literal(cst.parse_expression(text)) is UNKNOWN


@pytest.mark.parametrize("text", ["'k'", "'\\x41'", "'cu' 'da'", "7", "7.5", "(7, 'k')"])
def test_a_literal_leaves_no_garbage(text: str) -> None:
    """The garbage collector is off while files are checked."""
    node = cst.parse_expression(text)
    literal(node)
    gc.collect()
    gc.disable()
    try:
        literal(node)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_nothing_is_unknown() -> None:
    assert literal(None) is UNKNOWN


def test_unknown_is_false_and_equals_no_literal() -> None:
    assert not UNKNOWN
    assert repr(UNKNOWN) == "UNKNOWN"
    assert all(value != UNKNOWN for value in (0, False, None, "", ()))


def call(text: str) -> cst.Call:
    node = cst.parse_expression(text)
    assert isinstance(node, cst.Call)
    return node


FOUND = {
    "by position": ("f(a, b)", 1, "b"),
    "by keyword": ("f(key=a)", 1, "a"),
    "by keyword after others": ("f(a, other=b, key=c)", 1, "c"),
    "by keyword after a star": ("f(*a, key=b)", 0, "b"),
    "by position before a star": ("f(a, *b)", 0, "a"),
    "by position behind keywords": ("f(other=a, **more)", None, None),
    "too few": ("f(a)", 1, None),
    "behind a star": ("f(*a, b)", 1, None),
    "another keyword": ("f(keys=a)", None, None),
    "no position asked": ("f(a)", None, None),
    "in a double star": ("f(**a)", 0, None),
    "a star itself": ("f(*a)", 0, None),
}


@pytest.mark.parametrize(("text", "position", "name"), FOUND.values(), ids=list(FOUND))
def test_the_argument_is_found(text: str, position: int | None, name: str | None) -> None:
    found = argument(call(text), "key", position)
    assert (found.value if isinstance(found, cst.Name) else found) == name
    node = argument_node(call(text), "key", position)
    assert (node is None) == (name is None)


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [("f(a, b=1)", False, False), ("f(*a)", True, False), ("f(**a)", False, True)],
)
def test_stars_are_told_apart(text: str, args: bool, kwargs: bool) -> None:
    assert has_star_args(call(text)) is args
    assert has_star_kwargs(call(text)) is kwargs
