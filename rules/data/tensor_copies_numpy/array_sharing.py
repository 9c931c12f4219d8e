"""Whether a tensor may share an array's memory: who else holds the array, and who writes."""

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.literals import argument, argument_node
from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import (
    method_behind,
    method_name,
    methods_called_on,
    occurrences,
    receiver,
    with_items,
)
from torchlint.analysis.values.environments import observed
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module, once

_DEEPEST = 8
_READ_ONLY = frozenset({"numpy.memmap", "numpy.frombuffer", "numpy.broadcast_to"})
_VIEW_METHODS = frozenset(
    {"reshape", "ravel", "transpose", "squeeze", "swapaxes", "view", "diagonal", "asarray"}
)
_WRITING_METHODS = frozenset({"fill", "sort", "put", "resize", "partition", "itemset", "setfield"})
_HARMLESS = frozenset({"requires_grad_", "detach_", "share_memory_", "retain_grad_"})
_SURELY_SHAPED = frozenset(
    f"numpy.{name}"
    for name in "stack concatenate vstack hstack dstack column_stack linspace arange eye identity "
    "repeat tile".split()
)


def held_by_nobody(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression makes an array that nothing else can refer to: `np.stack(xs)`,
    `x.astype(np.float32)`, `a + b`; not a name, and not what a function of the project returns."""
    makes = isinstance(node, cst.BinaryOperation)
    if isinstance(node, cst.Call):
        names = module.resolve(node.func)
        numpys = all(name.startswith("numpy.") for name in names) if names else method_name(node)
        makes = bool(numpys) and module.definitions.callee(node) is None
    return makes and module.value(node).only(Kind.FRESH)


def has_an_axis(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an array has at least one dimension for certain."""
    return isinstance(node, cst.Call) and module.calls(node, *_SURELY_SHAPED)


@once
def is_read_only(node: cst.BaseExpression, module: Module, depth: int = 0) -> bool:
    """Whether an array is a view of memory that must not be written: a memory map, a buffer."""
    for source in _sources(node, module) if depth <= _DEEPEST else ():
        if isinstance(source, cst.Call):
            if module.calls(source, *_READ_ONLY):
                return True
            if module.calls(source, "numpy.load"):
                return argument(source, "mmap_mode", 1) is not None
        root = _viewed(source, module)
        if root is not None and is_read_only(root, module, depth + 1):
            return True
    return False


def _sources(node: cst.BaseExpression, module: Module) -> list[cst.BaseExpression]:
    """The expression, or those that a name or attribute was set from."""
    if isinstance(node, cst.Name):
        bindings = [each for each in module.flow.reaching(node) if each.how is How.ASSIGNMENT]
    elif isinstance(node, cst.Attribute) and dotted_text(node).startswith("self."):
        bindings = module.values.assigned(module.class_(node), node.attr.value)
    else:
        return [node]
    return [each.value for each in bindings if each.value is not None]


def _viewed(node: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """The array that an expression is a view of."""
    if isinstance(node, cst.Subscript):
        inside = module.value(node.value).has(Kind.CONTAINER)
        return None if inside else node.value
    if isinstance(node, cst.Attribute) and node.attr.value == "T":
        return node.value
    if isinstance(node, (cst.Name, cst.Attribute)):
        return node
    if not isinstance(node, cst.Call) or method_name(node) not in _VIEW_METHODS:
        return None
    is_numpy = any(name.startswith("numpy.") for name in module.resolve(node.func))
    first = node.args[0].value if node.args else None
    return first if is_numpy else receiver(node)


def root_of(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """The name or attribute that an array is a view of, or the expression itself."""
    for _ in range(_DEEPEST):
        inner = _viewed(node, module)
        if inner is None or inner is node:
            break
        node = inner
    return node


# who writes --------------------------------------------------------------------------------


def comes_from_environment(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an array is what `env.step(…)` returned: many environments fill it again."""
    root = root_of(node, module)
    if not isinstance(root, cst.Name):
        return observed(root, 0, module.values) is not None
    for binding in module.flow.reaching(root):
        source = binding.value
        path = binding.path or (0,)
        if source is not None and observed(source, path[0], module.values) is not None:
            return True
        if isinstance(source, cst.Name) and source.value != root.value:
            return comes_from_environment(source, module)
    return False


def array_is_written(node: cst.BaseExpression, module: Module) -> bool:
    """Whether the array behind an expression is written in place: after it was read, or
    anywhere if it is an attribute of an object, such as a replay buffer."""
    root = root_of(node, module)
    return any(
        not isinstance(root, cst.Name)
        or (module.function(write) is module.function(node) and _comes_after(write, node, module))
        for write in _writes(root, module)
    )


def _comes_after(write: cst.CSTNode, read: cst.CSTNode, module: Module) -> bool:
    if module.order(write) > module.order(read):
        return True
    around = set(module.loops.loops_around(read))
    return any(loop in around for loop in module.loops.loops_around(write)) and not (
        _bound_in_loop(read, module)
    )


def _bound_in_loop(read: cst.CSTNode, module: Module) -> bool:
    """Whether each round makes a new array, so that an earlier write does no harm."""
    root = root_of(read, module) if isinstance(read, cst.BaseExpression) else None
    loop = next(iter(module.loops.loops_around(read)), None)
    if not isinstance(root, cst.Name) or loop is None:
        return False
    return all(
        binding.how is How.UPDATE or loop in module.ancestors(binding.node) or binding.node is loop
        for binding in module.flow.reaching(root)
    )


def _writes(array: cst.BaseExpression, module: Module) -> Iterator[cst.CSTNode]:
    """The places that write into the array of a name or an attribute."""
    for node in occurrences(array, module):
        item = with_items(node, module)
        above, call = module.parent(item), module.call_with(item)
        sets = isinstance(above, cst.AssignTarget) and isinstance(item, cst.Subscript)
        if above and (sets or (isinstance(above, cst.AugAssign) and above.target is item)):
            yield above
        elif isinstance(above, cst.Arg) and call is not None and _is_output(above, call, module):
            yield call
    for call in methods_called_on(array, module):
        if method_name(call) in _WRITING_METHODS:
            yield call


def _is_output(arg: cst.Arg, call: cst.Call, module: Module) -> bool:
    """Whether a function of NumPy writes into what it is given: `out=x`, `np.copyto(x, …)`."""
    if arg.keyword is not None and arg.keyword.value == "out":
        return True
    return argument_node(call, "dst", 0) is arg and module.calls(call, "numpy.copyto")


def tensor_is_written(call: cst.Call, module: Module) -> bool:
    """Whether the tensor that a call makes is written in place: `t[0] = 1`, `t.add_(…)`."""
    behind = method_behind(call, module)
    if behind is not None and _writes_in_place(behind):
        return True
    target = _assigned_to(call, module)
    if target is None:
        return False
    function = module.function(call)
    return any(
        module.function(node) is function and module.order(node) > module.order(call)
        for node in (*_writes(target, module), *_in_place_calls(target, module))
    )


def is_resized(call: cst.Call, module: Module) -> bool:
    """Whether the tensor is resized later, which memory of an array does not allow."""
    behind, target = method_behind(call, module), _assigned_to(call, module)
    calls = [*_in_place_calls(target, module)] if target is not None else []
    return any(method_name(each) == "resize_" for each in filter(None, (behind, *calls)))


def _assigned_to(call: cst.Call, module: Module) -> cst.BaseExpression | None:
    """The name or attribute that a tensor, or the end of a chain of methods on it, goes to."""
    while behind := method_behind(call, module):
        call = behind
    statement = module.parent(call)
    targets = statement.targets if isinstance(statement, cst.Assign) else ()
    return targets[0].target if len(targets) == 1 else None


def _in_place_calls(tensor: cst.BaseExpression, module: Module) -> Iterator[cst.Call]:
    return (call for call in methods_called_on(tensor, module) if _writes_in_place(call))


def _writes_in_place(call: cst.Call) -> bool:
    name = method_name(call)
    return name.endswith("_") and not name.endswith("__") and name not in _HARMLESS
