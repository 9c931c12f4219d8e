"""The adapter to private names: which of them has moved, and that it bears it."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import threading
from multiprocessing import spawn
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.runtime.probe.private_names import NAMES, Name
from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.private import MISSING, find

if TYPE_CHECKING:
    from types import ModuleType


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.word or name.where[0])
def test_a_private_name_is_where_the_probe_looks_for_it(name: Name) -> None:
    pytest.importorskip("torch")
    if name.optional:
        pytest.skip("builds without it are supported")
    there = [thing for thing in map(find, name.where) if thing is not MISSING]
    assert there, f"{' or '.join(name.where)} is gone: {name.what}"
    word = re.compile(rf"\b{name.word}\b")
    spoken_of = not name.word or any(word.search(inspect.getsource(thing)) for thing in there)
    assert spoken_of, f"{name.word} is gone from {' and '.join(name.where)}: {name.what}"


def test_a_name_that_is_gone_is_missing() -> None:
    for where in ("no_such_module:x", "threading:no_such_name", "threading:Thread.no.such"):
        assert find(where) is MISSING
    assert find("threading:Thread.start") is threading.Thread.start
    assert find("threading") is threading


def test_every_function_bears_the_absence_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(linecache, "updatecache")
    monkeypatch.delattr(spawn, "get_preparation_data")
    private.wrap_line_cache(lambda update: update)
    private.wrap_preparation(lambda prepare: prepare)
    assert not hasattr(linecache, "updatecache")
    assert not hasattr(spawn, "get_preparation_data")


def test_the_compiler_says_when_it_works() -> None:
    torch = pytest.importorskip("torch")
    callback = pytest.importorskip("torch._dynamo.callback")
    said: list[str] = []
    private.when_compiling(lambda *_: said.append("begun"), lambda *_: said.append("ended"))
    try:
        compiled = torch.compile(lambda x: x + 1, backend="eager")
        assert not said
        compiled(torch.zeros(2))
        assert said == ["begun", "ended"]
    finally:
        callback.callback_handler.clear()


def test_threads_are_waited_for_without_the_interpreters_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Thread:
        def __init__(self, daemon: bool) -> None:
            self.daemon = daemon
            self.joined = False

        def join(self) -> None:
            self.joined = True

    worker, daemon = Thread(daemon=False), Thread(daemon=True)
    monkeypatch.delattr(threading, "_shutdown")
    monkeypatch.setattr(
        threading, "enumerate", lambda: [threading.current_thread(), worker, daemon]
    )
    private.wait_for_threads()
    assert (worker.joined, daemon.joined) == (True, False)


ADAPTER = {"private.py", "loader_iterators.py"}
DOCUMENTED = {"_exit", "_getframe", "_current_frames", "_replace", "_asdict"}
"""Of `os`, `sys` and named tuples."""
OTHERS = {"_make_api_call"}
"""Neither torch's nor CPython's: what botocore's clients do everything by."""


def touched(tree: ast.AST) -> list[tuple[int, str]]:
    """Lines and names of private attributes, but `self`'s: spelled, imported or in a string."""
    found = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            names = [] if own else [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.Call):
            texts = [str(part.value) for part in node.args if isinstance(part, ast.Constant)]
            names = [part for text in texts if text.isascii() for part in re.split("[.:]", text)]
        found += [
            (node.lineno, name)
            for name in names
            if re.fullmatch("_[A-Za-z]\\w*", name) and name not in DOCUMENTED | OTHERS
        ]
    return found


@pytest.mark.parametrize(
    "path", sorted(Path(private.__file__).parent.rglob("*.py")), ids=lambda path: path.name
)
def test_private_names_are_touched_by_the_adapter_alone(path: Path) -> None:
    found = touched(ast.parse(path.read_text(encoding="utf-8")))
    assert found == [] or path.name in ADAPTER


@pytest.mark.parametrize("module", [private, loader_iterators])
def test_the_adapter_touches_nothing_that_its_table_leaves_out(module: ModuleType) -> None:
    path = Path(module.__file__ or "")
    listed = {name.word for name in NAMES}
    listed |= {part for name in NAMES for where in name.where for part in re.split("[.:]", where)}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [(row, name) for row, name in touched(tree) if name not in listed] == []


@pytest.mark.parametrize(
    "text",
    [
        "torch._C.x",
        "import torch._dynamo",
        "from torch import _dynamo",
        "from torch._inductor import config",
        "getattr(torch, '_C')",
    ],
)
def test_a_private_name_is_found(text: str) -> None:
    assert touched(ast.parse(text))
