"""Regular expressions for `triggers`: what the text of a file shows before it is parsed."""

from __future__ import annotations

from typing import Final

from torchlint.analysis.frameworks import frameworks

STEP_TEXT: Final = f"{frameworks.STEP_WORDS}|{frameworks.HOOK_WORDS}"
"""Words that show training steps in a file, so that its code can be hot."""


def forward_text(pattern: str) -> str:
    """A pattern for a line that matches in the `forward` of a module, before the next function
    begins."""
    same = r"(?![ \t]*(?:def|class) )"
    return rf"(?m:^[ \t]*def forward\b(?:{same}.*\n)*?{same}.*(?:{pattern}))"
