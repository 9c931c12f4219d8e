"""`--diff-base`: only findings that a change touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.changes.changed_lines import Changes
    from torchlint.project.target import Target
    from torchlint.silence.tiers import Shown


def changes_since(revision: str) -> Changes:
    """What changed here since the merge base of `revision` and HEAD.

    Raises:
        click.ClickException: git cannot answer.
    """
    from torchlint.changes.changed_lines import Changes
    from torchlint.changes.git import GitError

    try:
        return Changes(revision)
    except GitError as error:
        raise click.ClickException(f"--diff-base: {error}") from None


def narrow(shown: Shown, targets: Sequence[Target], changes: Changes) -> tuple[Shown, list[str]]:
    """The findings that the changes touch, and a sentence about the others, if any.

    Hidden hints are not counted: whether they are touched is not known.

    Raises:
        click.ClickException: git cannot answer.
    """
    from torchlint.changes.git import GitError
    from torchlint.changes.touched_findings import files_of, is_touched
    from torchlint.report.summary import unchanged
    from torchlint.silence.tiers import Shown

    data = {target.path: target.data for target in targets}
    try:
        changed = changes.lines({path: data.get(path) for path in files_of(shown.findings)})
    except GitError as error:
        raise click.ClickException(f"--diff-base: {error}") from None
    touched = tuple(each for each in shown.findings if is_touched(each, changed))
    others = len(shown.findings) - len(touched)
    return Shown(touched), [unchanged(others)] if others else []
