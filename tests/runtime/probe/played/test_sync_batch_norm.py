"""Two ranks that share their statistics get what one gets that has the batches of both."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from torchlint.runtime.probe.played.sync_batch_norm import STAND_INS

stats, gathered, normalized, reduced, backward = (
    STAND_INS[f"aten::batch_norm_{name}"]
    for name in ("stats", "gather_stats_with_counts", "elemt", "backward_reduce", "backward_elemt")
)
SHAPES = {"rows": (7, 4), "images": (7, 4, 3, 2), "volumes": (7, 4, 3, 2, 2)}


def trained(
    layer: Any, batches: list[torch.Tensor], gradients: list[torch.Tensor]
) -> tuple[list[Any], list[Any], Any, Any]:
    """Outputs and gradients of the inputs by rank, and gradients of weight and bias, as
    `torch/nn/modules/_functions.py` has it."""
    means, inverses = zip(*(stats(each, layer.eps) for each in batches), strict=True)
    counts = torch.tensor([float(each.numel() // each.size(1)) for each in batches])
    mean, inverse = gathered(
        batches[0],
        torch.stack(means),
        torch.stack(inverses),
        layer.running_mean,
        layer.running_var,
        layer.momentum,
        layer.eps,
        counts,
    )
    weight, bias = (None if each is None else each.detach() for each in (layer.weight, layer.bias))
    out = [normalized(each, weight, bias, mean, inverse, layer.eps) for each in batches]
    parts = [
        reduced(gradient, each, mean, inverse, weight, True, True, True)
        for gradient, each in zip(gradients, batches, strict=True)
    ]
    total, product, of_weight, of_bias = (sum(each) for each in zip(*parts, strict=True))
    of_inputs = [
        backward(gradient, each, mean, inverse, weight, total, product, counts.int())
        for gradient, each in zip(gradients, batches, strict=True)
    ]
    return out, of_inputs, of_weight, of_bias


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_outputs_gradients_and_running_statistics_are_those_of_the_whole_batch(
    shape: tuple[int, ...], tracked: bool, affine: bool
) -> None:
    torch.manual_seed(0)
    kind = {2: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}[len(shape)]
    whole, shared = (
        kind(4, momentum=0.3, affine=affine, track_running_stats=tracked) for _ in range(2)
    )
    if affine:
        nn.init.uniform_(whole.weight)
        nn.init.uniform_(whole.bias)
        shared.load_state_dict(whole.state_dict())
    batch, gradient = torch.randn(shape) * 3 + 5, torch.randn(shape)
    batch.requires_grad_()
    expected = whole(batch)
    expected.backward(gradient)
    parts = list(batch.detach().split([2, 5])), list(gradient.split([2, 5]))
    out, of_inputs, of_weight, of_bias = trained(shared, *parts)
    close = torch.testing.assert_close
    close(torch.cat(out), expected.detach())
    close(torch.cat(of_inputs), batch.grad)
    if affine:
        close(of_weight, whole.weight.grad)
        close(of_bias, whole.bias.grad)
    if tracked:
        close(shared.running_mean, whole.running_mean)
        close(shared.running_var, whole.running_var)


def test_half_precision_is_added_up_in_float32() -> None:
    batch = torch.randn(3, 2, 4).half() + 1000
    mean, inverse = stats(batch, 1e-5)
    weight = torch.ones(2)
    out = normalized(batch, weight, None, mean, inverse, 1e-5)
    total, product, of_weight, of_bias = reduced(
        batch, batch, mean, inverse, weight, True, True, False
    )
    of_input = backward(batch, batch, mean, inverse, weight, total, product, torch.tensor([12]))
    kinds = [each.dtype for each in (mean, inverse, total, product, of_weight)]
    assert kinds == [torch.float32] * 5
    assert (out.dtype, of_input.dtype, of_bias) == (torch.float16, torch.float16, None)
    torch.testing.assert_close(mean, batch.float().mean((0, 2)))
