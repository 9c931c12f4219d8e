"""What people write beside code about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.analysis.module import Module

_COMMENT = re.compile(
    r"#(?!\s*(?:torchlint|noqa|type|pylint|pyright|fmt|ruff|isort|yapf|pragma)\b)"
)
"""A comment for people, not one for a tool."""


def has_comment(node: cst.CSTNode, module: Module) -> bool:
    """Whether a comment stands on the lines of a node, or right above: somebody gives a reason."""
    first, last = module.span(node)
    lines = module.text.splitlines()
    above = lines[first.row - 2] if first.row > 1 else ""
    here = lines[first.row - 1 : last.row]
    if above.lstrip().startswith("#"):
        here = [above, *here]
    return any(_COMMENT.search(line) for line in here)
