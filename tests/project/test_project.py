"""Hot through calls: which helpers a step loop runs, in which files, with which arguments."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.finding import Position, Tier

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.finding import Finding

TRAIN = """\
import torch
{imports}
device = torch.device("cuda")
def train(model, criterion, optimizer, loader):
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        output = model(images)
        loss = criterion(output, labels)
        loss.backward()
        optimizer.step()
{body}
"""


def train(body: str, imports: str = "") -> str:
    """A step loop with these lines at the end of its body; the loop is on line 5."""
    return TRAIN.format(imports=imports, body=indent(dedent(body).strip("\n"), " " * 8))


ACCURACY = "def accuracy(output, target):\n    return output.eq(target).sum().item()\n"
METER = """\
class Meter:
    def __init__(self):
        self.sum = 0
    def update(self, value):
        self.sum += value.item()
"""

HOT = {
    "a function of the same file": (
        {"train.py": train("accuracy(output, labels)") + ACCURACY},
        ["train.py:13 TL201"],
    ),
    "the branch of a helper for tensors": (
        {
            "train.py": train("note(loss)")
            + "def note(x):\n    if isinstance(x, torch.Tensor):\n        return float(x)\n"
            + "    return x\n"
        },
        ["train.py:14 TL201"],
    ),
    "a helper that has asked for a tensor and goes on": (
        {
            "train.py": train("note(loss)")
            + "def note(x):\n    if isinstance(x, torch.Tensor):\n        x.mean()\n"
            + "    return float(x)\n"
        },
        ["train.py:15 TL201"],
    ),
    "a helper that lets only tensors pass": (
        {
            "train.py": train("note(loss)")
            + "def note(x):\n    if not isinstance(x, torch.Tensor):\n        return x\n"
            + "    return float(x)\n"
        },
        ["train.py:15 TL201"],
    ),
    "an item of what nobody knows": (
        {"train.py": train("note(mystery)") + "def note(value):\n    return value.item()\n"},
        ["train.py:13 TL201?"],
    ),
    "a function of another file": (
        {
            "train.py": train("accuracy(output, labels)", "from utils import accuracy"),
            "utils.py": ACCURACY,
        },
        ["utils.py:2 TL201"],
    ),
    "a function of an imported module": (
        {"train.py": train("utils.accuracy(output, labels)", "import utils"), "utils.py": ACCURACY},
        ["utils.py:2 TL201"],
    ),
    "a function of a package that the script puts on its path": (
        {
            "train.py": train(
                "accuracy(output, labels)",
                'import sys\nsys.path.append("core")\nfrom metrics import accuracy',
            ),
            "core/__init__.py": "",
            "core/metrics.py": ACCURACY,
        },
        ["core/metrics.py:2 TL201"],
    ),
    "a function behind a re-export": (
        {
            "train.py": train("accuracy(output, labels)", "from tools import accuracy"),
            "tools/__init__.py": "from .metrics import accuracy",
            "tools/metrics.py": ACCURACY,
        },
        ["tools/metrics.py:2 TL201"],
    ),
    "a function behind a star re-export": (
        {
            "train.py": train("accuracy(output, labels)", "from tools import accuracy"),
            "tools/__init__.py": "from .metrics import *",
            "tools/metrics.py": ACCURACY,
        },
        ["tools/metrics.py:2 TL201"],
    ),
    "a function behind a star import": (
        {
            "train.py": train("accuracy(output, labels)", "from utils import *"),
            "utils.py": ACCURACY,
        },
        ["utils.py:2 TL201"],
    ),
    "a class behind a star import": (
        {
            "train.py": train("meter = Meter()\nmeter.update(loss)", "from meters import *"),
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "a function of a package above": (
        {
            "pkg/train/loop.py": train(
                "accuracy(output, labels)", "from ..metrics import accuracy"
            ),
            "pkg/metrics.py": ACCURACY,
        },
        ["pkg/metrics.py:2 TL201"],
    ),
    "a function called deep in an expression": (
        {"train.py": train("print(1 + accuracy(output, labels))") + ACCURACY},
        ["train.py:13 TL201"],
    ),
    "a helper of a helper": (
        {
            "train.py": train("first(output, labels)")
            + "def first(o, t):\n    return accuracy(o, t)\n"
            + ACCURACY
        },
        ["train.py:15 TL201"],
    ),
    "a meter that the function makes": (
        {
            "train.py": train("meter = Meter()\nmeter.update(loss)", "from meters import Meter"),
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "a meter of the module": (
        {
            "train.py": train("meter.update(loss)", "from meters import Meter\nmeter = Meter()"),
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "an inherited method": (
        {
            "train.py": train("Average().update(loss)", "from average import Average"),
            "average.py": "from meters import Meter\nclass Average(Meter): pass\n",
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "an object handed to a function": (
        {
            "train.py": train("log(meter, loss)", "from meters import Meter\nmeter = Meter()")
            + "def log(keeper, value):\n    keeper.update(value)\n",
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "the forward of a module of another file": (
        {
            "train.py": train("net(images)", "from models import Net\nnet = Net().to(device)"),
            "models.py": """\
                from torch import nn
                class Net(nn.Module):
                    def forward(self, x):
                        return x * x.abs().max().item()
            """,
        },
        ["models.py:4 TL201"],
    ),
    "a method of what a function makes": (
        {
            "train.py": train("net.log(loss)", "from select import define\nnet = define('a')"),
            "select.py": """\
                def define(name):
                    if name == "a":
                        from models import A as Net
                    else:
                        from models import B as Net
                    net = Net()
                    return net
            """,
            "models.py": """\
                class A:
                    def log(self, loss):
                        print(loss.item())
                class B:
                    def log(self, loss):
                        print(loss.item())
            """,
        },
        ["models.py:3 TL201", "models.py:6 TL201"],
    ),
    "the part of a tuple that a function returns": (
        {
            "train.py": train("second(output)", "from build import build\nfirst, second = build()"),
            "build.py": """\
                from models import A, B
                def build():
                    second = B()
                    return A(), second
            """,
            "models.py": """\
                class A:
                    def forward(self, x):
                        return x.max().item()
                class B:
                    def forward(self, x):
                        return x.max().item()
            """,
        },
        ["models.py:6 TL201"],
    ),
    "a training step of what a function makes": (
        {
            "train.py": """\
                from select import define
                model = define()
                for x in loader:
                    model.optimize(x.cuda())
                    print(x.cuda().sum().item())
            """,
            "select.py": "from models import M\ndef define():\n    return M()\n",
            "models.py": """\
                class M:
                    def optimize(self, x):
                        loss = self.net(x).sum()
                        loss.backward()
                        self.optimizer.step()
                        print(loss.item())
            """,
        },
        ["models.py:6 TL201", "train.py:5 TL201"],
    ),
    "what an attribute gets from a function": (
        {
            "trainer.py": """\
                import torch
                from select import define
                class Trainer:
                    def __init__(self):
                        self.loss = define().cuda()
                    def train(self):
                        for x in self.loader:
                            loss = self.loss(self.model(x.cuda()))
                            loss.backward()
            """,
            "select.py": "from models import M\ndef define():\n    return M()\n",
            "models.py": "class M:\n    def forward(self, x):\n        return x.max().item()\n",
        },
        ["models.py:3 TL201"],
    ),
    "a parameter of the module": (
        {
            "train.py": train("net(images)", "from models import Net\nnet = Net().to(device)"),
            "models.py": """\
                import torch
                from torch import nn
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.gamma = nn.Parameter(torch.Tensor([2.0]))
                    def forward(self, x):
                        return self.gamma.item() - x.norm()
            """,
        },
        ["models.py:8 TL201"],
    ),
    "the forward of a wrapped module": (
        {
            "train.py": train(
                "net(images)",
                "from models import Net\nnet = torch.nn.DataParallel(Net()).to(device)",
            ),
            "models.py": "class Net:\n    def forward(self, x):\n        return x.max().item()\n",
        },
        ["models.py:3 TL201"],
    ),
    "the `__call__` of a loss of this file": (
        {
            "train.py": train("mine(output)")
            + (
                "class Mine:\n    def __call__(self, x):\n        return x.max().item()\n"
                "mine = Mine()\n"
            )
        },
        ["train.py:14 TL201"],
    ),
    "a method of the class that trains": (
        {
            "trainer.py": """\
                import torch
                class Trainer:
                    def train(self):
                        for x, y in self.loader:
                            loss = self.model(x.cuda()).sum()
                            loss.backward()
                            self.log(loss)
                    def log(self, loss):
                        print(loss.item())
            """
        },
        ["trainer.py:9 TL201"],
    ),
    "a method of what the trainer holds": (
        {
            "trainer.py": """\
                import torch
                from meters import Meter
                class Trainer:
                    def __init__(self):
                        self.meter = Meter()
                    def train(self):
                        for x, y in self.loader:
                            loss = self.model(x.cuda()).sum()
                            loss.backward()
                            self.meter.update(loss)
            """,
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "a method of what the trainer was given": (
        {
            "main.py": """\
                from meters import Meter
                from trainer import Trainer
                Trainer(Meter()).train()
            """,
            "trainer.py": """\
                import torch
                class Trainer:
                    def __init__(self, meter):
                        self.meter = meter
                    def train(self):
                        for x, y in self.loader:
                            loss = self.model(x.cuda()).sum()
                            loss.backward()
                            self.meter.update(loss)
            """,
            "meters.py": METER,
        },
        ["meters.py:5 TL201"],
    ),
    "a step function called from the epoch loop": (
        {
            "trainer.py": """\
                import torch
                class Trainer:
                    def train(self):
                        for x, y in self.loader:
                            self.step(x.cuda())
                    def step(self, x):
                        loss = self.model(x).sum()
                        loss.backward()
                        self.optimizer.step()
                        return loss.item()
            """
        },
        ["trainer.py:10 TL201"],
    ),
    "the loop around a step function": (
        {
            "train.py": """\
                import torch
                def step(model, x):
                    loss = model(x.cuda()).sum()
                    loss.backward()
                    optimizer.step()
                    return loss
                def train(loader):
                    for x in loader:
                        loss = step(model, x)
                        print(loss.item())
            """
        },
        ["train.py:10 TL201"],
    ),
    "a guard around the whole loop around a step function": (
        {
            "train.py": """\
                import torch
                def step(model, x):
                    loss = model(x.cuda()).sum()
                    loss.backward()
                    optimizer.step()
                    return loss
                def train(loader, epoch):
                    if epoch % 2 == 0:
                        for x in loader:
                            loss = step(model, x)
                            print(loss.item())
            """
        },
        ["train.py:11 TL201"],
    ),
    "the loop around a step function two calls away": (
        {
            "train.py": """\
                import torch
                def again(x):
                    return step(x)
                def step(x):
                    loss = model(x.cuda()).sum()
                    loss.backward()
                    optimizer.step()
                    return loss
                def train(loader):
                    for x in loader:
                        loss = again(x)
                        print(loss.item())
            """
        },
        ["train.py:12 TL201"],
    ),
    "a helper of Lightning's training_step": (
        {
            "module.py": """\
                import lightning as L
                import torch
                class M(L.LightningModule):
                    def training_step(self, batch, i):
                        loss = self.net(batch.cuda())
                        self.note(loss)
                        return loss
                    def note(self, loss):
                        print(loss.item())
            """
        },
        ["module.py:9 TL201"],
    ),
    "a number of what nobody knows, by what only tensors have": (
        {
            "train.py": train("note(mystery, 1)")
            + "def note(output, target):\n    return output.eq(target).sum().item()\n"
        },
        ["train.py:13 TL201"],
    ),
    "a copy to the host of what nobody knows": (
        {"train.py": train("note(mystery)") + "def note(value):\n    print(value.cpu())\n"},
        ["train.py:13 TL202"],
    ),
    "the forward of a module that a class of the project wraps": (
        {
            "train.py": train(
                "net = Net()\nnet = Wrapped(net).to(device)\nnet(images)",
                "from models import Net, Wrapped",
            ),
            "models.py": """\
                from torch import nn
                class Net(nn.Module):
                    def forward(self, x):
                        return x * x.abs().max().item()
                class Wrapped(nn.DataParallel):
                    def __getattr__(self, name):
                        return getattr(self.module, name)
            """,
        },
        ["models.py:4 TL201"],
    ),
    "a loop in the helper": (
        {
            "train.py": train("note([loss])")
            + "def note(xs):\n    for x in xs:\n        print(x.item())\n"
        },
        ["train.py:14 TL201"],
    ),
    "a method of an object that goes through two calls, the last one first": (
        {
            "train.py": """\
                import torch
                def outer(runner, loss):
                    runner.run(Meter(), loss)
                class Runner:
                    def run(self, meter, loss):
                        meter.update(loss)
                class Meter:
                    def update(self, value):
                        self.sum = value.item()
                def train(model, optimizer, loader):
                    for x in loader:
                        loss = model(x.cuda()).sum()
                        loss.backward()
                        optimizer.step()
                        outer(Runner(), loss)
            """
        },
        ["train.py:9 TL201"],
    ),
    "the loop of a base class whose subclass takes the step": (
        {
            "train.py": """\
                import torch
                from epoch import Epoch
                class TrainEpoch(Epoch):
                    def update(self, x):
                        loss = self.model(x).sum()
                        loss.backward()
                        self.optimizer.step()
                        return loss
            """,
            "epoch.py": """\
                import torch
                class Epoch:
                    def run(self, loader):
                        for x in loader:
                            loss = self.update(x.cuda())
                            self.log(loss)
                    def log(self, loss):
                        print(loss.detach().item())
            """,
        },
        ["epoch.py:8 TL201"],
    ),
    "a hook that a subclass fills in": (
        {
            "trainer.py": """\
                import torch
                class Trainer:
                    def train(self):
                        for x, y in self.loader:
                            loss = self.model(x.cuda()).sum()
                            loss.backward()
                            self.optimizer.step()
                            self.after_step(loss)
                    def after_step(self, loss):
                        pass
            """,
            "mine.py": """\
                import torch
                from trainer import Trainer
                class Mine(Trainer):
                    def after_step(self, loss):
                        loss.backward
                        print(loss.item())
            """,
        },
        ["mine.py:6 TL201"],
    ),
    "the method of a base class through super": (
        {
            "train.py": train("net(images)", "from models import Net\nnet = Net().to(device)"),
            "models.py": """\
                class Base:
                    def forward(self, x):
                        return x * x.abs().max().item()
                class Net(Base):
                    def forward(self, x):
                        return super().forward(x.relu())
            """,
        },
        ["models.py:3 TL201"],
    ),
    "a function inside the function that trains": (
        {
            "train.py": """\
                import torch
                def main(model, optimizer, loader):
                    def note(loss):
                        print(loss.item())
                    for x in loader:
                        loss = model(x.cuda()).sum()
                        loss.backward()
                        optimizer.step()
                        note(loss)
            """
        },
        ["train.py:4 TL201"],
    ),
    "one of the functions in a dict": (
        {
            "train.py": train("METRICS[args.metric](output, labels)")
            + "METRICS = {'accuracy': accuracy}\n"
            + ACCURACY
        },
        ["train.py:14 TL201"],
    ),
    "one of the methods in a dict": (
        {
            "trainer.py": """\
                import torch
                class Trainer:
                    def train(self):
                        scores = {"a": self.first, "b": self.second}
                        for x, y in self.loader:
                            loss = scores[self.kind](self.model(x.cuda()))
                            loss.backward()
                    def first(self, output):
                        return output / output.max().item()
                    def second(self, output):
                        return output
            """
        },
        ["trainer.py:9 TL201"],
    ),
    "a loop over losses": (
        {
            "train.py": train(
                "for loss_of, weight in zip(parts, weights): loss_of(output)",
                "from losses import Smooth\nparts = [Smooth(), torch.nn.L1Loss()]",
            ),
            "losses.py": """\
                from torch import nn
                class Smooth(nn.Module):
                    def forward(self, x):
                        return x / x.max().item()
            """,
        },
        ["losses.py:4 TL201"],
    ),
    "the layers of a module": (
        {
            "train.py": train("net(images)", "from models import Net\nnet = Net().to(device)"),
            "models.py": """\
                from torch import nn
                class Block(nn.Module):
                    def forward(self, x):
                        return x / x.max().item()
                class Head(nn.Module):
                    def forward(self, x):
                        return x / x.norm().item()
                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.blocks = nn.ModuleList([Block() for _ in range(3)])
                        self.last = nn.Sequential(nn.ReLU(), Head())
                    def forward(self, x):
                        for block in self.blocks:
                            x = block(x)
                        return self.last(x)
            """,
        },
        ["models.py:4 TL201", "models.py:7 TL201"],
    ),
    "a function that another one is given": (
        {
            "train.py": """\
                import torch
                def note(loss):
                    print(loss.item())
                def main(model, optimizer, loader):
                    run(model, optimizer, loader, after=note)
                def run(model, optimizer, loader, after):
                    for x in loader:
                        loss = model(x.cuda()).sum()
                        loss.backward()
                        optimizer.step()
                        after(loss)
            """
        },
        ["train.py:3 TL201"],
    ),
    "a function with some of its arguments": (
        {
            "train.py": train(
                "metric(output, labels)",
                "from functools import partial\nfrom utils import accuracy\n"
                "metric = partial(accuracy)",
            ),
            "utils.py": ACCURACY,
        },
        ["utils.py:2 TL201"],
    ),
    "a compiled function": (
        {
            "train.py": train("fast(output, labels)", "from utils import accuracy")
            + "fast = torch.compile(accuracy)\n",
            "utils.py": ACCURACY,
        },
        ["utils.py:2 TL201"],
    ),
    "keywords name the parameters": (
        {
            "train.py": train("note(n=3, value=loss)")
            + "def note(value, n):\n    return value.item()\n"
        },
        ["train.py:13 TL201"],
    ),
    "keywords gathered in a dict": (
        {
            "train.py": train("log.update(loss=loss)", "from logger import Log\nlog = Log()"),
            "logger.py": """\
                import torch
                class Log:
                    def update(self, **values):
                        for k, v in values.items():
                            print(v.item())
            """,
        },
        ["logger.py:5 TL201"],
    ),
}

MODELS = """\
    from torch import nn
    class Encoder(nn.Module):
        def forward(self, x, lengths):
            if not self.training:
                print(x.norm().item())
            return self.packed(x, lengths)
        def packed(self, x, lengths):
            return pack(x, lengths.cpu())
    def build(name):
        return globals()[name]()
"""

COLD = {
    "a parameter that is called like a loss and gets a number": (
        {"train.py": train("log(3.0)") + "def log(loss):\n    print(float(loss))\n"}
    ),
    "the forward of a module in a program that does not train": {
        "demo.py": "import models\nprint(models.build('encoder').cuda()(x))\n",
        "models.py": MODELS,
    },
    "an override that takes no step beside one that does": {
        "train.py": """\
            import torch
            class Epoch:
                def run(self, loader):
                    for x in loader:
                        self.update(x.cuda())
            class TrainEpoch(Epoch):
                def update(self, x):
                    loss = self.model(x).sum()
                    loss.backward()
                    self.optimizer.step()
            class OtherEpoch(Epoch):
                def update(self, x):
                    print(x.sum().item())
        """
    },
    "a guard around a loop in the helper": {
        "train.py": train("note([loss], 1)")
        + "def note(xs, step):\n    if step % 100 == 0:\n        for x in xs:\n"
        + "            print(x.item())\n",
    },
    "a guard around a loop that calls the helper": {
        "train.py": train("first([output], labels)")
        + "def first(xs, t):\n    if step % 100 == 0:\n        for x in xs:\n"
        + "            accuracy(x, t)\n"
        + ACCURACY,
    },
    "a copy to a device that is the CPU by default": {
        "train.py": train("move(output, device)")
        + "def move(value, to='cpu'):\n    return value.to(to)\n",
    },
    "a number of what nobody knows": {
        "train.py": train("note(mystery)") + "def note(value):\n    return float(value)\n",
    },
    "a validation that shares the step": {
        "train.py": """\
            import torch
            def step(x, train):
                loss = model(x.cuda()).sum()
                if train:
                    loss.backward()
                    optimizer.step()
                return loss
            def validate(loader):
                for x in loader:
                    print(step(x, False).item())
        """
    },
    "a helper that nobody calls": {
        "train.py": train("pass") + ACCURACY,
    },
    "a helper called outside the loop": {
        "train.py": train("pass") + "accuracy(model(x), y)\n" + ACCURACY,
    },
    "a helper called from the epoch loop": {
        "train.py": train("pass")
        + "for epoch in range(9):\n    train(m, c, o, l)\n    accuracy(model(x), y)\n"
        + ACCURACY,
    },
    "a guarded call": {
        "train.py": train("if step % 100 == 0: accuracy(output, labels)") + ACCURACY,
    },
    "a guarded call of a helper": {
        "train.py": train("first(output, labels)")
        + "def first(o, t):\n    if step % 100 == 0:\n        accuracy(o, t)\n"
        + ACCURACY,
    },
    "a guard in the helper": {
        "train.py": train("note(loss, 1)")
        + "def note(x, step):\n    if step % 100 == 0:\n        print(x.item())\n",
    },
    "a callee that evaluates": {
        "train.py": train("if ready: validate(output)")
        + "def validate(output):\n    return output.sum().item()\n",
    },
    "a helper of a callee that evaluates": {
        "train.py": train("if ready: validate(output)")
        + "def validate(output):\n    return accuracy(output, 1)\n"
        + ACCURACY,
    },
    "a tensor on the CPU, used as only tensors are": {
        "train.py": train("note(lengths)", "lengths = torch.zeros(3)")
        + "def note(value):\n    return value.eq(1).sum().item()\n",
    },
    "a callee under eval()": {
        "train.py": train("model.eval()\naccuracy(output, labels)\nmodel.train()") + ACCURACY,
    },
    "a helper that gets numbers": {
        "train.py": train("note(3, len(images))")
        + "def note(value, n):\n    return float(value) + value.item()\n",
    },
    "a helper that returns tensors as they are": {
        "train.py": train("note(loss)")
        + "def note(x):\n    if isinstance(x, torch.Tensor):\n        return x\n"
        + "    return float(x)\n",
    },
    "the branch of a helper for what is not a tensor": {
        "train.py": train("note(loss)")
        + "def note(x):\n    if torch.is_tensor(x):\n        return x\n"
        + "    else:\n        return float(x)\n",
    },
    "the branch of a helper that asks for what is not a tensor": {
        "train.py": train("note(loss)")
        + "def note(x):\n    if not isinstance(x, torch.Tensor):\n        x = float(x)\n"
        + "    return x\n",
    },
    "a helper that gets a batch on the CPU": {
        "train.py": train("note(lengths)", "lengths = torch.zeros(3)")
        + "def note(value):\n    return value.max().item()\n",
    },
    "a helper that makes its own tensor on the CPU": {
        "train.py": train("note(loss)")
        + "def note(value):\n    return torch.zeros(3).max().item()\n",
    },
    "a function of the same name elsewhere": {
        "train.py": train("accuracy(output, labels)", "from other import accuracy"),
        "utils.py": ACCURACY,
    },
    "a method of the same name elsewhere": {
        "train.py": train("meter.update(loss)", "from other import Meter\nmeter = Meter()"),
        "meters.py": METER,
    },
    "a loop that calls an evaluation": {
        "train.py": train("pass")
        + "def test(x):\n    loss = model(x)\n    loss.backward()\n"
        + "def predict(x):\n    return model(x)\n"
        + "for x in loader:\n    y = predict(x)\n    print(y.item())\n",
    },
    "no accelerator anywhere": {
        "train.py": train("accuracy(output, labels)").replace("cuda", "cpu") + ACCURACY,
    },
}


@pytest.mark.parametrize(("files", "found"), HOT.values(), ids=list(HOT))
def test_it_is_hot(
    found_in: Callable[..., list[str]], files: dict[str, str], found: list[str]
) -> None:
    assert found_in(files) == found


@pytest.mark.parametrize("files", COLD.values(), ids=list(COLD))
def test_it_is_cold(found_in: Callable[..., list[str]], files: dict[str, str]) -> None:
    assert found_in(files) == []


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        (3, ["train.py:{row} TL201"]),
        (4, ["train.py:{row} TL201?"]),
        (5, ["train.py:{row} TL201?"]),
        (6, []),
    ],
)
def test_helpers_are_hot_to_a_depth_of_three_calls_and_perhaps_to_five(
    found_in: Callable[..., list[str]], calls: int, found: list[str]
) -> None:
    text = train("f1(loss)")
    for depth in range(1, calls):
        text += f"def f{depth}(x):\n    return f{depth + 1}(x)\n"
    text += f"def f{calls}(x):\n    return x.item()\n"
    row = text.count("\n")
    assert found_in(text) == [each.format(row=row) for each in found]


def test_the_device_of_an_argument_counts_for_its_own_parameter_only(
    found_in: Callable[..., list[str]],
) -> None:
    text = train("note(3, loss)") + (
        "def note(n, value):\n    print(float(n))\n    print(float(value))\n"
    )
    assert found_in(text) == ["train.py:14 TL201"]


def test_one_call_with_a_device_tensor_is_enough(found_in: Callable[..., list[str]]) -> None:
    text = train("note(3)\nnote(loss)") + "def note(value):\n    return float(value)\n"
    assert found_in(text) == ["train.py:14 TL201"]


def test_a_value_handed_on_by_a_helper_keeps_its_device(
    found_in: Callable[..., list[str]],
) -> None:
    text = train("outer(3, loss)") + (
        "def outer(n, value):\n    inner(n)\n    last(value)\n"
        "def inner(a):\n    return float(a)\n"
        "def last(b):\n    return float(b)\n"
    )
    assert found_in(text) == ["train.py:18 TL201"]


def _calls(finding: Finding) -> list[tuple[str, int]]:
    """The calls in training steps that a finding names, by file and row."""
    named = [each for each in finding.related if "calls it" in each.message]
    return [(each.path, each.position.row) for each in named]


class TestRelated:
    """The finding points at the helper's line and names the loop that makes it hot."""

    def test_a_helper_elsewhere_names_the_loop(self, check_text: Callable[..., Any]) -> None:
        (finding,) = check_text(HOT["a function of another file"][0]).findings
        related = finding.related[0]
        assert (related.path, related.position) == ("train.py", Position(5, 5))
        assert "loop" in related.message

    def test_a_helper_of_a_helper_names_the_loop(self, check_text: Callable[..., Any]) -> None:
        (finding,) = check_text(HOT["a helper of a helper"][0]).findings
        assert finding.related[0].position == Position(5, 5)

    def test_a_framework_s_hook_counts_as_the_loop(self, check_text: Callable[..., Any]) -> None:
        (finding,) = check_text(HOT["a helper of Lightning's training_step"][0]).findings
        assert finding.related[0].position == Position(4, 5)
        assert "framework" in finding.related[0].message

    def test_the_calls_in_the_step_are_named(self, check_text: Callable[..., Any]) -> None:
        files = {
            "one.py": train("first(output, labels)", "from utils import first"),
            "two.py": train("accuracy(output, labels)", "from utils import accuracy"),
            "utils.py": "def first(o, t):\n    return accuracy(o, t)\n" + ACCURACY,
        }
        (finding,) = check_text(files).findings
        assert _calls(finding) == [("one.py", 11), ("two.py", 11)]

    def test_a_call_in_a_function_that_is_the_step_is_named(
        self, check_text: Callable[..., Any]
    ) -> None:
        (finding,) = check_text(HOT["a helper of Lightning's training_step"][0]).findings
        assert len(_calls(finding)) == 1

    def test_a_call_that_passes_numbers_is_not_named(self, check_text: Callable[..., Any]) -> None:
        text = train("note(3)\nnote(loss)") + "def note(value):\n    return float(value)\n"
        (finding,) = check_text({"train.py": text}).findings
        assert _calls(finding) == [("train.py", 12)]

    def test_a_call_that_is_made_now_and_then_is_not_named(
        self, check_text: Callable[..., Any]
    ) -> None:
        rare = "if step % 10 == 0:\n    accuracy(output, labels)\naccuracy(labels, output)"
        files = {
            "train.py": train(rare, "from utils import accuracy"),
            "utils.py": ACCURACY,
        }
        (finding,) = check_text(files).findings
        assert _calls(finding) == [("train.py", 13)]

    def test_of_many_calls_the_first_are_named(self, check_text: Callable[..., Any]) -> None:
        calls = "\n".join(["accuracy(output, labels)"] * 12)
        files = {"train.py": train(calls, "from utils import accuracy"), "utils.py": ACCURACY}
        (finding,) = check_text(files).findings
        assert len(_calls(finding)) == 8

    def test_a_whole_step_that_no_loop_is_seen_to_call_says_so(
        self, check_text: Callable[..., Any]
    ) -> None:
        text = (
            "import torch\nclass Agent:\n    def update(self, x):\n"
            "        loss = self.net(x.cuda()).sum()\n        loss.backward()\n"
            "        self.optimizer.step()\n        return loss.item()\n"
        )
        (finding,) = check_text({"agent.py": text}).findings
        (related,) = finding.related
        assert related.position == Position(3, 5)
        assert "no loop was found that calls it" in related.message

    def test_a_whole_step_in_a_function_is_hot_by_the_loop_that_calls_it(
        self, check_text: Callable[..., Any]
    ) -> None:
        step = (
            "def step(model, optimizer, x):\n"
            "    loss = model(x.cuda()).sum()\n"
            "    loss.backward()\n"
            "    optimizer.step()\n"
            "    print(loss.item())\n"
        )
        files = {
            "main.py": "import torch\nfrom steps import step\nfor x in loader:\n"
            "    step(model, optimizer, x)\n",
            "steps.py": "import torch\n" + step,
        }
        (finding,) = check_text(files).findings
        (related,) = finding.related
        assert (related.path, related.position) == ("main.py", Position(3, 1))

    def test_a_finding_in_the_loop_itself_needs_no_other_place(
        self, check_text: Callable[..., Any]
    ) -> None:
        (finding,) = check_text(train("print(loss.item())")).findings
        assert finding.related == ()

    def test_the_nearest_of_two_loops_is_named(self, check_text: Callable[..., Any]) -> None:
        report = check_text(
            {
                "far.py": train("first(output, labels)", "from utils import first"),
                "near.py": train("accuracy(output, labels)", "from utils import accuracy"),
                "utils.py": "def first(o, t):\n    return accuracy(o, t)\n" + ACCURACY,
            }
        )
        (finding,) = report.findings
        assert finding.related[0].path == "near.py"

    def test_a_model_that_the_package_of_an_import_brings(
        self, check_text: Callable[..., Any]
    ) -> None:
        files = {
            "src/__init__.py": "from . import zoo",
            "src/core.py": "import torch\ndef made(name):\n    return REGISTERED[name]()\n",
            "src/zoo.py": dedent(MODELS),
            "train.py": train("net(images, labels)", "from src.core import made\nnet = made('x')"),
        }
        (finding,) = check_text(files).findings
        assert (finding.path, finding.tier) == ("src/zoo.py", Tier.HINT)

    def test_a_model_that_no_call_leads_to_is_a_hint(self, check_text: Callable[..., Any]) -> None:
        made = "import models\nnet = models.build('encoder').to(device)"
        files = {"models.py": dedent(MODELS), "train.py": train("net(images, labels)", made)}
        (finding,) = check_text(files).findings
        assert (finding.path, finding.start.row, finding.tier) == ("models.py", 8, Tier.HINT)
        assert "if a training step calls the model" in finding.related[0].message

    def test_a_loss_that_no_call_leads_to_is_no_hint(self, check_text: Callable[..., Any]) -> None:
        loss = (
            "import torch\nfrom torch import nn\nclass FocalLoss(nn.Module):\n"
            "    def forward(self, logits, target):\n"
            "        return torch.log(logits[target == 1]).mean()\n"
            "def build(name):\n    return globals()[name]()\n"
        )
        made = "import losses\nlosses.build('focal')"
        files = {"losses.py": loss, "train.py": train("loss.backward()", made)}
        (finding,) = check_text(files, ("TL215",)).findings
        assert (finding.path, finding.tier) == ("losses.py", Tier.DEFAULT)
        assert "computes a loss" in finding.related[0].message


TESTED = {
    "tests/test_train.py": train("accuracy(output, labels)", "from utils import accuracy"),
    "utils.py": ACCURACY,
}


class TestTests:
    """The few steps of a test are not worth being fast."""

    def test_a_loop_of_a_test_heats_nothing_outside_of_tests(
        self, found_in: Callable[..., list[str]]
    ) -> None:
        assert found_in(TESTED) == []

    def test_a_step_of_a_test_heats_nothing_outside_of_tests(
        self, found_in: Callable[..., list[str]]
    ) -> None:
        step = (
            "import torch\nfrom utils import accuracy\ndef test_step():\n"
            "    output = net(images.cuda())\n    output.sum().backward()\n"
            "    optimizer.step()\n    accuracy(output, labels)\n"
        )
        assert found_in(TESTED | {"tests/test_train.py": step}) == []

    def test_a_module_that_only_a_test_trains_is_not_even_a_hint(
        self, check_text: Callable[..., Any]
    ) -> None:
        models = dedent(MODELS)
        test = train("net(images)", "import models\nnet = models.build('encoder')")
        files = {"models.py": models, "tests/test_models.py": test}
        assert not check_text(files).findings

    def test_a_script_heats_what_a_test_calls_too(self, found_in: Callable[..., list[str]]) -> None:
        script = {"main.py": TESTED["tests/test_train.py"]}
        assert found_in(TESTED | script) == ["utils.py:2 TL201"]


class TestPrograms:
    """Facts of one file hold for the programs that it is part of."""

    def test_an_accelerator_of_the_script_counts_for_what_it_imports(
        self, found_in: Callable[..., list[str]]
    ) -> None:
        loop = train("print(loss.item())").replace('"cuda"', "name")
        loop = loop.replace(".to(device)", "")
        assert found_in({"loop.py": loop}) == []
        main = "import torch\nfrom loop import train\nnet = torch.nn.Linear(1, 1).cuda()\n"
        assert found_in({"loop.py": loop, "main.py": main}) == ["loop.py:11 TL201"]

    def test_an_accelerator_of_another_program_does_not_count(
        self, found_in: Callable[..., list[str]]
    ) -> None:
        loop = train("print(loss.item())").replace('"cuda"', "name")
        loop = loop.replace(".to(device)", "")
        other = "import torch\nnet = torch.nn.Linear(1, 1).cuda()\n"
        assert found_in({"loop.py": loop, "other.py": other}) == []
