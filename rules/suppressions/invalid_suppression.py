"""Write suppression comments that do what they say.

## What it does
Reports a `# torchlint:` comment that does not do what it seems to: it names a rule that does not
exist, its word is misspelt, its bracket is not closed; a `disable` or `enable` stands behind code,
inside brackets or at another indentation than the code around it; one of them lacks the other.

## Why it is bad
The finding that it was written for is shown all the same, or a block is silenced further than
anybody meant.

## Example
```python
# torchlint: disable[TL210]
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
For comments that only mention torchlint: an unknown word counts as a misspelt one only if it is
followed by a bracket or is nearly a known one. Families such as `TL2` are for `--ignore` and the
configuration; a comment names rules one by one.

## Fix safety
There is no fix, since it is not known what was meant.

## References
- ruff's `invalid-rule-code` (RUF102), `invalid-suppression-comment` (RUF103) and
  `unmatched-suppression-comment` (RUF104)
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from torchlint.rule import Rule
from torchlint.suppressions.comments import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.rule import Finding
    from torchlint.suppressions.comments import Comment
    from torchlint.suppressions.suppressions import Suppressions

rule = Rule(
    code="TL003",
    name="invalid-suppression",
    family="suppressions",
    summary="a suppression comment names no rule, or cannot do what it says",
    triggers=(r"#\s*torchlint:",),
)

_FAULTS: Final = {
    "bracket": "The bracket is not closed, so nothing is silenced; write `{word}[TL201]`.",
    "place": "`{word}` does nothing here; put it on a line of its own between statements.",
    "indent": "`{word}` does nothing at this indentation; indent it like the code that follows.",
    "unopened": "No `disable` with the same rules and indentation is open here, so `enable` does "
    "nothing; name the rules of the `disable`, or remove it.",
    "unclosed": "No `enable` with the same rules and indentation follows, so `disable` holds to "
    "the end of this block of code; add one where it should end.",
}


@rule.on_suppressions
def does_not_do_what_it_says(suppressions: Suppressions) -> Iterable[Finding]:
    for comment in suppressions.comments:
        for message in _faults(comment, suppressions):
            yield rule.comment_finding(suppressions, comment, message)


def _faults(comment: Comment, suppressions: Suppressions) -> Iterator[str]:
    if comment.fault == "word":
        close = get_close_matches(comment.word[:30].lower(), WORDS, n=1, cutoff=0.75)
        if close or comment.names is not None:
            meant = f"did you mean `{close[0]}`?" if close else f"use {_WORDS}."
            yield f"`{comment.word[:30]}` is no word for a suppression; {meant}"
        return
    if comment.fault is not None:
        yield _FAULTS[comment.fault].format(word=comment.word)
    for name, hint in suppressions.unknown(comment):
        yield f"`{name.text[:100]}` is not a rule, so it silences nothing{hint}."


_WORDS: Final = ", ".join(f"`{word}`" for word in WORDS[:-1]) + f" or `{WORDS[-1]}`"
