"""Checks and fixes copies of real notebooks, and shows that only their code has changed.

    python benchmarks/real_notebooks.py FOLDER... [--most 20]

Of each notebook: what check says, how many fixes are made (unsafe ones too), and whether

- the JSON is the same outside of the `source` of the cells that were mended, byte for byte,
- `nbformat.validate` says of it what it said before, and accepts it,
- Jupyter's own contents manager opens it as a trusted reader would, with as many cells,
- nothing is left to fix.

Notebooks in which something is found go first. Needs nbformat; jupyter_server if it is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import nbformat

from torchlint.config.settings import NEWEST_TORCH, Selection
from torchlint.engine.check import check
from torchlint.fixes.fixer import apply, fix_targets
from torchlint.notebooks.document import Notebook
from torchlint.project.target import Target
from torchlint.silence.tiers import Wanted, choose

WANTED = Wanted(hints=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=20, help="notebooks to try")
    words = parser.parse_args()
    found = sorted(path for folder in words.folders for path in folder.rglob("*.ipynb"))
    found = [path for path in found if ".ipynb_checkpoints" not in path.parts]
    counted = [(count_findings(path), path) for path in found]
    counted.sort(key=lambda each: (-min(each[0], 1), str(each[1])))
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, (_, path) in enumerate(counted[: words.most]):
            copy = Path(scratch) / f"{number}-{path.name}"
            shutil.copy(path, copy)
            said, trouble = tried(copy)
            wrong += bool(trouble)
            print(f"{path.name}: {said}; {trouble or 'all as it was outside of the fixes'}")
    print(f"{len(found)} notebooks found, {min(words.most, len(found))} tried, {wrong} wrong")
    return 1 if wrong else 0


def target(path: Path) -> Target:
    return Target(str(path), Selection(), NEWEST_TORCH, named=True)


def count_findings(path: Path) -> int:
    one = target(path)
    return len(choose(check([one]).findings, [one], WANTED).findings)


def tried(path: Path) -> tuple[str, str]:
    """What was found and fixed in a copy of a notebook, and what is wrong with the result."""
    before = path.read_bytes()
    report = check([target(path)])
    findings = choose(report.findings, [target(path)], WANTED).findings
    said = f"{len(findings)} findings"
    if report.diagnostics:
        said += f", {len(report.diagnostics)} cells or files that cannot be read"
    fixed = fix_targets([target(path)], unsafe=True, wanted=WANTED)
    trouble = [each.message for each in apply(fixed.files)]
    made = sum(len(file.applied) for file in fixed.files)
    after = path.read_bytes()
    if made:
        trouble += differences(str(path), before, after)
        trouble += validity(before, after) + opened(path, before)
        if fix_targets([target(path)], unsafe=True, wanted=WANTED).files:
            trouble.append("something is left to fix")
    elif after != before:
        trouble.append("changed without a fix")
    return f"{said}, {made} fixed", "; ".join(trouble)


def differences(path: str, before: bytes, after: bytes) -> list[str]:
    """Whether bytes outside of changed cells differ."""
    old, new = Notebook(path, before), Notebook(path, after)
    if len(old.cells) != len(new.cells):
        return ["another number of cells"]
    pairs = list(zip(old.cells, new.cells, strict=True))
    if all(a.source == b.source for a, b in pairs):
        return ["no cell has changed"]
    rests = []
    for text, cells in ((before.decode(), old.cells), (after.decode(), new.cells)):
        text = text.removeprefix("\ufeff")
        edges = [0]
        for cell, (a, b) in zip(cells, pairs, strict=True):
            if a.source != b.source:
                edges += [cell.start, cell.end]
        edges.append(len(text))
        rests.append([text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)])
    return [] if rests[0] == rests[1] else ["bytes outside of the code have changed"]


def validity(before: bytes, after: bytes) -> list[str]:
    """Whether nbformat accepts the result, if it accepted the original."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nbformat.validate(json.loads(before))
        except nbformat.ValidationError:
            return []
        try:
            nbformat.validate(json.loads(after))
        except nbformat.ValidationError as error:
            return [f"nbformat: {error.message}"]
    return []


def opened(path: Path, before: bytes) -> list[str]:
    """Whether Jupyter opens the notebook."""
    try:
        from jupyter_server.services.contents.filemanager import AsyncFileContentsManager
    except ImportError:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        manager = AsyncFileContentsManager(root_dir=str(path.parent))
        model = asyncio.run(manager.get(path.name))
    cells = len(json.loads(before)["cells"])
    return [] if len(model["content"]["cells"]) == cells else ["Jupyter reads other cells"]


if __name__ == "__main__":
    sys.exit(main())
