"""What the text of a file shows of evaluations, before it is parsed."""

import re
from typing import Final

from torchlint.rule import Outline, because

_NAME = r"(?i:eval|valid|val_|test|infer|predict|visuali)"
_UNDER = rf"\(\):[^\n]{{0,40}}\n[^\n]{{0,90}}{_NAME}"
_SWITCHED = r"\.(?:eval\(\)|train\((?:mode=)?False\))"
_NAMED = rf"def \w{{0,50}}(?:{_NAME}|_val\()"
_OF_EVALUATOR = r"class \w{0,50}(?:Evaluator|Validator)\b"
EVALUATES: Final = rf"{_SWITCHED}|{_NAMED}|{_OF_EVALUATOR}"
CALLED_WITHOUT: Final = rf"no_grad{_UNDER}|inference_mode{_UNDER}"
"""What may evaluate, in the first line under a `with`."""
_SWITCHED_IN = re.compile(_SWITCHED.encode())
_LAST_WORD = re.compile(rb"\w{1,80}$")
_NAMED_IN = re.compile(_NAMED.encode())
_MODEL = re.compile(
    rb"(?i)(?:model|net|module|coder|backbone|classifier|generator|discriminator|actor|critic|"
    rb"policy|student|teacher|vae|gan|head)(?:\d|_\w{1,2})?\("
)
_LOOPS = re.compile(rb"\b(?:for|while)\b")
_SWITCHES = (b"no_grad", b"inference_mode", b"set_grad_enabled")


def may_evaluate(outline: Outline) -> bool:
    """Whether a function, or what is outside of all, evaluates in a loop and says nothing of
    gradients; or a call of such a function may be under a switch."""
    named = outline.matches(_OF_EVALUATOR)
    parts = (_keeps_gradients(part, named=named) for part in outline.function_texts())
    if any(parts) or outline.matches(CALLED_WITHOUT):
        return True
    said = "no function of the file evaluates a model in a loop without a word about gradients"
    return because(False, said)


def _keeps_gradients(part: bytes, *, named: bool) -> bool:
    starts = [each.start() for each in _SWITCHED_IN.finditer(part)]
    names = (_LAST_WORD.search(part[max(0, at - 80) : at]) for at in starts)
    switched = [name[0] for name in names if name]
    if not switched and not named and _NAMED_IN.search(part) is None:
        return False
    if any(each in part for each in _SWITCHES) or _LOOPS.search(part) is None:
        return False
    if any(each + b"(" in part for each in switched):
        return True
    return _MODEL.search(part, part.find(b"\n", part.find(b"def "))) is not None
