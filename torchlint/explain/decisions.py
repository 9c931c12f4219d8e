"""What a check asked before it reported or stayed silent: its last condition, and the answers.

The check runs once more while Python tells of each line and each call of it
(https://docs.python.org/3/library/sys.html#sys.settrace), so rules need no code for this.
"""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from torchlint.ruleapi.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    import libcst as cst

    from torchlint.analysis.training.syncs import Operand

_T = TypeVar("_T")
_REPORT: Final = Rule.report.__code__
_WORDS: Final = {True: "yes", False: "no", None: "nothing"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A function that a condition called: the first sentence of its docstring, and its answer."""

    name: str
    says: str
    answer: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The last condition that a check evaluated.

    Args:
        code: the condition as it is written.
        row: its line in the file of the check.
        held: whether the branch below it was taken.
        asked: the functions that it called, in order.
        conditions: how many conditions were evaluated up to it.
    """

    code: str
    file: str
    row: int
    held: bool
    asked: tuple[Asked, ...]
    conditions: int


@dataclass
class Watched:
    """What was seen of a check: its decision, and the places that it wanted to report."""

    decision: Decision | None = None
    places: list[tuple[cst.CSTNode, Operand | None]] = field(default_factory=list)


def watched(run: Callable[[], _T], file: str) -> tuple[_T, Watched]:
    """Call a function, and follow the first function of a file that it runs.

    Args:
        file: the file of the rule.
    """
    watcher = _Watcher(file)
    before = sys.gettrace()
    sys.settrace(watcher.called)
    try:
        answer = run()
    finally:
        sys.settrace(before)
    return answer, watcher.seen()


class _Watcher:
    def __init__(self, file: str) -> None:
        self._file = file
        self._root: CodeType | None = None
        self._lines: list[int] = []
        self._asked: list[tuple[int, Asked]] = []
        """The functions that were called, each with the number of lines until then."""
        self._places: list[tuple[cst.CSTNode, Operand | None]] = []

    def called(self, frame: FrameType, _event: str, _value: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code is _REPORT:
            node = frame.f_locals["node"]
            if not any(known is node for known, _ in self._places):
                self._places.append((node, frame.f_locals["operand"]))
            return None
        if self._root is None and code.co_filename == self._file and code.co_name != "<lambda>":
            self._root = code
        if code is self._root:
            return self._line
        return self._answer if self._calls(frame.f_back) else None

    def _calls(self, frame: FrameType | None) -> bool:
        """Whether a frame is the check, or a comprehension in it."""
        while frame is not None and frame.f_code.co_filename == self._file:
            if frame.f_code is self._root:
                return True
            if not frame.f_code.co_name.startswith("<"):
                return False
            frame = frame.f_back
        return False

    def _line(self, frame: FrameType, event: str, _value: Any) -> Callable[..., Any]:
        if event == "line":
            self._lines.append(frame.f_lineno)
        return self._line

    def _answer(self, frame: FrameType, event: str, value: Any) -> Callable[..., Any]:
        code = frame.f_code
        if event == "return" and not code.co_name.startswith("<"):
            asked = Asked(code.co_name, _first_sentence(code), _in_words(value))
            self._asked.append((len(self._lines), asked))
        return self._answer

    def seen(self) -> Watched:
        decision = None
        if self._root is not None:
            tests = list(_tests(self._file, self._root.co_firstlineno))
            evaluated = [
                (count, test)
                for count, row in enumerate(self._lines, 1)
                for test in tests
                if test.lineno <= row <= (test.end_lineno or row)
            ]
            if evaluated:
                decision = self._decision(evaluated)
        return Watched(decision, self._places)

    def _decision(self, evaluated: list[tuple[int, ast.expr]]) -> Decision:
        last = evaluated[-1][1]
        start = next(count for count, test in reversed(evaluated) if test is last)
        while start > 1 and _inside(self._lines[start - 2], last):
            start -= 1  # a condition of several lines
        asked = tuple(each for count, each in self._asked if count >= start)
        after = self._lines[evaluated[-1][0] :]
        body = _body_rows(self._file, last)
        held = bool(after) and after[0] in body
        text = " ".join(ast.unparse(last).split())
        count = len({id(test) for _, test in evaluated})
        return Decision(text, self._file, last.lineno, held, asked, count)


def _inside(row: int, test: ast.expr) -> bool:
    return test.lineno <= row <= (test.end_lineno or row)


@lru_cache(maxsize=64)
def _parsed(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _tests(file: str, row: int) -> Iterator[ast.expr]:
    """The conditions of the function that begins in this row, a decorator's or its own."""
    for node in ast.walk(_parsed(file)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == row:
                ifs = (each for each in ast.walk(node) if isinstance(each, ast.If))
                yield from (each.test for each in sorted(ifs, key=lambda each: each.lineno))


def _body_rows(file: str, test: ast.expr) -> range:
    for node in ast.walk(_parsed(file)):
        if isinstance(node, ast.If) and node.test is test:
            return range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1)
    return range(0)


def _first_sentence(code: CodeType) -> str:
    """Of the docstring of a function; empty if it has none."""
    first = code.co_consts[0] if code.co_consts else None
    if not isinstance(first, str) or not first[:1].isupper():
        return ""
    return " ".join(first.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def _in_words(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, (str, int, float)):
        return repr(value)
    if isinstance(value, (tuple, list, set, frozenset, dict)):
        return "something" if value else "nothing"
    return "something"
