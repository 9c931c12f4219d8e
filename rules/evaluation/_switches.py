"""Switches for debugging: whether they are on for everybody."""

import libcst as cst

from torchlint.rule import Match, Module


def is_optional(match: Match) -> bool:
    """Whether a condition decides about a match, or about its function where the file uses that:
    `enable_debugging()` that nobody calls, or only `if args.debug`, is optional."""
    module = match.module
    function = module.function(match.node)
    if next(module.conditions(match.node), None) is not None:
        return True
    return function is not None and not module.once(_is_used_always, function)


def _is_used_always(module: Module, function: cst.FunctionDef) -> bool:
    made = module.class_(function) if function.name.value == "__init__" else None
    name = made.name if made else function.name
    return any(
        use is not name and next(module.conditions(use), None) is None
        for use in module.spelled(name.value)
    )
