"""Say why a finding is silenced.

## What it does
Where reasons are required, reports a `# torchlint: ignore[...]`, `ignore-file[...]` or
`disable[...]` that gives none. They are required with `--require-reason`, or with
`require-reason = true` in `[tool.torchlint]`; otherwise this rule is silent.

## Why it is bad
A year later nobody knows whether the comment was a decision or a way to get on with the day, so
nobody dares to remove it.

## Example
```python
scheduler.step(loss.item())  # torchlint: ignore[TL201]
```

## Use instead
```python
scheduler.step(loss.item())  # torchlint: ignore[TL201] -- the scheduler needs the number
```

## When it is silent
If any text follows the `--`. `enable` needs no reason, since its `disable` gives one, and
`# noqa: TL201` has no place for one.

## Fix safety
There is no fix: only you know the reason. `torchlint check --add-ignore --reason TEXT` writes the
same one into every comment that lacks one.

## References
- ESLint's directive comments, whose descriptions follow `--` as well
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.rule import Finding
    from torchlint.suppressions.suppressions import Suppressions

rule = Rule(
    code="TL002",
    name="suppression-without-reason",
    family="suppressions",
    summary="a suppression comment does not say why, where reasons are required",
    triggers=(r"#\s*torchlint:",),
)


@rule.on_suppressions
def gives_no_reason(suppressions: Suppressions) -> Iterable[Finding]:
    if not suppressions.reasons_required:
        return
    for comment in suppressions.comments:
        if comment.heeded and not comment.reason:
            what = "put ` -- ` in front of the reason" if comment.prose else "add ` -- ` and why"
            message = f"`{comment.word}` gives no reason, and reasons are required; {what}."
            yield rule.comment_finding(suppressions, comment, message)
