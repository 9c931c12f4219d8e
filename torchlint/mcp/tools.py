"""What a coding assistant can ask, and the text that it gets. Nothing is run or written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from torchlint.engine.targets import Wishes, plan
from torchlint.library import check_plan
from torchlint.mcp.root import RefusedPathError
from torchlint.memory.store import Store
from torchlint.report import check_summary as summary
from torchlint.report.formats import agent
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.report.terminal.safe_text import Paint, is_exact, plural, visible, visible_path
from torchlint.silence.tiers import Shown, Wanted
from torchlint.workers.pool import Pool, processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlint.finding import Diagnostic
    from torchlint.fixes.fixer import FixedFile
    from torchlint.mcp.root import AllowedFolder
    from torchlint.memory.cache import Cache
    from torchlint.project.target import Target

MOST_BYTES: Final = 100_000
"""Of an answer, without its last lines."""
_MOST_OF_NOTES: Final = MOST_BYTES // 5


class Tools:
    """Answers questions about the files of a folder, which is the working directory.

    Args:
        given: what the command line of the server says about settings.
        open_cache: as for `Store`.
    """

    def __init__(
        self, root: AllowedFolder, given: Wishes, open_cache: Callable[[], Cache | None] | None
    ) -> None:
        self._root = root
        self._given = given
        self._open_cache = open_cache

    def check(self, paths: Sequence[str], *, hints: bool) -> str:
        """The findings of `torchlint check`, in its format `agent`.

        Raises:
            RefusedPathError: a path is refused, or nothing could be checked.
            ConfigError: the configuration cannot be used.
        """
        planned = plan(self._root.paths(paths), self._given)
        wanted = Wanted(hints=hints)
        store = Store(self._open_cache)
        result = check_plan(planned, wanted, pool=Pool(processors()), store=store)
        shown = Shown(result.findings, result.hidden_hints)
        notes: list[str] = []
        if planned.baselines:
            from torchlint.report import baseline_notes as known
            from torchlint.silence.baselines import Baselines, CheckScope

            scope = CheckScope(planned.targets, wanted, store.rule_names(), not result.diagnostics)
            baselines = Baselines(planned.targets, planned.baselines)
            shown, compared = baselines.hide(shown, scope)
            notes += known.notes(compared)
        errors = self._errors(result.diagnostics)
        broken = len({each.path for each in result.diagnostics})
        if broken >= max(1, result.files) and not shown.findings:
            raise RefusedPathError("\n".join(errors))
        lines, count = _fitting(agent.blocks(shown.findings, Excerpts({})), MOST_BYTES)
        left = len(shown.findings) - count
        if left:
            lines.append(f"{plural(left, 'finding')} more did not fit; check fewer paths.")
        sentence = summary.sentence(shown.findings, result.files, len(result.diagnostics))
        if result.stepless:
            notes.append(summary.STEPLESS)
        return "\n".join([*lines, *errors, *notes, agent.closing(shown, sentence)])

    def why(self, place: str, rule: str | None) -> str:
        """What `torchlint why` says about a line.

        Raises:
            RefusedPathError: the path is refused, or is not a file that torchlint checks.
            ConfigError: there is no such rule, or the configuration cannot be used.
            SourceError: the file cannot be read or parsed, or has no such line.
        """
        from torchlint.explain.place import place_in, which_cell
        from torchlint.explain.why import explain
        from torchlint.report import why_report as report
        from torchlint.ruleapi.registry import all_rules, rule_named

        name, position = place_in(place)
        path = self._root.path(name)
        if position is None:
            cells = which_cell(os.path.relpath(path) + place.removeprefix(name))
            raise RefusedPathError("\n".join(map(visible, cells)))
        rules = list(all_rules().values()) if rule is None else [rule_named(rule)]
        target = self._target(path)
        around = plan((".", path), self._given)
        store = Store(self._open_cache)
        pool = Pool(processors())
        found = explain(target, position, rules, around.targets, pool=pool, store=store)
        shown = f"{target.path}:{position.line.removeprefix('cell ')}"
        lines = report.render(found, shown, Paint(), all_rules=rule is not None)
        errors = self._errors([*around.diagnostics, *found.diagnostics])
        return "\n".join([*_cut(lines), *errors])

    def rule(self, code: str) -> str:
        """The page of a rule, or of a finding of `torchlint profile`.

        Raises:
            ConfigError: there is none.
        """
        from torchlint.profile.catalogue import kind_named
        from torchlint.report import rules
        from torchlint.ruleapi.registry import rule_named

        kind = kind_named(code)
        return rules.page(rule_named(code)) if kind is None else kind.page.strip()

    def fix_preview(self, paths: Sequence[str], *, unsafe: bool) -> str:
        """A sentence, and the diff that `torchlint fix` prints.

        Raises: as `check`.
        """
        from torchlint.fixes.fixer import fix_targets
        from torchlint.report import fixes

        planned = plan(self._root.paths(paths), self._given)
        report = fix_targets(planned.targets, unsafe=unsafe, pool=Pool(processors()))
        diagnostics = [*planned.diagnostics, *report.diagnostics]
        errors = self._errors(diagnostics)
        if diagnostics and not planned.targets:
            raise RefusedPathError("\n".join(errors))
        made = [finding for file in report.files for finding in file.applied]
        sentence = fixes.sentence(
            made,
            report.remaining,
            changed=len(report.files),
            files=len(planned.targets),
            apply=False,
            unsafe=unsafe,
            errors=len(diagnostics),
            hint=f"`torchlint fix --apply{' --unsafe' if unsafe else ''}` would write them.",
        )
        diffs, left_out = _diffs(report.files)
        return "\n".join([sentence, *errors, *left_out, *diffs])

    def _target(self, path: str) -> Target:
        planned = plan((path,), self._given)
        for target in planned.targets:
            if os.path.abspath(target.path) == path:
                return target
        errors = self._errors(planned.diagnostics)
        raise RefusedPathError(
            "\n".join(errors) or "This is a folder; name a file and a line in it."
        )

    def _errors(self, diagnostics: Iterable[Diagnostic]) -> list[str]:
        """A line for each, as far as there is room. What a file outside of the folder holds, such
        as a configuration that a link leads to, is not for the assistant."""
        sentences = [
            each
            if self._root.holds(each.path)
            else each._replace(
                message="This file is outside of the folder that the server reads, and cannot be "
                "used; `torchlint config` says why.",
                position=None,
            )
            for each in sorted(set(diagnostics), key=lambda each: each.sort_key)
        ]
        return _cut(agent.not_checked(sentences), _MOST_OF_NOTES)


def _fitting(blocks: Iterable[tuple[int, list[str]]], most: int) -> tuple[list[str], int]:
    """The lines of the first blocks that fit, and the sum of the numbers of these blocks."""
    fitting: list[str] = []
    total = 0
    for number, lines in blocks:
        most -= _size(lines)
        if most < 0:
            break
        fitting += lines
        total += number
    return fitting, total


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)


def _cut(lines: Iterable[str], most: int = MOST_BYTES) -> list[str]:
    """The first lines that fit, and a sentence about the others."""
    every = list(lines)
    fitting, count = _fitting(((1, [line]) for line in every), most)
    left = len(every) - count
    return [*fitting, f"{plural(left, 'line')} more did not fit."] if left else fitting


def _diffs(files: Sequence[FixedFile]) -> tuple[list[str], list[str]]:
    """The diffs that fit and can be shown exactly, and sentences about the others."""
    from torchlint.fixes.fixer import unified_diff

    blocks: list[tuple[int, list[str]]] = []
    left_out: list[str] = []
    for file in files:
        data = unified_diff(file)
        text = data.decode("utf-8", "replace")
        name = visible_path(file.path)
        if text.encode() != data or not is_exact(text):
            left_out.append(f"{name}: The diff cannot be shown exactly; `torchlint fix` has it.")
        elif len(data) > MOST_BYTES:
            left_out.append(f"{name}: The diff is too long to show; `torchlint fix` has it.")
        else:
            blocks.append((1, [text.removesuffix("\n")]))
    diffs, count = _fitting(blocks, MOST_BYTES)
    left_out = _cut(left_out, _MOST_OF_NOTES)
    if count < len(blocks):
        left = plural(len(blocks) - count, "file")
        left_out.append(f"The diffs of {left} more did not fit; name fewer paths.")
    return diffs, left_out
