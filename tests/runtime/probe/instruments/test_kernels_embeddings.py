"""Tables of embeddings with dense gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import kernels

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import EmbeddingTable

TRAIN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.words, self.kinds = nn.Embedding(1000, 4, **options), nn.Embedding(10, 4)
        self.head = nn.Linear(4, 1000)

    def forward(self, words):
        seen = self.words(words)  # words
        return seen + self.kinds(words % 10)  # kinds

words = torch.tensor([[1, 2, 3], [3, 2, 999]])
net, scaled = Net(), Net(scale_grad_by_freq=True)
bag, sparse_bag = (nn.EmbeddingBag(1000, 4, mode="sum", sparse=each) for each in (False, True))
sparse = nn.Embedding(1000, 4, sparse=True), sparse_bag
optimizers = {
    each: torch.optim.SGD(each.parameters(), lr=0.1, weight_decay=0.1 * (not each in sparse))
    for each in (net, scaled, bag, *sparse)
}

def step(model, twice=False):
    optimizers[model].zero_grad()
    for _ in range(1 + twice):
        model(words).sum().backward()  # call
    optimizers[model].step()

def tied():
    seen = net.words(words)
    (seen @ net.words.weight.t()).sum().backward()
    optimizers[net].step()

def averaged():
    step(net)
    with torch.no_grad():
        net.words.weight.norm()

def unheld():
    net(words).sum().backward()
    optimizers[bag].step()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def tables(user: UserFile, name: str, *args: object) -> list[EmbeddingTable]:
    def call() -> None:
        getattr(user.module, name)(*args)

    call()  # the optimizer numbers itself
    return list(user.watched(kernels, call, 3).embeddings)


def test_a_table_is_known_by_its_line_its_rows_and_its_optimizer(user: UserFile) -> None:
    words, kinds = tables(user, "step", user.module.net)
    assert (words.place, words.rows, words.width) == (user.place("# words"), 1000, 4)
    assert (kinds.place, kinds.rows) == (user.place("# kinds"), 10)
    assert (words.size, words.gradients, words.touched, words.other_uses) == (16_000, 3, 12, 0)
    assert (words.optimizer, words.decays) == ("SGD", True)
    assert words.part == pytest.approx(1000 / 1010)
    assert words.backward_s > 0
    assert words.optimizer_s == pytest.approx(100 * kinds.optimizer_s)
    assert kinds.optimizer_s > 0
    assert words.optimizers_s == pytest.approx(words.optimizer_s + kinds.optimizer_s)


def test_each_gradient_of_a_step_counts(user: UserFile) -> None:
    words, _ = tables(user, "step", user.module.net, True)
    assert (words.gradients, words.touched) == (6, 24)


def test_a_bag_is_an_embedding(user: UserFile) -> None:
    (found,) = tables(user, "step", user.module.bag)
    assert (found.place, found.gradients, found.touched) == (user.place("# call"), 3, 12)


def test_another_use_of_the_table_is_seen(user: UserFile) -> None:
    (words,) = tables(user, "tied")
    assert words.other_uses


def test_a_look_at_the_values_is_none(user: UserFile) -> None:
    words, _ = tables(user, "averaged")
    assert words.other_uses == 0


def test_what_an_optimizer_does_not_hold_is_not_stepped(user: UserFile) -> None:
    words, _ = tables(user, "unheld")
    assert words.optimizer == ""


def test_sparse_gradients_and_those_that_cannot_be_are_left_out(user: UserFile) -> None:
    for model in user.module.sparse:
        assert tables(user, "step", model) == []
    assert [each.rows for each in tables(user, "step", user.module.scaled)] == [10]
