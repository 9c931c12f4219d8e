"""Regular expressions for `triggers`: what the text of a file shows before it is parsed."""

from __future__ import annotations

from typing import Final

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.frameworks.runners import START_WORDS

STEP_TEXT: Final = f"{frameworks.STEP_WORDS}|{frameworks.HOOK_WORDS}|{START_WORDS}"
"""Words that show training steps in a file, so that its code can be hot."""
