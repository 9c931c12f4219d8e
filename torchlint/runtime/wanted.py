"""What a script that failed seems to want of its command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torchlint.runtime.failures import Failed

_WRONG_USAGE: Final = "exit code 2"
"""Of argparse, click, fire, tyro and others for arguments that they cannot use."""
_EXITS: Final = ("exit code ", "end")
_USAGE: Final = re.compile(
    r"^[^\w\n]*usage\s*:"
    # absl, argparse in other words
    r"|^(pass|see|try|use|run with) .*--help"
    r"|\bmust have a value\b"
    # hydra
    r"|\bMissing mandatory value\b|\bYou must specify '\w+', e\.g",
    re.IGNORECASE | re.MULTILINE,
)
_ARGV: Final = re.compile(r"\bargv\b")
_UNPACKS: Final = ("IndexError", "ValueError", "AssertionError", "TypeError")
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][\w-]*", re.IGNORECASE)
_WANTS: Final = re.compile(
    r"\b(require[sd]?|missing|specif(y|ied)|provided?|pass|given?|set|must|needs?|expected)\b",
    re.IGNORECASE,
)
_INSTALLS: Final = re.compile(r"\b(pip|conda|install|upgrade|uv|apt)\b", re.IGNORECASE)
_FLAG_ERRORS: Final = (
    "DocoptExit",
    "IllegalFlagValueError",
    "MissingMandatoryValue",
    "UsageError",
    "MissingParameter",
)
_OF_TORCHRUN: Final = "(?:(?:LOCAL_)?(?:RANK|WORLD_SIZE)|MASTER_(?:ADDR|PORT))"
_RANK: Final = re.compile(
    rf"environment variable {_OF_TORCHRUN}\b"
    rf"|(?:\benviron\b|\bgetenv\b|KeyError).*['\"]{_OF_TORCHRUN}['\"]"
    r"|Default process group has not been initialized"
)
_FRAME: Final = re.compile(r'\s*File "')
ARGUMENTS: Final = "Its own arguments go after `--`, as in `-- --data FOLDER`."
_FEWEST: Final = 2
"""Ranks that are started through torchrun."""


def wanted(failed: Failed, *, arguments: bool, ranks: int) -> str:
    """One sentence on what to give the script; empty if it failed for something else, as far as can
    be seen.

    Args:
        arguments: it was given some.
        ranks: that it was started with.
    """
    if ranks < _FEWEST and _wants_ranks(failed):
        return f"It needs ranks; start them with `--nproc-per-node N`, {_FEWEST} or more."
    if not arguments and _wants_arguments(failed):
        return ARGUMENTS
    return ""


def _wants_ranks(failed: Failed) -> bool:
    """Whether it asked for what torchrun sets."""
    return _RANK.search(_last_place(failed.tail)) is not None


def _wants_arguments(failed: Failed) -> bool:
    if failed.kind == _WRONG_USAGE or failed.kind in _FLAG_ERRORS:
        return True
    if failed.kind.startswith(_EXITS):
        said = f"{failed.tail}\n{failed.printed}"
        return _USAGE.search(said) is not None or _names_an_option(_last_line(failed.tail))
    if failed.kind in _UNPACKS and _ARGV.search(_last_place(failed.tail)):
        return True
    last = _last_line(failed.tail)
    return _USAGE.search(last.partition(": ")[2]) is not None or _names_an_option(last)


def _names_an_option(line: str) -> bool:
    """Whether the message asks for an option of a command line; not one of an installer's."""
    return (
        _OPTION.search(line) is not None
        and _WANTS.search(line) is not None
        and _INSTALLS.search(line) is None
    )


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _last_place(text: str) -> str:
    """The innermost lines of a traceback: that of the source, and what was raised."""
    lines = text.strip().splitlines()
    start = max((row for row, line in enumerate(lines) if _FRAME.match(line)), default=0)
    return "\n".join(lines[start:])
