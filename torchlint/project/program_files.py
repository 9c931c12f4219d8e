"""Which files of a project a script runs: itself, and what it imports."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from torchlint.files.reading import SourceError
from torchlint.project.imports import imported_names
from torchlint.project.symbols import Locator
from torchlint.project.sys_path import sys_path_roots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.project.target import Target

_BY_NAME: Final = re.compile(rb"\b(?:import_module|__import__)\(\s*[fF]?([\"'])([\w.]{1,200})(\1)?")


def program_files(
    starts: Iterable[str], targets: Iterable[Target], *, most: int | None = None
) -> list[Target]:
    """The files that a script may run, in the order of `targets`, from their text alone.

    They are the script, all that it imports, directly or indirectly, and the packages around
    these. A name that the program computes is followed as far as its text shows:
    `import_module(f"models.{name}")` may be each file of `models`.

    Args:
        starts: the path of the script, as its target has it, and of files that it is known to run.
        targets: the files of the project.
        most: if there are more files than this, only some of them are found.
    """
    by_path = {target.path: target for target in targets}
    locator = Locator(by_path)
    files = by_path.keys() & starts
    stack = list(files)
    while stack and (most is None or len(files) <= most):
        path = stack.pop()
        for other in _next(path, by_path, locator):
            if other not in files:
                files.add(other)
                stack.append(other)
    return [target for path, target in by_path.items() if path in files]


def _next(path: str, targets: dict[str, Target], locator: Locator) -> Iterator[str]:
    """What running a file runs at once; a name may come again."""
    package = os.path.join(os.path.dirname(path), "__init__.py")
    if package in targets and package != path:
        yield package
    elif package == path:
        above = os.path.join(os.path.dirname(os.path.dirname(path)), "__init__.py")
        if above in targets:
            yield above
    try:
        data = targets[path].read()
    except SourceError:
        return
    names = imported_names(data)
    for _, name, ended in _BY_NAME.findall(data):
        dotted = name.decode("ascii", "replace")
        if ended and not dotted.endswith("."):
            names.append(dotted)
        elif "." in dotted:
            yield from _members(path, dotted.rpartition(".")[0], targets, locator)
    locator.note_roots(path, sys_path_roots(data))
    for name in names:
        located = locator.locate(path, name)
        if located is not None:
            yield located[0]


def _members(
    path: str, package: str, targets: dict[str, Target], locator: Locator
) -> Iterator[str]:
    """The modules of a package, which may be a folder without an `__init__.py`."""
    located = locator.locate(path, package)
    if located is not None and not located[1]:
        folder = os.path.dirname(located[0])
    else:
        folder = os.path.join(os.path.dirname(path), *package.split("."))
    yield from (other for other in targets if os.path.dirname(other) == folder)
