"""One parsed file, with answers in the words of a PyTorch user."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

import libcst as cst

from torchlint.analysis import literals
from torchlint.analysis.flow import Flow
from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.names import Names, dotted_text, qualified_name
from torchlint.analysis.steps.evaluations import Evaluations
from torchlint.analysis.steps.guards import branch_taken
from torchlint.analysis.steps.loops import Loops, StepLoop
from torchlint.analysis.values.values import Values
from torchlint.files.lines import LineIndex, split_lines
from torchlint.files.reading import is_notebook
from torchlint.source.positions import PositionsByNeed
from torchlint.source.reparse import TREES
from torchlint.source.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torchlint.analysis.values.definitions import Definitions
    from torchlint.analysis.values.kinds import Value
    from torchlint.files.reading import Source
    from torchlint.finding import Position

COMMAND_LINES: Final = frozenset(
    "absl argparse click cyclopts defopt fire hydra jsonargparse plac sacred simple_parsing tyro "
    "typer".split()
)
"""Packages that read the command line."""
_N = TypeVar("_N", bound=cst.CSTNode)
_Scope = cst.FunctionDef | cst.ClassDef
_SCOPES: Final[tuple[type[_Scope], ...]] = (cst.FunctionDef, cst.ClassDef)
_TEST_PARTS = frozenset({"test", "tests", "testing", "docs", "doc"})
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_TEST_IMPORT = re.compile(r"(?<![^\r\n])[ \t]{0,80}(?:import|from)[ \t]+(?:pytest|unittest)\b")


class Module:
    """A file and everything that rules ask of it; answers are found on demand and kept.

    Args:
        source: the file's name and text.
        root: `source.text`, parsed.
        torch: the oldest torch version that the project supports, as (major, minor).
        brought: the names that star imports of other files bind: see `Names`.
    """

    def __init__(
        self,
        source: Source,
        root: cst.Module,
        torch: tuple[int, int],
        brought: Mapping[str, str] | None = None,
    ) -> None:
        self.path = source.path
        self.text = source.text
        self.torch = torch
        self.tree = root
        self.newline = root.default_newline
        self._nodes = Tree(root)
        self._brought = brought or {}
        self.answers: dict[object, object] = {}
        """What `torchlint.analysis.once` keeps."""

    def release(self) -> None:
        """Lets go of the tree and all that was found out about it, so that it is freed at once."""
        values = self.__dict__.pop("values", None)
        if values is not None:
            values.release()
        self.__dict__.clear()

    # structure ---------------------------------------------------------------------------

    def nodes(self, *types: type[_N]) -> list[_N]:
        """The nodes of exactly these types; in source order if one type is asked for."""
        return self._nodes.nodes(*types)

    def order(self, node: cst.CSTNode) -> int:
        """The place of `node` in source order."""
        return self._nodes.order(node)

    def spelled(self, name: str, near: cst.CSTNode | None = None) -> list[cst.Name]:
        """Every `Name` node with this word, in source order, whatever it refers to.

        With `near`, only those in the outermost function around that node, if there is one.
        """
        around = None if near is None else self._outermost_function(near)
        return self._spelled.get((around, name), [])

    def reads(self, assign: cst.CSTNode, name: str) -> list[cst.Name]:
        """The places, also in functions inside its own, that read what an assignment put into a
        name. `x.shape` and the like do not count: they ask about a tensor, not for its values."""
        function = self.function(assign)
        if (function, name) not in self._reads:
            uses = self.spelled(name, near=assign)
            self._reads[function, name] = self.flow.reads(
                uses if function is None else self._nodes.among(uses, function)
            )
        reads = self._reads[function, name]
        return [*reads.get(assign, ()), *reads.get(None, ())]

    @cached_property
    def _reads(
        self,
    ) -> dict[tuple[cst.FunctionDef | None, str], dict[cst.CSTNode | None, list[cst.Name]]]:
        return {}

    @cached_property
    def _spelled(self) -> dict[tuple[cst.FunctionDef | None, str], list[cst.Name]]:
        names: dict[tuple[cst.FunctionDef | None, str], list[cst.Name]] = {}
        outermost: dict[cst.FunctionDef | None, cst.FunctionDef | None] = {None: None}
        for node in self._nodes.nodes(cst.Name):
            names.setdefault((None, node.value), []).append(node)
            inside = self.function(node)
            if inside is not None and inside not in outermost:
                outermost[inside] = self._outermost_function(inside)
            around = outermost[inside]
            if around is not None:
                names.setdefault((around, node.value), []).append(node)
        return names

    def _outermost_function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        found = node if isinstance(node, cst.FunctionDef) else self.function(node)
        while found is not None and (above := self.function(found)) is not None:
            found = above
        return found

    @cached_property
    def calls_by_name(self) -> dict[str, list[cst.Call]]:
        """The calls of the file by each dotted name that their callee can resolve to."""
        calls: dict[str, list[cst.Call]] = {}
        for call in self.nodes(cst.Call):
            for name in self.resolve(call.func):
                calls.setdefault(name, []).append(call)
        return calls

    @cached_property
    def calls_by_method(self) -> dict[str, list[cst.Call]]:
        """The calls `x.method(…)` of the file by the name of the method."""
        calls: dict[str, list[cst.Call]] = {}
        for call in self.nodes(cst.Call):
            if isinstance(call.func, cst.Attribute):
                calls.setdefault(call.func.attr.value, []).append(call)
        return calls

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._nodes.parent(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The parents of `node`, nearest first."""
        return self._nodes.ancestors(node)

    def enclosing(self, node: cst.CSTNode, *types: type[_N]) -> _N | None:
        """The nearest ancestor of one of these types."""
        return self._nodes.enclosing(node, *types)

    def within(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """`node` and all that it is made of, in source order."""
        return self._nodes.within(node)

    def calls_within(self, node: cst.CSTNode) -> list[cst.Call]:
        """The calls among them."""
        return [each for each in self.within(node) if type(each) is cst.Call]

    def call_with(self, node: cst.CSTNode) -> cst.Call | None:
        """The call that has `node` as an argument."""
        arg = self.parent(node)
        call = self.parent(arg) if isinstance(arg, cst.Arg) else None
        return call if isinstance(call, cst.Call) else None

    def statement(self, node: cst.CSTNode) -> cst.BaseStatement | None:
        """The line or compound statement that holds `node`."""
        if isinstance(node, cst.BaseStatement):
            return node
        return self._nodes.enclosing(node, cst.BaseStatement)  # type: ignore[type-abstract]

    def small_statement(self, node: cst.CSTNode) -> cst.BaseSmallStatement | None:
        """The part of a line, between semicolons, that holds `node`."""
        if isinstance(node, cst.BaseSmallStatement):
            return node
        return self._nodes.enclosing(node, cst.BaseSmallStatement)  # type: ignore[type-abstract]

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        return self._nodes.enclosing(node, cst.FunctionDef)

    def class_(self, node: cst.CSTNode) -> cst.ClassDef | None:
        return self._nodes.enclosing(node, cst.ClassDef)

    def qualified_name(self, node: cst.FunctionDef | cst.ClassDef | None) -> str:
        """`Trainer.step` for a method; the empty string for the module itself."""
        return "" if node is None else qualified_name(self._nodes, node)

    def scope_at(self, row: int) -> str:
        """The qualified name of the innermost class or function around a row."""
        index = bisect_right(self._scopes[0], row) - 1
        node = self._scopes[1][index] if index >= 0 else None
        while node is not None and self.span(node)[1].row < row:
            node = self._nodes.enclosing(node, *_SCOPES)
        return self.qualified_name(node)

    @cached_property
    def _scopes(self) -> tuple[list[int], list[_Scope]]:
        """The row in which each begins, and all of them, in source order."""
        nodes = self.nodes(*_SCOPES)
        nodes.sort(key=self.order)
        return [self.span(node)[0].row for node in nodes], nodes

    # text --------------------------------------------------------------------------------

    @cached_property
    def _positions(self) -> PositionsByNeed:
        trees = TREES.get()
        known = () if trees is None else trees.parts(self.path, self.tree)
        return PositionsByNeed(self.tree, self.text, self._nodes.ancestors, known)

    @cached_property
    def _lines(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their ends."""
        return split_lines(self.text)

    def offsets(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where `node` starts and ends in the text, in characters, without blanks around it."""
        return self._positions.span(node)

    def position(self, offset: int) -> Position:
        return self._lines.position(offset)

    def offset(self, position: Position) -> int:
        """The offset of a position in the text.

        Raises:
            ValueError: the text has no such place.
        """
        return self._lines.offset(position)

    def span(self, node: cst.CSTNode) -> tuple[Position, Position]:
        start, end = self.offsets(node)
        return self.position(start), self.position(end)

    def source(self, node: cst.CSTNode) -> str:
        """The text of `node` as it is in the file, without its own parentheses."""
        if isinstance(node, cst.BaseExpression) and not self._positions.knows(node):
            # For one expression this is far quicker than finding where all nodes of the file are.
            bare = node.with_changes(lpar=(), rpar=()) if getattr(node, "lpar", ()) else node
            return self.tree.code_for_node(bare)
        start, end = self.offsets(node)
        return self.text[start:end]

    # names, arguments, values ------------------------------------------------------------

    @cached_property
    def names(self) -> Names:
        return Names(self._nodes, self._brought)

    @cached_property
    def values(self) -> Values:
        return Values(self._nodes, self.names, self.flow)

    @property
    def definitions(self) -> Definitions:
        """The classes and functions of this file."""
        return self.values.definitions

    @cached_property
    def flow(self) -> Flow:
        return Flow(self._nodes, self.names)

    @cached_property
    def loops(self) -> Loops:
        return Loops(self._nodes, self.values)

    @cached_property
    def evaluations(self) -> Evaluations:
        return Evaluations(self._nodes, self.values, self.loops)

    def resolve(self, node: cst.CSTNode) -> tuple[str, ...]:
        """Every dotted name an expression can refer to, as in `torch.nn.DataParallel`."""
        return self.names.resolve(node)

    def calls(self, call: cst.Call, *names: str) -> bool:
        """Whether the callee can be one of these dotted names."""
        return any(name in names for name in self.names.resolve(call.func))

    literal = staticmethod(literals.literal)
    argument = staticmethod(literals.argument)
    argument_node = staticmethod(literals.argument_node)
    has_star_args = staticmethod(literals.has_star_args)
    has_star_kwargs = staticmethod(literals.has_star_kwargs)

    def setting(self, call: cst.Call, name: str) -> list[cst.Arg]:
        """What a call gives a training framework for a setting, such as `"loader workers"` or
        `"strategy"`: the 0 of `TrainingArguments(dataloader_num_workers=0)`."""
        keywords = frameworks.keywords(name, self.resolve(call.func))
        return [arg for arg in call.args if arg.keyword and arg.keyword.value in keywords]

    def value(self, node: cst.CSTNode | None) -> Value:
        """What kind of thing an expression is: see `torchlint.analysis.values.kinds.Kind`."""
        return self.values.value(node)

    # context -----------------------------------------------------------------------------

    def step_loop(self, node: cst.CSTNode) -> StepLoop | None:
        """The innermost loop around `node`, in its function, that trains on each round."""
        return self.loops.step_loop(node)

    def in_evaluation(self, node: cst.CSTNode) -> bool:
        """Whether the model evaluates where `node` runs: after `.eval()`, in a loop under
        `torch.no_grad()`, in a function that evaluates.

        Inside a step loop only the loop's own body is looked at.
        """
        loop = self.loops.step_loop(node)
        return self.evaluations.in_evaluation(node, inside=loop.node if loop else None)

    def guard(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What keeps `node` from running on each round of its step loop (or each call), if
        anything does."""
        loop = self.loops.step_loop(node)
        return self.loops.guard(node, loop.node if loop else None)

    @cached_property
    def test_like(self) -> bool:
        """A test, a page of documentation or a build script, by its path or imports. A script that
        is run does not count as one because it is in `test/`, which people also call what they try
        out."""
        return (
            named_as_test(self.path)
            or bool(_TEST_IMPORT.search(self.text))
            or (in_test_folder(self.path) and not self.is_entry)
        )

    @property
    def is_notebook(self) -> bool:
        return is_notebook(self.path)

    @cached_property
    def top_level(self) -> list[cst.CSTNode]:
        """The statements outside of definitions that always run when the file does, in source
        order: those of `with`, `try` and `if True` come after the one that they are part of."""
        return list(_always_run(self.tree))

    def conditions(self, node: cst.CSTNode) -> Iterator[cst.If | cst.IfExp | cst.ExceptHandler]:
        """What decides whether `node` runs where its function or file does, nearest first; the
        main guard and `if True` decide nothing."""
        child = node
        for above in self.ancestors(node):
            if isinstance(above, cst.ExceptHandler) or (
                isinstance(above, cst.If | cst.IfExp)
                and above is not self.main_guard
                and branch_taken(above) is not child
            ):
                yield above
            child = above

    @cached_property
    def main_guard(self) -> cst.If | None:
        """`if __name__ == "__main__":` at the top level."""
        for statement in self.top_level:
            if isinstance(statement, cst.If) and any(
                isinstance(node, cst.Name) and node.value == "__name__"
                for node in self.within(statement.test)
            ):
                return statement
        return None

    @cached_property
    def imported(self) -> list[str]:
        """The dotted names of the modules that the file imports, or imports from, and of what it
        uses from a star import."""
        names = [dotted_text(alias.name) for each in self.nodes(cst.Import) for alias in each.names]
        names += [dotted_text(each.module) for each in self.nodes(cst.ImportFrom)]
        return names + [dotted for name, dotted in self._brought.items() if self.spelled(name)]

    @cached_property
    def reads_command_line(self) -> bool:
        """Whether the file imports something that reads the command line."""
        return any(name.partition(".")[0] in COMMAND_LINES for name in self.imported)

    @cached_property
    def is_entry(self) -> bool:
        """A script that is started: a main guard, a command line, or training at top level."""
        if self.main_guard is not None or self.reads_command_line:
            return True
        if any(self.function(loop) is None for loop in self.loops.step_loops):
            return True
        return bool(self.training_calls)

    @cached_property
    def first_step(self) -> cst.CSTNode | None:
        """The head of the first step loop, or the name of a function before it that takes a whole
        step; None in a file that takes none."""
        loops = self.loops.step_loops
        heads: list[cst.CSTNode] = [
            each.iter if isinstance(each, cst.For) else each.test for each in loops
        ]
        steps = self.loops.stepping_functions.items()
        heads += [function.name for function, whole in steps if whole]
        return min(heads, key=self.order, default=None)

    @cached_property
    def training_calls(self) -> list[cst.Call]:
        """The calls at the top level of functions of this file that train: `train(model)`,
        `history = train(model)`."""
        left: list[cst.FunctionDef | None] = [*(self.loops.training_functions - {None})]
        if not left:
            return []
        names: set[str] = set()
        while left:  # the functions that train, and those that call one of them
            name = ":" + self.qualified_name(left.pop())
            if name not in names and name != ":":
                names.add(name)
                left += map(self.function, self.calls_by_name.get(name, ()))
        lines = (each for each in self.top_level if isinstance(each, cst.SimpleStatementLine))
        values = (getattr(part, "value", None) for line in lines for part in line.body)
        return [
            value
            for value in values
            if isinstance(value, cst.Call) and not names.isdisjoint(self.resolve(value.func))
        ]


def named_as_test(path: str) -> bool:
    """Whether a file is called as tests and build scripts are: `test_train.py`, `conftest.py`."""
    return _TEST_FILE.search(path.replace("\\", "/")) is not None


def in_test_folder(path: str) -> bool:
    """Whether a file is in a folder for tests or documentation."""
    return not _TEST_PARTS.isdisjoint(path.replace("\\", "/").split("/")[:-1])


def _always_run(node: cst.CSTNode | None) -> Iterator[cst.CSTNode]:
    """The statements in a block, or in a statement, that run whenever it does."""
    if isinstance(node, cst.Module | cst.BaseSuite):
        for statement in node.body:
            yield statement
            yield from _always_run(statement)
    elif isinstance(node, cst.With | cst.Else | cst.Finally):
        yield from _always_run(node.body)
    elif isinstance(node, cst.Try | cst.TryStar):
        for part in (node.body, node.orelse, node.finalbody):
            yield from _always_run(part)
    elif isinstance(node, cst.If):
        yield from _always_run(branch_taken(node))
