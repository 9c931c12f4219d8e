"""Removes the guards of a rule one at a time and says which of them no case misses.

    python benchmarks/remove_guards.py TL201

A guard is an `if`, a filter of a comprehension, or an operand of `and` and `or`, in the file of
the rule and in the files of `rules/` that it imports; in a declaration it is a context, a reason to
be silent or for a hint, a name, a bound or a flag. Each is taken out of a temporary copy of the
tree, where the rule's case file and its fixtures then have to fail. A guard that is missed lacks a
case, or is not needed.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
COPIED = ("fixtures", "pyproject.toml", "rules", "tests/*.py", "tests/rules", "torchlint")
PRELOADED = ("tests.case_judge", "torchlint.engine.map_project", "libcst.metadata")
"""Imported once and not in the process of each guard; none of them imports a rule."""
DECLARE = {"Rule", "assigns", "calls", "configures", "exports", "first_step", "method", "passes"}
DECLARE |= {"sets"}
LISTS = {"contexts", "else_hint", "unless", "hint_if", "where"}
TEXTS = {"program_has", "program_lacks"}
OPTIONS = {"since": "None", "until": "None"}
LONGEST_S = 120
"""A guard whose removal makes a loop endless is caught."""


class Guard(NamedTuple):
    """An expression of a file, and what takes its place if it is removed."""

    path: str
    node: ast.expr
    instead: str
    removed: str = ""
    """What to call it, if not by all of its text."""

    @property
    def words(self) -> str:
        return (self.removed or ast.unparse(self.node))[:90]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.node.lineno}"

    def without(self, text: str) -> str:
        """The file without the guard."""
        lines = text.encode().splitlines(keepends=True)
        starts = [sum(map(len, lines[:row])) for row in range(len(lines))]
        node = self.node
        start = starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        end = starts[node.end_lineno - 1] + node.end_col_offset
        data = text.encode()
        return (data[:start] + self.instead.encode() + data[end:]).decode()


def guards_of(path: str) -> Iterator[Guard]:
    """The guards of a file, in their order."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
            yield Guard(path, node.test, "False")
        elif isinstance(node, ast.BoolOp):
            instead = str(isinstance(node.op, ast.And))
            operands = (each for each in node.values if not _is_said(each))
            yield from (Guard(path, operand, instead) for operand in operands)
        elif isinstance(node, ast.comprehension):
            yield from (Guard(path, condition, "True") for condition in node.ifs)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in DECLARE:
            yield from _declared(path, node)


def _is_said(operand: ast.expr) -> bool:
    """Whether an operand only tells why the others do not hold: `because(False, …)`."""
    return isinstance(operand, ast.Call) and ast.unparse(operand.func) == "because"


def _declared(path: str, call: ast.Call) -> Iterator[Guard]:
    """The parts of a declaration that can be left out."""
    names = [each for arg in call.args for each in getattr(arg, "elts", [arg])]
    for name in names:
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and len(names) > 1:
            yield Guard(path, name, "'no.such_name'")
    given = {keyword.arg for keyword in call.keywords}
    for keyword in call.keywords:
        value = keyword.value
        if keyword.arg in LISTS and isinstance(value, ast.Tuple):
            for left_out in value.elts:
                rest = [ast.unparse(each) for each in value.elts if each is not left_out]
                instead = f"({', '.join(rest)}{',' if rest else ''})"
                words = f"{keyword.arg}: {ast.unparse(left_out)}"
                yield Guard(path, value, instead, words)
        elif keyword.arg in TEXTS and isinstance(value, ast.Dict):
            for name in value.keys:
                pairs = zip(value.keys, value.values, strict=True)
                rest = [
                    f"{ast.unparse(key)}: {ast.unparse(clue)}"
                    for key, clue in pairs
                    if key is not None and key is not name
                ]
                words = f"{keyword.arg}: {ast.unparse(name) if name else '**'}"
                yield Guard(path, value, f"{{{', '.join(rest)}}}", words)
        elif keyword.arg == "code" and "in_tests" not in given:
            yield Guard(path, value, f"{ast.unparse(value)}, in_tests=True", "silent in tests")
        elif keyword.arg in OPTIONS:
            words = f"{keyword.arg}={ast.unparse(value)}"
            yield Guard(path, value, OPTIONS[keyword.arg], words)


def files_of(code: str) -> list[str]:
    """The file that has the rule's code, and those of `rules/` that it imports."""
    known = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "rules").rglob("*.py"))
    }
    todo = [path for path, tree in known.items() if code in map(_constant, ast.walk(tree))]
    found: list[Path] = []
    while todo:
        path = todo.pop(0)
        if path in known and path not in found:
            found.append(path)
            todo += _imported(known[path], path)
    return [str(path.relative_to(ROOT)) for path in found]


def _constant(node: ast.AST) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _imported(tree: ast.Module, path: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        module = node.module or ""
        if node.level:
            folder = path.parents[node.level - 1]
        elif module.startswith("torchlint.rules"):
            folder, module = ROOT / "rules", module.removeprefix("torchlint.rules").lstrip(".")
        else:
            continue
        place = folder.joinpath(*module.split(".")) if module else folder
        yield place.with_suffix(".py")
        yield from (place / f"{name.name}.py" for name in node.names)


def passes(copy: Path, rule: str) -> bool:
    """Whether the rule's cases and fixtures pass in a copy of the tree, in a process of its own."""
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST_S)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        os.chdir(copy)
        try:
            os._exit(_failed(copy, rule))
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _failed(copy: Path, rule: str) -> int:
    from tests.case_files import read_cases
    from tests.case_judge import problems_of
    from torchlint.ruleapi.registry import all_rules

    name = rule.replace("_", "-")
    (tested,) = (each for each in all_rules().values() if each.name == name)
    cases = read_cases(copy / f"tests/rules/cases/{rule}.py")
    if any(problems_of(case, tested) for case in cases):
        return 1
    return pytest.main(["-x", "-p", "no:cacheprovider", "-k", name, "tests/rules/test_fixtures.py"])


def copied(into: Path) -> Path:
    """A copy of what the tests of the rules need, where `torchlint.rules` is `rules/`."""
    for source in (path for name in COPIED for path in ROOT.glob(name)):
        target = into / source.relative_to(ROOT)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(source, target)
    (into / "torchlint/rules").symlink_to(into / "rules")
    return into


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("code", help="the code of a rule")
    parser.add_argument("places", nargs="*", help="only guards on these lines, such as _hot.py:46")
    arguments = parser.parse_args()
    code, places = arguments.code, tuple(arguments.places)
    files = files_of(code)
    if not files:
        parser.error(f"no file of rules/ has the code {code}")
    home = Path(files[0])
    rule = home.parent.name if home.name == "__init__.py" else home.stem
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(copy))
        for module in PRELOADED:
            importlib.import_module(module)

        assert "torchlint.rules" not in sys.modules
        if not passes(copy, rule):
            parser.error(f"the cases of {rule} fail as they are")
        guards = [guard for path in files for guard in guards_of(path)]
        if places:
            guards = [each for each in guards if each.place.endswith(places)]
        for guard in guards:
            text = (ROOT / guard.path).read_text(encoding="utf-8")
            (copy / guard.path).write_text(guard.without(text), encoding="utf-8")
            caught = not passes(copy, rule)
            (copy / guard.path).write_text(text, encoding="utf-8")
            missed += not caught
            word = "caught" if caught else "MISSED"
            print(f"{word} {guard.place} {guard.words}", flush=True)
    print(f"{len(guards) - missed} of {len(guards)} guards of {code} are caught")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
