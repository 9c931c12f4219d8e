"""Draw a batch from arrays, by its indices alone.

## What it does
Reports, in the `sample` of a replay buffer and in training steps, what costs more than the batch
that is drawn: `np.random.choice(size, n, replace=False)` and `torch.randperm(size)[:n]`, which
shuffle all indices; a copy of the whole buffer (`self.states[: self.size].copy()`,
`np.array(self.memory)`); `random.sample` of a `deque`; probabilities that are added up for each
draw; and a Python loop over the samples of a batch. Also, anywhere, `while negative in seen:
negative = random.randint(…)`, which draws and looks up number by number.

## Why it is slow
Measured on a CPU: to shuffle a million indices takes 30 ms, and to draw 256 of them with
`np.random.randint` 0.01 ms. To draw 256 samples from a `deque` of a million takes 70 ms, since it
is walked through to get at an element in its middle, and 0.2 ms from a list. To stack 256 arrays
that are taken one by one takes twenty times as long as to index one array. The network of an agent
is often so small that its whole step takes no longer. To draw and look up 2048 negatives one by one
takes 20 ms in Python, and 0.4 ms by one call of NumPy and `np.isin`.

## Example
```python
import random
from collections import deque


class ReplayBuffer:
    def __init__(self, size):
        self.memory = deque(maxlen=size)

    def sample(self, batch_size):
        states, actions = zip(*random.sample(self.memory, batch_size))
        return torch.tensor(np.array(states)), torch.tensor(actions)
```

## Use instead
```python
class ReplayBuffer:
    def __init__(self, size, width):
        self.states, self.actions = np.zeros((size, width), np.float32), np.zeros(size, np.int64)

    def sample(self, batch_size):
        index = np.random.randint(self.filled, size=batch_size)
        return torch.from_numpy(self.states[index]), torch.from_numpy(self.actions[index])
```
Where no sample may come twice, use `np.random.default_rng().choice(size, n, replace=False)`. For
draws by priority, keep the sums in a tree of arrays, and draw all samples at once. Draw all
negatives of a batch by one call, find those to draw again by `np.isin` (of pairs, `user * items
+ item`), and draw these by one call until none is left.

## When it is silent
In other methods and other classes than those that are called a buffer, a memory or a replay, except
for shuffles on each training step and numbers that are looked up; under a condition; for
populations of a known, small size; in evaluation and tests. Whether it costs much depends on the
size of the buffer, so it is a hint.

## Fix safety
There is no fix: the buffer has to keep its data in another way.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on the CPU too.

## References
- NumPy documentation, `numpy.random.Generator.choice`
- Python documentation, `collections.deque`: "Indexed access is O(1) at both ends but slows to O(n)
  in the middle"
"""

import re
from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import called_name, method_name, receiver
from torchlint.rule import Effect, Module, Reported, Rule, Tier, because, once

_BUFFERS = re.compile(r"buffer|replay|memory|storage", re.IGNORECASE)
_SAMPLES = re.compile(r"^_*(?:sample|draw)(?:_|$)|^get_batch$|_sample$|^__next__$")
_TREE = re.compile(r"tree\.(?:get|get_leaf|retrieve)$")
_FEW = 10_000
_BATCH = re.compile(r"batch|\bsize\(0\)|\bshape\[0\]|\bbs\b|num_agents")
_WHOLE = ("numpy.array", "numpy.asarray", "numpy.stack", "numpy.concatenate", "torch.tensor",
          "torch.stack", "torch.cat", "builtins.list", "torch.as_tensor")  # fmt: skip
_SHUFFLES = ("numpy.random.permutation", "torch.randperm")
_COPIES = ("copy", "clone")

_ALL_SHUFFLED = "This shuffles all of its population for one batch; use {}."
_DEQUE = (
    "A `deque` is walked through for each sample that is drawn; keep the samples in arrays, and "
    "index them once."
)
_ALL_COPIED = "This copies the whole buffer for one batch; index it by the samples of the batch."
_ONE_BY_ONE = (
    "Python collects this batch sample by sample; keep the samples in arrays, and index them once."
)
_ALL_SUMMED = (
    "This adds up the probabilities of all samples for one batch; keep their sums in a tree, or "
    "draw for many batches at once."
)
_LOOKED_UP = (
    "Python draws numbers and looks them up one by one; draw all of a batch at once, and again "
    "those that `np.isin` finds."
)
_DRAWS = re.compile(
    r"(?:^|_)(?:randint|randrange|integers|choice|choices|sample|sampling|randperm)$"
)

rule = Rule(
    code="TL115",
    effect=Effect.LARGE,
    summary="drawing a batch costs as much as the whole buffer",
    tier=Tier.HINT,
    triggers=(
        r"random\.choice|random\.sample|randperm|permutation|(?i:buffer|replay|memory)|"
        r"\bwhile (?:True|1|len|[^\n]{1,80} in )\b",
        r"def _{0,2}(?:sample|draw|get_batch|__next__)|random\.choice|randperm|permutation|"
        r"\brandint\(|\brandrange\(|\bintegers\(|\bsampling\(",
    ),
)


@rule.on(cst.Call)
def draws_from_all(call: cst.Call, module: Module) -> Iterable[Reported]:
    message = _choice(call, module) or _shuffle(call, module)
    stepping = bool(message) and _is_on_each_step(call, module)
    message = message or _within_buffer(call, module)
    if not message:
        return ()
    if not stepping and not _samples(call, module):
        return because((), "no `sample` of a buffer and no training step runs this")
    for above in module.conditions(call):
        return because((), "this runs only under a condition, {}", above)
    return rule.report(module, call, message)


@rule.on(cst.ListComp, cst.For)
def collects_one_by_one(loop: cst.ListComp | cst.For, module: Module) -> Iterable[Reported]:
    if not _samples(loop, module) or _first_loop(module, module.function(loop)) is not loop:
        return ()
    marked = loop.iter if isinstance(loop, cst.For) else loop
    return rule.report(module, marked, _ONE_BY_ONE)


@rule.on(cst.While)
def looks_up_one_by_one(loop: cst.While, module: Module) -> Iterable[Reported]:
    """`while negative in seen: negative = random.randint(0, items)`."""
    found = _looked_up(loop, module)
    if found is None:
        return because((), "it draws no numbers that it looks up")
    if module.in_evaluation(loop):
        return because((), "it draws for an evaluation")
    return rule.report(module, found, _LOOKED_UP)


# where --------------------------------------------------------------------------------------------


def _is_on_each_step(call: cst.Call, module: Module) -> bool:
    stepping = module.step_loop(call) is not None
    return stepping and module.guard(call) is None and not module.in_evaluation(call)


def _samples(node: cst.CSTNode, module: Module) -> bool:
    """Whether code is in the `sample` of a buffer."""
    function, class_ = module.function(node), module.class_(node)
    if function is None or class_ is None or not _SAMPLES.search(function.name.value):
        return False
    names = [class_.name.value, *module.definitions.bases(class_)]
    return any(_BUFFERS.search(name) for name in names)


# what ---------------------------------------------------------------------------------------------


def _choice(call: cst.Call, module: Module) -> str:
    """`np.random.choice(size, n, replace=False)`."""
    if not module.calls(call, "numpy.random.choice"):
        return ""
    if module.literal(module.argument(call, "replace", 2)) is not False:
        return because("", "with replacement it draws only as many as it gives")
    if module.argument(call, "p", 3) is not None:
        return because("", "with probabilities it costs the same elsewhere")
    size = module.literal(module.argument(call, "a", 0))
    if isinstance(size, int) and size < _FEW:
        return because("", "it draws from {} alone", size)
    return _ALL_SHUFFLED.format("`np.random.default_rng().choice`")


def _shuffle(call: cst.Call, module: Module) -> str:
    """`torch.randperm(size)[:n]`."""
    if not module.calls(call, *_SHUFFLES) or not call.args:
        return ""
    part = module.parent(call)
    if not isinstance(part, cst.Subscript) or part.value is not call:
        return because("", "all of the shuffled indices are used")
    size = module.literal(call.args[0].value)
    if isinstance(size, int) and size < _FEW:
        return because("", "it draws from {} alone", size)
    if _BATCH.search(module.source(call.args[0])):
        return because("", "{:code} may be the size of a batch", call.args[0])
    random = "np.random.randint" if module.calls(call, _SHUFFLES[0]) else "torch.randint"
    return _ALL_SHUFFLED.format(f"`{random}`")


def _within_buffer(call: cst.Call, module: Module) -> str:
    """What a call does to all that a buffer keeps."""
    given = call.args[0].value if call.args else None
    if module.calls(call, "random.sample"):
        return _DEQUE if _is_kept_as(given, module, "collections.deque") else ""
    if module.calls(call, "numpy.random.choice"):
        return _ALL_SUMMED if module.argument(call, "p", 3) is not None else ""
    if module.calls(call, *_WHOLE):
        kept = _is_kept_as(given, module, "collections.deque", "builtins.list")
        return _ALL_COPIED if kept else ""
    if method_name(call) in _COPIES and not call.args:
        return _ALL_COPIED if _is_all_of_self(receiver(call)) else ""
    return ""


def _looked_up(loop: cst.While, module: Module) -> cst.CSTNode | None:
    """Where a loop asks for a number that it draws, or makes a list of those to draw again."""
    draws = [each for each in module.calls_within(loop.body) if _DRAWS.search(called_name(each))]
    drawn = {text for each in draws for text in _targets(module.small_statement(each), module)}
    for node in module.within(loop) if drawn else ():
        if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
            continue
        if not isinstance(node.comparisons[0].operator, cst.In | cst.NotIn):
            continue
        if module.source(node.left) in drawn:
            return node
        if isinstance(module.parent(node), cst.CompIf) and _is_drawn_from(node, drawn, module):
            return module.small_statement(node)
    return None


def _is_drawn_from(asked: cst.Comparison, drawn: set[str], module: Module) -> bool:
    """Whether a list comprehension that asks goes over what the loop draws."""
    loop = module.enclosing(asked, cst.CompFor)
    over = "" if loop is None else module.source(loop.iter)
    return any(re.search(rf"\b{re.escape(each.partition('[')[0])}\b", over) for each in drawn)


def _targets(statement: cst.CSTNode | None, module: Module) -> list[str]:
    if not isinstance(statement, cst.Assign):
        return []
    return [module.source(each.target) for each in statement.targets]


def _is_kept_as(node: cst.BaseExpression | None, module: Module, *makers: str) -> bool:
    """Whether `self.memory` is made as one of some containers, or as an empty list."""
    if not isinstance(node, cst.Attribute) or dotted_text(node.value) != "self":
        return False
    for each in module.values.assigned(module.class_(node), node.attr.value):
        made = each.value
        listed = "builtins.list" in makers and isinstance(made, cst.List) and not made.elements
        if listed or (isinstance(made, cst.Call) and module.calls(made, *makers)):
            return True
    return False


def _is_all_of_self(node: cst.BaseExpression) -> bool:
    """`self.states[: self.size]`, `self.store[key][:size]`."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
        return False
    part = node.slice[0].slice
    if not isinstance(part, cst.Slice) or part.lower is not None or part.step is not None:
        return False
    kept = node.value
    while isinstance(kept, cst.Subscript):
        kept = kept.value
    return dotted_text(kept).startswith("self.")


@once
def _first_loop(module: Module, function: cst.FunctionDef | None) -> cst.CSTNode | None:
    """The first loop of a function that takes single samples of its buffer."""
    for node in () if function is None else module.within(function.body):
        if isinstance(node, cst.ListComp) and _takes_one(node.elt, _names(node.for_in), module):
            return node
        if isinstance(node, cst.For) and _takes_one(node.body, _names(node), module):
            return node
    return None


def _names(loop: cst.CompFor | cst.For) -> frozenset[str]:
    target = loop.target
    parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else [target]
    return frozenset(each.value for each in parts if isinstance(each, cst.Name))


def _takes_one(node: cst.CSTNode, names: frozenset[str], module: Module) -> bool:
    """Whether it takes `self.memory[index]`, or asks a tree for one sample."""
    for each in module.within(node):
        if isinstance(each, cst.Subscript):
            index, kept = each.slice[0].slice, dotted_text(each.value)
            by_name = isinstance(index, cst.Index) and dotted_text(index.value) in names
            if by_name and kept.startswith("self.") and _BUFFERS.search(kept):
                return True
        elif isinstance(each, cst.Call) and _TREE.search(dotted_text(each.func)):
            return True
    return False
