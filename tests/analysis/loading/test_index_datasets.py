"""Which datasets contain only indices."""

from __future__ import annotations

import pytest

from tests.probed import probed
from torchlint.analysis.loading.index_datasets import counting, holds_indices

IMPORTS = "import numpy as np\nimport torch\n"


@pytest.mark.parametrize(
    "code",
    [
        "probe(range(n))",
        "probe(torch.arange(len(x)))",
        "probe(np.arange(n))",
        "rows = torch.arange(n)\nprobe(rows)",
    ],
)
def test_calls_that_count_are_seen_by_name_too(code: str) -> None:
    module, dataset = probed(code, IMPORTS)
    assert counting(dataset, module) is not None
    assert holds_indices(dataset, module)


@pytest.mark.parametrize("code", ["probe(train_idx)", 'probe(split_idx["a"])', "probe(x.indices)"])
def test_words_say_indices(code: str) -> None:
    module, dataset = probed(code, IMPORTS)
    assert counting(dataset, module) is None
    assert holds_indices(dataset, module)


@pytest.mark.parametrize(
    "code",
    [
        "probe(data)",
        "probe(torch.randperm(n))",
        "probe(Images(range(n)))",
        "for rows in range(n):\n    probe(rows)",
        "rows = range(n)\nif x:\n    rows = files\nprobe(rows)",
    ],
)
def test_other_datasets_do_not_count(code: str) -> None:
    module, dataset = probed(code, IMPORTS)
    assert not holds_indices(dataset, module)


def test_a_loader_without_a_dataset_has_no_indices() -> None:
    module, _ = probed("probe(x)", IMPORTS)
    assert not holds_indices(None, module)
