"""Compute an attention that is written out step by step in one call.

`F.scaled_dot_product_attention` never stores the weights of all pairs of queries and keys. What it
saves grows with the square of the length; with a mask it may fall back to a slower way, and for
short sequences the products were no problem. A mask that hides the future and nothing else becomes
`is_causal=True`.

Only what leads from the queries, keys and values to their product in a straight line is changed: a
scale, a mask or a bias, a softmax over the keys and a dropout, whose results nobody else reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from torchlint.analysis.layers.expression_layers import layers_of
from torchlint.analysis.names import How
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

from .._causal_masks import is_causal
from .._softmax import softmax_of

_LAST_TWO = ((-2, -1), (-1, -2), (2, 3), (3, 2))
_OVER_KEYS = (-1, 3)
_DEEPEST = 16
_LEAST = -1e4
_DRAWS = "the dropout of an attention draws other random numbers"
_INFINITE = ("inf", "infty", "infinity")

experiment = Experiment(
    "attention is computed in one call",
    speeds=COMPUTING,
    may_change="an attention is rounded in another order",
    since=(2, 1),
    covers=("TL306",),
)


@dataclass
class _Attention:
    """What an attention is made of, as far as it was followed back.

    `lines` are the statements whose names are read on the way, `kept` the expressions that the call
    reads, each where it stands.
    """

    module: Module
    values: cst.BaseExpression
    query: cst.BaseExpression | None = None
    key: cst.BaseExpression | None = None
    mask: str = ""
    is_causal: bool = False
    scale: str = "1.0"
    dropout: str = ""
    lines: list[cst.BaseSmallStatement] = field(default_factory=list)
    kept: list[cst.BaseExpression] = field(default_factory=list)

    def follow(self, node: cst.BaseExpression) -> bool:
        """Whether weights are understood, back to the queries and keys."""
        is_soft = False
        for _ in range(_DEEPEST):
            if isinstance(node, cst.Name):
                behind = self._behind(node)
            elif not is_soft:
                softmax = softmax_of(node, self.module)
                is_soft = softmax is not None
                if softmax is None:
                    behind = self._dropped(node)
                elif self.module.literal(softmax.dim) in _OVER_KEYS:
                    behind = softmax.scores
                else:
                    return False
            else:
                if self._is_product(node):
                    return True
                behind = self._shifted(node)
            if behind is None:
                return False
            node = behind
        return False

    def _behind(self, name: cst.Name) -> cst.BaseExpression | None:
        """What a name is given, if it is read only here."""
        bindings = self.module.flow.reaching(name)
        if len(bindings) != 1 or bindings[0].how is not How.ASSIGNMENT or bindings[0].path:
            return None
        statement = self.module.small_statement(bindings[0].node)
        if statement is None or self.module.reads(statement, name.value) != [name]:
            return None
        self.lines.append(statement)
        return bindings[0].value

    def _dropped(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a dropout is applied to."""
        if not isinstance(node, cst.Call) or not node.args or self.dropout:
            return None
        module = self.module
        if module.calls(node, "torch.nn.functional.dropout", "torch.dropout"):
            p = module.argument(node, "p", 1)
            training = module.argument(node, "training", 2)
            rate = "0.5" if p is None else edits.value(module, p)
            whether = "True" if training is None else edits.operand(module, training)
            self.dropout = f"{rate} if {whether} else 0.0"
            self.kept += [each for each in (p, training) if each is not None]
            return node.args[0].value
        layers = layers_of(module)
        made = layers.chain(node.func).first
        if len(made) != 1 or made[0].call is None:
            return None
        if not layers.is_one_of(made[0].call, ("torch.nn.Dropout",)):
            return None
        layer = module.source(node.func)
        self.dropout = f"{layer}.p if {layer}.training else 0.0"
        return node.args[0].value

    def _shifted(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The scores that are scaled, shifted or masked."""
        if isinstance(node, cst.BinaryOperation):
            match node.operator:
                case cst.Multiply() | cst.Divide() if self.scale == "1.0":
                    if isinstance(node.operator, cst.Multiply):
                        self.scale = edits.value(self.module, node.right)
                    else:
                        self.scale = f"1.0 / {edits.operand(self.module, node.right)}"
                    self.kept.append(node.right)
                    return node.left
                case cst.Add() if not self.mask and self.scale == "1.0":
                    self.mask = edits.value(self.module, node.right)
                    self.is_causal = is_causal(node.right, self.module, of_class=True)
                    self.kept.append(node.right)
                    return node.left
            return None
        if isinstance(node, cst.Call) and method_name(node) == "masked_fill" and not self.mask:
            where = self.module.argument(node, "mask", 0)
            if where is not None and _hides(self.module.argument(node, "value", 1), self.module):
                self.mask = self._inverted(where)
                self.is_causal = is_causal(where, self.module, negated=True, of_class=True)
                self.kept.append(where)
                return receiver(node)
        return None

    def _inverted(self, where: cst.BaseExpression) -> str:
        """The places that a mask leaves."""
        text = edits.operand(self.module, where)
        if isinstance(where, cst.UnaryOperation) and isinstance(where.operator, cst.BitInvert):
            return edits.value(self.module, where.expression)
        if isinstance(where, cst.Comparison) and len(where.comparisons) == 1:
            (only,) = where.comparisons
            if isinstance(only.operator, cst.Equal) and self.module.literal(only.comparator) == 0:
                return f"{edits.operand(self.module, where.left)} != 0"
        return f"~{text}"

    def _is_product(self, node: cst.BaseExpression) -> bool:
        factors = _factors(node, self.module)
        key = factors[1] if factors else None
        if not isinstance(key, cst.Call) or method_name(key) != "transpose":
            return False
        dims = tuple(self.module.literal(arg.value) for arg in key.args)
        if dims not in _LAST_TWO:
            return False
        self.query, self.key = factors[0], receiver(key)
        self.kept += [self.query, self.key]
        return True

    def is_straight(self, product: cst.BaseExpression) -> bool:
        """Whether its statements are in the block of the product, and what they read is the same
        there as where it stands now."""
        module, last = self.module, self.module.statement(product)
        if last is None or not self.lines:
            return False
        block = module.parent(last)
        lines = [module.statement(each) for each in self.lines]
        if any(
            each is None or module.parent(each) is not block or len(_smalls(each)) != 1
            for each in lines
        ):
            return False
        end = module.order(last)
        for part in self.kept:
            begin = module.order(part)
            for name in (each for each in module.within(part) if isinstance(each, cst.Name)):
                bound = (each.node for each in module.names.lookup(name))
                if any(begin < module.order(each) < end for each in bound):
                    return False
        return True


def _hides(value: cst.BaseExpression | None, module: Module) -> bool:
    """Whether a score of this value gets no weight beside any other."""
    if value is None:
        return False
    number = module.literal(value)
    if isinstance(number, int | float):
        return number <= _LEAST
    text = "".join(module.source(value).lower().split()).replace("'", '"')
    if "finfo(" in text:
        return text.endswith(").min")
    if text.startswith("-float("):
        text = f"-{text[8:-2]}"
    elif text.startswith("float("):
        text = text[7:-2]
    return text.startswith("-") and text[1:].rpartition(".")[2] in _INFINITE


def _smalls(line: cst.CSTNode) -> list[cst.BaseSmallStatement]:
    return list(line.body) if isinstance(line, cst.SimpleStatementLine) else []


def _factors(node: cst.CSTNode, module: Module) -> list[cst.BaseExpression]:
    """The two factors of a product of matrices."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return [node.left, node.right]
    if isinstance(node, cst.Call):
        given = [arg.value for arg in node.args if arg.keyword is None]
        if module.calls(node, "torch.matmul", "torch.bmm") and len(given) == 2:
            return given
    return []


def _fused(attention: _Attention, product: cst.BaseExpression, module: Module) -> list[Edit]:
    torch = module.names.imported_as("torch", product)
    functional = module.names.imported_as("torch.nn.functional", product)
    assert attention.query is not None
    assert attention.key is not None
    called = functional or f"{torch}.nn.functional"
    parts = [edits.value(module, each) for each in (attention.query, attention.key)]
    parts.append(edits.value(module, attention.values))
    if attention.is_causal:
        parts.append("is_causal=True")
    elif attention.mask:
        parts.append(f"attn_mask={attention.mask}")
    parts += [f"dropout_p={attention.dropout}"] if attention.dropout else []
    parts.append(f"scale={attention.scale}")
    start, _ = module.offsets(product)
    indent = edits.indentation(module, start)
    inner = "".join(f"{indent}    {part},\n" for part in parts)
    text = f"{called}.scaled_dot_product_attention(\n{inner}{indent})"
    lines = [edits.delete_statement(module, each) for each in attention.lines]
    return [*lines, edits.replace(module, product, text)]


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    if "softmax" not in module.text or "scaled_dot_product_attention" in module.text:
        return
    changes: list[Edit] = []
    draws = ""
    for product in (*module.nodes(cst.BinaryOperation), *module.nodes(cst.Call)):
        factors = _factors(product, module)
        if not factors or module.names.imported_as("torch", product) is None:
            continue
        attention = _Attention(module, factors[1])
        if attention.follow(factors[0]) and attention.is_straight(product):
            changes += _fused(attention, product, module)
            draws = draws or (attention.dropout and _DRAWS)
    message = "Compute attention with `F.scaled_dot_product_attention`"
    yield Proposal("", message, changes, may_change=draws)
