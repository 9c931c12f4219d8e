"""Which code stands in the `forward` of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.analysis.frameworks.frameworks import ANY

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.rule import Match, Module


def in_forward(match: Match) -> bool:
    """Whether a match stands in `forward` itself, not in a function inside it."""
    function = match.module.function(match.node)
    if function is None or function.name.value != "forward":
        return False
    return is_in_network(function, match.module)


def is_in_network(node: cst.CSTNode, module: Module) -> bool:
    """Whether code stands in a class that inherits from `nn.Module`, as far as the file shows."""
    class_ = module.class_(node)
    bases = [] if class_ is None else module.definitions.bases(class_)
    return any(base.startswith("torch.nn.") or base.endswith(ANY.module_classes) for base in bases)
