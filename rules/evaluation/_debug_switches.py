"""Switches for debugging: whether they are on for everybody."""

import libcst as cst

from torchlint.rule import Match, Module, because, once


def is_optional(match: Match) -> bool:
    """Whether a condition decides about a match, or about its function where the file uses that:
    `enable_debugging()` that nobody calls, or only `if args.debug`, is optional."""
    module = match.module
    function = module.function(match.node)
    above = next(module.conditions(match.node), None)
    if above is not None:
        return because(True, "it is only there under {}", above)
    if function is None or _is_used_always(module, function):
        return False
    used = _used_as(function, module).value
    return because(True, "nothing in the file uses `{}` in every run", used)


@once
def _is_used_always(module: Module, function: cst.FunctionDef) -> bool:
    name = _used_as(function, module)
    return any(
        use is not name and next(module.conditions(use), None) is None
        for use in module.spelled(name.value)
    )


def _used_as(function: cst.FunctionDef, module: Module) -> cst.Name:
    """The name by which code uses a function; that of its class for `__init__`."""
    made = module.class_(function) if function.name.value == "__init__" else None
    return made.name if made else function.name
