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

from collections.abc import Collection, Iterable

from torchlint.analysis.places import line_start, next_line
from torchlint.rule import Applicability, Edit, Effect, Finding, Fix, Module, Rule, because
from torchlint.silence.suppression_comments import Comment, Name
from torchlint.silence.suppressions import Suppressions

rule = Rule(
    code="TL001",
    effect=Effect.NONE,
    summary="a suppression comment suppresses nothing",
    fix=Applicability.SAFE,
    triggers=(r"#\s*torchlint:",),
    in_tests=True,
)


@rule.on_suppressions
def suppresses_nothing(suppressions: Suppressions) -> Iterable[Finding]:
    for comment in suppressions.comments:
        if not comment.effective:
            because(None, "`{}` is not a suppression with an effect of its own", comment.word)
        elif suppressions.is_unused(comment):
            message = f"`{comment.word}` suppresses nothing {_where(comment)}; remove the comment."
            fix = _without(comment, (), suppressions)
            yield rule.comment_finding(suppressions, comment, message, fix=fix)
        elif unused := suppressions.unused_names(comment):
            message = (
                f"{_listed(unused)} in this comment suppresses nothing {_where(comment)}; "
                "remove it from the brackets."
            )
            fix = _without(comment, unused, suppressions)
            yield rule.comment_finding(suppressions, comment, message, fix=fix)
        else:
            because(None, "a rule that `{}` names reports here, or may still do so", comment.word)


def _where(comment: Comment) -> str:
    return {"ignore-file": "in this file", "disable": "in this block"}.get(comment.word, "here")


def _listed(names: tuple[Name, ...]) -> str:
    return ", ".join(dict.fromkeys(f"`{name.text}`" for name in names))


def _without(comment: Comment, unused: tuple[Name, ...], suppressions: Suppressions) -> Fix:
    """Remove these names of a comment and its partner; without any, the comments."""
    names, module = {name.text for name in unused}, suppressions.module
    both = [each for each in (comment, comment.partner) if each is not None]
    edits = [
        _without_names(each, names, module) if unused else _without_comment(each, module)
        for each in both
    ]
    said = f"Remove {_listed(unused)}" if unused else "Remove the comment"
    return Fix(Applicability.SAFE, said, tuple(edits))


def _without_comment(comment: Comment, module: Module) -> Edit:
    """Remove a suppression with its reason. Other text of the comment stays; a line without other
    text is deleted."""
    text = module.text
    before = text[comment.begins : comment.start].rstrip()
    after = text[comment.end : comment.stops].lstrip()
    if after:
        other = comment.stops - len(after)
        return _edit(module, comment.start, other, "" if after.startswith("#") else "# ")
    if before:
        return _edit(module, comment.begins + len(before), comment.stops, "")
    if comment.alone:
        start = line_start(module, comment.begins)
        return _edit(module, start, next_line(module, comment.stops), "")
    code = len(text[line_start(module, comment.begins) : comment.begins].rstrip())
    return _edit(module, line_start(module, comment.begins) + code, comment.stops, "")


def _without_names(comment: Comment, dropped: Collection[str], module: Module) -> Edit:
    """Remove some rules from the brackets of a comment."""
    names = comment.names or ()
    comma = module.text[names[0].end : names[1].start]
    kept = comma.join(name.text for name in names if name.text not in dropped)
    return _edit(module, names[0].start, names[-1].end, kept)


def _edit(module: Module, start: int, end: int, content: str) -> Edit:
    return Edit(module.position(start), module.position(end), content)
