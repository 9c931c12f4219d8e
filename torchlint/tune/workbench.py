"""The program that is tuned, with everything that can be tried in its files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from torchlint.analysis.module import Module
from torchlint.files.diffs import unified
from torchlint.files.reading import SourceError
from torchlint.finding import Applicability, Finding, Fix, Tier
from torchlint.fixes.fixer import FixedFile, made
from torchlint.source.deep_stack import with_deep_stack
from torchlint.source.parse import parse
from torchlint.tune.candidate import Candidate, of_rule
from torchlint.verify.compared.fix_lines import places_before
from torchlint.verify.compared.measured_fixes import Fixes, MeasuredFix

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from torchlint.experiment.subject import Variant, Watched
    from torchlint.files.reading import Source
    from torchlint.ruleapi.experiment import Bench, Experiment, Proposal
    from torchlint.runtime.program import Program


class UnfitError(Exception):
    """Candidates cannot be made together; the message says why."""


@dataclass(frozen=True)
class Workbench:
    """A program with its candidates; see `experiment.subject.Subject`.

    Args:
        fixes: what `check` would fix in its files.
        sources: shown path → the files in which experiments may change something.
        families: code of a rule → its family.
        experiments: those that there are.
        bench: where the program runs; None: not known yet, so that there are no experiments.
        more: gives `fixes` and `sources` with those of files that a run has loaded.
    """

    program: Program
    fixes: Fixes
    sources: Mapping[str, Source] = field(compare=False)
    families: Mapping[str, str] = field(compare=False)
    experiments: tuple[Experiment, ...] = field(default=(), compare=False)
    bench: Bench | None = None
    more: Callable[[Collection[str], float | None], tuple[Fixes, Mapping[str, Source]]] | None = (
        field(default=None, compare=False)
    )
    more_words = "what can be tried in the files that it loads"

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """What can be tried: fixes first, then experiments file by file. A fix is left out where an
        experiment does the same."""
        fixes = (fix for fix in self.fixes.fixes if not self.covers(fix.code, fix.path))
        made = (of_rule(fix, self.families.get(fix.code, "")) for fix in fixes)
        return (*made, *self._of_experiments)

    def covers(self, code: str, path: str) -> bool:
        """Whether an experiment that has a place in a file does what a finding there asks for."""
        return any(
            code in each.experiment.covers
            for each in self._of_experiments
            if each.experiment is not None and each.fix.path == path
        )

    @cached_property
    def _of_experiments(self) -> tuple[Candidate, ...]:
        return tuple(self._proposed())

    @cached_property
    def by_id(self) -> dict[str, Candidate]:
        return {each.id: each for each in self.candidates}

    def on(self, bench: Bench) -> Workbench:
        """The same where a program is known to run."""
        return replace(self, bench=bench)

    # as a subject --------------------------------------------------------------------------

    @property
    def changed(self) -> Variant | None:
        return None

    def parts(self) -> Mapping[str, Variant]:
        return {}

    def program_of(self, variant: Variant) -> Program:
        return self.program

    def served(self, variant: Variant) -> dict[str, bytes]:
        return {os.path.realpath(path): pair[1] for path, pair in self.files(variant.fixes).items()}

    def places(self) -> tuple[Watched, Watched]:
        return places_before(self.fixes), {}

    def with_loaded(self, files: Collection[str], deadline: float | None) -> Workbench:
        if self.more is None:
            return self
        fixes, sources = self.more(files, deadline)
        return replace(self, fixes=fixes, sources=sources)

    # the changed files ---------------------------------------------------------------------

    def files(self, ids: Collection[str]) -> dict[str, tuple[bytes, bytes]]:
        """Shown path → bytes before and after, with these candidates made.

        Raises:
            UnfitError: they cannot be made together.
        """
        chosen = [each for each in self.candidates if each.id in ids]
        by_path: dict[str, list[Candidate]] = {}
        for each in chosen:
            by_path.setdefault(each.fix.path, []).append(each)
        return {
            path: (self._source(path).data, self._made(path, each).data)
            for path, each in by_path.items()
        }

    def diff(self, ids: Collection[str]) -> str:
        """The change, as `git apply` takes it."""
        parts = [unified(path, *pair) for path, pair in sorted(self.files(ids).items())]
        return b"".join(parts).decode("utf-8", "replace")

    def fixed_files(self, ids: Collection[str]) -> tuple[FixedFile, ...]:
        """The same, in the form that `fixer.apply` writes."""
        return tuple(
            FixedFile(path, before, after, ()) for path, (before, after) in self.files(ids).items()
        )

    def may_change(self, ids: Collection[str]) -> str:
        """What these candidates declare that they may change in the numbers."""
        declared = [self.by_id[each].fix.may_change for each in ids]
        return "; ".join(dict.fromkeys(filter(None, declared)))

    def samples(self, ids: Collection[str]) -> float:
        """How many times as many samples a step of these takes."""
        return prod(self.by_id[each].samples for each in ids)

    def _source(self, path: str) -> Source:
        return self.sources.get(path) or self.fixes.sources[path]

    def _made(self, path: str, chosen: Sequence[Candidate]) -> Source:
        """The file with these candidates: fixes in the file as it is, then one experiment after the
        other in what has become of it."""
        source = self._source(path)
        findings = [
            finding for each in chosen if each.experiment is None for finding in each.fix.findings
        ]
        try:
            source = made(source, findings) if findings else source
            for each in chosen:
                if each.experiment is not None:
                    source = made(source, [self._again(each, source)])
        except (SourceError, ValueError) as error:
            raise UnfitError(f"{path}: {getattr(error, 'message', error)}") from None
        return source

    def _again(self, candidate: Candidate, source: Source) -> Finding:
        """What an experiment proposes in a file that has changed."""
        assert candidate.experiment is not None
        for proposal in self._proposals(candidate.experiment, source):
            if proposal.option == candidate.option:
                return _finding(candidate.experiment, proposal, source.path, self._module(source))
        raise UnfitError(f"{candidate.name} has no place left beside the others")

    # experiments ---------------------------------------------------------------------------

    def _proposed(self) -> Iterator[Candidate]:
        for path, source in sorted(self.sources.items()):
            for experiment in self.experiments:
                for proposal in self._proposals(experiment, source):
                    finding = _finding(experiment, proposal, path, self._module(source))
                    if not _can_be_made(source, finding):
                        continue
                    declared = (experiment.may_change, proposal.may_change)
                    fix = MeasuredFix(
                        id="/".join(filter(None, (experiment.name, proposal.option))) + f":{path}",
                        code="",
                        name=experiment.name,
                        path=path,
                        findings=(finding,),
                        may_change="; ".join(filter(None, declared)),
                        needs_gpu=experiment.devices == ("cuda",),
                    )
                    slot = f"{experiment.name}:{path}"
                    yield Candidate(
                        fix,
                        slot,
                        experiment.speeds,
                        experiment,
                        proposal.option,
                        proposal.samples,
                    )

    def _proposals(self, experiment: Experiment, source: Source) -> list[Proposal]:
        bench = self.bench
        if bench is None:
            return []
        try:
            module = self._module(source)
        except SourceError:
            return []
        return with_deep_stack(lambda: experiment.proposals(module, bench))

    def _module(self, source: Source) -> Module:
        known: dict[bytes, Module] = self._modules
        module = known.get(source.data)
        if module is None:
            torch = self.bench.torch if self.bench is not None else (2, 0)
            module = Module(source, with_deep_stack(lambda: parse(source)), torch)
            known[source.data] = module
        return module

    @cached_property
    def _modules(self) -> dict[bytes, Module]:
        return {}


def _can_be_made(source: Source, finding: Finding) -> bool:
    """Whether its edits go together, and the file is still Python then."""
    try:
        made(source, [finding])
    except (SourceError, ValueError):
        return False
    return True


def _finding(experiment: Experiment, proposal: Proposal, path: str, module: Module) -> Finding:
    edits = tuple(each for each in proposal.edits if each is not None)
    first = edits[0]
    return Finding(
        code="",
        name=experiment.name,
        tier=Tier.HINT,
        message=proposal.message,
        path=path,
        start=first.start,
        end=first.end,
        fix=Fix(Applicability.UNSAFE, proposal.message, edits),
        scope=module.scope_at(first.start.row),
    )
