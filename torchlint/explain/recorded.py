"""Where a fact was recorded, and where the text is that a clue looks for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.engine.map_file import module_of
from torchlint.explain.told import watched
from torchlint.files.reading import SourceError
from torchlint.reported import Clue, Fact
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torchlint.analysis.module import Module
    from torchlint.engine.map_project import Mapper
    from torchlint.project.project import Project
    from torchlint.reported import Reported


def row_of(about: Fact | Clue, *, project: Project, mapper: Mapper) -> tuple[str, int] | None:
    """The path and the row of a fact, or of the text that a clue looks for; None if it is not there
    any more.

    A fact is stored without its row, which edits change, so its file is parsed.
    """
    if isinstance(about, Clue):
        return project.place_of(about)
    about_file = mapper.project.get(about.path)
    if about_file is None:
        return None
    try:
        module = module_of(about_file.target, about_file.target.read())
    except SourceError:
        return None
    try:
        row = _row_in(module, about)
    finally:
        module.release()
    return None if row is None else (about.path, row)


def _row_in(module: Module, fact: Fact) -> int | None:
    """The row of the first node that a check names for the fact: `because(Fact(…), …, node)`."""
    for check in _checks(module):
        _, seen = watched(check)
        for told in seen.told:
            if told.answer == fact:
                nodes = (each for each in told.places if isinstance(each, cst.CSTNode))
                return next((module.span(node)[0].row for node in nodes), None)
    return None


def _checks(module: Module) -> Iterator[Callable[[], list[Reported]]]:
    """The checks that may record facts."""

    def run(check: Callable[..., Iterable[Reported] | None], *about: object) -> list[Reported]:
        return list(check(*about) or ())

    for rule in all_rules().values():
        if rule.settler is not None:
            for check in rule.module_checks:
                yield partial(run, check, module)
            for types, check in rule.checks:
                for node in module.nodes(*types):
                    yield partial(run, check, node, module)
