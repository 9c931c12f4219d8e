"""Which loops go over a loader, and whether they do so again."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.probed import module_from
from torchlint.analysis.loading.loader_loops import read_again, readings
from torchlint.analysis.loading.loaders import has_workers

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

IMPORTS = "from torch.utils.data import DataLoader\nfrom tqdm import tqdm\n"


def probed(code: str) -> Module:
    return module_from(IMPORTS + dedent(code))


def again(code: str) -> int | None:
    """The row of the loop that reads the first loader again, counted from the code."""
    module = probed(code)
    loop = read_again(module.calls_by_name["torch.utils.data.DataLoader"][0], module)
    return None if loop is None else module.span(loop)[0].row - IMPORTS.count("\n")


READ_AGAIN = {
    "a loop of epochs": """\
        loader = DataLoader(data)
        for epoch in range(90):
            for batch in tqdm(loader):
                step(batch)
        """,
    "no end": """\
        loader = DataLoader(data)
        while True:
            for batch in loader:
                step(batch)
        """,
    "a function that gets the loader": """\
        def train(model, batches):
            for i, batch in enumerate(batches):
                step(batch)
        loader = DataLoader(data)
        for epoch in range(90):
            train(model, loader)
        """,
    "a function of another file": """\
        loader = DataLoader(data)
        for epoch in range(90):
            train_one_epoch(model, loader)
        """,
    "an iterator for each epoch": """\
        loader = DataLoader(data)
        for epoch in range(90):
            batches = iter(loader)
        """,
    "an attribute": """\
        class Trainer:
            def __init__(self):
                self.loader = DataLoader(data)
            def epoch(self):
                for batch in self.loader:
                    step(batch)
            def run(self):
                for epoch in range(90):
                    self.epoch()
        """,
    "a function that returns two loaders": """\
        def load():
            train = DataLoader(data)
            return train, other
        first, second = load()
        for epoch in range(90):
            for batch in first:
                step(batch)
        """,
    "a function that returns it": """\
        def load():
            return DataLoader(data)
        loader = load()
        for epoch in range(90):
            for batch in loader:
                step(batch)
        """,
    "a method that prepares it": """\
        model, loader = accelerator.prepare(model, DataLoader(data))
        for epoch in range(90):
            for batch in loader:
                step(batch)
        """,
    "a method that prepares it alone": """\
        loader = fabric.setup_dataloaders(DataLoader(data))
        for epoch in range(90):
            for batch in loader:
                step(batch)
        """,
    "a function inside the loop of epochs that reads a global": """\
        loader = DataLoader(data)
        def train():
            for batch in loader:
                step(batch)
        for epoch in range(90):
            train()
        """,
}
NOT_AGAIN = {
    "every so many steps": """\
        loader = DataLoader(data)
        for epoch in range(90):
            for step, batch in enumerate(training):
                if step % 5000 == 0:
                    for batch in loader:
                        model(batch)
        """,
    "one epoch": """\
        loader = DataLoader(data)
        for batch in loader:
            step(batch)
        """,
    "one round": """\
        loader = DataLoader(data)
        for epoch in range(1):
            for batch in loader:
                step(batch)
        """,
    "built on each round": """\
        for fold in range(5):
            loader = DataLoader(data)
            for batch in loader:
                step(batch)
        """,
    "built on each round by a function": """\
        def load():
            return DataLoader(data)
        for fold in range(5):
            loader = load()
            for batch in loader:
                step(batch)
        """,
    "built on each round by another method": """\
        class Trainer:
            def setup(self):
                self.loader = DataLoader(data)
            def epoch(self):
                for batch in self.loader:
                    step(batch)
            def run(self):
                for fold in range(5):
                    self.setup()
                    self.epoch()
        """,
    "only asked for its length": """\
        loader = DataLoader(data)
        for epoch in range(90):
            total += len(loader)
        """,
    "given to a function that shows it": """\
        loader = DataLoader(data)
        for epoch in range(90):
            describe(loader)
        """,
    "another of two loaders": """\
        def load():
            return DataLoader(data), other
        first, second = load()
        for epoch in range(90):
            for batch in second:
                step(batch)
        """,
    "a function that calls itself": """\
        def load():
            loader = load()
            return DataLoader(data)
        """,
    "one of several values that are kept together": """\
        def load():
            return DataLoader(data), other
        both = load()
        """,
    "one of several values that nobody keeps": """\
        def load():
            return DataLoader(data), other
        show(load())
        """,
    "more values than names": """\
        def load():
            return other, another, DataLoader(data)
        first, second = load()
        """,
}


@pytest.mark.parametrize("code", READ_AGAIN.values(), ids=READ_AGAIN)
def test_a_loader_is_read_again(code: str) -> None:
    lines = dedent(code).splitlines()
    outer = next(i for i, line in enumerate(lines, 1) if "range(90)" in line or "while" in line)
    assert again(code) == outer


@pytest.mark.parametrize("code", NOT_AGAIN.values(), ids=NOT_AGAIN)
def test_a_loader_is_not_read_again(code: str) -> None:
    assert again(code) is None


def test_a_chain_of_functions_is_followed_only_so_far() -> None:
    functions = "".join(
        f"def get{n}():\n    return get{n + 1}()\ndef give{n}(x):\n    give{n + 1}(x)\n"
        for n in range(9)
    )
    module = probed(f"{functions}def get9():\n    return DataLoader(data)\ngive0(get8())\n")
    (call,) = module.calls_by_name["torch.utils.data.DataLoader"]
    (found,) = readings(call, module)
    assert found.loop is None


@pytest.mark.parametrize(
    ("workers", "known"),
    [
        ("num_workers=4", True),
        ("num_workers=FOUR", True),
        ("num_workers=os.cpu_count()", True),
        ("8, True, None, None, 4", True),
        ("num_workers=0", False),
        ("num_workers=args.workers", False),
        ("num_workers=choose()", False),
        ("batch_size=8", False),
    ],
)
def test_workers_are_there_for_certain(workers: str, known: bool) -> None:
    module = probed(f"import os\nFOUR = 4\nDataLoader(data, {workers})\n")
    (call,) = module.calls_by_name["torch.utils.data.DataLoader"]
    assert has_workers(call, module) is known
