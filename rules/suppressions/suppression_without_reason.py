"""Say why a finding is silenced.

## What it does
Reports a `# torchlint: ignore[...]`, `ignore-file[...]` or `disable[...]` without a reason, if
reasons are required: with `--require-reason`, or with `require-reason = true` in
`[tool.torchlint]`.

## Why it is bad
A year later nobody knows whether the comment was a decision or a shortcut, so nobody dares to
remove it.

## Example
```python
scheduler.step(loss.item())  # torchlint: ignore[TL201]
```

## Use instead
```python
scheduler.step(loss.item())  # torchlint: ignore[TL201] -- the scheduler needs the number
```

## When it is silent
If there is any text after the `--`. `enable` needs no reason, since its `disable` has one, and
`# noqa: TL201` has no place for one. Without `--require-reason` or `require-reason = true` the
rule reports nothing.

## Fix safety
There is no fix: only you know the reason. `torchlint check --add-ignore --reason TEXT` adds the
same reason to every comment that has none.

## References
- ESLint's directive comments, which also have a description after `--`
"""

from collections.abc import Iterable

from torchlint.rule import Effect, Finding, Rule, because
from torchlint.silence.suppressions import Suppressions

rule = Rule(
    code="TL002",
    effect=Effect.NONE,
    summary="a suppression comment gives no reason, although reasons are required",
    triggers=(r"#\s*torchlint:",),
    in_tests=True,
)


@rule.on_suppressions
def gives_no_reason(suppressions: Suppressions) -> Iterable[Finding]:
    if not suppressions.reasons_required:
        because(
            None, "reasons are not required; `require-reason` in the configuration asks for them"
        )
        return
    for comment in suppressions.comments:
        if not comment.effective:
            because(None, "`{}` is not a suppression with an effect of its own", comment.word)
        elif comment.reason:
            because(None, "it gives a reason")
        else:
            what = (
                "put ` -- ` in front of the reason"
                if comment.prose
                else "add ` -- ` and the reason"
            )
            message = f"`{comment.word}` gives no reason, although reasons are required; {what}."
            yield rule.comment_finding(suppressions, comment, message)
