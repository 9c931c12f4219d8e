"""The places of a file that make up its training: optimizers, models, losses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.literals import argument
from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.loops import BLOCKS
from torchlint.analysis.torch_api import OPTIMIZERS
from torchlint.analysis.training.model_calls import runs_model
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import sounds_like_optimizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.analysis.module import Module

_FORMATS = re.compile(r"autocast|bfloat16|float16|\.half\(|GradScaler|float64|\.double\(")


class ModelSite(NamedTuple):
    """A model whose parameters go to an optimizer of torch, where they do, such as `self.net`, and
    the statement that makes the optimizer."""

    model: cst.BaseExpression
    statement: cst.BaseSmallStatement

    @property
    def name(self) -> str:
        """The model as it is written."""
        return dotted_text(self.model)


class LossSite(NamedTuple):
    """The statements of one block that compute a loss, from the first that runs a model to that
    which gives the loss its value."""

    lines: tuple[cst.BaseStatement, ...]
    loss: str

    @property
    def names(self) -> set[str]:
        """The names that its statements bind at once."""
        return {name for line in self.lines for name in _bound(line)}


def mixes_formats(module: Module) -> bool:
    """Whether a file chooses the format of its numbers itself."""
    return _FORMATS.search(module.text) is not None


def optimizer_sites(module: Module) -> Iterator[cst.Call]:
    """The calls that make an optimizer of torch."""
    for call in module.nodes(cst.Call):
        if not OPTIMIZERS.isdisjoint(module.resolve(call.func)):
            yield call


def model_sites(module: Module) -> Iterator[ModelSite]:
    """The models of a file that takes steps, where their first optimizer is made: in each block
    that makes one, since of several branches only one may run."""
    if not module.loops.anchors:
        return
    seen: set[tuple[str, cst.CSTNode | None]] = set()
    known = set(optimizer_sites(module))
    for call in module.nodes(cst.Call):
        statement = module.small_statement(call)
        if call not in known and not _is_named_optimizer(statement, call):
            continue
        params = argument(call, "params", 0)
        if statement is None or params is None:
            continue
        line = module.parent(statement)
        block = None if line is None else module.parent(line)
        for node in module.calls_within(params):
            if method_name(node) not in ("parameters", "named_parameters") or node.args:
                continue
            assert isinstance(node.func, cst.Attribute)
            site = ModelSite(node.func.value, statement)
            if site.name not in ("", "self") and (site.name, block) not in seen:
                seen.add((site.name, block))
                yield site


def _is_named_optimizer(made: cst.BaseSmallStatement | None, call: cst.Call) -> bool:
    """Whether a name says that a call makes an optimizer: `optimizer = getattr(optim, name)(…)`."""
    if not isinstance(made, cst.Assign) or made.value is not call:
        return False
    return sounds_like_optimizer(dotted_text(made.targets[0].target).rpartition(".")[2])


def loss_sites(module: Module) -> Iterator[LossSite]:
    """What computes each loss whose `backward` the file calls in the same block."""
    seen: set[cst.CSTNode] = set()
    for call in module.loops.backward_calls:
        owner = call.func.value if isinstance(call.func, cst.Attribute) else None
        line, block = module.statement(call), None
        block = None if line is None else module.parent(line)
        if line is None or not isinstance(owner, cst.Name) or not isinstance(block, BLOCKS):
            continue
        lines = _forward(owner.value, list(block.body), line, module)
        if any(_is_a_step(each, module) for each in lines):
            continue
        if lines and lines[0] not in seen:
            seen.add(lines[0])
            yield LossSite(lines, owner.value)


def _forward(
    loss: str, body: Sequence[cst.CSTNode], backward: cst.CSTNode, module: Module
) -> tuple[cst.BaseStatement, ...]:
    before = [each for each in body[: body.index(backward)] if isinstance(each, cst.BaseStatement)]
    given = [number for number, each in enumerate(before) if loss in _bound(each)]
    if not given:
        return ()
    runs = (
        number
        for number, each in enumerate(before[: given[-1] + 1])
        if any(runs_model(call, module) for call in module.calls_within(each))
    )
    first = next(runs, None)
    return () if first is None else tuple(before[first : given[-1] + 1])


def _is_a_step(line: cst.BaseStatement, module: Module) -> bool:
    """Whether a statement holds a step of its own, as the loop over a critic's batches does."""
    return any(method_name(call) in ("backward", "step") for call in module.calls_within(line))


def _bound(statement: cst.BaseStatement) -> list[str]:
    """The names that a statement of one line assigns, or adds something to."""
    smalls = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
    targets: list[cst.BaseExpression] = []
    for small in smalls:
        if isinstance(small, cst.AugAssign):
            targets.append(small.target)
        elif isinstance(small, cst.Assign):
            targets += [each.target for each in small.targets]
    return [name for target in targets for name in _names_in(target)]


def _names_in(target: cst.BaseExpression) -> list[str]:
    """The names that a target gives values to: `logits, loss` has two."""
    if isinstance(target, cst.Tuple):
        return [name for each in target.elements for name in _names_in(each.value)]
    return [target.value] if isinstance(target, cst.Name) else []
