"""What one file tells the project: its functions, whom they call, and from which loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.callables import UNKNOWN, WRAPPED, Held, Holders, is_dotted, is_inside
from torchlint.analysis.entry_points import entry_points, is_public
from torchlint.analysis.frameworks.runners import Device
from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.literals import literal
from torchlint.analysis.names import How, is_super, without_parameters
from torchlint.analysis.training.chosen_branches import ANYTHING, Demand, Given, demands, passed
from torchlint.analysis.training.runs import device_of, framework_starts, trains
from torchlint.analysis.values.kinds import ON_HOST, TENSORS, Kind, placing
from torchlint.finding import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.entry_points import EntryPoint
    from torchlint.analysis.module import Module
    from torchlint.analysis.names import Binding
    from torchlint.analysis.steps.loops import Loop

_MOST_RETURNS = 32


@dataclass(frozen=True, slots=True)
class Passed:
    """One argument of a call: its keyword, or `#0` for the first positional one; `objects` are what
    it is of the project, and what it holds; `what` is what `chosen_branches.passed` says about
    it."""

    name: str
    device: bool
    host: bool
    parameters: tuple[str, ...]
    objects: tuple[Held, ...]
    what: str = ANYTHING


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call that may lead into the project.

    `target` is one as `torchlint.analysis.callables` writes them, or `self` or `super`; `method` is
    the method called on it, `()` if it is an object that is called itself. `loops` are the indices
    (`Loops.index`) of the loops around it, innermost first; `quiet` says that within them it is
    guarded or evaluates, `rare` that the outermost itself is guarded. `demands` are what the
    function around it must be passed for the call to run. `position` is where it is, if a training
    step may make it itself: in a loop, or in a function that may be the step or the model.
    """

    target: str
    method: str
    arguments: tuple[Passed, ...]
    loops: tuple[int, ...]
    quiet: bool
    rare: bool
    demands: tuple[Demand, ...] = ()
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class LoopSummary:
    position: Position
    steps: bool


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """`steps`: does a backward pass or optimizer step outside its own loops; `whole_step`: does
    both; `trains`: holds a step loop; `hook`: a framework calls it on each step; `returns`: what
    it returns of the project; `defaults`: what parameters are that no caller passes."""

    name: str
    position: Position
    parameters: tuple[str, ...]
    steps: bool
    whole_step: bool
    trains: bool
    hook: bool
    evaluation: bool
    calls: tuple[CallSite, ...]
    returns: tuple[Held, ...] = ()
    defaults: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """`attributes`: what `self.name` is, and holds; parameters are those of `__init__`."""

    name: str
    bases: tuple[str, ...]
    attributes: tuple[tuple[str, tuple[Held, ...]], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """`public`: the names in `__all__`, or None; `device` and `trains`: what the file shows of its
    program; `starts`: where it has a framework take the training steps."""

    path: str
    exports: tuple[tuple[str, str], ...]
    stars: tuple[str, ...]
    functions: tuple[FunctionSummary, ...]
    classes: tuple[ClassSummary, ...]
    loops: dict[int, LoopSummary]
    device: Device
    trains: bool
    is_entry: bool
    is_test: bool = False
    starts: tuple[Position, ...] = ()
    public: tuple[str, ...] | None = None

    def offers(self, name: str) -> bool:
        """Whether a star import of the file binds a name that it has."""
        return not name.startswith("_") if self.public is None else name in self.public


_Sites = dict["cst.FunctionDef | None", list[tuple["cst.Call | cst.Decorator", CallSite]]]


def summarize(module: Module) -> Summary:
    """The part of a file that other files' findings may depend on."""
    return _Summarizer(module).summary()


def _public_names(module: Module) -> tuple[str, ...] | None:
    """The names in `__all__`; None if the file has none, or puts it together."""
    uses = module.spelled("__all__")
    bindings = module.names.module.bindings.get("__all__", [])
    names = literal(bindings[0].value) if len(uses) == len(bindings) == 1 else None
    return tuple(map(str, names)) if isinstance(names, tuple) else None


def call_sites(module: Module) -> _Sites:
    """The calls of each function in the order of `FunctionSummary.calls`, and what makes a command
    line call something; None means the top level."""
    return _Summarizer(module).calls()


class _Summarizer:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._holders = Holders(module)
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
            device=device_of(module),
            trains=trains(module),
            is_entry=module.is_entry,
            is_test=module.test_like,
            starts=tuple(module.span(call)[0] for call in framework_starts(module)),
            public=_public_names(module),
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
        relevant = self._may_be_a_step(node)
        return FunctionSummary(
            name=module.qualified_name(node),
            position=module.span(node)[0] if relevant else Position(1, 1),
            parameters=tuple(names),
            steps=node in stepping,
            whole_step=stepping.get(node, False),
            trains=node in self._with_step_loops,
            hook=loops.is_step_hook(node),
            evaluation=module.evaluations.is_evaluation(node),
            calls=own,
            returns=tuple(dict.fromkeys(self._returned(node))),
            defaults=tuple(
                (param.name.value, passed(param.default, module))
                for param in parameters
                if param.default is not None
            ),
        )

    def _may_be_a_step(self, node: cst.FunctionDef) -> bool:
        loops = self._module.loops
        stepping = node in loops.stepping_functions or loops.is_step_hook(node)
        return stepping or node.name.value == "forward"

    @cached_property
    def _with_step_loops(self) -> frozenset[cst.FunctionDef | None]:
        return frozenset(map(self._module.function, self._module.loops.step_loops))

    def _returned(self, node: cst.FunctionDef) -> Iterator[Held]:
        for answer in self._module.definitions.returns(node)[:_MOST_RETURNS]:
            if answer.value is not None:
                yield from self._holders.contents(answer.value)

    def _class(self, node: cst.ClassDef) -> ClassSummary:
        module = self._module
        bases = [name for base in node.bases for name in module.resolve(without_parameters(base))]
        attributes: dict[str, dict[Held, None]] = {}
        for name, bindings in module.values.attributes.get(node, {}).items():
            for binding in bindings:
                kept = self._kept(binding)
                if kept:
                    attributes.setdefault(name, {}).update(dict.fromkeys(kept))
        return ClassSummary(
            name=module.qualified_name(node),
            bases=tuple(bases),
            attributes=tuple((name, tuple(kept)) for name, kept in attributes.items()),
        )

    def _kept(self, binding: Binding) -> list[Held]:
        """What `self.name = …` puts there, and what is added to it."""
        if binding.value is None:
            return []
        contents = [*self._holders.contents(binding.value, binding.path)]
        for target in assign_targets(binding.node):
            contents += self._holders.added(target)
        function = self._module.function(binding.node)
        if function is None or function.name.value != "__init__":
            contents = [held for held in contents if not held[1].startswith("$")]
        return contents

    # calls -------------------------------------------------------------------------------

    def calls(self) -> _Sites:
        module = self._module
        sites_by_call: _Sites = {}
        for call in module.nodes(cst.Call):
            targets = list(self._targets(call))
            if not targets:
                continue
            loops = list(module.loops.loops_around(call))
            around = module.loops.judged_within(call)
            guarded = module.loops.guard(call, around) is not None
            quiet = guarded or module.evaluations.in_evaluation(call, inside=around)
            rare = around not in module.loops.step_loops and module.loops.is_rare(around)
            arguments = self._arguments(call)
            indices = tuple(self._loop(loop) for loop in loops)
            wanted = () if quiet else demands(call, module)
            function = module.function(call)
            told = not quiet and (loops or (function and self._may_be_a_step(function)))
            place = module.span(call)[0] if told else None
            for target, method in targets:
                site = CallSite(target, method, arguments, indices, quiet, rare, wanted, place)
                sites_by_call.setdefault(function, []).append((call, site))
        for entry in entry_points(module):
            sites = ((entry.node, site) for site in self._run_by_command_line(entry))
            sites_by_call.setdefault(module.function(entry.node), []).extend(sites)
        return sites_by_call

    def _run_by_command_line(self, entry: EntryPoint) -> Iterator[CallSite]:
        definitions = self._module.definitions
        for name in filter(is_inside, entry.names):
            class_ = definitions.class_named(name) if entry.methods else None
            methods = () if class_ is None else definitions.methods(class_)
            for method in ("", *filter(is_public, methods)):
                yield CallSite(name, method, (), (), quiet=False, rare=False)

    def _targets(self, call: cst.Call) -> list[tuple[str, str]]:
        """What a call may run: a target, and the method that is called on it."""
        module, func = self._module, call.func
        if isinstance(func, cst.Attribute):
            return self._method(func)
        if isinstance(func, cst.Name) and func.value == "self":
            return [("self", "forward")]
        if not isinstance(func, cst.Name | cst.Subscript | cst.Call):
            return []
        if isinstance(func, cst.Name) and not module.flow.reaching(func):
            return [(name, "") for name in module.resolve(func) if is_inside(name)]
        targets = self._holders.targets(func)
        if not targets and isinstance(func, cst.Name) and not self._holders.is_known(func):
            return [(UNKNOWN, "()")]
        return [(target, "" if is_dotted(target) else "()") for target in targets]

    def _method(self, func: cst.Attribute) -> list[tuple[str, str]]:
        module, method = self._module, func.attr.value
        if isinstance(func.value, cst.Name) and func.value.value in ("self", "cls"):
            held = self._may_keep(module.class_(func), method)
            return [("self", method), *([(f"self.{method}", "()")] if held else [])]
        if is_super(func.value):
            return [("super", method)]
        names = module.resolve(func)
        if names:
            return [(name, "") for name in names if is_inside(name)]
        called = "()" if method in WRAPPED else method
        return [(target, called) for target in self._holders.targets(func.value)]

    def _may_keep(self, class_: cst.ClassDef | None, name: str) -> bool:
        """Whether `self.name` is assigned, by the class or perhaps a base in another file."""
        if class_ is None or self._module.values.assigned(class_, name):
            return class_ is not None
        definitions = self._module.definitions
        inherits = any(map(is_inside, definitions.bases(class_)))
        return inherits and name not in definitions.methods(class_)

    def _arguments(self, call: cst.Call) -> tuple[Passed, ...]:
        arguments = []
        index = 0
        for arg in call.args:
            if arg.keyword is not None:
                name = arg.keyword.value
            elif arg.star:
                name = arg.star
            else:
                name = f"#{index}"
                index += 1
            arguments.append(self._passed(name, arg.value))
        return tuple(arguments)

    def _passed(self, name: str, node: cst.BaseExpression) -> Passed:
        value = self._module.value(node)
        inner = value.element if value.has(Kind.CONTAINER) and value.element else value
        may_be_tensor = inner.has(Kind.PARAMETER | TENSORS)
        return Passed(
            name=name,
            device=inner.has(Kind.DEVICE | Kind.LIKELY) and not inner.has(Kind.MODULE),
            host=inner.only(ON_HOST),
            parameters=tuple(sorted(inner.parameters - placing(inner.parameters)))
            if may_be_tensor
            else (),
            objects=() if inner.only(Kind.HOST) else self._holders.contents(node),
            what=passed(node, self._module),
        )
