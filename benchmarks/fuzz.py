"""Fuzzes check, fix, notebooks, cache and configuration, and keeps what breaks something.

    python benchmarks/fuzz.py --cases 10000 --seed 0

What is tried and what must hold is in `tests/fuzz`; the tests run a little of it each time. The
cases of a seed are the same in every run with the same Python and the same hypothesis.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import HypothesisWarning

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz.cases import KINDS, Case, hold, write
from tests.fuzz.programs import fixtures
from torchlint.debug import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARES = {"check": 0.3, "fix": 0.3, "cache": 0.15, "config": 0.1, "notebook": 0.15}
BATCH = 100
LARGEST = 40_000
"""A file of the corpus with more bytes than this is left out."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, separated by commas")
    parser.add_argument("--corpus", type=Path, help="a folder with Python files to tamper with")
    parser.add_argument("--json", type=Path, help="where to write the result")
    options = parser.parse_args()
    kinds = options.only.split(",")
    if not set(kinds) <= KINDS.keys():
        parser.error(f"--only takes {', '.join(KINDS)}")
    os.environ[VARIABLE] = "1"  # a crash in a rule leaves it
    warnings.simplefilter("ignore", HypothesisWarning)
    texts = [*fixtures()]
    if options.corpus is not None:
        texts = mixed(texts, corpus(options.corpus))
    tally = Tally()
    begin = time.monotonic()
    for kind, cases in shares(options.cases, kinds).items():
        fuzz(kind, cases, options.seed, texts, tally)
    result = {"seed": options.seed, "seconds": round(time.monotonic() - begin), **tally.result()}
    print(json.dumps(result, indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if tally.failures else 0


def shares(cases: int, kinds: Sequence[str]) -> dict[str, int]:
    """How many cases of each kind."""
    whole = sum(SHARES[kind] for kind in kinds)
    return {kind: round(cases * SHARES[kind] / whole) for kind in kinds}


def corpus(folder: Path) -> list[str]:
    """The programs below a folder that mention torch, in a stable order."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        if b"torch" in data and len(data) <= LARGEST:
            found.append(data.decode("utf-8", "replace"))
    return found


def mixed(few: list[str], many: list[str]) -> list[str]:
    """Both, so that either half is drawn as often."""
    return few * max(1, len(many) // len(few)) + many


@dataclass
class Tally:
    """How many cases were tried, and what broke how often."""

    cases: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    slowest_s: dict[str, float] = field(default_factory=dict)
    folder: Path | None = None

    def result(self) -> dict[str, object]:
        return {
            "cases": dict(self.cases),
            "failures": dict(self.failures),
            "slowest_s": {kind: round(seconds, 2) for kind, seconds in self.slowest_s.items()},
            "kept_in": None if self.folder is None else str(self.folder),
        }

    def failed(self, kind: str, case: Case, error: Exception) -> None:
        """Count a failure, and keep the first input of its sort."""
        where = traceback.extract_tb(error.__traceback__)[-1]
        sort = f"{kind}: {type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
        self.failures[sort] += 1
        if self.failures[sort] > 1:
            return
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="torchlint-fuzz-failures-"))
        folder = self.folder / f"{len(self.failures)}-{kind}"
        folder.mkdir()
        write(case, folder)
        (folder / "case.txt").write_text(f"{case!r}\n", encoding="utf-8", errors="replace")
        said = "".join(traceback.format_exception(error))
        (folder / "error.txt").write_text(said, encoding="utf-8", errors="replace")
        print(f"\n{sort}; the input is in {folder}", file=sys.stderr)


def fuzz(kind: str, cases: int, seed: int, texts: Sequence[str], tally: Tally) -> None:
    strategy = KINDS[kind](texts)
    for begin in range(0, cases, BATCH):

        @hypothesis.seed(f"{seed} {kind} {begin}")
        @settings(
            max_examples=min(BATCH, cases - begin),
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def tried(case: Case) -> None:
            tally.cases[kind] += 1
            start = processor_s()
            try:
                hold(case)
            except Exception as error:
                tally.failed(kind, case, error)
            took = processor_s() - start
            tally.slowest_s[kind] = max(took, tally.slowest_s.get(kind, 0.0))

        tried()
        progress(kind, tally.cases[kind], cases)


def processor_s() -> float:
    """The seconds that processors spent on this process and the ended ones that it started."""
    return sum(os.times()[:4])


def progress(kind: str, done: int, cases: int) -> None:
    print(f"\r{kind}: {done} of {cases}", end="\n" * (done >= cases), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
