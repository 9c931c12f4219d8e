"""Which expressions are tensors of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.loading.batch_parts import is_part_of_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Probed


HEADER = "from torch.utils.data import DataLoader\nloader = DataLoader(photos)\n"


def asked(text: Probed) -> bool:
    return is_part_of_batch(text.asked, text.module)


@pytest.mark.parametrize(
    "loop",
    [
        "for x, y in loader: probe(x)",
        "for i, (x, y) in enumerate(loader): probe(x)",
        "for x, y in tqdm(loader, total=9): probe(x)",
        "for (x, _), (y, _) in zip(loader, loader): probe(x)",
        "for x, y in prefetched(loader): probe(x)",
        "for batch in loader: probe(batch['x'])",
        "for batch in loader: probe(batch.x)",
        "for batch in loader: probe(batch[0][:9])",
        "for batch in loader:\n    x, y = batch\n    probe(x)",
        "for batch in loader:\n    x = batch['x']\n    probe(x)",
        "for batch in loader: out = {k: probe(v) for k, v in batch.items()}",
        "for batch in loader: out = [probe(v) for v in batch]",
        "it = iter(loader)\nx, y = next(it)\nprobe(x)",
        "bar = enumerate(loader)\nif first: bar = tqdm(bar)\nfor i, (x, y) in bar: probe(x)",
        "def feed(data): probe(data['x'])",
        "for batch in loader:\n    x, y = batch['x'], batch['y']\n    probe(x)",
        "while True:\n    batch = next(loader)\n    probe(batch['x'])",
        "while True:\n    x, y = loader.next()\n    probe(x)",
        "for batch in loader:\n    batch = [probe(v).to(device) for v in batch]",
    ],
)
def test_a_part_of_a_batch(probed: Callable[..., Probed], loop: str) -> None:
    assert asked(probed(f"{HEADER}{loop}\n"))


@pytest.mark.parametrize(
    "loop",
    [
        "for batch in loader: probe(batch)",
        "for i, batch in enumerate(loader): probe(batch)",
        "for i, (x, y) in enumerate(loader): probe(i)",
        "for batch in loader:\n    data = batch\n    probe(data)",
        "it = iter(loader)\nbatch = next(it)\nprobe(batch)",
        "for x, y in pairs: probe(x)",
        "for x, y in loader:\n    x = x.float()\n    probe(x)",
        "for x, y in loader:\n    x = x.cuda()\n    probe(x)",
        "for x, y in loader: probe(x + 1)",
        "def feed(data): probe(data[0])",
        "def feed(data): probe(data)",
        "with open_batch() as (x, y): probe(x)",
        "probe(x)",
        "x = x\nprobe(x)",
    ],
)
def test_what_is_none(probed: Callable[..., Probed], loop: str) -> None:
    assert not asked(probed(f"{HEADER}{loop}\n"))


def test_a_long_way_ends_the_search(probed: Callable[..., Probed]) -> None:
    names = "".join(f"    x{i + 1} = x{i}\n" for i in range(50))
    assert not asked(probed(f"for x0, y in loader:\n{names}    probe(x50)\n"))
    bars = "".join(f"bar{i + 1} = f(bar{i})\n" for i in range(50))
    assert not asked(probed(f"bar0 = f(loader)\n{bars}for x, y in bar50:\n    probe(x[0])\n"))
