"""The program that is run: a script or a module, its arguments and its project."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from dataclasses import dataclass
from typing import Final

from torchlint.files.reading import NOTEBOOK, is_python

_MARKERS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")


class ProgramError(Exception):
    """There is no such program, or it cannot be run; the message says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: a script by its path as it was typed, or a module by its name.

    `file` is the real path of its source, `root` that of the project around it, and `argv` its
    own arguments.
    """

    main: str
    as_module: bool
    argv: tuple[str, ...]
    file: str
    root: str

    @property
    def words(self) -> tuple[str, ...]:
        """As the user typed it."""
        head = ("-m", self.main) if self.as_module else (self.main,)
        return (*head, *self.argv)


def script(path: str, argv: tuple[str, ...]) -> Program:
    """The program that `python path argv` runs.

    Raises:
        ProgramError: there is no such file, or it is a notebook, or not Python.
    """
    if not os.path.exists(path):
        raise ProgramError(f"{path} does not exist; give the path of a training script.")
    if not os.path.isfile(path):
        raise ProgramError(
            f"{path} is not a file; give the script that trains, or a module with -m."
        )
    if path.endswith(NOTEBOOK):
        raise ProgramError(
            f"{path} is a notebook, which runs cell by cell; export it with "
            "`jupyter nbconvert --to script` and give that."
        )
    if not is_python(path):
        raise ProgramError(
            f"{path} is not a Python file; give a script that ends with .py, or that begins with a "
            "line such as `#!/usr/bin/env python3`."
        )
    absolute = os.path.abspath(path)
    return Program(path, False, argv, os.path.realpath(path), project_root(absolute))


def module(name: str, argv: tuple[str, ...]) -> Program:
    """The program that `python -m name argv` runs. Nothing is imported to find it.

    Raises:
        ProgramError: there is no such module, or it has no source.
    """
    origin = _origin(name) or _origin(f"{name}.__main__")
    if origin is None:
        raise ProgramError(
            f"There is no module {name} with a source file here; start torchlint in the folder "
            f"where `python -m {name}` works."
        )
    return Program(name, True, argv, os.path.realpath(origin), project_root(os.getcwd() + os.sep))


def project_root(path: str) -> str:
    """Real path of the project around a file: the nearest folder above it with a repository or
    a `pyproject.toml`, else its own folder. Never the home folder or the root of the disk."""
    own = os.path.dirname(os.path.realpath(path) + (os.sep if os.path.isdir(path) else ""))
    home = os.path.realpath(os.path.expanduser("~"))
    folder = own
    while os.path.dirname(folder) != folder and folder != home:
        if any(os.path.lexists(os.path.join(folder, marker)) for marker in _MARKERS):
            return folder
        folder = os.path.dirname(folder)
    return own


def _origin(name: str) -> str | None:
    """The source of a module that is not a package."""
    where: list[str] | None = [os.getcwd(), *sys.path]
    spec = None
    parts = name.split(".")
    for index in range(len(parts)):
        if where is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(".".join(parts[: index + 1]), where)
        if spec is None:
            return None
        locations = spec.submodule_search_locations
        where = None if locations is None else list(locations)
    if spec is None or where is not None or spec.origin is None:
        return None
    return spec.origin if spec.origin.endswith(".py") else None
