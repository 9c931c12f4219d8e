"""Compile once, not again and again.

## What it does
Reports functions that `torch.compile` compiles again in at least two steps after the warm-up, with
the guard that failed; and functions that it has given up, since they were compiled too often.

## Why it is slow
Compiled code is made for the shapes, numbers and objects that it was traced with. If one of them
changes and a guard asks for it, dynamo traces and compiles the function again, which takes from a
tenth of a second to minutes. After eight times it gives up, and the function runs as if it had
never been compiled.

## How it is seen
By dynamo's own counters, after each step. If dynamo says so, also by its clock, and by its record
of what was compiled and why. Where something is compiled again, the step is timed once more,
alternating with the program as it is, under `torch.compiler.set_stance("eager_on_recompile")` and
under `"force_eager"` (torch 2.6 and later): what has no compiled code runs without it, or all does.

## What the ceiling means
The step time if nothing were compiled in these steps, by dynamo's clock or by the runs that do not
compile, whichever gains most: dynamo's clock leaves out the guards that fail and the garbage. A run
that continues until every variant is compiled gains less. Where the function was given up there is
no ceiling.

## When it is silent
If nothing is compiled after the warm-up, or in a single step only, as for the last batch of an
epoch.

## What to do
Look at the guard: a Python number that changes in each step should be a tensor; sizes that change
need `dynamic=True` or `torch._dynamo.mark_dynamic`; a new function or module in each step should be
made once. `TORCH_LOGS=recompiles` tells of each case.

## References
- PyTorch documentation, "torch.compile: dealing with recompilations"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import RecompilesSeen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torchlint.profile.evidence import Evidence, Window

_FEWEST_STEPS: Final = 2
_EVERY_STEP: Final = 0.9
_MOST_SHARE: Final = 0.99
_RULES: Final = ("TL507", "TL511")

kind = FindingKind(
    code="TR502",
    summary="code is compiled again while the script trains, or no longer compiled",
    instruments=("recompiles",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for what is compiled in the window, and one for each function that is given up."""
    window = evidence.window(RecompilesSeen)
    seen, breaks = window.seen, {"breaks": window.seen.breaks}
    if recompiles(evidence.windows):
        guards = [text for text, _ in seen.guards]
        yield Observed(
            seen.functions[0].place if seen.functions else None,
            _fact(seen, window.steps) + (f", as `{guards[0]}` fails" if guards else ""),
            "make what changes a tensor, or compile with `dynamic=True`",
            _share(evidence),
            _RULES,
            {"frames": seen.frames, "seconds": seen.seconds, "guards": guards, **breaks},
        )
    for place in dict.fromkeys(seen.given_up):
        fact = "dynamo has given up a function that was compiled too often; it runs uncompiled"
        yield Observed(
            place, fact, "`TORCH_LOGS=recompiles` tells what changes", None, _RULES, breaks
        )


def recompiles(windows: Mapping[str, Window[Any]]) -> bool:
    """Whether something was compiled after the warm-up, and not only for a last batch."""
    window = windows.get("recompiles")
    return window is not None and window.seen.in_steps >= _FEWEST_STEPS


def _share(evidence: Evidence) -> float | None:
    """What compiling takes by dynamo's clock, or what a step is shorter without it, if that is
    more: guards that fail and garbage are not part of the former."""
    window = evidence.window(RecompilesSeen)
    seconds = window.seen.seconds
    saved = [evidence.saved[each] for each in ("stance", "uncompiled") if each in evidence.saved]
    if saved:
        return min(max(*saved, (seconds or 0.0) / window.seconds), _MOST_SHARE)
    return None if seconds is None else min(evidence.at_most(seconds, window), _MOST_SHARE)


def _fact(seen: RecompilesSeen, steps: int) -> str:
    in_steps, seconds = seen.in_steps, seen.seconds
    names = [each.name for each in seen.functions]
    what = f"`{names[0]}`" if names else "code"
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    fact = f"{what}{others} compiled again in {in_steps} of {steps} steps"
    if in_steps >= _EVERY_STEP * steps:
        fact = f"{what}{others} compiled again in each step"
    elif (seen.last or 0) < steps / 2:
        fact += ", none in the later half"
    return fact if not seconds else f"{fact}, {1e3 * seconds / seen.frames:.0f} ms each time"
