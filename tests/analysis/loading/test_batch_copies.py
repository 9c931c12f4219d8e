"""Where batches are copied to the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.loading.batch_copies import batch_copies, may_wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

HEADER = """\
import torch
from torch.utils.data import DataLoader
loader = DataLoader(photos)
for images, labels in loader:
    """


@pytest.mark.parametrize(
    ("line", "batch", "computed"),
    [
        ("images.to(device)", "images", None),
        ("images.squeeze(1).cuda()", "images", None),
        ("images.float().to(device)", "images", "images.float()"),
        ("images.float().squeeze(1).to(device)", "images", "images.float()"),
        (
            "torch.cat([images[0], images[1]]).cuda()",
            "images[0]",
            "torch.cat([images[0], images[1]])",
        ),
        ("x = torch.stack([images, labels]); x.cuda()", "images", "torch.stack([images, labels])"),
    ],
)
def test_what_is_copied_and_what_computed_it(
    module_of: Callable[..., Module], line: str, batch: str, computed: str | None
) -> None:
    module = module_of(HEADER + line + "\n")
    (copy,) = batch_copies(module)
    assert module.source(copy.batch) == batch
    assert (copy.computed and module.source(copy.computed)) == computed
    assert not copy.whole


@pytest.mark.parametrize(
    "line",
    [
        "images.to('cpu')",
        "images.to(other.weight)",
        "weights.to(device)",
        "torch.cat([images, weights]).to(device)",
        "images.mean().to(device)",
    ],
)
def test_what_is_no_copy_of_a_batch(module_of: Callable[..., Module], line: str) -> None:
    assert batch_copies(module_of(HEADER + line + "\n")) == []


def test_a_whole_batch_says_so(module_of: Callable[..., Module]) -> None:
    (copy,) = batch_copies(module_of(HEADER + "pass\nfor batch in loader: batch.to(device)\n"))
    assert copy.whole


@pytest.mark.parametrize(
    ("line", "waits"),
    [
        ("images.to(device)", True),
        ("images.to(device, non_blocking=True)", False),
        ("images.to(device, non_blocking=pinned)", False),
        ("images.cuda(0, True)", False),
    ],
)
def test_whether_nothing_says_that_python_continues(
    module_of: Callable[..., Module], line: str, *, waits: bool
) -> None:
    (copy,) = batch_copies(module_of(HEADER + line + "\n"))
    assert may_wait(copy) is waits
