"""Evaluate without recording a graph.

## What it does
Reports lines that call a model in evaluation mode, with gradients on, and never send a backward
pass through the result; and lines whose results keep their graphs over several steps.

## Why it is slow
With gradients on, each operation records a node and keeps what a backward pass would need. So an
evaluation needs the memory of a training step, and a batch that could be larger. `model.eval()`
does not switch this off. A result that is kept, as in a list of predictions, keeps its whole
graph with all activations.

## How it is seen
Two nodes of each such graph are watched: that of the output and the one farthest from it. If both
are gone and no gradient has come through either, the graph was for nothing. If the output's graph
is still there two steps later and no gradient has come, it is kept.

## What the ceiling means
There is none: the run does not show what the same calls take without a graph. Mostly they need
much less memory and a little less time.

## When it is silent
If a backward pass goes through any call of that line, as for a frozen critic, a perceptual loss
or a network that is trained in evaluation mode. A model in training mode is not looked at, nor
what runs inside a compiled region.

## What to do
Put the evaluation under `with torch.inference_mode():` or `torch.no_grad()`. If you only need
numbers of the results, keep those: `losses.append(loss.item())`, or `.detach()`.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import EvaluationSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence

_FEWEST_CALLS: Final = 2

kind = FindingKind(
    code="TR701",
    summary="an evaluation records a graph that no backward pass uses",
    instruments=("evaluation",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line."""
    for line in evidence.window(EvaluationSeen).seen.lines:
        unused, kept = line.unused, line.kept
        if line.used or unused + kept < _FEWEST_CALLS:
            continue
        seconds = line.unused_seconds + line.kept_seconds
        called = f"{unused + kept} evaluations of {line.kind}"
        if kept >= _FEWEST_CALLS:
            fact = f"{called} record graphs, and {kept} are kept over several steps"
            action = "evaluate under `torch.inference_mode()`, and keep no tensor with a graph"
        else:
            fact = f"{called} record graphs that no backward pass uses"
            action = "evaluate under `torch.inference_mode()`"
        values = {"unused": unused, "kept": kept, "seconds": seconds}
        yield Observed(line.place, fact, action, None, ("TL701", "TL713"), values)
