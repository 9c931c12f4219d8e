"""Call a module once on a tensor, and not on one slice of it after the other.

## What it does
Reports lines that call the same module many times, each time with the next slice of one tensor: a
head for each token, a network for each sample or frame, a recurrent cell for each time step.

## Why it is slow
Each call starts its own operations, on a part of the data that is too small for the processor or
the GPU, and the backward pass goes through all of them. One call on the whole tensor computes the
same in one go. So does `nn.LSTM` for an `nn.LSTMCell` in a loop, since it computes the products of
all time steps with the input at once.

## How it is seen
In the run that times modules, the arguments of each call are compared with those of the one before.
They must be views of one tensor, each one index after the last, or be the same; and nothing may
write to that tensor in between. So a call that needs what another one has returned is never meant,
except for the recurrent cells and networks of torch, where the state of each call is exactly what
the one before returned.

## What the ceiling means
The time in the calls and between them without other modules, and as large a part of the backward
pass as they are of the forward pass. One call on the whole tensor takes a part of it.

## When it is silent
- With fewer than eight calls in a row.
- If the slices are computed, copied or moved on their way: then nothing shows that they do not
  depend on the results of earlier calls. Scheduled sampling, attention over earlier states and
  spiking networks, whose modules keep a state, are therefore left alone.
- If a backward pass lies between the calls, as with gradient accumulation, and in inference mode.
- For loops in libraries, and inside compiled regions.

## What to do
Call the module on the tensor as it is; most take any number of leading dimensions. Where one takes
only a batch, merge dimensions before it (`x.flatten(0, 1)`) and take them apart after it. Batch
norms that train then see the whole tensor at once, which changes their statistics. It needs the
memory of all slices at the same time.

## References
- PyTorch documentation, `torch.nn.LSTM`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import LayersSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import SlicedCalls

_RULES: Final = ("TL210",)

kind = FindingKind(
    code="TR304",
    summary="a module is called for one slice of a tensor after the other",
    instruments=("layers",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each module and line."""
    window = evidence.window(LayersSeen)
    for line in window.seen.sliced:
        seconds = line.seconds + line.between_s
        calls, step_ms = line.calls / window.steps, 1e3 * seconds / window.steps
        size = ", ".join(map(str, line.shape))
        state = ", and with the state that the last one returned" if line.cell else ""
        yield Observed(
            line.place,
            f"{_name(line)} is called {calls:.3g} times a step, each time with the next slice of "
            f"one tensor of ({size}){state}, {step_ms:.3g} ms of the forward pass",
            _action(line),
            _share(line, seconds, evidence, window),
            _RULES,
            {
                "module": line.label,
                "kind": line.kind,
                "calls": line.calls,
                "runs": line.runs,
                "seconds": seconds,
            },
        )


def _name(line: SlicedCalls) -> str:
    return f"`{line.name}` ({line.kind})" if line.name else f"`{line.kind}`"


def _action(line: SlicedCalls) -> str:
    if line.cell:
        return f"call `nn.{line.kind.removesuffix('Cell')}` once on the whole tensor"
    if line.norms:
        return "call it once on the whole tensor; its batch norms then see all slices at once"
    mean = "; its mean is then over all slices" if line.kind.endswith("Loss") else ""
    return f"call it once on the whole tensor{mean}"


def _share(
    line: SlicedCalls, seconds: float, evidence: Evidence, window: Window[LayersSeen]
) -> float:
    """Of a step, with the backward pass of the calls."""
    forward = window.seen.forward_seconds + (line.between_s if line.outside else 0.0)
    share = evidence.at_most(seconds, window)
    backward = evidence.looked_share("backward")
    return share + min(1.0, seconds / forward) * backward if forward else share
