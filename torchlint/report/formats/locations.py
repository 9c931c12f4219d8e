"""Places and names in the forms that the readers of a report accept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.files.digests import blake2b
from torchlint.files.discover import checkout_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.finding import Finding, Position


def with_cell(message: str, position: Position | None) -> str:
    """The message with the cell and row of a notebook, for formats that only know lines."""
    if position is None or position.cell is None:
        return message
    return f"cell {position.cell}, line {position.row}: {message}"


def line_of(position: Position) -> int:
    """The line of the file to show the message at."""
    return position.row if position.cell is None else 1


def repository_root() -> str:
    """The nearest folder above that is a git checkout, else the working folder."""
    here = os.getcwd()
    return checkout_of(here) or here


def from_root(path: str, root: str) -> str:
    """The path relative to `root`, or absolute if it is elsewhere; `/` between its parts."""
    absolute = os.path.abspath(path)
    inside = absolute.startswith(os.path.join(root, ""))
    return (os.path.relpath(absolute, root) if inside else absolute).replace(os.sep, "/")


def well_formed(text: str) -> str:
    """The text without lone surrogates, which represent bytes of a file name that are not UTF-8.

    JSON can spell them, but most parsers then reject the whole report.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def identities(findings: Iterable[Finding], root: str) -> list[str]:
    """32 hexadecimal digits for each finding, unique in the report and stable when lines move: a
    digest of rule, path, scope and code, and of a count where these are equal."""
    seen: dict[str, int] = {}
    digests = []
    for finding in findings:
        code = finding.fingerprint or finding.message
        key = "\0".join((finding.code, from_root(finding.path, root), finding.scope, code))
        count = seen[key] = seen.get(key, 0) + 1
        digests.append(identity(key, str(count)))
    return digests


def identity(*parts: str) -> str:
    """32 hexadecimal digits for some texts, whatever characters they have."""
    essence = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(essence, digest_size=16).hexdigest()
