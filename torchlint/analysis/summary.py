"""What one file tells the project: its functions, whom they call, and from which loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.callables import OUTSIDE, held_functions
from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.names import How, dotted_text, is_super, sounds_like_class
from torchlint.analysis.values.kinds import ON_HOST, TENSORS, Kind
from torchlint.finding import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.loops import Loop

_MOST_RETURNS = 32


@dataclass(frozen=True, slots=True)
class Passed:
    """One argument of a call: its keyword, or `#0` for the first positional one; `objects` are the
    classes and functions of the project that it can be called through."""

    name: str
    device: bool
    host: bool
    parameters: tuple[str, ...]
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call that may lead into the project.

    `target` is a dotted name as `Names.resolve` gives it, `$name` for a parameter, `self`,
    `super`, `f()` for what a function returns or `f()#1` for a part of it; `method` is the method
    called on it, `()` if the object itself is called. `loops` are the indices (`Loops.index`) of
    the loops around it, innermost first; `quiet` says that within them it is guarded or evaluates,
    `rare` that the outermost itself is guarded.
    """

    target: str
    method: str
    arguments: tuple[Passed, ...]
    loops: tuple[int, ...]
    quiet: bool
    rare: bool


@dataclass(frozen=True, slots=True)
class LoopSummary:
    position: Position
    steps: bool


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """`steps`: does a backward pass or optimizer step outside its own loops; `whole_step`: does
    both; `trains`: holds a step loop; `hook`: a framework calls it on each step; `returns`: the
    classes of what it returns, each with its place in a tuple, or -1."""

    name: str
    position: Position
    parameters: tuple[str, ...]
    steps: bool
    whole_step: bool
    trains: bool
    hook: bool
    evaluation: bool
    calls: tuple[CallSite, ...]
    returns: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """`attributes`: what `self.name` holds, as dotted names of classes and functions, or
    `$parameter` of `__init__`."""

    name: str
    bases: tuple[str, ...]
    attributes: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    path: str
    exports: tuple[tuple[str, str], ...]
    stars: tuple[str, ...]
    functions: tuple[FunctionSummary, ...]
    classes: tuple[ClassSummary, ...]
    loops: dict[int, LoopSummary]
    uses_cuda: bool
    is_entry: bool


_Sites = dict["cst.FunctionDef | None", list[tuple[cst.Call, CallSite]]]


def summarize(module: Module) -> Summary:
    """The part of a file that other files' findings may depend on."""
    return _Summarizer(module).summary()


def call_sites(module: Module) -> _Sites:
    """The calls of each function in the order of `FunctionSummary.calls`; None stands for the top
    level."""
    return _Summarizer(module).calls()


class _Summarizer:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._loops: dict[int, LoopSummary] = {}

    def summary(self) -> Summary:
        module = self._module
        scope = module.names.module
        exports = {
            name: binding.dotted
            for name, bindings in scope.bindings.items()
            for binding in bindings
            if binding.how is How.IMPORT and binding.dotted is not None
        }
        calls = self.calls()
        for loop in module.loops.step_loops:
            self._loop(loop)
        functions = [self._function(None, calls)]
        functions += [self._function(node, calls) for node in module.nodes(cst.FunctionDef)]
        return Summary(
            path=module.path,
            exports=tuple(exports.items()),
            stars=tuple(scope.stars),
            functions=tuple(functions),
            classes=tuple(self._class(node) for node in module.nodes(cst.ClassDef)),
            loops=self._loops,
            uses_cuda=module.uses_cuda,
            is_entry=module.is_entry,
        )

    def _loop(self, loop: Loop) -> int:
        index = self._module.loops.index(loop)
        if index not in self._loops:
            steps = loop in self._module.loops.step_loops
            self._loops[index] = LoopSummary(self._module.span(loop)[0], steps)
        return index

    def _function(
        self,
        node: cst.FunctionDef | None,
        calls: _Sites,
    ) -> FunctionSummary:
        module, loops = self._module, self._module.loops
        own = tuple(site for _, site in calls.get(node, ()))
        if node is None:
            return FunctionSummary("", Position(1, 1), (), False, False, False, False, False, own)
        parameters = [
            *node.params.posonly_params,
            *node.params.params,
            *node.params.kwonly_params,
        ]
        names = [param.name.value for param in parameters]
        if names and names[0] in ("self", "cls"):
            del names[0]
        if isinstance(node.params.star_kwarg, cst.Param):
            names.append("**" + node.params.star_kwarg.name.value)
        stepping = loops.stepping_functions
        relevant = node in stepping or loops.is_step_hook(node) or node.name.value == "forward"
        return FunctionSummary(
            name=module.qualified_name(node),
            position=module.span(node)[0] if relevant else Position(1, 1),
            parameters=tuple(names),
            steps=node in stepping,
            whole_step=stepping.get(node, False),
            trains=any(module.function(loop) is node for loop in loops.step_loops),
            hook=loops.is_step_hook(node),
            evaluation=loops.is_evaluation(node),
            calls=own,
            returns=tuple(dict.fromkeys(self._returned(node))),
        )

    def _returned(self, node: cst.FunctionDef) -> Iterator[tuple[int, str]]:
        for answer in self._module.values.definitions.returns(node)[:_MOST_RETURNS]:
            value = answer.value
            if isinstance(value, cst.Tuple):
                for place, element in enumerate(value.elements):
                    yield from ((place, name) for name in self._made(element.value))
            elif value is not None:
                yield from ((-1, name) for name in self._made(value))

    def _made(self, node: cst.BaseExpression) -> list[str]:
        """The classes of what an expression makes, or a name in it was made of."""
        if isinstance(node, cst.Call):
            return self._instantiated(node)
        if not isinstance(node, cst.Name):
            return []
        bindings = self._module.flow.reaching(node)
        assigned = (each.value for each in bindings if each.how is How.ASSIGNMENT)
        return [name for value in assigned for name in self._instantiated(value)]

    def _class(self, node: cst.ClassDef) -> ClassSummary:
        module = self._module
        bases = [name for base in node.bases for name in module.resolve(base.value)]
        attributes: dict[str, list[str]] = {}
        for name, bindings in module.values.attributes.get(node, {}).items():
            for binding in bindings:
                if binding.path or binding.value is None:
                    continue
                value = module.value(binding.value)
                found = [*value.classes, *self._instantiated(binding.value)]
                found += held_functions(binding.value, module)
                if isinstance(binding.value, cst.Name) and binding.value.value in value.parameters:
                    found.append("$" + binding.value.value)
                if found:
                    attributes.setdefault(name, []).extend(dict.fromkeys(found))
        return ClassSummary(
            name=module.qualified_name(node),
            bases=tuple(bases),
            attributes=tuple((name, tuple(found)) for name, found in attributes.items()),
        )

    def _instantiated(self, made: cst.BaseExpression | None) -> list[str]:
        """Classes of the project that an expression makes an object of, through `.to(device)`,
        `DataParallel(…)` and other objects that are given one."""
        module = self._module
        found: list[str] = []
        node: cst.CSTNode | None = made
        while isinstance(node, cst.Call):
            names = module.resolve(node.func)
            inside = [name for name in names if _is_inside(name)]
            classes = [name for name in inside if sounds_like_class(name)]
            found += classes
            if inside and not classes:
                found += [f"{name}()" for name in inside]
                break
            if names and node.args:
                node = node.args[0].value
            elif isinstance(node.func, cst.Attribute) and not names:
                node = node.func.value
            else:
                break
        if found and isinstance(node, cst.Name | cst.Attribute):
            found += module.value(node).classes
        return found

    # calls -------------------------------------------------------------------------------

    def calls(self) -> _Sites:
        module = self._module
        found: _Sites = {}
        for call in module.nodes(cst.Call):
            targets = list(self._targets(call))
            if not targets:
                continue
            loops = list(module.loops.loops_around(call))
            around = module.loops.judged_within(call)
            guarded = module.loops.guard(call, around) is not None
            quiet = guarded or module.loops.in_evaluation(call, inside=around)
            rare = around not in module.loops.step_loops and module.loops.is_rare(around)
            arguments = self._arguments(call)
            indices = tuple(self._loop(loop) for loop in loops)
            for target, method in targets:
                site = CallSite(target, method, arguments, indices, quiet, rare)
                found.setdefault(module.function(call), []).append((call, site))
        return found

    def _targets(self, call: cst.Call) -> list[tuple[str, str]]:
        module, func = self._module, call.func
        names = module.resolve(func)
        inside = [(name, "") for name in names if _is_inside(name)]
        if isinstance(func, cst.Attribute):
            method = func.attr.value
            if isinstance(func.value, cst.Name) and func.value.value in ("self", "cls"):
                held = module.values.assigned(module.class_(func), method)
                return [("self", method), *([(f"self.{method}", "()")] if held else [])]
            if is_super(func.value):
                return [("super", method)]
            if inside:
                return inside
            if names:
                return []
            return [(name, method) for name in self._classes(func.value)]
        if inside or names:
            return inside
        if isinstance(func, cst.Name) and func.value == "self":
            return [("self", "forward")]
        return [(name, "()") for name in self._objects(func)]

    def _classes(self, node: cst.BaseExpression) -> list[str]:
        """What is known of the class of an object: dotted names, `$parameter`, `self.name`."""
        module = self._module
        if isinstance(node, cst.Attribute) and dotted_text(node) == f"self.{node.attr.value}":
            return [f"self.{node.attr.value}"]
        value = module.value(node)
        found = list(value.classes)
        if isinstance(node, cst.Name):
            for binding in module.flow.reaching(node):
                if binding.how is How.PARAMETER:
                    found.append("$" + node.value)
                elif binding.how is How.ASSIGNMENT:
                    found += self._instantiated(binding.value)
                elif binding.how is How.UNPACKING:
                    found += self._unpacked_classes(binding.value, binding.path)
        elif isinstance(node, cst.Call):
            found += self._instantiated(node)
        return list(dict.fromkeys(found))

    def _unpacked_classes(
        self, source: cst.BaseExpression | None, path: tuple[int, ...]
    ) -> list[str]:
        """`model, opt = accelerator.prepare(model, opt)` keeps the classes; `build_model(args)`
        returns them."""
        if isinstance(source, cst.Call) and len(path) == 1:
            inside = [name for name in self._module.resolve(source.func) if _is_inside(name)]
            if inside:
                return [f"{name}()#{path[0]}" for name in inside]
        if (
            isinstance(source, cst.Call)
            and len(path) == 1
            and path[0] < len(source.args)
            and isinstance(source.func, cst.Attribute)
            and source.func.attr.value in ANY.prepares
        ):
            return self._classes(source.args[path[0]].value)
        return []

    def _arguments(self, call: cst.Call) -> tuple[Passed, ...]:
        passed = []
        index = 0
        for arg in call.args:
            if arg.keyword is not None:
                name = arg.keyword.value
            elif arg.star:
                name = arg.star
            else:
                name = f"#{index}"
                index += 1
            passed.append(self._passed(name, arg.value))
        return tuple(passed)

    def _objects(self, node: cst.BaseExpression) -> list[str]:
        """The classes and functions of the project that an expression holds."""
        if not isinstance(node, cst.Name | cst.Call | cst.Attribute | cst.Subscript):
            return []
        return list(dict.fromkeys(self._classes(node) + held_functions(node, self._module)))

    def _passed(self, name: str, node: cst.BaseExpression) -> Passed:
        value = self._module.value(node)
        inner = value.element if value.has(Kind.CONTAINER) and value.element else value
        may_be_tensor = inner.has(Kind.PARAMETER | TENSORS)
        return Passed(
            name=name,
            device=inner.has(Kind.DEVICE | Kind.LIKELY) and not inner.has(Kind.MODULE),
            host=inner.only(ON_HOST),
            parameters=tuple(sorted(inner.parameters)) if may_be_tensor else (),
            objects=tuple(self._objects(node)),
        )


def _is_inside(name: str) -> bool:
    """Whether a dotted name may lead into the project."""
    return not name.startswith(OUTSIDE)
