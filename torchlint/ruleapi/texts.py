"""Regular expressions for `triggers`: what the text of a file shows before it is parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchlint.analysis.frameworks import frameworks

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFINITION: Final = re.compile(rb"\n[ \t]*(?:async )?def ")

STEP_TEXT: Final = "|".join((frameworks.STEP_WORDS, frameworks.HOOK_WORDS, frameworks.RUNNER_WORDS))
"""Words that show training steps in a file, so that its code can be hot."""


def functions_in(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the text of each function starts and ends, up to the next one, and what stands before
    the first."""
    start = 0
    for found in _DEFINITION.finditer(text):
        yield start, found.start()
        start = found.start()
    yield start, len(text)
