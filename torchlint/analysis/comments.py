"""What people write beside code about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchlint.analysis.edits import line_start, next_line

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.analysis.module import Module

_COMMENT = re.compile(r"#(?!\s*(?:torchlint|noqa|type|pylint|pyright|fmt|ruff|yapf|pragma)\b)")
"""A comment for people, not one for a tool."""


def has_comment(node: cst.CSTNode, module: Module) -> bool:
    """Whether a comment stands on the lines of a node, or right above: somebody gives a reason."""
    start, end = module.offsets(node)
    start = line_start(module, start)
    above = module.text[line_start(module, max(0, start - 1)) : start]
    if above.lstrip().startswith("#"):
        start -= len(above)
    return _COMMENT.search(module.text, start, next_line(module, end)) is not None
