"""Why rules did or did not report a line: what decided, and what would change that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.engine.check import check, read
from torchlint.engine.gate import wanted_by
from torchlint.engine.large_trees import parts
from torchlint.engine.map_file import module_of
from torchlint.engine.map_project import Mapper
from torchlint.engine.project_findings import join
from torchlint.explain.asker import Asker
from torchlint.explain.code_words import CodeWords
from torchlint.explain.joined import Joined
from torchlint.explain.recorded import row_of
from torchlint.explain.sentences import Sentences
from torchlint.files.reading import SourceError
from torchlint.finding import Tier
from torchlint.memory.store import Store
from torchlint.silence.tiers import Wanted
from torchlint.source.deep_stack import with_deep_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.analysis.module import Module
    from torchlint.explain.rule_answers import Answer
    from torchlint.finding import Diagnostic, Position, Results
    from torchlint.memory.kept_join import KeptJoin
    from torchlint.notebooks.cells import Borders
    from torchlint.project.project import Project
    from torchlint.project.target import Target
    from torchlint.ruleapi.rule_definition import Rule
    from torchlint.workers.pool import Pool

_COMPOUND: Final = (cst.For, cst.While, cst.If, cst.With, cst.FunctionDef, cst.ClassDef)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rules that looked at a line, by code; the line itself; what could not be read."""

    line: str
    answers: tuple[Answer, ...]
    diagnostics: tuple[Diagnostic, ...]


def explain(
    target: Target,
    place: Position,
    rules: Sequence[Rule],
    targets: Sequence[Target],
    *,
    pool: Pool,
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
) -> Explanation:
    """Why rules did or did not report a line.

    Args:
        target: the file with the line.
        place: the line, of a notebook by cell.
        rules: those to explain.
        targets: the files of the project, the one of `target` among them.
        progress: called with the number of files done and the total.
        store: cached results of these files, so that only changed ones are parsed.

    Raises:
        SourceError: the file cannot be read or parsed, or has no such line.
    """
    store = Store() if store is None else store
    alone = len(rules) == 1
    wanted = Wanted(pedantic=alone and rules[0].tiers == {Tier.PEDANTIC})
    # As `check` reads the files, so that both use the same cached results.
    targets = wanted.asked_of(tuple(each._replace(named=False) for each in targets))
    files, diagnostics = read(targets)
    if store.is_on_disk and not diagnostics and store.report(files) is None:
        check(targets, pool=pool, progress=progress, store=store)
    whole = Mapper(files, pool=pool, progress=progress, store=store)
    mapper = next((part for part in parts(whole) if target.path in part.files), whole)
    project = _joined(mapper, store.last(files))
    line, answers = with_deep_stack(lambda: _answers(target, place, rules, mapper, project))
    store.note_answers(files)
    store.save()
    return Explanation(line, answers, tuple(diagnostics))


def _answers(
    target: Target, place: Position, rules: Sequence[Rule], mapper: Mapper, project: Project
) -> tuple[str, tuple[Answer, ...]]:
    """The line, and what each rule makes of it.

    Raises:
        SourceError: the file cannot be read or parsed, or has no such line.
    """
    data = target.read()
    borders = {path: known.borders for path, known in mapper.files.items()}
    own = borders[target.path] = target.borders(data)
    brought = mapper.files[target.path].target.brought if target.path in mapper.files else ()
    module = module_of(target._replace(brought=brought), data)
    try:
        row = _row(module, place, own)
        rows = _rows(module, row)
        words = CodeWords(module, own, rows)
        sentences = Sentences(words, borders, partial(row_of, project=project, mapper=mapper))
        asker = Asker(target, project, sentences, Joined(project, sentences))
        loaded = target.path in project.summaries
        codes = set(wanted_by(data, rules, path=target.path, on_demand=loaded))
        alone = len(rules) == 1
        answers = [
            asker.answer(rule, rows, wanted=rule.code in codes, alone=alone) for rule in rules
        ]
        return module.lines[row - 1].strip(), tuple(answers)
    finally:
        module.release()


def _joined(mapper: Mapper, last: tuple[Results, KeptJoin] | None) -> Project:
    """The joined project; the last join of the same files tells which of them it loads."""
    loaded = None
    digests = tuple(each.digest for each in mapper.project.values())
    if last is not None and last[1].digests == digests:
        loaded = last[1].loaded & mapper.files.keys()
    return join(mapper, loaded)[0]


def _row(module: Module, place: Position, borders: Borders | None) -> int:
    """The row of a line in the module.

    Raises:
        SourceError: the file has no such line.
    """
    rows = max(1, len(module.lines) - (not module.lines[-1]))
    if borders is None:
        if place.row <= rows:
            return place.row
        message = f"There is no line {place.row}; the file has {rows}."
        raise SourceError(module.path, message, kind="io")
    cell, lines = place.cell or 0, borders.lines
    if cell > len(lines):
        message = f"There is no code cell {cell}; the notebook has {len(lines)}."
        raise SourceError(module.path, f"{message} Cells of text do not count.", kind="io")
    if place.row > lines[cell - 1]:
        message = f"There is no line {place.row} in code cell {cell}; it has {lines[cell - 1]}."
        raise SourceError(module.path, message, kind="io")
    return borders.row(cell, place.row)


def _rows(module: Module, row: int) -> range:
    """The lines of the statement that a line is in; of a compound one, its header."""
    best = range(row, row + 1)
    for line in module.nodes(cst.SimpleStatementLine):
        start, end = module.span(line)
        if start.row <= row <= end.row:
            return range(start.row, end.row + 1)
    for statement in module.nodes(*_COMPOUND):
        start, body = module.span(statement)[0], statement.body.body
        last = module.span(body[0])[0].row - 1 if body else start.row
        if start.row <= row <= last:
            best = range(start.row, last + 1)
    return best
