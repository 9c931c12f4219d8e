"""Measures torchlint against TorchFix, against LibCST's bare parse, and against its own bounds.

One command measures everything in one run, as CPU seconds (user and system) of whole processes,
medians of interleaved rounds, after one round that is thrown away:

    python benchmarks/speed.py

It downloads timm and TorchFix with pip, and installs the commit that `baseline.txt` names;
`--tree`, `--baseline` and `--torchfix` use what is here.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from subjects import HERE, Subjects, baseline, prepare, torchfix
from verdicts import judge, table
from versions import versions
from whole_process import Cost, UnexpectedExitError, measure

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECK_ENDS = (0, 1)
"""0 nothing found, 1 findings; 2 would mean that something was not checked."""


_CHECK = ["-m", "torchlint", "check", "--isolated", "--no-cache", "--jobs", "1"]


def commands(subjects: Subjects, before: Path) -> dict[str, list[str]]:
    """What is measured, by name. Each is a process of its own.

    Args:
        before: the Python of the baseline.
    """
    python = sys.executable
    check = [python, *_CHECK]
    parse = [python, str(HERE / "parse_loop.py")]
    return {
        "check": [*check, str(subjects.tree)],
        "check --hints": [*check, "--hints", str(subjects.tree)],
        "check, baseline": [str(before), *_CHECK, str(subjects.tree)],
        "parse mention": [*parse, str(subjects.mention)],
        "parse mention, gc off": [*parse, str(subjects.mention), "off"],
        "parse gate": [*parse, str(subjects.gate)],
        "parse gate, gc off": [*parse, str(subjects.gate), "off"],
        "check short": [*check, str(subjects.short)],
        "check long": [*check, str(subjects.long)],
    }


def small_commands(subjects: Subjects) -> dict[str, list[str]]:
    """Those that take less than a tenth of a second, and are therefore repeated more often."""
    check = [sys.executable, *_CHECK]
    return {
        "check script": [*check, str(subjects.script)],
        "import click": [sys.executable, "-c", "import click"],
        "check plain": [*check, str(subjects.plain)],
    }


def measure_all(
    subjects: Subjects,
    folder: Path,
    rounds: int,
    before: Path,
    peer: Path | None,
    peer_rounds: int,
) -> dict[str, list[Cost]]:
    """Every command once per round, in the same order, so that all meet the same machine."""
    costs: dict[str, list[Cost]] = defaultdict(list)
    for number in range(rounds + 1):
        for name, command in commands(subjects, before).items():
            cost = measure(command, folder=folder, expect=CHECK_ENDS)
            if number > 0:
                costs[name].append(cost)
        for _ in range(5 if number else 1):
            for name, command in small_commands(subjects).items():
                cost = measure(command, folder=folder, expect=CHECK_ENDS)
                if number > 0:
                    costs[name].append(cost)
        if peer is not None and 1 <= number <= peer_rounds:
            command = [str(peer), "--select", "ALL", str(subjects.tree)]
            costs["torchfix"].append(measure(command, folder=folder, expect=CHECK_ENDS))
        say(f"round {number} of {rounds}" + (" (thrown away)" if number == 0 else ""))
    return costs


def growth(subjects: Subjects, rounds: int) -> dict[str, list[float]]:
    """Seconds inside one process, for the short and the long file."""
    command = [sys.executable, str(HERE / "growth.py"), str(subjects.short), str(subjects.long)]
    done = subprocess.run([*command, str(rounds)], check=True, capture_output=True, text=True)
    measured: dict[str, list[float]] = json.loads(done.stdout)
    return measured


def summarize(costs: Mapping[str, list[Cost]], inside: dict[str, list[float]]) -> dict[str, object]:
    """Medians of the CPU seconds, the largest peak, and what was measured inside a process."""
    return {
        "cpu_seconds": {
            name: statistics.median(cost.cpu for cost in each) for name, each in costs.items()
        },
        "runs": {name: len(each) for name, each in costs.items()},
        "cpu_seconds_each": {name: [cost.cpu for cost in each] for name, each in costs.items()},
        "peak_bytes": {name: max(cost.peak for cost in each) for name, each in costs.items()},
        "inside_one_process": inside,
    }


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tree", type=Path, help="check this folder instead of a wheel")
    parser.add_argument("--wheel", default="timm", help="requirement to download (default: timm)")
    parser.add_argument("--torchfix", type=Path, help="a virtual environment that has TorchFix")
    parser.add_argument("--no-torchfix", action="store_true", help="leave TorchFix out")
    parser.add_argument(
        "--baseline", type=Path, help="the Python of a virtual environment that has the baseline"
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count (default: 5)")
    parser.add_argument(
        "--torchfix-rounds", type=int, default=1, help="rounds that include TorchFix (default: 1)"
    )
    parser.add_argument("--json", type=Path, default=HERE / "speed.json", help="where to write")
    return parser.parse_args()


def main() -> int:
    """Measures, prints the table, writes the JSON; 1 if a bound is missed."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="torchlint-speed-") as name:
        folder = Path(name).resolve()
        subjects = prepare(folder, options.tree, options.wheel)
        peer = None if options.no_torchfix else torchfix(folder, options.torchfix)
        try:
            before = options.baseline or baseline(folder)
            costs = measure_all(
                subjects, folder, options.rounds, before, peer, options.torchfix_rounds
            )
        except UnexpectedExitError as error:
            say(str(error))
            return 2
        result = summarize(costs, growth(subjects, options.rounds))
        result["versions"] = versions(subjects, peer)
    verdicts = judge(result)
    result["bounds"] = [verdict.as_json() for verdict in verdicts]
    options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(table(result, verdicts))
    return 0 if all(verdict.held for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
