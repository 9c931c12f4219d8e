"""Compile the model.

`torch.compile` merges operations that read and write memory one after the other, and leaves out
most of Python and of torch's dispatcher. What that saves depends on the model: nothing for a few
large products, most for many small operations. The first steps take seconds to minutes, again with
each new shape of a batch, and no search can see how long a training has to be for that to pay off:
the answer says what compiling took.

`model.compile()` compiles in place, so that the names in a checkpoint stay. Up to torch 2.13 it
leaves out every `forward` that is torch's own, as that of `nn.Sequential`, and does not say so
(pytorch issue 150915). Layers with code of their own are compiled one by one then, which takes less
time than all together. Where there are none, `compiled_model = torch.compile(model)` stands beside
the model and shares its weights, and the training step calls it. What saves, copies or evaluates
the model goes on with the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.step_sites import model_sites
from torchlint.analysis.uses import (
    is_variable,
    method_behind,
    method_name,
    occurrences,
    receiving_parameter,
)
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

_COMPILES = re.compile(r"(?<!\bre)\.compile\b(?!\([\w.]+\.step\))")
"""Not the step of an optimizer, which `compiled_update` lets torch compile."""
_NN = "torch.nn."
_PUT_TOGETHER = (cst.Arg, cst.BaseElement, cst.BaseComp)
_SHARED = frozenset({"train", "eval", "parameters", "zero_grad"})
"""Methods that do the same for the model and for the compiled one."""

experiment = Experiment(
    "torch compiles the model",
    speeds=COMPUTING,
    may_change="operations that are merged round in another way",
    since=(2, 2),
    compiles=True,
)


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    if _COMPILES.search(module.text):
        return
    ways = {"default": ""}
    if bench.device == "cuda":
        ways["reduce-overhead"] = 'mode="reduce-overhead"'
    ways["max-autotune-no-cudagraphs"] = 'mode="max-autotune-no-cudagraphs"'
    sites = {site: _is_all_of_torch(site.model, module) for site in model_sites(module)}
    for option, argument in ways.items():
        changes: dict[Edit, None] = {}  # optimizers in two branches share a compiled model
        names: dict[str, None] = {}
        for site, is_of_torch in sites.items():
            if is_of_torch:
                found = [*_beside(site.model, argument, module)]
            else:
                code = f"{site.name}.compile({argument})"
                found = [edits.insert_before(module, site.statement, code)]
            if None not in found:
                changes |= dict.fromkeys(filter(None, found))
                names[f"`{site.name}`"] = None
        named = " and ".join(names)
        with_mode = f" with `{argument}`" if argument else ""
        yield Proposal(option, f"Compile {named}{with_mode}", list(changes))


def _is_all_of_torch(model: cst.BaseExpression, module: Module) -> bool:
    """Whether the layers of a model, and what runs them, can be all torch's own."""
    return any(
        name.startswith(_NN) or _is_filled(module.definitions.class_named(name), module)
        for name in module.value(model).classes
    ) and not any(_has_other_layers(each.node, module) for each in module.flow.reaching(model))


def _is_filled(class_: cst.ClassDef | None, module: Module) -> bool:
    """Whether a class of this file only fills a container of torch, whose `forward` it has."""
    bases = [] if class_ is None else module.definitions.bases(class_)
    inherits = any(each.startswith(_NN) and each != f"{_NN}Module" for each in bases)
    return inherits and not _computes(class_, module)


def _computes(class_: cst.ClassDef | None, module: Module) -> bool:
    return class_ is not None and "forward" in module.definitions.methods(class_)


def _has_other_layers(made: cst.CSTNode, module: Module) -> bool:
    """Whether layers that are not torch's are put together where a model is made, or in a function
    that makes it."""
    here = module.function(made)
    calls = [each for each in module.nodes(cst.Call) if module.function(each) is here]
    for helper in filter(None, map(module.definitions.callee, module.calls_within(made))):
        calls += module.calls_within(helper.body)
    return any(
        _computes(module.definitions.class_named(name), module)
        for call in calls
        if isinstance(module.parent(call), _PUT_TOGETHER)
        for name in module.resolve(call.func)
    )


def _beside(model: cst.BaseExpression, argument: str, module: Module) -> Iterator[Edit | None]:
    """Makes a compiled model below the line that makes the model, and runs it where the training
    ran the model; None where that is not one line, or runs nothing in this file."""
    bindings = module.flow.reaching(model)
    made = bindings[0].node if len(bindings) == 1 else None
    torch = module.names.imported_as("torch", model)
    name = dotted_text(model)
    if torch is None or not isinstance(made, cst.Assign | cst.AnnAssign):
        yield None
        return
    given = ", ".join(filter(None, (name, argument)))
    yield edits.insert_after(module, made, f"compiled_{name} = {torch}.compile({given})")
    runs = [
        each
        for each in module.spelled(name)
        if is_variable(each, module) and module.flow.reaching(each) == bindings
        if _is_run(each, module)
    ]
    yield from (edits.replace(module, each, f"compiled_{name}") for each in runs)
    if not runs or module.spelled(f"compiled_{name}"):
        yield None


def _is_run(model: cst.Name, module: Module) -> bool:
    """Whether the training runs a model here: by a call, or by a function of this file that does
    nothing with it but what a compiled one does as well."""
    passed = module.call_with(model)
    if passed is None:
        return _trains(_call_of(model, module), module)
    function = module.definitions.callee(passed)
    param = None if function is None else receiving_parameter(passed, model, function)
    if param is None:
        return False
    uses = [each for each in occurrences(param.name, module) if each is not param.name]
    return any(_trains(_call_of(each, module), module) for each in uses) and all(
        _call_of(each, module) or _does_the_same(method_behind(each, module)) for each in uses
    )


def _call_of(model: cst.BaseExpression, module: Module) -> cst.Call | None:
    call = module.parent(model)
    return call if isinstance(call, cst.Call) and call.func is model else None


def _trains(call: cst.Call | None, module: Module) -> bool:
    return call is not None and not module.in_evaluation(call)


def _does_the_same(call: cst.Call | None) -> bool:
    return call is not None and method_name(call) in _SHARED
