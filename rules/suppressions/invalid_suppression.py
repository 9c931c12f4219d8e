"""Write suppression comments that do what they say.

## What it does
Reports a `# torchlint:` comment that does not do what it seems to do: it names a rule that does
not exist, its keyword is misspelt, or its rules are not in brackets. It also reports a `disable` or
`enable` behind code, inside brackets, or at another indentation than the code around it, one
without the other, and an end that is not written as `until=2027-01-31`, in front of the reason.

## Why it is bad
The finding that the comment is meant to silence is still reported, or a block silences more than
intended.

## Example
```python
# torchlint: disable[TL2O1]
print(loss.item())
print(accuracy.item())
```

## Use instead
```python
# torchlint: disable[TL201]
print(loss.item())
print(accuracy.item())
# torchlint: enable[TL201]
```

## When it is silent
For comments that only mention torchlint: an unknown word counts as a misspelt keyword only if a
bracket follows it or if it is close to a known keyword. Families such as `TL2` work in `--ignore`
and in the configuration, but a comment has to name each rule.

## Fix safety
There is no fix, since the intention is not known.

## References
- ruff's `invalid-rule-code` (RUF102), `invalid-suppression-comment` (RUF103) and
  `unmatched-suppression-comment` (RUF104)
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from torchlint.rule import Effect, Finding, Rule, because
from torchlint.silence.suppression_comments import WORDS, Comment
from torchlint.silence.suppressions import Suppressions

rule = Rule(
    code="TL003",
    effect=Effect.NONE,
    summary="a suppression comment has an error, such as an unknown rule",
    triggers=(r"#\s*torchlint:",),
    in_tests=True,
)

_MOST_NAMED: Final = 20
"""Unknown rules of one comment that each get a finding."""
_FAULTS: Final = {
    "bracket": "The rules are not in brackets, so nothing is suppressed; write `{word}[TL201]`.",
    "until": "The end of this comment cannot be read, so nothing is suppressed; write it as "
    "`{word}[TL201] until=2027-01-31 -- reason`.",
    "days": "This file has over 100 different days in `until=`, so nothing is suppressed here; use "
    "fewer.",
    "place": "`{word}` does nothing here; put it on a line of its own between statements.",
    "indent": "`{word}` does nothing at this indentation; indent it like the code that follows.",
    "unopened": "No `disable` with the same rules and indentation is open here, so `enable` does "
    "nothing; name the rules of the `disable`, or remove it.",
    "unclosed": "No `enable` with the same rules and indentation follows, so `disable` applies "
    "to the end of this block of code; add one where it should end.",
}


@rule.on_suppressions
def has_an_error(suppressions: Suppressions) -> Iterable[Finding]:
    for comment in suppressions.comments:
        faults = list(_faults(comment, suppressions))
        if faults:
            yield rule.comment_finding(suppressions, comment, " ".join(faults))
        else:
            because(None, "the comment has no error")


def _faults(comment: Comment, suppressions: Suppressions) -> Iterator[str]:
    if comment.fault == "word":
        close = get_close_matches(comment.word[:30].lower(), WORDS, n=1, cutoff=0.75)
        if close or comment.names is not None:
            meant = f"did you mean `{close[0]}`?" if close else f"use {_WORDS}."
            yield f"`{comment.word[:30]}` is not a suppression keyword; {meant}"
        return
    if comment.fault == "until" and comment.word == "enable":
        yield "An `enable` has no end; write `until=` in its `disable`."
    elif comment.fault is not None:
        yield _FAULTS[comment.fault].format(word=comment.word)
    unknown = suppressions.unknown(comment)
    for name, hint in unknown[:_MOST_NAMED]:
        yield f"`{name.text[:100]}` is not a rule, so it suppresses nothing{hint}."
    if len(unknown) > _MOST_NAMED:
        more = len(unknown) - _MOST_NAMED
        yield f"{more:,} more names in this comment are not rules; name rules alone."


_WORDS: Final = ", ".join(f"`{word}`" for word in WORDS[:-1]) + f" or `{WORDS[-1]}`"
