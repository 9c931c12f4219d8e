"""What `tune` may try: the fixes of `check`, hints and pedantic ones as well, and experiments."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from torchlint.cli.program_check import ProgramCheck
from torchlint.ruleapi.registry import all_experiments, all_rules
from torchlint.tune.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from torchlint.cli.options import Options
    from torchlint.files.reading import Source
    from torchlint.report.measured.progress_line import ProgressLine
    from torchlint.runtime.program import Program
    from torchlint.verify.compared.measured_fixes import Fixes


class TuneCandidates:
    """Finds what can be tried in the files of a program."""

    def __init__(self, program: Program, options: Options, progress: ProgressLine) -> None:
        every = copy.copy(options)
        every.hints = every.pedantic = True
        self._program = program
        self._check = ProgramCheck(program, every, progress)

    def workbench(self, loaded: Collection[str], deadline: float | None) -> Workbench:
        """The program with its candidates; see `ProgramCheck.fixes`."""
        fixes, sources = self._found(loaded, deadline)
        return Workbench(
            self._program,
            fixes,
            sources,
            {code: rule.family for code, rule in all_rules().items()},
            all_experiments(),
            more=self._found,
        )

    def _found(
        self, loaded: Collection[str], deadline: float | None
    ) -> tuple[Fixes, Mapping[str, Source]]:
        return self._check.fixes(loaded, deadline), self._check.sources()
