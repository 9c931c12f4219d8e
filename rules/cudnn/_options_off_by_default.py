"""Settings that only hold where somebody asks for them: by an option, or by a parameter."""

import libcst as cst

from torchlint.analysis.literals import option_names
from torchlint.analysis.steps.guards import words
from torchlint.rule import Module, once


def only_on_request(node: cst.CSTNode, module: Module) -> cst.If | None:
    """The `if` that tests a parameter that is False by default, so that the caller decides."""
    function = module.function(node)
    if function is None:
        return None
    params = (*function.params.params, *function.params.kwonly_params)
    unasked = {each.name.value for each in params if module.literal(each.default) is False}
    return _asking(unasked, node, module)


def _asking(names: frozenset[str] | set[str], node: cst.CSTNode, module: Module) -> cst.If | None:
    """The `if` around a node that tests one of these names."""
    for above in module.ancestors(node):
        if isinstance(above, cst.If) and not names.isdisjoint(words(above.test)):
            return above
    return None


def under_option(node: cst.CSTNode, module: Module) -> bool:
    """Whether an `if` tests an option of the command line that is off by default."""
    return _asking(unasked_options(module), node, module) is not None


@once
def unasked_options(module: Module) -> frozenset[str]:
    """The names of the options that argparse leaves None or False where nobody gives them."""
    options: set[str] = set()
    for call in module.calls_by_method.get("add_argument", ()):
        given = module.argument(call, "default")
        action = module.literal(module.argument(call, "action"))
        if action == "store_true" or module.literal(given) in (None, False):
            options.update(option_names(call))
    return frozenset(options)
