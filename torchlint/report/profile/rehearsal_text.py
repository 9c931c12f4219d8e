"""A rehearsal for people at a terminal: what a step would wait for on a GPU, by line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import duration, listed
from torchlint.report.measured.text_page import Passage, TextPage, fitted
from torchlint.report.profile import profile_words, rehearsal_words
from torchlint.report.profile.profile_text import finding
from torchlint.report.terminal.columns import clipped, joined
from torchlint.report.terminal.safe_text import plural, visible

if TYPE_CHECKING:
    from torchlint.profile.profile_result import Profile
    from torchlint.report.terminal.safe_text import Paint

_FINDINGS: Final = 3
"""They stay however much there is."""
_NAMED: Final = 3


def render(result: Profile, paint: Paint, width: int, *, details: bool = False) -> list[str]:
    """The lines of the report, at most forty of them; see `profile_text.render`."""

    def draw(most: int | None) -> list[Passage]:
        page = _RehearsalText(paint, width, label=14, most=most)
        return [
            Passage(page.head(result)),
            page.findings(result),
            Passage(page.closing(result, details=details)),
        ]

    return fitted(draw, details=details)


class _RehearsalText(TextPage):
    def head(self, result: Profile) -> list[str]:
        """What was run; what a step asks for; what it would be bound by; the memory."""
        seen = result.rehearsal
        facts = [clipped(f"torchlint rehearse {visible(shlex.join(result.argv))}", self.width)]
        facts += [rehearsal_words.steps(seen), f"played: {seen.card}"] if seen else []
        lines = [self.paint.bold(line) for line in joined(facts, self.width)]
        first, *rest = result.summary.splitlines() or [""]
        lines += self.bold(first) if first else []
        lines += self.quoted(rest)
        if seen is None:
            return lines
        lines += self.sentence(rehearsal_words.NOT_TIMED)
        if not seen.used:
            return [*lines, *self.sentence(rehearsal_words.NOT_USED)]
        for label, text in rehearsal_words.step(seen):
            lines += self.labelled(label, text)
        return lines

    def findings(self, result: Profile) -> Passage:
        """The numbered list."""
        seen = result.rehearsal
        if seen is None or not seen.used:
            return Passage([])
        shown = result.findings
        return Passage(
            [""] if shown else self.sentence(rehearsal_words.nothing_found(seen)),
            [finding(self, number, each) for number, each in enumerate(shown, 1)],
            lambda more: [self.paint.dim(f"{more} more, --details shows them")] if more else [],
            least=_FINDINGS,
        )

    def closing(self, result: Profile, *, details: bool) -> list[str]:
        """What it says to `check`, what was not rehearsed, what to do next."""
        sandbox = result.environment.sandbox if result.environment else ""
        outside = self.outside(result.side_effects, sandbox, details=details)
        if result.rehearsal is None:
            return outside
        most = len(result.static) if details else _NAMED
        silent = result.suppressed
        labels = [
            ("check", rehearsal_words.agreement(result)),
            (
                "contradicted",
                listed(rehearsal_words.places(result, "contradicted"), most),
            ),
            ("no finding", rehearsal_words.rare(result)),
            ("silenced", f"{plural(silent, 'finding')} by a comment" if silent else ""),
            ("not played", "; ".join(result.not_measured)),
        ]
        return [
            "",
            *(line for label, text in labels for line in self.labelled(label, text)),
            *outside,
            *self.labelled("note", " ".join(result.notes)),
            *self.command("next", profile_words.following(result)),
            *self.labelled("took", duration(result.seconds)),
        ]
