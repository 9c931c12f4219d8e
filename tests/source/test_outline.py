"""A first look rules out only what cannot be there."""

from __future__ import annotations

import pytest

from torchlint.source.outline import UNKNOWN, has_stars, literal, outline_of, passed


def outline(text: str):
    found = outline_of("train.py", text.encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    "text",
    [
        "DataLoader(data)",
        "data.DataLoader(data)",
        "from torch.utils.data import DataLoader\nDataLoader(data)",
        "def f(loader: DataLoader) -> DataLoader:\n    isinstance(loader, DataLoader)\nDataLoader(1)",
    ],
)
def test_a_called_name_is_found_with_its_calls(text: str) -> None:
    calls = outline(text).calls_of("torch.utils.data.DataLoader")
    assert calls is not None
    assert len(calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.data import DataLoader as Loader\nLoader(data)",
        "import torch.utils.data.DataLoader as Loader\nLoader(data)",
        "Loader = DataLoader\nLoader(data)",
        "def make(kind=DataLoader): kind(data)",
        "class Loader(DataLoader): pass",
        "loaders = {'plain': data.DataLoader}",
        "partial(DataLoader, batch_size=2)(data)",
        "make(kind=DataLoader)",
        "@DataLoader\ndef f(): pass",
    ],
)
def test_what_may_have_another_name_is_left_to_a_closer_look(text: str) -> None:
    assert outline(text).calls_of("torch.utils.data.DataLoader") is None


@pytest.mark.parametrize(
    "text",
    ["'DataLoader(data)'", "# DataLoader(data)", "def f(x: DataLoader): pass", "import DataLoader"],
)
def test_what_is_not_called_is_ruled_out(text: str) -> None:
    assert outline(text).calls_of("torch.utils.data.DataLoader") == []


def test_what_gets_a_value_is_stored() -> None:
    found = outline("a.b.benchmark = c\nfor x in y: pass\nwith open(f) as g: g += 1")
    assert found.stored == {"benchmark", "x", "g"}


@pytest.mark.parametrize(
    ("text", "value"),
    [("f(x=0)", 0), ("f(x=-1)", -1), ("f(x=None)", None), ("f(x='a')", "a"), ("f(x=n)", UNKNOWN)],
)
def test_a_literal_is_read_and_nothing_else(text: str, value: object) -> None:
    (call,) = outline(text).calls["f"]
    argument = passed(call, "x", None)
    assert argument is not None
    assert literal(argument) is value or literal(argument) == value


def test_arguments_by_position_and_stars_are_seen() -> None:
    calls = outline("f(1, 2)\nf(*a)\nf(**k)").calls["f"]
    plain, starred, mapped = sorted(calls, key=lambda call: call.lineno)
    argument = passed(plain, "x", 1)
    assert argument is not None
    assert literal(argument) == 2
    assert passed(plain, "x", 2) is None
    assert [has_stars(each) for each in (plain, starred, mapped)] == [False, True, True]


@pytest.mark.parametrize("data", [b"def f(", b"x = 1\x00", b"x = " + b"(" * 5000, b"\xff"])
def test_what_python_cannot_read_has_no_outline(data: bytes) -> None:
    assert outline_of("train.py", data) is None
