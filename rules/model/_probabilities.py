"""From probabilities back to the softmax that made them."""

import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import method_name
from torchlint.rule import Module, because

from ._softmax import softmax_of

_TINY: Final = re.compile(r"eps|tiny|small|delta", re.IGNORECASE)
_CLAMPS: Final = frozenset({"clamp", "clamp_min", "clip"})

_LOG: Final = re.compile(rb"log\((?<=\blog\()")
_RECEIVER: Final = re.compile(rb"(\w{1,80})(?:\.cl\w{1,9}\([^()\n]{0,40}\))?\.$")
_ARGUMENT: Final = re.compile(rb"\s{0,40}([\w.]{1,80})")
_OF_SOFTMAX: Final = re.compile(
    rb"[sS]oftmax\b[^\n]{0,200}\)\.log\(|\blog\([^)]{0,200}[sS]oftmax\("
)
_SOFTMAX: Final = re.compile(rb"[sS]oftmax\b")
_NAMED: Final = re.compile(rb"[^=\n]{0,200}\b(\w{1,80})[ \t]{0,40}=(?!=)")


def may_take_log(text: bytes) -> bool:
    """Whether a file may take the logarithm of a softmax, or of a name for one, as its text has
    it."""
    logs = list(_LOG.finditer(text))
    if not logs:
        return because(False, "the file takes no logarithm")
    lines = (text.rfind(b"\n", 0, found.start()) + 1 for found in _SOFTMAX.finditer(text))
    named = {found[1] for line in lines if (found := _NAMED.match(text, line)) is not None}
    receivers = (_RECEIVER.search(text[max(0, log.start() - 140) : log.start()]) for log in logs)
    arguments = (_ARGUMENT.match(text, log.end()) for log in logs)
    logged = (found[1].rpartition(b".")[2] for found in (*receivers, *arguments) if found)
    taken = not named.isdisjoint(logged) or _OF_SOFTMAX.search(text) is not None
    return taken or because(False, "the file takes no logarithm of what it calls a softmax")


def path_to_softmax(node: cst.BaseExpression | None, module: Module) -> list[cst.BaseExpression]:
    """From an expression to the softmax that it is, through names, tiny constants that are added
    and clamps; empty if it is none."""
    path: list[cst.BaseExpression] = []
    while node is not None:
        path.append(node)
        if softmax_of(node, module) is not None:
            return path
        node = _before(node, module)
    return []


def _before(node: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """`p` for `p + 1e-8` and `p.clamp(min=1e-8)`, and what a name was given that is read once."""
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        known = len(bindings) == 1 and bindings[0].how is How.ASSIGNMENT
        once = known and len(module.reads(bindings[0].node, node.value)) == 1
        return bindings[0].value if once else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return node.left if _is_tiny(node.right, module) else None
    if isinstance(node, cst.Call) and method_name(node) in _CLAMPS:
        assert isinstance(node.func, cst.Attribute)
        given = module.argument(node, "input", 0)
        return given if module.resolve(node.func) else node.func.value
    return None


def _is_tiny(node: cst.BaseExpression, module: Module) -> bool:
    number = module.literal(node)
    return (isinstance(number, float) and number < 0.01) or bool(_TINY.search(dotted_text(node)))
