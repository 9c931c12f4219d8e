"""What fixes would change, as a few lines under their finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.diffs import unified
from torchlint.fixes.splice import that_fit, with_fixes
from torchlint.report.terminal import diff
from torchlint.report.terminal.safe_text import Paint, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.finding import Finding
    from torchlint.report.terminal.excerpt import Excerpts


def fix_diff(findings: Sequence[Finding], excerpts: Excerpts, paint: Paint) -> Iterator[str]:
    """What the fix does, in words, and its lines; nothing where there is no fix.

    Args:
        findings: those of one file that are shown together.
    """
    messages = [each.fix.message for each in findings if each.fix and each.fix.edits]
    yield from (f"fix: {visible(message)}" for message in dict.fromkeys(messages))
    edits = [edit for each in findings if each.fix for edit in each.fix.edits]
    for cell in sorted({edit.start.cell or 0 for edit in edits}):
        text = excerpts.text(findings[0].path, cell or None)
        if text is None:
            continue
        after = with_fixes(text, that_fit(text, [_within(each, cell) for each in findings]))
        both = (part.encode("utf-8", "surrogateescape") for part in (text, after))
        lines = list(diff.render(unified("_", *both, context=1), paint))
        # Without the names of the file, which is named above.
        shown = (line.rstrip() for line in lines[2:])
        yield from ([f"cell {cell}:", *shown] if cell else shown)


def _within(finding: Finding, cell: int) -> Finding:
    """The finding with only the edits in this cell of a notebook, or in the file."""
    if finding.fix is None:
        return finding
    edits = tuple(edit for edit in finding.fix.edits if (edit.start.cell or 0) == cell)
    return finding._replace(fix=finding.fix._replace(edits=edits))
