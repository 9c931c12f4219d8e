"""What the user asked to be verified."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from dataclasses import dataclass, field
from typing import Final

from torchlint.files.reading import NOTEBOOK
from torchlint.verify.errors import VerifyError
from torchlint.verify.judge.stats import Design

_MARKERS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")


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


@dataclass(frozen=True, slots=True)
class Request:
    """How to verify.

    Args:
        per_fix: measure each fix alone and after the others, not only all of them.
        steps: measured steps of each process; None chooses.
        warmup: steps before the first measured one; None chooses.
        budget_s: stop after this many seconds, at the end of a round of pairs.
        threads: torch's threads in each process; None chooses, unless `keep_env`.
        device: `auto`, `cpu` or `cuda`.
        nproc: processes of each run, started by torchrun if more than one.
        seed: seeds the runs and the order in which they take turns.
        keep_env: leave the allocator's settings and the threads as they are.
        timeout_s: a run that says nothing for this long has failed.
    """

    program: Program
    per_fix: bool = True
    steps: int | None = None
    warmup: int | None = None
    budget_s: float | None = None
    threads: int | None = None
    device: str = "auto"
    nproc: int = 1
    seed: int = 0
    keep_env: bool = False
    timeout_s: float = 120.0
    design: Design = field(default_factory=Design)


def script(path: str, argv: tuple[str, ...]) -> Program:
    """The program that `python path argv` runs.

    Raises:
        VerifyError: there is no such file, or it is a notebook.
    """
    if not os.path.exists(path):
        raise VerifyError(f"{path} does not exist; give the path of a training script.")
    if not os.path.isfile(path):
        raise VerifyError(
            f"{path} is not a file; give the script that trains, or a module with -m."
        )
    if path.endswith(NOTEBOOK):
        raise VerifyError(
            f"{path} is a notebook, which runs cell by cell; export it with "
            "`jupyter nbconvert --to script` and verify that."
        )
    absolute = os.path.abspath(path)
    return Program(path, False, argv, os.path.realpath(path), project_root(absolute))


def module(name: str, argv: tuple[str, ...]) -> Program:
    """The program that `python -m name argv` runs. Nothing is imported to find it.

    Raises:
        VerifyError: there is no such module, or it has no source.
    """
    found = _origin(name) or _origin(f"{name}.__main__")
    if found is None:
        raise VerifyError(
            f"No module {name} with a source file lies here; start verify in the folder where "
            f"`python -m {name}` works."
        )
    return Program(name, True, argv, os.path.realpath(found), project_root(os.getcwd() + os.sep))


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
