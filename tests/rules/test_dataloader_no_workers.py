"""TL101: which loaders are reported, how surely, and when four workers are not offered."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.engine.tiers import Wanted
from torchlint.finding import Applicability, Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "dataloader-no-workers"
ONLY = Selection(select=("TL101",), ignore=())
HEADER = dedent(
    """\
    import torch
    from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
    from torchvision import datasets, transforms
    from PIL import Image
    import numpy as np

    """
)
IMAGES = dedent(
    """\
    class Photos(Dataset):
        def __init__(self, files, transform=None):
            self.files = files
            self.transform = transform

        def __getitem__(self, index):
            return Image.open(self.files[index])

    """
)


def findings(code: str, path: str = "train.py", **others: str) -> list[Finding]:
    files = {path: HEADER + dedent(code)}
    files |= {f"{name}.py": dedent(text) for name, text in others.items()}
    report = check([Target(name, ONLY, (2, 13), text.encode()) for name, text in files.items()])
    assert not report.diagnostics
    return [finding for finding in report.findings if finding.path == path]


def fixed(code: str) -> str:
    target = Target("train.py", ONLY, (2, 13), (HEADER + dedent(code)).encode())
    report = fix_targets([target], unsafe=True, wanted=Wanted(hints=True))
    assert not report.diagnostics
    after = report.files[0].after.decode() if report.files else HEADER + dedent(code)
    return after.removeprefix(HEADER)


REPORTED = {
    "a vision dataset decodes and transforms": (
        "loader = DataLoader(datasets.ImageFolder('train', transforms.ToTensor()), batch_size=8)",
        Tier.DEFAULT,
    ),
    "a literal 0": (
        "loader = DataLoader(datasets.MNIST('.'), batch_size=8, num_workers=0)",
        Tier.DEFAULT,
    ),
    "a literal 0 by position": (
        "loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 0)",
        Tier.DEFAULT,
    ),
    "an alias of the class": (
        "import torch.utils.data as data\nloader = data.DataLoader(datasets.MNIST('.'))",
        Tier.DEFAULT,
    ),
    "a sample is read from a file": (
        IMAGES + "loader = DataLoader(Photos(files), batch_size=8)",
        Tier.DEFAULT,
    ),
    "the file is read by a method that __getitem__ calls": (
        """
        class Words(Dataset):
            def read(self, index):
                with open(self.files[index]) as file:
                    return file.read()

            def __getitem__(self, index):
                return self.read(index)

        loader = DataLoader(Words())
        """,
        Tier.DEFAULT,
    ),
    "the file is read by a function of the module": (
        """
        def read(name):
            return np.load(name)

        class Clips(Dataset):
            def __getitem__(self, index):
                return read(self.files[index])

        loader = DataLoader(Clips())
        """,
        Tier.DEFAULT,
    ),
    "each sample is tokenized": (
        """
        class Texts(Dataset):
            def __getitem__(self, index):
                return self.tokenizer(self.texts[index])

        loader = DataLoader(Texts())
        """,
        Tier.DEFAULT,
    ),
    "a transform is given to a dataset that is quick without": (
        """
        class Pairs(Dataset):
            def __init__(self, items, transform=None):
                self.items, self.count = items, len(items)
                self.transform = transform

            def __getitem__(self, index):
                item = self.items[index]
                return self.transform(item) if self.transform else item

        loader = DataLoader(Pairs(items, transform=crop))
        """,
        Tier.DEFAULT,
    ),
    "no transform is given, so the cost is unknown": (
        """
        class Pairs(Dataset):
            def __init__(self, items, transform=None):
                self.items = items
                self.transform = transform

            def __getitem__(self, index):
                item = self.items[index]
                return self.transform(item) if self.transform else item

        loader = DataLoader(Pairs(items))
        """,
        Tier.HINT,
    ),
    "a part of a vision dataset": (
        """
        train, valid = torch.utils.data.random_split(datasets.CIFAR10("."), [0.9, 0.1])
        loader = DataLoader(valid, batch_size=8)
        """,
        Tier.DEFAULT,
    ),
    "one of a dict of datasets": (
        """
        sets = {name: datasets.ImageFolder(name) for name in ("train", "val")}
        loader = DataLoader(sets["train"], batch_size=8)
        """,
        Tier.DEFAULT,
    ),
    "datasets are joined": (
        """
        both = torch.utils.data.ConcatDataset([datasets.MNIST("."), datasets.EMNIST(".")])
        loader = DataLoader(both)
        """,
        Tier.DEFAULT,
    ),
    "the dataset of an object": (
        """
        class Data:
            def __init__(self):
                self.train = datasets.MNIST(".")

            def train_dataloader(self):
                return DataLoader(self.train, batch_size=8)
        """,
        Tier.DEFAULT,
    ),
    "a function returns the dataset": (
        """
        def build():
            return datasets.MNIST(".")

        loader = DataLoader(build())
        """,
        Tier.DEFAULT,
    ),
    "the callers of the function say which dataset": (
        """
        def make_loader(dataset):
            return DataLoader(dataset, batch_size=8)

        loader = make_loader(datasets.MNIST("."))
        """,
        Tier.DEFAULT,
    ),
    "a dataset that nothing is known of": ("loader = DataLoader(dataset, batch_size=8)", Tier.HINT),
    "a table of text with a collate function": (
        """
        import datasets as hub
        texts = hub.load_dataset("glue", "mrpc").map(tokenize, batched=True)
        loader = DataLoader(texts["train"], collate_fn=pad)
        """,
        Tier.HINT,
    ),
    "a table that is transformed when it is read": (
        """
        import datasets as hub
        images = hub.load_dataset("cifar10", split="train").with_transform(augment)
        loader = DataLoader(images)
        """,
        Tier.DEFAULT,
    ),
    "the keyword arguments are spelled out": (
        """
        options = {"batch_size": 8}
        options.update({"shuffle": True})
        loader = DataLoader(datasets.MNIST("."), **options)
        """,
        Tier.DEFAULT,
    ),
    "the keyword arguments hold a 0": (
        """
        options = dict(batch_size=8)
        options["num_workers"] = 0
        loader = DataLoader(datasets.MNIST("."), **options)
        """,
        Tier.DEFAULT,
    ),
    "a subclass of DataLoader that hands its arguments on": (
        """
        class Infinite(DataLoader):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)

        loader = Infinite(datasets.MNIST("."), batch_size=8)
        """,
        Tier.DEFAULT,
    ),
    "a subclass of DataLoader whose default is 0": (
        """
        class Infinite(DataLoader):
            def __init__(self, dataset, num_workers=0):
                super().__init__(dataset, num_workers=num_workers)

        loader = Infinite(datasets.MNIST("."))
        """,
        Tier.DEFAULT,
    ),
    "one batch of a loader that is rebuilt in a loop": (
        "for _ in range(3):\n    x = next(iter(DataLoader(datasets.MNIST('.'))))",
        Tier.DEFAULT,
    ),
    "a name that is also looped over": (
        """
        loader = DataLoader(datasets.MNIST("."))
        first = next(iter(loader))
        for batch in loader:
            print(batch)
        """,
        Tier.DEFAULT,
    ),
    "a comment that gives no reason": (
        "loader = DataLoader(datasets.MNIST('.'), num_workers=0)  # the training set",
        Tier.DEFAULT,
    ),
    "a comment where nothing says 0": (
        "loader = DataLoader(datasets.MNIST('.'))  # for debugging",
        Tier.DEFAULT,
    ),
    "one batch in each round, by name": (
        "loader = DataLoader(datasets.MNIST('.'))\nfor _ in range(3):\n    next(iter(loader))",
        Tier.DEFAULT,
    ),
    "an iterator that somebody takes": (
        "loader = DataLoader(datasets.MNIST('.'))\ntrain(iter(loader))",
        Tier.DEFAULT,
    ),
    "the next of something else": (
        "loader = DataLoader(datasets.MNIST('.'))\nx = next(cycle(loader))",
        Tier.DEFAULT,
    ),
    "the arguments of a Hugging Face trainer": (
        "from transformers import TrainingArguments\n"
        "arguments = TrainingArguments('out', dataloader_num_workers=0)",
        Tier.HINT,
    ),
}


@pytest.mark.parametrize(("code", "tier"), REPORTED.values(), ids=REPORTED)
def test_reported(code: str, tier: Tier) -> None:
    assert [finding.tier for finding in findings(code)] == [tier]


LEFT_ALONE = {
    "keyword arguments of the caller": (
        "def load(**kwargs):\n    return DataLoader(datasets.MNIST('.'), **kwargs)"
    ),
    "keyword arguments that hold workers now and then": """
        options = {"batch_size": 8}
        if torch.cuda.is_available():
            options.update({"num_workers": 1, "pin_memory": True})
        loader = DataLoader(datasets.MNIST("."), **options)
        """,
    "keyword arguments that a condition brings": (
        "loader = DataLoader(datasets.MNIST('.'), **({'num_workers': 2} if cuda else {}))"
    ),
    "keyword arguments that somebody else fills": """
        options = {"batch_size": 8}
        fill(options)
        loader = DataLoader(datasets.MNIST("."), **options)
        """,
    "keyword arguments with a computed key": """
        options = {"batch_size": 8}
        options[name] = 4
        loader = DataLoader(datasets.MNIST("."), **options)
        """,
    "positional arguments of the caller": (
        "def load(*args):\n    return DataLoader(datasets.MNIST('.'), *args)"
    ),
    "workers from the command line": (
        "loader = DataLoader(datasets.MNIST('.'), num_workers=args.workers)"
    ),
    "workers from a parameter that defaults to 0": """
        def load(workers=0):
            return DataLoader(datasets.MNIST("."), num_workers=workers)
        """,
    "workers but for debugging": (
        "loader = DataLoader(datasets.MNIST('.'), num_workers=0 if debug else 4)"
    ),
    "workers by position": "loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 4)",
    "tensors in memory": "loader = DataLoader(TensorDataset(x, y), batch_size=8)",
    "a part of tensors in memory": (
        "loader = DataLoader(torch.utils.data.Subset(TensorDataset(x, y), indices))"
    ),
    "a list": "loader = DataLoader([(1, 2), (3, 4)], batch_size=8)",
    "a list by name": "pairs = [(i, i) for i in range(9)]\nloader = DataLoader(pairs)",
    "a range": "loader = DataLoader(range(100), batch_size=8)",
    "an array": "loader = DataLoader(np.zeros((100, 3)), batch_size=8)",
    "a tensor of indices": "def load(train_idx):\n    return DataLoader(train_idx, batch_size=8)",
    "a dataset that only indexes": """
        class Pairs(Dataset):
            def __init__(self, x, y):
                self.x, self.y = x, y

            def __getitem__(self, index):
                return torch.as_tensor(self.x[index]), int(self.y[index])

        loader = DataLoader(Pairs(x, y), batch_size=8)
        """,
    "a table in Arrow files": """
        import datasets as hub
        loader = DataLoader(hub.load_dataset("glue", "mrpc")["train"], batch_size=8)
        """,
    "an iterable dataset": """
        class Stream(IterableDataset):
            def __iter__(self):
                return iter(open("log"))

        loader = DataLoader(Stream())
        """,
    "a dataset that can only be iterated": """
        class Stream(Dataset):
            def __iter__(self):
                return iter(open("log"))

        loader = DataLoader(Stream())
        """,
    "a streamed table": """
        import datasets as hub
        loader = DataLoader(hub.load_dataset("c4", streaming=True), collate_fn=pad)
        """,
    "either a vision dataset or a stream": """
        class Stream(IterableDataset):
            def __iter__(self):
                return iter(open("log"))

        data = datasets.MNIST(".") if small else Stream()
        loader = DataLoader(data)
        """,
    "a dataset that touches the GPU": """
        class Photos(Dataset):
            def __getitem__(self, index):
                return transforms.functional.to_tensor(Image.open(self.files[index])).cuda()

        loader = DataLoader(Photos())
        """,
    "a dataset that keeps its tensors on the GPU": """
        class Photos(Dataset):
            def __init__(self, x, device):
                self.x = x.to(device)

            def __getitem__(self, index):
                return transforms.functional.hflip(self.x[index])

        loader = DataLoader(Photos())
        """,
    "a comment on the line": (
        "loader = DataLoader(datasets.MNIST('.'), num_workers=0)  # h5py cannot fork"
    ),
    "a comment above the line": (
        "# deadlocks on Windows otherwise\nloader = DataLoader(datasets.MNIST('.'), num_workers=0)"
    ),
    "a comment beside the argument": """
        loader = DataLoader(
            datasets.MNIST("."),
            num_workers=0,  # for debugging
        )
        """,
    "the whole dataset in one batch": (
        "data = datasets.MNIST('.')\nloader = DataLoader(data, batch_size=len(data))"
    ),
    "the whole dataset in one batch, by name": (
        "data = datasets.MNIST('.')\ncount = len(data)\nloader = DataLoader(data, count)"
    ),
    "one batch": "images, labels = next(iter(DataLoader(datasets.MNIST('.'), batch_size=8)))",
    "one batch, by name": (
        "loader = DataLoader(datasets.MNIST('.'))\nimages, labels = next(iter(loader))"
    ),
    "one batch, by a name that then stands for something else": """
        loader = DataLoader(datasets.MNIST("."))
        images, labels = next(iter(loader))
        loader = other
        for batch in loader:
            print(batch)
        """,
    "one batch, by a name that is also a keyword and an attribute": """
        loader = DataLoader(datasets.MNIST("."))
        images, labels = next(iter(loader))
        train(loader=other)
        trainer.loader.start()
        """,
    "a subclass of DataLoader that takes no workers": """
        class Plain(DataLoader):
            def __init__(self, dataset):
                super().__init__(dataset)

        loader = Plain(datasets.MNIST("."))
        """,
    "a subclass of DataLoader with workers of its own": """
        class Quick(DataLoader):
            def __init__(self, dataset, **kwargs):
                super().__init__(dataset, num_workers=4, **kwargs)

        loader = Quick(datasets.MNIST("."))
        """,
    "a subclass of DataLoader whose default is not 0": """
        class Quick(DataLoader):
            def __init__(self, dataset, num_workers=4):
                super().__init__(dataset, num_workers=num_workers)

        loader = Quick(datasets.MNIST("."))
        """,
    "the loader of another library": (
        "from torch_geometric.loader import DataLoader as Graphs\nloader = Graphs(graphs)"
    ),
    "the arguments of something else": (
        "from project import Options\noptions = Options(dataloader_num_workers=0)"
    ),
    "the arguments of a trainer that says nothing": (
        "from transformers import TrainingArguments\n"
        "arguments = TrainingArguments('out', dataloader_pin_memory=True)"
    ),
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(code: str) -> None:
    assert findings(code) == []


@pytest.mark.parametrize("path", ["tests/train.py", "test_train.py", "docs/train.py"])
def test_tests_and_documentation_are_left_alone(path: str) -> None:
    assert findings("loader = DataLoader(datasets.MNIST('.'))", path=path) == []


# what other files say ----------------------------------------------------------------------

PHOTOS = "from torch.utils.data import *\nfrom PIL import Image\n\n" + IMAGES
STREAM = """
    from torch.utils.data import IterableDataset

    class Photos(IterableDataset):
        def __iter__(self):
            return iter(())
    """
USE = "from data import Photos\nloader = DataLoader(Photos(files))"


def test_a_dataset_of_another_file_that_reads_files_counts() -> None:
    (finding,) = findings(USE, data=PHOTOS)
    assert finding.tier is Tier.DEFAULT
    assert "Image.open" in finding.message
    assert finding.fix is not None


def test_a_dataset_that_another_file_hands_on_counts() -> None:
    (finding,) = findings(USE, data="from photos import Photos", photos=PHOTOS)
    assert finding.tier is Tier.DEFAULT


def test_a_dataset_of_a_file_that_is_not_checked_is_a_hint() -> None:
    (finding,) = findings(USE)
    assert finding.tier is Tier.HINT
    assert finding.withheld


def test_a_dataset_of_another_file_whose_cost_is_unknown_is_a_hint() -> None:
    (finding,) = findings(USE, data=PHOTOS.replace("Image.open(", "self.compute("))
    assert finding.tier is Tier.HINT


def test_an_iterable_dataset_of_another_file_is_left_alone() -> None:
    assert findings(USE, data=STREAM) == []


def test_a_dataset_of_another_file_that_cannot_be_sent_has_no_fix() -> None:
    data = PHOTOS.replace("self.files = files", "self.files = h5py.File(files)")
    (finding,) = findings(USE, data="import h5py\n" + data)
    assert finding.fix is None
    assert "HDF5" in str(finding.withheld)


def test_a_loader_class_of_another_file_counts_if_it_hands_its_arguments_on() -> None:
    use = "from loaders import FastDataLoader\nloader = FastDataLoader(datasets.MNIST('.'))"
    fast = "from torch.utils.data import DataLoader\n\nclass FastDataLoader(DataLoader):\n    "
    assert [finding.tier for finding in findings(use, loaders=fast + "pass")] == [Tier.DEFAULT]
    own = "def __init__(self, data):\n        super().__init__(data, num_workers=4)"
    assert findings(use, loaders=fast + own) == []
    assert findings(use) == []


# fixes -------------------------------------------------------------------------------------

FIXED = {
    "appended": (
        "loader = DataLoader(datasets.MNIST('.'), batch_size=8)\n",
        "loader = DataLoader(datasets.MNIST('.'), batch_size=8, num_workers=4)\n",
    ),
    "in the place of a 0": (
        "loader = DataLoader(datasets.MNIST('.'), num_workers=0, timeout=9)\n",
        "loader = DataLoader(datasets.MNIST('.'), num_workers=4, timeout=9)\n",
    ),
    "in the place of a 0 by position": (
        "loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 0)\n",
        "loader = DataLoader(datasets.MNIST('.'), 8, True, None, None, 4)\n",
    ),
    "in the dict that holds the 0": (
        "options = {'num_workers': 0}\nloader = DataLoader(datasets.MNIST('.'), **options)\n",
        "options = {'num_workers': 4}\nloader = DataLoader(datasets.MNIST('.'), **options)\n",
    ),
    "on a line of its own": (
        "loader = DataLoader(\n    datasets.MNIST('.'),\n    batch_size=8,  # small\n)\n",
        "loader = DataLoader(\n    datasets.MNIST('.'),\n    batch_size=8,  # small\n"
        "    num_workers=4,\n)\n",
    ),
    "for a trainer": (
        "from transformers import TrainingArguments\n"
        "arguments = TrainingArguments('out', dataloader_num_workers=0)\n",
        "from transformers import TrainingArguments\n"
        "arguments = TrainingArguments('out', dataloader_num_workers=4)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), FIXED.values(), ids=FIXED)
def test_fixed(before: str, after: str) -> None:
    assert fixed(before) == after
    assert fixed(after) == after


def test_the_fix_is_unsafe_and_says_what_changes() -> None:
    (finding,) = findings("loader = DataLoader(datasets.MNIST('.'))")
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE
    assert "random numbers" in finding.fix.message


WITHHELD = {
    "the loop runs when the file is imported": (
        "loader = DataLoader(datasets.MNIST('.'))\nfor batch in loader:\n    print(batch)",
        "__main__",
    ),
    "a function that runs when the file is imported": (
        """
        def main():
            for batch in DataLoader(datasets.MNIST(".")):
                print(batch)

        main()
        """,
        "__main__",
    ),
    "a function that such a function calls": (
        """
        def train():
            for batch in DataLoader(datasets.MNIST(".")):
                print(batch)

        def main():
            train()

        main()
        """,
        "__main__",
    ),
    "a function that runs on import reads the loader": (
        """
        loader = DataLoader(datasets.MNIST("."))

        def train():
            for batch in loader:
                print(batch)

        train()
        """,
        "__main__",
    ),
    "a method of an object that such a function makes": (
        """
        class Trainer:
            def __init__(self):
                self.loader = DataLoader(datasets.MNIST("."))

        trainer = Trainer()
        """,
        "__main__",
    ),
    "a lambda collates": (
        "loader = DataLoader(datasets.MNIST('.'), collate_fn=lambda batch: batch)",
        "collate_fn",
    ),
    "a local function collates": (
        """
        def load():
            def collate(batch):
                return batch

            return DataLoader(datasets.MNIST("."), collate_fn=collate)
        """,
        "collate_fn",
    ),
    "a lambda sets workers up": (
        "loader = DataLoader(datasets.MNIST('.'), worker_init_fn=lambda index: None)",
        "local function",
    ),
    "a lambda in the dataset's transform": (
        """
        crop = transforms.Compose([transforms.Lambda(lambda image: image)])
        loader = DataLoader(datasets.MNIST(".", transform=crop))
        """,
        "local function",
    ),
    "a lambda that the dataset is given": (
        IMAGES + "loader = DataLoader(Photos(files, transform=lambda image: image))",
        "local function",
    ),
    "a lambda that the dataset keeps": (
        IMAGES.replace("= transform\n", "= lambda image: image\n")
        + "loader = DataLoader(Photos(files))",
        "local function",
    ),
    "a dataset defined in a function": (
        """
        def load():
            class Photos(Dataset):
                def __getitem__(self, index):
                    return Image.open(str(index))

            return DataLoader(Photos())
        """,
        "inside a function",
    ),
    "an open file": (
        IMAGES.replace("= files\n", "= open(files)\n") + "loader = DataLoader(Photos(files))",
        "open file",
    ),
    "a database": (
        "import sqlite3\n"
        + IMAGES.replace("= files\n", "= sqlite3.connect(files)\n")
        + "loader = DataLoader(Photos(files))",
        "database",
    ),
    "a random generator": (
        IMAGES.replace("= files\n", "= np.random.default_rng(0)\n")
        + "loader = DataLoader(Photos(files))",
        "generator",
    ),
    "a cache that __getitem__ fills": (
        """
        class Photos(Dataset):
            def __getitem__(self, index):
                if index not in self.cache:
                    self.cache[index] = Image.open(self.files[index])
                return self.cache[index]

        loader = DataLoader(Photos())
        """,
        "writes to `self.cache`",
    ),
    "a counter that __getitem__ keeps": (
        """
        class Photos(Dataset):
            def __getitem__(self, index):
                self.count += 1
                return Image.open(self.files[index])

        loader = DataLoader(Photos())
        """,
        "writes to `self.count`",
    ),
    "a list that __getitem__ appends to": (
        """
        class Photos(Dataset):
            def __getitem__(self, index):
                self.seen.append(index)
                return Image.open(self.files[index])

        loader = DataLoader(Photos())
        """,
        "writes to `self.seen`",
    ),
    "a dataset that nothing is known of": ("loader = DataLoader(dataset)", "nothing is known"),
}


@pytest.mark.parametrize(("code", "reason"), WITHHELD.values(), ids=WITHHELD)
def test_withheld(code: str, reason: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is None
    assert reason in str(finding.withheld)


OFFERED = {
    "the loop runs behind a guard": """
        def main():
            for batch in DataLoader(datasets.MNIST(".")):
                print(batch)

        if __name__ == "__main__":
            main()
        """,
    "nothing calls the function on import": """
        def train():
            for batch in DataLoader(datasets.MNIST(".")):
                print(batch)
        """,
    "nothing runs the function that reads the loader": """
        loader = DataLoader(datasets.MNIST("."))

        def train():
            for batch in loader:
                print(batch)
        """,
    "only the function itself calls the function": """
        def train(rounds):
            for batch in DataLoader(datasets.MNIST(".")):
                print(batch)
            train(rounds - 1)
        """,
    "the loader is only made on import": "loader = DataLoader(datasets.MNIST('.'))",
    "a function of the module collates": """
        def collate(batch):
            return batch

        loader = DataLoader(datasets.MNIST("."), collate_fn=collate)
        """,
}


@pytest.mark.parametrize("code", OFFERED.values(), ids=OFFERED)
def test_offered(code: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is not None


# whole programs ----------------------------------------------------------------------------


def check_file(path: Path) -> list[Finding]:
    report = check([Target("program.py", ONLY, (2, 13), path.read_bytes())])
    assert not report.diagnostics
    return list(report.findings)


def test_the_bad_program_becomes_the_fixed_one() -> None:
    target = Target("program.py", ONLY, (2, 13), (FIXTURES / "bad.py").read_bytes())
    (file,) = fix_targets([target], unsafe=True).files
    assert file.after.decode() == (FIXTURES / "fixed.py").read_text()


@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    assert check_file(FIXTURES / name) == []
