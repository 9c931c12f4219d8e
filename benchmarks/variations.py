"""Checks real programs and their variations, and prints where findings differ.

    python benchmarks/variations.py FOLDER…

Each program that mentions torch is checked by itself, and then written in the ways of
`tests/variations.py`, which change nothing of what it does. What differs is lost or gained by
spelling alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.variations import ALL, MAIN
from torchlint.library import check_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

_ABOUT_COMMENTS = "TL0"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    options = parser.parse_args()
    tried: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    findings = 0
    for path in sorted(each for folder in options.folders for each in _programs(folder)):
        source = path.read_text(encoding="utf-8", errors="replace")
        before = _found_in({MAIN: source})
        if before is None:
            continue
        findings += sum(before.values())
        for name, vary in ALL.items():
            files = vary(source)
            after = None if files is None else _found_in(files)
            if after is None:
                continue
            tried[name] += 1
            if before != after:
                differ[name] += 1
                lost, gained = _listed(before - after), _listed(after - before)
                print(f"{path}: {name}: lost {lost}, gained {gained}", flush=True)
    print(f"\n{findings} findings")
    for name in ALL:
        print(f"{name:<28} {tried[name]:>5} programs, {differ[name]:>3} differ")


def _programs(path: Path) -> list[Path]:
    paths = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [each for each in paths if b"torch" in each.read_bytes()]


def _found_in(files: Mapping[str, str]) -> Counter[tuple[str, str]] | None:
    """The number of findings by rule and tier; None if a file cannot be parsed."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            Path(folder, path).write_text(text, encoding="utf-8")
        result = check_paths([folder], isolated=True, hints=True)
    if result.diagnostics:
        return None
    found = (each for each in result.findings if not each.code.startswith(_ABOUT_COMMENTS))
    return Counter((each.code, each.tier.value) for each in found)


def _listed(counts: Counter[tuple[str, str]]) -> str:
    named = (f"{count} {code} {tier}" for (code, tier), count in sorted(counts.items()))
    return ", ".join(named) or "nothing"


if __name__ == "__main__":
    main()
