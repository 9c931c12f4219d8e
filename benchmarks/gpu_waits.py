"""Counts what a GPU makes the host wait for in each step, by torch's own debug mode, and compares
that with what a rehearsal has counted for the same program.

    python benchmarks/gpu_waits.py programs       the programs of tests/runtime/probe/played
    python benchmarks/gpu_waits.py script FILE    a script; prints the waits of its steps as JSON

The debug mode sees blocking copies, reads, `nonzero` and the like, and each of them also where the
queue is empty. It does not see `torch.cuda.synchronize`, events, and libraries that wait by
themselves. https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html
"""

from __future__ import annotations

import json
import runpy
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent
WARM, STEPS = 2, 10
_SAID = "called a synchronizing CUDA operation"
_UNSEEN = {"asynchronous", "late", "empty_cache", "mixed", "coalesce"}
"""Kinds of `programs.plain` that the debug mode does not report, or that are no wait."""
_ALONE = {"commands": 2}
"""Of programs with waits of a kind that it reports in part, what it reports: two streams."""
_OTHERWISE = {"mixed"}
"""Programs that fail on a GPU, which is what they are for."""


@contextmanager
def heard() -> Iterator[Callable[[], int]]:
    """How many waits torch has reported since the last call."""
    import torch

    count = 0

    def hear(message: object, *_: object, **__: object) -> None:
        nonlocal count
        count += _SAID in str(message)

    def taken() -> int:
        nonlocal count
        told, count = count, 0
        return told

    plain = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield taken
        finally:
            torch.cuda.set_sync_debug_mode("default")
            warnings.showwarning = plain


def of_programs() -> dict[str, list[int]]:
    """By name: the waits of a step that the sources imply, and those of each real step."""
    sys.path.insert(0, str(HERE.parent))
    import torch

    from tests.runtime.probe.played import programs

    found = {}
    for name, program in programs.PROGRAMS.items():
        if program.since > programs.VERSION or name in _OTHERWISE:
            continue
        torch.manual_seed(0)
        step = program.make()
        for _ in range(WARM):
            step()
        with heard() as taken:
            taken()
            steps = []
            for _ in range(STEPS):
                step()
                steps.append(taken())
        found[name] = [visible(name, program.expected), *steps]
    return found


def visible(name: str, expected: dict[str, int]) -> int:
    """How many of these waits the debug mode reports."""
    if name in _ALONE:
        return _ALONE[name]
    return sum(count for kind, count in expected.items() if kind not in _UNSEEN)


def of_script(path: str) -> list[int]:
    """The waits of each step of a script, from one optimizer's step to the next."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    steps: list[int] = []
    seen = 0
    with heard() as taken:

        def stepped(*_: Any) -> None:
            nonlocal seen
            seen += 1
            told = taken()
            if seen > WARM + 1:
                steps.append(told)
            if len(steps) == STEPS:
                raise SystemExit

        register_optimizer_step_post_hook(stepped)
        sys.argv = [path]
        with suppress(SystemExit):
            runpy.run_path(path, run_name="__main__")
    return steps


def agree(rehearsal: dict[str, Any], steps: list[int]) -> bool:
    """Whether a rehearsal has counted what the steps have had, on average; those waits too that
    found nothing to wait for."""
    counted = rehearsal["waits"] + rehearsal["idle"]
    return bool(steps) and abs(counted - sum(steps) / len(steps)) < 0.01


def main() -> int:
    if sys.argv[1] == "script":
        print(json.dumps(of_script(sys.argv[2])))
        return 0
    found = of_programs()
    print(json.dumps(found))
    return int(any(set(steps) != {expected} for expected, *steps in found.values()))


if __name__ == "__main__":
    sys.exit(main())
