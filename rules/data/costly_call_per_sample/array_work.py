"""Calls on the arrays of a sample that do far more than their results need."""

import re

import libcst as cst

from torchlint.analysis.literals import UNKNOWN
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name, reads_of_targets, receiver
from torchlint.analysis.values.kinds import ARRAYS, TENSORS
from torchlint.rule import Module, because

from .costs import OBJECTS, Costly

_ELEMENTS = Costly(
    "goes over an array element by element in Python",
    "call its method (`mask.sum()`), or `.tolist()` first",
)
_ROWS = Costly("sorts all rows", "keep the result, or join each row to one number first")
_UNIQUE = Costly("sorts all elements", "keep the result if it is the same in each epoch")
_SORTED = Costly(
    "sorts all elements to take a part of them", "use `np.argpartition`, `argmin` or `topk`"
)
_SUMMED = Costly(
    "adds up and checks all probabilities",
    "keep their sums (`np.cumsum`), and look a random number up by `np.searchsorted`",
)
_ARCHIVE = Costly(
    "opens an archive of arrays and unpacks them", "keep arrays in `.npy` files, which do not"
)
_RANGE = Costly("goes over all elements for a check", "check the files once, before training")
_EXTREMES = Costly(
    "lists the places of all elements for the first and the last of them",
    "take those of `mask.any(axis=0)` and `mask.any(axis=1)`",
)
_SEARCHED = Costly("searches a list", "keep a set, or a dict of the places")

_OVER_ALL = frozenset(
    f"builtins.{name}" for name in ("sum", "max", "min", "any", "all", "sorted", "set")
)
_OF_TRUTHS = frozenset(f"builtins.{name}" for name in ("sum", "any", "all"))
_LIBRARIES = ("numpy", "torch")
_UNIQUES = tuple(f"{each}.unique" for each in _LIBRARIES)
_SORTS = tuple(f"{each}.{name}" for each in _LIBRARIES for name in ("argsort", "sort"))
_PLACES = ("numpy.where", "numpy.nonzero", "numpy.argwhere", "numpy.flatnonzero", "torch.where",
           "torch.nonzero", "torch.argwhere")  # fmt: skip
_ENDS = frozenset({"max", "min", "amax", "amin", "aminmax"})
_CHECKS = _ENDS | {"isnan", "isinf", "isfinite", "count_nonzero"}
_TELLS = re.compile(
    r"^(?:print|warn|\w{0,20}\.warn|(?:self\.)?_{0,2}(?:log|logger|logging|logs)\.\w+)"
)
_NPZ = re.compile(r"\.npz\b")
_SIZES = re.compile(r"\b(?:shape|size|len|ndim)\b")


def array_work(call: cst.Call, module: Module) -> Costly | None:
    """What a call on arrays costs, if its result could be had for less."""
    names, method = module.resolve(call.func), method_name(call)
    if any(name in _OVER_ALL for name in names):
        return _ELEMENTS if _goes_over_array(call, names, module) else None
    if any(name in _UNIQUES for name in names):
        rows = module.argument(call, "axis") or module.argument(call, "dim")
        return _UNIQUE if rows is None else _ROWS
    if method == "argsort" or any(name in _SORTS for name in names):
        return _SORTED if _takes_a_part(call, module) else None
    if method in ("choice", "choices"):
        return _SUMMED if _draws_by_kept_weights(call, module) else None
    if "numpy.load" in names:
        return _loaded(call, module)
    if method == "index" and not names and len(call.args) == 1:
        return _SEARCHED if is_kept_list(receiver(call), module) else None
    if method == "nonzero" or any(name in _PLACES for name in names):
        return _EXTREMES if _asks_for_ends(call, module) else None
    if method in _CHECKS or any(name.rpartition(".")[2] in _CHECKS for name in names):
        return _RANGE if _only_checks(call, module) else None
    return None


def is_kept_list(node: cst.BaseExpression, module: Module) -> bool:
    """Whether `self.names` is a list of its class that grows with the dataset, or whether its
    function appends to it."""
    text = dotted_text(node) or module.source(node)
    function = module.function(node)
    if not text.startswith("self.") or function is None:
        return False
    for call in module.calls_within(function.body):
        if method_name(call) == "append" and module.source(receiver(call)) == text:
            return True
    if not isinstance(node, cst.Attribute) or text.count(".") != 1:
        return False
    made = [each.value for each in module.values.assigned(module.class_(node), node.attr.value)]
    return bool(made) and all(each is not None and _is_long_list(each, module) for each in made)


def _is_long_list(made: cst.BaseExpression, module: Module) -> bool:
    if isinstance(made, cst.List):
        return not made.elements
    if isinstance(made, cst.Call):
        listed = module.calls(made, "builtins.list", "builtins.sorted", "os.listdir", "glob.glob")
        return listed or method_name(made) in ("tolist", "readlines", "splitlines")
    return isinstance(made, cst.ListComp)


def _goes_over_array(call: cst.Call, names: tuple[str, ...], module: Module) -> bool:
    """`max(depth)` of an array, and `sum(labels == 1)`, which only an array can give."""
    if len(call.args) != 1 or call.args[0].star:
        return False
    given = call.args[0].value
    values = [each.value for each in module.flow.reaching(given)]
    if any(name in _OF_TRUTHS for name in names) and all(map(_is_of_truths, values or [given])):
        return True
    value = module.value(given)
    return value.has(ARRAYS | TENSORS) and value.only(ARRAYS | TENSORS)


def _is_of_truths(node: cst.BaseExpression | None) -> bool:
    """Whether it has a truth for each element: `labels == 1`, `~mask`."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.BitInvert)
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return False
    compares = cst.Equal | cst.NotEqual | cst.LessThan | cst.GreaterThan
    return isinstance(node.comparisons[0].operator, compares)


def _takes_a_part(call: cst.Call, module: Module) -> bool:
    """`np.argsort(far)[:k]`, also by a name that is read nowhere else."""
    node: cst.CSTNode = call
    above = module.parent(node)
    while isinstance(above, cst.Subscript) and above.value is node:
        if _is_part(above, module):
            return True
        node, above = above, module.parent(above)
    if not isinstance(above, cst.Assign) or above.value is not node:
        return False
    reads = [module.parent(each) for each in reads_of_targets(above, module)]
    return bool(reads) and all(
        isinstance(each, cst.Subscript) and _is_part(each, module) for each in reads
    )


def _is_part(item: cst.Subscript, module: Module) -> bool:
    """`[:k]`, `[-k:]`, `[0]`, `[-1]`."""
    if len(item.slice) != 1:
        return False
    part = item.slice[0].slice
    if isinstance(part, cst.Index):
        return module.literal(part.value) in (0, -1)
    if not isinstance(part, cst.Slice):
        return False
    first, last = (each is not None for each in (part.lower, part.upper))
    if part.step is not None or first == last:
        return False
    bound = part.lower or part.upper
    return isinstance(bound, cst.UnaryOperation) == first


def _draws_by_kept_weights(call: cst.Call, module: Module) -> bool:
    """`np.random.choice(len(self), p=self.weights)`."""
    weights = module.argument(call, "p") or module.argument(call, "weights")
    if weights is None or module.literal(weights) is not UNKNOWN:
        return False
    kept = weights.value if isinstance(weights, cst.Subscript) else weights
    return dotted_text(kept).startswith("self.")


def _loaded(call: cst.Call, module: Module) -> Costly | None:
    """An archive, by its name or because the code takes an array of it by name; or an object."""
    behind, path = module.parent(call), module.source(call.args[0].value) if call.args else ""
    if isinstance(behind, cst.Attribute) and behind.attr.value == "item":
        return OBJECTS
    if _NPZ.search(path) or isinstance(behind, cst.WithItem):
        return _ARCHIVE
    assign = module.small_statement(call)
    reads = [module.parent(each) for each in reads_of_targets(assign, module)]
    direct = isinstance(assign, cst.Assign) and assign.value is call
    taken = reads if direct else [behind]
    return _ARCHIVE if any(_is_by_name(each, module) for each in taken) else None


def _is_by_name(item: cst.CSTNode | None, module: Module) -> bool:
    if not isinstance(item, cst.Subscript):
        return False
    part = item.slice[0].slice
    return isinstance(part, cst.Index) and isinstance(module.literal(part.value), str)


def _asks_for_ends(call: cst.Call, module: Module) -> bool:
    """`ys, xs = np.where(mask)`, of which the code takes only `min` and `max`."""
    if len(call.args) > 1:
        return False
    assign = module.small_statement(call)
    if not isinstance(assign, cst.Assign) or assign.value is not call:
        return False
    target = assign.targets[0].target
    parts = [each.value for each in target.elements] if isinstance(target, cst.Tuple) else [target]
    names = [each.value for each in parts if isinstance(each, cst.Name)]
    reads = [read for name in names for read in module.reads(assign, name)]
    used = [_use(each, module) for each in reads]
    return "end" in used and all(used)


def _use(read: cst.Name, module: Module) -> str:
    """`end` for `np.min(xs)`, `xs.max()`, `np.max(places[0])`; `size` for `len(xs)`."""
    node: cst.CSTNode = read
    above = module.parent(node)
    while isinstance(above, cst.Subscript) and above.value is node:
        node, above = above, module.parent(above)
    if isinstance(above, cst.Attribute):
        if above.attr.value in ("size", "shape", "numel"):
            return "size"
        return "end" if above.attr.value in _ENDS else ""
    call = module.parent(above) if isinstance(above, cst.Arg) else None
    name = dotted_text(call.func).rpartition(".")[2] if isinstance(call, cst.Call) else ""
    return "end" if name in _ENDS else "size" if name == "len" else ""


def _only_checks(call: cst.Call, module: Module) -> bool:
    """Whether it is the first such call in the condition of an `assert`, or of an `if` that does
    no more than tell or stop."""
    for above in module.ancestors(call):
        if isinstance(above, cst.Assert):
            return _is_first(call, above.test, module)
        if isinstance(above, cst.If):
            only = all(map(_tells, above.body.body)) and above.orelse is None
            return only and _is_first(call, above.test, module)
        if isinstance(above, cst.BaseStatement):
            return False
    return False


def _is_first(call: cst.Call, test: cst.BaseExpression, module: Module) -> bool:
    if _SIZES.search(module.source(test)):
        return because(False, "sizes are compared, which are few")
    found = [
        each
        for each in module.calls_within(test)
        if dotted_text(each.func).rpartition(".")[2] in _CHECKS
    ]
    return bool(found) and found[0] is call


def _tells(statement: cst.BaseStatement | cst.BaseSmallStatement) -> bool:
    lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
    return all(
        isinstance(each, cst.Raise)
        or (
            isinstance(each, cst.Expr)
            and isinstance(each.value, cst.Call)
            and bool(_TELLS.search(dotted_text(each.value.func)))
        )
        for each in lines
    )
