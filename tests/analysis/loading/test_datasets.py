"""What kind of dataset an expression is."""

from __future__ import annotations

import pytest

from tests.probed import probed
from torchlint.analysis.loading.dataset_classes import Cost
from torchlint.analysis.loading.datasets import dataset_of

IMPORTS = """\
import datasets as hub
import numpy as np
import torch
from torch.utils.data import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset
from torch.utils.data import random_split
from torchvision.datasets import MNIST, ImageFolder

class Files(Dataset):
    def __getitem__(self, index):
        return open(self.names[index]).read()

class Rows(Dataset):
    def __getitem__(self, index):
        return self.rows[index]

class Stream(IterableDataset):
    def __iter__(self):
        yield from self.rows

class Gpu(Dataset):
    def __getitem__(self, index):
        return self.rows[index].cuda()

class Odd(Dataset):
    def __getitem__(self, index):
        return self.compute(index)

class Augmented(Dataset):
    def __init__(self, rows, augment=None):
        self.rows, self.augment = rows, augment
        self.transform = augment

    def __getitem__(self, index):
        return self.transform(self.rows[index])

class Prepared(Dataset):
    def preprocess(self, row):
        return row

    def __getitem__(self, index):
        return self.preprocess(self.rows[index])

class Digits(MNIST):
    pass

"""
COSTS = {
    "a class that reads files": ("probe(Files())", Cost.WORK),
    "a class that indexes": ("probe(Rows())", Cost.MEMORY),
    "a class that iterates": ("probe(Stream())", Cost.STREAM),
    "a class that touches the GPU": ("probe(Gpu())", Cost.DEVICE),
    "a class that calls something unknown": ("probe(Odd())", Cost.UNKNOWN),
    "a class whose method has the name of a transform": ("probe(Prepared())", Cost.UNKNOWN),
    "a class with an optional transform": ("probe(Augmented(rows))", Cost.UNKNOWN),
    "a class with its transform": ("probe(Augmented(rows, flip))", Cost.WORK),
    "a class with its transform by keyword": ("probe(Augmented(rows, augment=flip))", Cost.WORK),
    "a class with no transform": ("probe(Augmented(rows, augment=None))", Cost.UNKNOWN),
    "an heir of a vision dataset": ("probe(Digits('.'))", Cost.WORK),
    "a vision dataset": ("probe(ImageFolder('.'))", Cost.WORK),
    "tensors": ("probe(TensorDataset(x, y))", Cost.MEMORY),
    "a list": ("probe([1, 2])", Cost.MEMORY),
    "an array": ("probe(np.zeros(3))", Cost.MEMORY),
    "a tensor": ("probe(torch.zeros(3))", Cost.MEMORY),
    "indices": ("probe(train_indices)", Cost.MEMORY),
    "pairs": ("probe(list(zip(x, y)))", Cost.MEMORY),
    "a part": ("probe(Subset(Files(), [1]))", Cost.WORK),
    "one of two parts": ("a, b = random_split(Files(), [1, 2])\nprobe(b)", Cost.WORK),
    "an item of the parts": ("probe(random_split(Files(), [1, 2])[0])", Cost.WORK),
    "parts that belong together": ("probe(ConcatDataset([Files(), Files()]))", Cost.WORK),
    "a sum": ("probe(Files() + Files())", Cost.WORK),
    "a stream among them": ("probe(ConcatDataset([Files(), Stream()]))", Cost.STREAM),
    "parts that differ": ("probe(ConcatDataset([Files(), Rows()]))", Cost.UNKNOWN),
    "a dict's item": ("d = {'a': Files(), 'b': Files()}\nprobe(d[name])", Cost.WORK),
    "a dict's item, set later": ("d = {}\nd['a'] = Files()\nprobe(d['a'])", Cost.WORK),
    "one of several by name": ("a, b = Files(), Rows()\nprobe(a)", Cost.WORK),
    "one or the other": ("probe(Files() if big else Rows())", Cost.UNKNOWN),
    "a table": ("probe(hub.load_dataset('glue')['train'])", Cost.TABLE),
    "a table that was changed": ("probe(hub.load_dataset('glue').map(f).shuffle())", Cost.TABLE),
    "a table that is changed on the fly": (
        "probe(hub.load_dataset('glue').with_transform(f))",
        Cost.WORK,
    ),
    "a streamed table": ("probe(hub.load_dataset('c4', streaming=True))", Cost.STREAM),
    "a table made a stream": ("probe(hub.load_dataset('c4').to_iterable_dataset())", Cost.STREAM),
    "what a function returns": ("def f():\n  return Files()\nprobe(f())", Cost.WORK),
    "one of what a function returns": (
        "def f():\n  return Rows(), Files()\na, b = f()\nprobe(b)",
        Cost.WORK,
    ),
    "what callers pass": ("def f(data):\n  probe(data)\nf(Files())", Cost.WORK),
    "what callers pass by keyword": (
        "def f(n, data):\n  probe(data)\nf(1, data=Files())",
        Cost.WORK,
    ),
    "what callers of a class pass": (
        "class T:\n  def __init__(self, data):\n    probe(data)\nT(Files())",
        Cost.WORK,
    ),
    "what the annotation says": ("def f(data: TensorDataset):\n  probe(data)", Cost.MEMORY),
    "what nobody passes": ("def f(data):\n  probe(data)", Cost.UNKNOWN),
    "what an object keeps": (
        "class T:\n  def __init__(self):\n    self.data = Files()\n  def f(self):\n"
        "    probe(self.data)",
        Cost.WORK,
    ),
    "what an heir's parent keeps": (
        "class T:\n  def __init__(self):\n    self.data = Files()\nclass U(T):\n  def f(self):\n"
        "    probe(self.data)",
        Cost.WORK,
    ),
    "something unknown": ("probe(data)", Cost.UNKNOWN),
}


@pytest.mark.parametrize(("code", "cost"), COSTS.values(), ids=COSTS)
def test_the_cost_of_a_sample_is_told_from_the_dataset(code: str, cost: Cost) -> None:
    module, node = probed(code, IMPORTS)
    assert dataset_of(node, module).cost is cost


def test_a_class_of_another_file_is_named() -> None:
    module, node = probed("from data import Photos\nprobe(Photos())")
    assert dataset_of(node, module).imported == "data.Photos"


def test_the_reason_names_the_call() -> None:
    module, node = probed("probe(Files())", IMPORTS)
    assert dataset_of(node, module).reason == "`__getitem__` calls `open`"
