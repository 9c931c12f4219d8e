"""Whether text is Python at all, although no rule asked to parse it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from torchlint.files.reading import SourceError, decode
from torchlint.source.nesting import too_much

if TYPE_CHECKING:
    from torchlint.files.reading import Source
    from torchlint.finding import Diagnostic

_ONLY_AST = 0x400  # ast.PyCF_ONLY_AST, without the import


def what_is_wrong(path: str, data: bytes) -> Diagnostic | None:
    """Why a file cannot be checked, or None if it can.

    CPython's own parser answers first, since it is there and quick; LibCST, which reads the
    grammar of every supported Python, has the last word.
    """
    try:
        source = decode(path, data)
        if not compiles(source):
            parsed(source)
    except SourceError as error:
        return error.diagnostic
    return None


def compiles(source: Source) -> bool:
    """Whether the Python that runs this can read the text."""
    if too_much(source.text) is not None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source.text, source.path, "exec", _ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True


def parsed(source: Source) -> None:
    """Read the text with LibCST.

    Raises:
        SourceError: of kind `syntax`, with the place.
    """
    from torchlint.source.deep_stack import with_deep_stack
    from torchlint.source.parse import parse

    with_deep_stack(lambda: parse(source))
