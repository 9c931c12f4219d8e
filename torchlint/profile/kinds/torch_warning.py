"""Do what torch advises about time.

## What it does
Reports warnings of torch that say that something is slow, in torch's own words, at the line of the
script in which they came. Warnings about other things are not repeated here.

## Why it is slow
The warning says it. Torch gives most of them once, in the first step, where they are lost among
others.

## How it is seen
What Python shows as a warning is heard from the start of the script; it goes where it goes
otherwise. Where torch warns of a call, the first steps of the window are traced to see whether they
run its line. DDP is asked after each step whether it has found unused parameters.

## What the ceiling means
There is none: torch does not say how much time it is. Measure a change with `torchlint verify`.

## When it is silent
- If a filter of the script, or the environment, holds the warning back.
- If the call that torch warns of is in a line that no step runs, as where data are prepared, or if
  that cannot be seen, since something is compiled or a debugger traces the script.
- For what is warned of in workers of a loader.
- For the number of workers: TR102 and TR603 say what that does here.
- Where DDP has found an unused parameter in one of the steps, on any rank, or in fewer than ten.

## What to do
It depends on the warning; each finding says it.

## References
- PyTorch, `torch/csrc/distributed/c10d/reducer.cpp`, `torch/csrc/utils/tensor_new.cpp`,
  `torch/utils/data/dataloader.py`, `torch/_inductor/compile_fx.py` and others: the texts
"""

from __future__ import annotations

import re
from textwrap import shorten
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import UNUSED, WarningsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import TorchWarning


class _Advice(NamedTuple):
    """What follows from a warning.

    Args:
        action: what to do.
        rules: static rules about the same.
        lasts: torch says it of each step, or of the whole run, wherever the line is.
    """

    action: str
    rules: tuple[str, ...] = ()
    lasts: bool = False


_ADVICE: Final = {
    UNUSED: _Advice(
        "leave `find_unused_parameters` out, if each step uses all parameters", ("TL602",), True
    ),
    "bucket-strides": _Advice(
        "keep the memory format of parameters and gradients the same", lasts=True
    ),
    "gradient-layout": _Advice(
        "keep the memory format of parameters and gradients the same", lasts=True
    ),
    "list-of-arrays": _Advice("make one array of them first, with `np.stack`", ("TL106",)),
    "tf32": _Advice(
        "call `torch.set_float32_matmul_precision('high')`, if that is exact enough", lasts=True
    ),
    "non-contiguous": _Advice("call `.contiguous()` once, before the steps"),
    "vmap": _Advice("use an operation that has a batching rule, or write the batch out"),
    "capturable": _Advice("leave `capturable=True` out without CUDA graphs", lasts=True),
    "flex-attention": _Advice("call `torch.compile(flex_attention)`"),
    "graph-fast-path": _Advice("run the backward pass, or detach the outputs", lasts=True),
    "flat-weights": _Advice("call `flatten_parameters()` after what moves the weights"),
    "mps": _Advice("use an operation that the device has"),
}
_MOST_BEGUN: Final = 60
"""Characters of a first sentence that does not speak of time."""
_FEWEST: Final = 10
"""Steps: a branch may be taken seldom."""
_ABOUT_TIME: Final = re.compile(
    r"slow|perform|overhead|compacted|unfused|fast path|fall back to run", re.IGNORECASE
)

kind = FindingKind(
    code="TR803",
    summary="torch warns that something is slow",
    instruments=("warnings",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each warning and line."""
    window = evidence.window(WarningsSeen)
    for warning in window.seen.heard:
        advice = _ADVICE.get(warning.name)
        if advice is None or not (advice.lasts or warning.ran):
            continue
        if warning.name == UNUSED and not _is_unused_on_all(warning, window):
            continue
        runs = f" (the line ran in {warning.ran} of {warning.watched} steps)" if warning.ran else ""
        yield Observed(
            warning.place,
            f'torch warns: "{_sentence(warning.text)}"{runs}',
            advice.action,
            None,
            advice.rules,
            {
                "text": warning.text,
                "count": warning.count,
                "steps": warning.watched,
                "ran": warning.ran,
            },
        )


def _is_unused_on_all(warning: TorchWarning, window: Window[WarningsSeen]) -> bool:
    """Whether no rank has found an unused parameter in enough steps."""
    kin = [
        any(each.name == UNUSED and each.place == warning.place for each in rank.seen.heard)
        for rank in window.ranks
    ]
    return warning.watched >= _FEWEST and all(kin)


def _sentence(text: str) -> str:
    """What it begins with and what it says about time, in one line."""
    plain = " ".join(text.partition("(Triggered internally")[0].split())
    first, *rest = re.split(r"(?<=[a-z)'`][.!]) (?=[A-Z])", plain)
    if _ABOUT_TIME.search(first):
        return first.rstrip(".")
    later = next((each for each in rest if _ABOUT_TIME.search(each)), "")
    return f"{shorten(first, _MOST_BEGUN, placeholder=' ...')} {later}".strip().rstrip(".")
