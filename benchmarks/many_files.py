"""Measures how the time and memory of `check` grow with the number of files.

    python benchmarks/many_files.py --files 1000 --files 10000 --json many.json

The trees are copies of installed packages. Each copy has its own package names, classes and
functions, so no two files are alike, and no copy calls another. Linux only, as large_trees.py.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from dataclasses import asdict
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from large_trees import check, run
from versions import machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKAGES = ("transformers", "lightning", "accelerate", "torchmetrics")
_LOOK_S = 0.25
_WORD = re.compile(r"[^\W\d]\w{3,}")
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:async )?def (\w+_\w+)", re.MULTILINE)
_OF_TORCH = re.compile(r"\btorch\.(?:\w+\.)*(\w+)|^from torch(?:\.\w+)* import (.+)", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--files", type=int, action="append", required=True, help="how many; again for more"
    )
    parser.add_argument("--package", action="append", help="an installed package to copy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--backend", help="also check on a cluster of this kind, begun on this machine"
    )
    parser.add_argument("--folder", type=Path, help="where to make the trees, and leave them")
    parser.add_argument("--json", type=Path, help="where to write the result")
    options = parser.parse_args()
    result: dict[str, object] = {"machine": machine()}
    with tempfile.TemporaryDirectory(prefix="torchlint-many-") as name:
        for count in options.files:
            folder = (options.folder or Path(name)) / str(count)
            plant(folder / "tree", count, options.package or PACKAGES)
            result[str(count)] = measured(folder, options.jobs, options.backend)
            text = json.dumps(result, indent=2)
            print(text, flush=True)
            if options.json is not None:
                options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def measured(folder: Path, jobs: int, backend: str | None) -> dict[str, object]:
    """What a first check and one with a full cache take; on a cluster, there is no cache."""
    files = list((folder / "tree").rglob("*.py"))
    command = check(jobs, folder / "cache")
    found: dict[str, object] = {
        "MB": round(sum(file.stat().st_size for file in files) / 1e6),
        "empty cache": asdict(run(command, folder / "tree", look_s=_LOOK_S)),
        "full cache": asdict(run(command, folder / "tree")),
    }
    if backend is not None:
        command = [*check(1, folder / "cluster cache"), "--backend", backend]
        found[backend] = asdict(run(command, folder / "tree", look_s=_LOOK_S))
    return found


def plant(tree: Path, count: int, packages: Sequence[str]) -> None:
    """Writes so many files: whole copies, and a part of one."""
    if tree.exists():
        return
    sources = dict(read(packages))
    own = defined(list(sources.values())) | set(packages)
    for copy in range(-(-count // len(sources))):
        for path in chosen(list(sources), count - copy * len(sources)):
            target = tree / f"copy{copy}" / with_own_names(str(path), own, copy)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = f"# Copy {copy}.\n{with_own_names(sources[path], own, copy)}"
            target.write_text(text, encoding="utf-8")


def chosen(paths: Sequence[Path], count: int) -> list[Path]:
    """So many of the files from everywhere among them, each with the `__init__.py` above it."""
    if count >= len(paths):
        return list(paths)
    there = set(paths)
    found: dict[Path, None] = {}
    for path in sorted(paths, key=lambda path: blake2b(bytes(path)).digest()):
        above = (folder / "__init__.py" for folder in reversed(path.parents))
        found.update(dict.fromkeys(file for file in above if file in there))
        found[path] = None
        if len(found) >= count:
            break
    return list(found)[:count]


def read(packages: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """The files of the packages that are not empty, by the path below their common folder."""
    for package in packages:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            sys.exit(f"{package} is not installed; install it, or name others with --package.")
        home = Path(spec.origin).parent
        for path in sorted(home.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if text:
                yield path.relative_to(home.parent), text


def defined(texts: Sequence[str]) -> set[str]:
    """The classes and functions of modules, without names that torch has as well."""
    names = {name for text in texts for each in (_CLASS, _FUNCTION) for name in each.findall(text)}
    of_torch = {
        name
        for text in texts
        for attribute, listed in _OF_TORCH.findall(text)
        for name in (attribute, *_WORD.findall(listed))
    }
    return names - of_torch


def with_own_names(text: str, own: set[str], copy: int) -> str:
    return _WORD.sub(lambda word: f"{word[0]}_{copy}" if word[0] in own else word[0], text)


if __name__ == "__main__":
    sys.exit(main())
