"""Remove suppression comments that no longer silence anything.

## What it does
Reports a `# torchlint: ignore[...]`, `ignore-file[...]` or `disable[...]` that silences nothing,
and single rules in its brackets that silence nothing.

## Why it is bad
The comment looks as if it were still needed. It distracts readers, and it hides the next real
finding on that line.

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
If it is not certain that the comment is unused: a rule in the brackets is switched off for the
file or for this run, ignores tests and this is one, has crashed, or may report something here once
hot code in another file calls this code. A comment without brackets covers all rules, so all of
them must be on. A comment that silences a hidden finding (a hint or a pedantic one) is used.
`# noqa: TL201` is never reported, since other tools use those comments too.

A comment for all rules does not silence this rule; a comment that names it does.

## Fix safety
**Safe**: a comment changes no value. The fix removes the rules that silence nothing, or the whole
comment with its reason, also in the matching `enable`. Other text in the comment stays.

## References
- ruff's `unused-noqa` (RUF100)
"""

from collections.abc import Iterable

from torchlint.rule import Applicability, Finding, Fix, Rule, because
from torchlint.silence.suppression_comments import Comment, Name
from torchlint.silence.suppressions import Suppressions

from ._removal import without_comment, without_names

rule = Rule(
    code="TL001",
    summary="a suppression comment suppresses nothing",
    fix=Applicability.SAFE,
    triggers=(r"#\s*torchlint:",),
    in_tests=True,
)


@rule.on_suppressions
def suppresses_nothing(suppressions: Suppressions) -> Iterable[Finding]:
    for comment in suppressions.comments:
        if not comment.effective:
            because(None, "`{}` is no suppression that has an effect of its own", comment.word)
        elif suppressions.is_unused(comment):
            message = f"`{comment.word}` suppresses nothing {_where(comment)}; remove the comment."
            yield rule.comment_finding(
                suppressions, comment, message, fix=_remove(comment, suppressions)
            )
        elif unused := suppressions.unused_names(comment):
            message = (
                f"{_listed(unused)} in this comment suppresses nothing {_where(comment)}; "
                "remove it from the brackets."
            )
            yield rule.comment_finding(
                suppressions, comment, message, fix=_shorten(comment, unused, suppressions)
            )
        else:
            because(None, "a rule that `{}` names reports here, or may still do so", comment.word)


def _where(comment: Comment) -> str:
    return {"ignore-file": "in this file", "disable": "in this block"}.get(comment.word, "here")


def _listed(names: tuple[Name, ...]) -> str:
    return ", ".join(dict.fromkeys(f"`{name.text}`" for name in names))


def _remove(comment: Comment, suppressions: Suppressions) -> Fix:
    both = [each for each in (comment, comment.partner) if each is not None]
    edits = [without_comment(each, suppressions.module) for each in both]
    return Fix(Applicability.SAFE, "Remove the comment", tuple(edits))


def _shorten(comment: Comment, unused: tuple[Name, ...], suppressions: Suppressions) -> Fix:
    names = {name.text for name in unused}
    both = [each for each in (comment, comment.partner) if each is not None]
    edits = [without_names(each, names, suppressions.module) for each in both]
    return Fix(Applicability.SAFE, f"Remove {_listed(unused)}", tuple(edits))
