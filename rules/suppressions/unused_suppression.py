"""Remove suppression comments that no longer silence anything.

## What it does
Reports a `# torchlint: ignore[...]`, `ignore-file[...]` or `disable[...]` that silences nothing,
and single rules in its brackets that silence nothing.

## Why it is bad
A comment that was needed once looks as if it still were. It costs the reader a thought, and it
hides the next finding that really appears there.

## Example
```python
# torchlint: ignore[TL201, TL202] -- the scheduler needs it
scheduler.step(loss.item())
```

## Use instead
```python
# torchlint: ignore[TL201] -- the scheduler needs it
scheduler.step(loss.item())
```

## When it is silent
Where not all is known: a rule in the brackets is switched off for the file or for this run, is
always silent in tests and this is one, has crashed, or may speak once hot code of another file
leads here. A comment without brackets is for all rules, so all of them must be on. A finding that
is hidden, as a hint or as pedantic, is a use too. `# noqa: TL201` is never judged: other tools
count those.

A comment for all rules does not silence this rule; one that names it does.

## Fix safety
**Safe**: a comment changes no value. The fix takes out the rules that silence nothing, or the
whole comment with its reason, in the matching `enable` too. Other text of the comment stays.

## References
- ruff's `unused-noqa` (RUF100)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.rule import Applicability, Fix, Rule

from ._removal import without_comment, without_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.rule import Finding
    from torchlint.suppressions.comments import Comment, Name
    from torchlint.suppressions.suppressions import Suppressions

rule = Rule(
    code="TL001",
    name="unused-suppression",
    family="suppressions",
    summary="a suppression comment silences nothing",
    fix=Applicability.SAFE,
    triggers=(r"#\s*torchlint:",),
)


@rule.on_suppressions
def silences_nothing(suppressions: Suppressions) -> Iterable[Finding]:
    for comment in suppressions.comments:
        if not comment.heeded:
            continue
        if suppressions.wholly_idle(comment):
            message = f"`{comment.word}` silences nothing {_where(comment)}; remove the comment."
            yield rule.comment_finding(
                suppressions, comment, message, fix=_remove(comment, suppressions)
            )
        elif idle := suppressions.idle(comment):
            message = (
                f"{_listed(idle)} in this comment silences nothing {_where(comment)}; "
                "take it out of the brackets."
            )
            yield rule.comment_finding(
                suppressions, comment, message, fix=_shorten(comment, idle, suppressions)
            )


def _where(comment: Comment) -> str:
    return {"ignore-file": "in this file", "disable": "in this block"}.get(comment.word, "here")


def _listed(names: tuple[Name, ...]) -> str:
    return ", ".join(dict.fromkeys(f"`{name.text}`" for name in names))


def _remove(comment: Comment, suppressions: Suppressions) -> Fix:
    both = [each for each in (comment, comment.partner) if each is not None]
    edits = [without_comment(each, suppressions.module) for each in both]
    return Fix(Applicability.SAFE, "Remove the comment", tuple(edits))


def _shorten(comment: Comment, idle: tuple[Name, ...], suppressions: Suppressions) -> Fix:
    names = {name.text for name in idle}
    both = [each for each in (comment, comment.partner) if each is not None]
    edits = [without_names(each, names, suppressions.module) for each in both]
    return Fix(Applicability.SAFE, f"Take out {_listed(idle)}", tuple(edits))
