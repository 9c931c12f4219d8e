"""TR305: tables of embeddings with dense gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import survey
from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import dense_embedding_gradient
from torchlint.runtime.probe.instrument_messages import EmbeddingTable, KernelsSeen
from torchlint.runtime.probe.messages import Lanes

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

TABLE = EmbeddingTable(
    ("/train.py", 9), 50_000, 64, 50_000 * 64 * 4, gradients=100, touched=51_000,
    backward_s=0.1, optimizer="Adam", part=0.4, optimizer_s=0.3,
)  # fmt: skip


def judged(device: str = "cpu", **more: Any) -> list[Observed]:
    """In a hundred steps of 10 ms."""
    seen = KernelsSeen(embeddings=[replace(TABLE, **more)])
    return findings(dense_embedding_gradient.kind, evidence(seen, device=device))


def test_a_table_of_which_little_is_looked_up() -> None:
    (found,) = judged()
    assert found.place == ("/train.py", 9)
    assert found.fact == (
        "the gradient of an embedding of 50,000 x 64 values is dense (12.2 MiB), and a step "
        "looks up at most 510 of its rows; Adam goes through all of it"
    )
    assert found.share == pytest.approx(0.4)
    assert "decay" not in found.action


def test_the_optimizers_part_is_that_of_the_undisturbed_step() -> None:
    """A tenth of the step is in the backward pass, and four fifths of half of it are the
    optimizers'."""
    seen = KernelsSeen(embeddings=[replace(TABLE, optimizer_s=0.08, optimizers_s=0.1)])
    lanes = Lanes((0.0,) * 29, (0.004,) * 29, (0.001,) * 29, (0.005,) * 29)
    looked = replace(evidence(seen), survey=survey(lanes=lanes))
    (found,) = findings(dense_embedding_gradient.kind, looked)
    assert found.share == pytest.approx(0.1 + 0.5 * 0.8)


def test_the_rows_of_all_gradients_of_a_step_count() -> None:
    assert judged(gradients=1000, touched=510_000) == []


def test_sparse_gradients_have_no_decay_of_weights() -> None:
    (found,) = judged(decays=True)
    assert "and no decay of weights" in found.action


@pytest.mark.parametrize("other", [{"touched": 501_000}, {"other_uses": 1}, {"optimizer": ""}])
def test_where_a_dense_gradient_is_needed_nothing_is_said(other: dict[str, Any]) -> None:
    assert judged(**other) == []


def test_on_a_gpu_only_a_table_that_is_most_of_the_model_is_named() -> None:
    assert judged("cuda") == []
    (found,) = judged("cuda", part=0.6)
    assert found.share is None
