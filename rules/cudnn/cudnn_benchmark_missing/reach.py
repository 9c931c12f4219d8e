"""What a script can run: its own training, and that of the files it imports."""

from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.entry_points import definitions_run, entry_points, is_public
from torchlint.analysis.names import How, dotted_text
from torchlint.project.calls import CALL_DEPTH
from torchlint.project.symbols import Key
from torchlint.rule import Module, Project

from .networks import convolutions_in, lies_in, made_frozen

_Definition = cst.FunctionDef | cst.ClassDef


class Reach(NamedTuple):
    """What a script can run.

    Args:
        trains: a training step of the file itself can run.
        names: every name that the running code mentions.
        own: those among them that name only what the file itself defines.
        uses: the dotted names of the imports among them.
        trained: those imports without what only creates networks that are not trained.
        convolves: the file itself creates convolutions that may be trained.
        whole: the classes among them whose methods a command line may all run.
    """

    trains: bool
    names: tuple[str, ...]
    own: tuple[str, ...]
    uses: tuple[str, ...]
    trained: tuple[str, ...]
    convolves: bool
    whole: tuple[str, ...] = ()


def reach_of(module: Module) -> Reach:
    """Follow names from the code at the top level through the file's own definitions.

    A name that is mentioned counts as used, so the result may contain too much.
    """
    names, seen = _followed(module, frozenset())
    uses = _imports(module, names)
    trained, convolves = uses, bool(convolutions_in(module))
    frozen = made_frozen(module)
    if frozen:
        left, kept = _followed(module, frozen)
        trained = _imports(module, left)
        convolves = any(lies_in(each, kept, module) for each in convolutions_in(module))
    entries = (entry.names for entry in entry_points(module) if entry.methods)
    return Reach(
        trains=not training_functions(module).isdisjoint({None, *seen}),
        names=_sorted(names),
        own=_sorted(names & _defined(module)),
        uses=_sorted(uses),
        trained=_sorted(trained),
        convolves=convolves,
        whole=_sorted(name.rpartition(".")[2] for each in entries for name in each),
    )


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))


def _followed(
    module: Module, left_out: frozenset[cst.CSTNode]
) -> tuple[set[str], set[cst.CSTNode]]:
    """The names that the running code mentions, and the definitions that it can run.

    Args:
        left_out: expressions that count for nothing; with any, neither does an import alone, nor
            the choices of a command line.
    """
    names: set[str] = set()
    seen: set[cst.CSTNode] = set()
    options = module.calls_by_method.get("add_argument", ())
    nothing = [*left_out, *options, *module.nodes(cst.Import), *module.nodes(cst.ImportFrom)]
    skipped = {part for each in nothing for part in module.within(each)} if left_out else set()
    left: list[_Definition] = [*module.nodes(cst.FunctionDef), *module.nodes(cst.ClassDef)]
    run = list(definitions_run(module))
    todo = [each for each in module.tree.body if not isinstance(each, _Definition)]
    while run or todo:
        seen.update(run)
        for node in (*todo, *(part for each in run for part in _parts(each))):
            parts = (each for each in module.within(node) if type(each) is cst.Name)
            names.update(each.value for each in parts if each not in skipped)
        run, todo = [each for each in left if _can_run(each, names, seen, module)], []
        left = [each for each in left if each not in run]
    return names, seen


def _defined(module: Module) -> set[str]:
    """The names that only refer to a function or class of the file: no attribute, as in
    `engine.train()`, has them."""
    attributes = {each.attr.value for each in module.nodes(cst.Attribute)}
    return {
        name
        for name, bindings in module.names.module.bindings.items()
        if all(binding.how is How.DEFINITION for binding in bindings) and name not in attributes
    }


def training_functions(module: Module) -> frozenset[cst.FunctionDef | None]:
    """The functions with a training step, and the functions around them; None is the top level."""
    training = module.loops.training_functions
    above = {each for inner in training - {None} if inner for each in module.ancestors(inner)}
    return training | {each for each in above if isinstance(each, cst.FunctionDef)}


def leads_to_training(
    reach: Reach, files: Iterable[str], training: set[Key], project: Project
) -> bool:
    """Whether a script can run one of the training functions of these other files.

    Names are followed through the calls of functions in `files`. A method counts if its own
    name and that of its class, or of one that inherits from it, are mentioned. What the script
    itself defines is not a function or class of another file.
    """
    names_reached = set(reach.names)
    owners = names_reached - set(reach.own)
    summaries = [project.summaries[path] for path in files if path in project.summaries]
    classes = [each for summary in summaries for each in summary.classes]
    for _ in range(CALL_DEPTH):
        callers: set[str] = set()
        for class_ in classes:
            if class_.name.rpartition(".")[2] in owners:
                owners.update(base.rpartition(".")[2].lstrip(":") for base in class_.bases)
        for summary in summaries:
            for function in summary.functions:
                if not _is_mentioned(function.name, owners, names_reached, reach.whole):
                    continue
                if Key(summary.path, function.name) in training:
                    return True
                for site in function.calls:
                    callers.update((site.target.rpartition(".")[2].lstrip(":"), site.method))
        names_reached |= callers
        owners |= callers
    return False


def _is_mentioned(name: str, owners: set[str], known: set[str], whole: tuple[str, ...]) -> bool:
    owner, _, last = name.rpartition(".")
    if not owner:
        return last in owners
    class_ = owner.rpartition(".")[2]
    offered = class_ in whole and is_public(last)
    return class_ in owners and (offered or last in known or _runs_by_itself(last))


def _runs_by_itself(method: str) -> bool:
    return method == "forward" or (method.startswith("__") and method.endswith("__"))


def _can_run(
    definition: _Definition, names: set[str], seen: set[cst.CSTNode], module: Module
) -> bool:
    name = definition.name.value
    owner = module.enclosing(definition, cst.FunctionDef, cst.ClassDef)
    if isinstance(owner, cst.ClassDef):
        return owner in seen and (name in names or _runs_by_itself(name))
    return name in names


def _parts(definition: _Definition) -> list[cst.CSTNode]:
    """The parts of a definition that are used with it: for a class, all but its methods."""
    if isinstance(definition, cst.FunctionDef):
        return [definition.body, definition.params, *definition.decorators]
    body = [each for each in definition.body.body if not isinstance(each, _Definition)]
    return [*body, *definition.bases, *definition.decorators]


def _imports(module: Module, names: set[str]) -> set[str]:
    """The dotted names of what is imported by these names: `a.b.c` for `import a.b.c`."""
    imports: set[str] = set()
    for scope in module.names.scopes():
        imports.update(f"{star}.*" for star in scope.stars)
        for name in names & scope.bindings.keys():
            for binding in scope.bindings[name]:
                if isinstance(binding.node, cst.Import):
                    dotted = ((each, dotted_text(each.name)) for each in binding.node.names)
                    imports.update(
                        whole
                        for alias, whole in dotted
                        if alias.asname is not None or whole.partition(".")[0] == name
                    )
                elif binding.how is How.IMPORT and binding.dotted is not None:
                    imports.add(binding.dotted)
    return imports
