"""Regular expressions for `triggers`: what the text of a file shows before it is parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.frameworks.runners import START_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFINITION: Final = re.compile(rb"\n[ \t]*(?:async )?def ")

STEP_TEXT: Final = f"{frameworks.STEP_WORDS}|{frameworks.HOOK_WORDS}|{START_WORDS}"
"""Words that show training steps in a file, so that its code can be hot."""


def functions_in(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the text of each function starts and ends, up to the next one, and what comes before
    the first."""
    start = 0
    for found in _DEFINITION.finditer(text):
        yield start, found.start()
        start = found.start()
    yield start, len(text)
