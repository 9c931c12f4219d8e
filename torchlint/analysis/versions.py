"""Code that runs only with some versions of torch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.steps.guards import words
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_VERSION_WORDS = re.compile(
    r"version|^hasattr$|signature|torch_?(?:[0-9]|g[te]|l[te]|greater|less)", re.IGNORECASE
)


def depends_on_version(node: cst.CSTNode, module: Module) -> bool:
    """Whether a condition that asks for a version decides about a node, or an error does, such as
    a missing name."""
    for condition in module.conditions(node):
        if isinstance(condition, cst.ExceptHandler):
            return because(True, "this runs only where other code fails: {}", condition)
        if any(_VERSION_WORDS.search(word) for word in words(condition.test)):
            return because(True, "{} asks which version of torch there is", condition)
    return False
