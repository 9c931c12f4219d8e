"""What the parts of the inference ask of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.analysis.names import Names
    from torchlint.analysis.values.kinds import Value
    from torchlint.source.tree import Tree


class Inference(Protocol):
    """Infers the values of one file: `Values`, as its parts see it."""

    tree: Tree
    names: Names

    def value(self, node: cst.CSTNode | None) -> Value:
        """What is known of the value of an expression."""

    def iterated(self, source: cst.CSTNode | None, value: Value) -> Value:
        """What a loop over `source` gets on each round."""
