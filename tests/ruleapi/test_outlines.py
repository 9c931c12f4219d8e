"""An outline rules out only what cannot be there."""

from __future__ import annotations

import ast

import pytest

from torchlint.analysis.literals import UNKNOWN
from torchlint.ruleapi.declared import (
    Argument,
    assigns,
    calls,
    configures,
    exports,
    method,
    passes,
    sets,
)
from torchlint.ruleapi.outlines import (
    Outline,
    argument,
    chain,
    has_stars,
    literal,
    outline_of,
)

LOADER = "torch.utils.data.DataLoader"


def outline(text: str) -> Outline:
    found = outline_of("train.py", text.encode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.utils.data.DataLoader(d)",
        "from torch.utils import data\ndata.DataLoader(d)",
        "from torch.utils.data import DataLoader\nDataLoader(d)",
        "from torch.utils.data import DataLoader as Loader\nLoader(d)",
        "from torch.utils.data.dataloader import DataLoader\nDataLoader(d)",
        "import torch.utils.data as tud\nLoader = tud.DataLoader\nLoader(d)",
        "from torch.utils.data import DataLoader\nOne = DataLoader\nTwo = One\nTwo(d)",
        "from torch.utils.data import DataLoader\nLoader = DataLoader if fast else Other\nLoader(d)",
        "from torch.utils.data import DataLoader\nLoader = given or DataLoader\nLoader(d)",
        "from torch.utils.data import DataLoader\n(given or DataLoader)(d)",
        "from torch.utils.data import DataLoader\nif (L := DataLoader): L(d)",
        "def f():\n    from torch.utils.data import DataLoader\n\nDataLoader(d)",
        "from house import *\nDataLoader(d)",
        "from torch.utils.data import DataLoader\na = b\nb = a or DataLoader\nb(d)",
    ],
)
def test_a_call_is_found_by_whichever_name(text: str) -> None:
    assert len(list(outline(text).calls(LOADER))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "'DataLoader(d)'",
        "# DataLoader(d)",
        "from torch.utils.data import DataLoader\ndef f(x: DataLoader): pass",
        "from house import DataLoader\nDataLoader(d)",
        "from .data import DataLoader\nDataLoader(d)",
        "import re\nre.DataLoader(d)",
        "class DataLoader: pass\nDataLoader(d)",
        "self.DataLoader(d)",
    ],
)
def test_a_call_of_something_else_is_not_found(text: str) -> None:
    assert not list(outline(text).calls(LOADER))


@pytest.mark.parametrize(
    "text",
    ["def f(make=nn.Linear): make(3)", "g(make=nn.Linear)\nmake(3)", "a, b = nn.Linear, 3\na(3)"],
)
def test_a_loose_call_is_found_by_what_a_parameter_is_given(text: str) -> None:
    assert list(outline(text).loose_calls("torch.nn.Linear"))


def test_what_a_name_is_set_to_is_found() -> None:
    text = "x = 1\nself.x = 2\nx: int = 3\n(x := 4)\nx, y = 5, 6\ndef f(x=7, *, z=8): pass"
    found = outline(text)
    assert sorted(map(ast.unparse, found.assigned("x"))) == ["1", "2", "3", "4", "5", "7"]
    assert [*map(ast.unparse, found.assigned("z"))] == ["8"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"""step()"""\nx', "x"),
        ('def f():\n    """step()\n    step()\n    """\n    x', "def f():\n    x"),
        ('x = """step()"""', 'x = """step()"""'),
        ('"ü"; x; "step()"', "; x;"),
        ("'a'\r\nx\r'b'\ry", "x\ny"),
    ],
)
def test_strings_that_are_statements_are_no_code(text: str, code: str) -> None:
    kept = outline(text).words.written.decode().split("\n")
    assert "\n".join(line.rstrip() for line in kept if line.strip()).strip() == code


@pytest.mark.parametrize("text", ["def f(:", "x = 1\0", "(" * 300 + ")" * 300])
def test_what_cannot_be_read_has_no_outline(text: str) -> None:
    assert outline_of("train.py", text.encode()) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-1", -1),
        ("None", None),
        ("'a' 'b'", "ab"),
        ("(1, [2])", (1, (2,))),
        ("n", UNKNOWN),
        ("f'{n}'", UNKNOWN),
        ("...", UNKNOWN),
    ],
)
def test_a_literal_is_read_and_nothing_else(text: str, value: object) -> None:
    assert literal(ast.parse(text, mode="eval").body) == value


def test_arguments_by_position_and_stars_are_seen() -> None:
    plain, starred, mapped = (each.value for each in ast.parse("f(1, 2)\nf(*a)\nf(**k)").body)  # type: ignore[attr-defined]
    assert literal(argument(plain, "x", 1)) == 2
    assert argument(plain, "x", 2) is None
    assert [has_stars(each) for each in (plain, starred, mapped)] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "names"),
    [("torch.arange(8)[0].float()", "torch.arange.float"), ("(a + b).c", ".c"), ("1", "")],
)
def test_a_chain_goes_through_calls_and_items(text: str, names: str) -> None:
    assert chain(ast.parse(text, mode="eval").body) == names


HEAD = "import os, torch\nfrom torch.utils.data import DataLoader\n"
WORKERS = calls(LOADER, Argument("num_workers", 5, bad=0, missing=True))
PINNED = calls(LOADER, Argument("pin_memory", bad=False))


@pytest.mark.parametrize(
    ("pattern", "there", "not_there"),
    [
        (WORKERS, "DataLoader(d)", "DataLoader(d, num_workers=n)"),
        (WORKERS, "DataLoader(d, num_workers=0)", "DataLoader(d, **options)"),
        (WORKERS, "DataLoader(d, 1, True, None, None, 0)", "DataLoader(*options)"),
        (PINNED, "DataLoader(d, pin_memory=False)", "DataLoader(d, pin_memory=0)"),
        (calls(LOADER), "DataLoader(*options)", "loader = DataLoader"),
        (method("zero_grad"), "optimizer.zero_grad()", "zero_grad()"),
        (passes("padding", "max_length"), "f(padding='max_length')", "f(padding=how)"),
        (passes("padding"), "f(padding=how)", "padding = how"),
        (sets("torch.backends.cudnn.enabled", False), "torch.backends.cudnn.enabled = False", "a.enabled = x"),
        (assigns("requires_grad", False), "p.requires_grad = False", "p.requires_grad = True"),
        (exports("CUDA_X", "1"), "os.environ['CUDA_X'] = '1'", "os.environ['CUDA_Y'] = '1'"),
        (configures("strategy", "dp"), "Trainer(strategy='dp')", "Trainer(strategy='ddp')"),
    ],
)  # fmt: skip
def test_a_pattern_may_be_where_a_bad_value_is(pattern: object, there: str, not_there: str) -> None:
    may_be_in = pattern.may_be_in  # type: ignore[attr-defined]
    assert may_be_in(outline(HEAD + there))
    assert not may_be_in(outline(HEAD + not_there))
