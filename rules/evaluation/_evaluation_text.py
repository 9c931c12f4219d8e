"""What the text of a file shows of evaluations, before it is parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = r"(?i:eval|val|test|infer|predict|visuali)"
_OFF = r"(?:no_grad|inference_mode|set_grad_enabled)"
EVALUATES: Final = rf"\.eval\(\)|\.train\(False\)|def \w{{0,50}}{_NAME}"
CALLED_WITHOUT: Final = rf"{_OFF}\(\):[^\n]{{0,40}}\n[^\n]{{0,90}}{_NAME}"
"""What may evaluate, in the first line under a `with`."""
_EVALUATES = re.compile(EVALUATES.encode())
_LOOPS = re.compile(rb"\b(?:for|while)\b")
_SWITCHES = re.compile(_OFF.encode())
_CALLED_WITHOUT = re.compile(CALLED_WITHOUT.encode())
_STARTS = re.compile(rb"\n(?=[ \t]{0,40}(?:@|def |async def )|[a-zA-Z])")


def may_evaluate(text: bytes) -> bool:
    """Whether a function, or what is outside of all, evaluates in a loop and says nothing of
    gradients; or a call of such a function may be under a switch."""
    return any(map(_keeps_gradients, _parts(text))) or _CALLED_WITHOUT.search(text) is not None


def _keeps_gradients(part: bytes) -> bool:
    loops = _LOOPS.search(part) is not None and _EVALUATES.search(part) is not None
    return loops and _SWITCHES.search(part) is None


def _parts(text: bytes) -> Iterator[bytes]:
    """The functions, each with its decorators, and last what is outside of all."""
    outside, decorators = [], b""
    for part in _STARTS.split(text):
        head = part.lstrip()
        if head.startswith(b"@"):
            decorators += part
            continue
        if head.startswith((b"def ", b"async def ")):
            yield decorators + part
        else:
            outside.append(part)
        decorators = b""
    yield b"\n".join(outside)
