"""Know which kernels your step runs.

## What it does
Tells which backend of `scaled_dot_product_attention` runs, whether an optimizer takes its tensors
one by one, in groups (`foreach`) or in one kernel (`fused`), in which type of number matrix
products and convolutions are computed, and how many floating-point operations a step has. It is
shown next to the findings and is never one: what another kernel would give is not known without
running it.

## Why it matters
A model in float32 does not use the fastest units of a GPU; attention with an odd mask falls back
to `math`, which keeps the whole matrix of scores; an optimizer that takes its tensors one by one
starts some kernels for each of them. Nothing in the source shows any of this for sure.

## How it is seen
In a run of its own, of at most three steps, under a dispatch mode of torch, which sees every
operation. FLOPs are counted by the formulas of `torch.utils.flop_counter`: of matrix products,
convolutions and attention, a multiplication and an addition as two. What is computed again
because of checkpoints counts again. FLOP/s are these, divided by the time of a step in the
undisturbed run.

## What the ceiling means
There is none.

## When it is silent
If something was compiled: under a dispatch mode torch runs compiled functions as they were
written, so what is seen would not be what runs. The same holds for CUDA graphs, and for modules
that run on several threads, as with `DataParallel`. The report says so under "not measured".
Products whose size torch cannot tell are named and not counted, as those of LSTMs; kernels that
are not operations of torch are not seen. Masks are not seen: causal attention counts in full.
What a dataset computes is left out.

## What to do
On a CPU, read it as what this machine does: a GPU has other kernels, and torch's optimizers then
use `foreach` unless told otherwise. On a GPU, look for products in float32 without TF32, for
`math` among the backends of attention, and for optimizers that take their tensors one by one.
Measure a change with `torchlint verify --against`.

## References
- PyTorch documentation, `torch.nn.functional.scaled_dot_product_attention`
- PyTorch documentation, "CUDA semantics: TensorFloat-32 on Ampere (and later) devices"
- PyTorch documentation, `torch.optim`: "Algorithms"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed, scaled
from torchlint.profile.kind import FindingKind, Told
from torchlint.runtime.probe.instrument_messages import KernelsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import TF32, FlopsSeen, OptimizerKernels

kind = FindingKind(
    code="TR303",
    summary="which kernels attention, optimizers and products use, and their FLOPs",
    instruments=("kernels",),
)

_ATTENTION: Final = {"cudnn": "cuDNN", "overrideable": "that of the device"}
"""Backends that are not called by their own names."""
_MOST_NAMES: Final = 3


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """Which kernels there are, and the FLOPs of a step."""
    kernels = evidence.window(KernelsSeen).seen
    if kernels.why:
        return
    types = kernels.flops.types
    yield from _kernels(evidence, types or {})
    if types is not None:
        yield _flops(evidence, sum(types.values()), kernels.flops)


def unseen(evidence: Evidence) -> Iterator[str]:
    """What the instrument could not see, with its reason."""
    window = evidence.window_or_none(KernelsSeen)
    if window is None:
        return
    if window.seen.why:
        yield f"kernels and FLOPs ({window.seen.why})"
    elif window.seen.flops.types is None:
        yield "FLOPs (this torch has no formulas for them)"


def _kernels(evidence: Evidence, types: dict[str, int]) -> Iterator[Told]:
    window = evidence.window(KernelsSeen)
    attention = window.seen.attention
    optimizers = [_optimizer(each, window.steps) for each in window.seen.optimizers]
    whole = sum(types.values())
    shares = {name: count / whole for name, count in types.items()} if whole else {}
    parts = [
        f"attention: {', '.join(_ATTENTION.get(name, name) for name in attention)}"
        if attention
        else "",
        *(words for words, _ in optimizers if words),
        f"products in {_mixed(shares)}{_tf32(window.seen.tf32, shares)}" if shares else "",
    ]
    said = "; ".join(filter(None, parts))
    if said:
        here = "" if evidence.on_gpu else " (on a CPU; a GPU has other kernels)"
        values = {
            "attention": {name: count / window.steps for name, count in attention.items()},
            "optimizers": [values for _, values in optimizers],
            "products": shares,
        }
        yield Told("kernels", f"{said}{here}", values)


def _optimizer(found: OptimizerKernels, steps: int) -> tuple[str, dict[str, object]]:
    """In words, which are empty if its step runs nothing that is seen."""
    paths, name, tensors = found.paths, found.name, found.tensors
    path = next((each for each, count in paths.items() if count), None)
    operations = sum(paths.values()) / steps
    values: dict[str, object] = {
        "name": name,
        "path": path,
        "operations": operations,
        "tensors": tensors,
    }
    if path is None:
        return "", values
    how = "one by one" if path == "single" else path
    said = f"{_number(operations)} operation{'' if operations == 1 else 's'}"
    return f"{name}: {how}, {said} for {tensors:,} tensor{'' if tensors == 1 else 's'}", values


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _mixed(shares: dict[str, float]) -> str:
    """`bfloat16`, or `82% bfloat16, 18% float32`."""
    if len(shares) == 1:
        return next(iter(shares))
    largest = sorted(shares.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{share:.0%} {name}" for name, share in largest)


def _tf32(found: TF32 | None, shares: dict[str, float]) -> str:
    """Whether float32 products use TF32; empty where there are none, or nobody knows."""
    if found is None or "float32" not in shares:
        return ""
    products, convolutions = found.products, found.convolutions
    if products is None or convolutions is None:
        return ""
    if products == convolutions:
        return f" (TF32 {'on' if products else 'off'})"
    on, off = ("products", "convolutions") if products else ("convolutions", "products")
    return f" (TF32 for {on}, not for {off})"


def _flops(evidence: Evidence, total: int, found: FlopsSeen) -> Told:
    steps, step_s = evidence.window(KernelsSeen).steps, evidence.timing.step_s
    uncounted = found.uncounted
    each = total / steps
    text = f"{scaled(each, 'FLOP')} a step, {scaled(each / step_s, 'FLOP/s')}"
    if evidence.ranks > 1:
        text += ", of one process"
    if uncounted:
        text += f"; not counted: {listed(uncounted, _MOST_NAMES)}"
    parts = found.parts or {}
    values = {
        "flops": each,
        "flops_per_second": each / step_s,
        "parts": {name: count / steps for name, count in parts.items()},
        "uncounted": uncounted,
    }
    return Told("FLOPs", text, values)
