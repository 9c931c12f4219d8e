"""Hot through what a call's object was made of: factories, containers, parameters, attributes."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.ones(3, device="cuda").sum().item()
    def forward(self, x):
        return x * x.abs().max().item()
class Scale(nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()
def make(width):
    return Net(width)
def Made(width):
    net = Net(width)
    return net
def build(width):
    return Made(width)
def both(width):
    net = Net(width)
    return net, Scale()
"""
FORWARD, SCALE = ["models.py:8 TL201"], ["models.py:11 TL201"]

LOOP = """\
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
import models
from models import Scale, Made, Net, both, build, make
{before}
for images in loader:
    images = images.to("cuda")
    loss = {call}.sum()
    loss.backward()
    optimizer.step()
"""


def loop(before: str, call: str = "net(images)") -> dict[str, str]:
    return {"models.py": MODELS, "train.py": LOOP.format(before=dedent(before), call=call)}


MADE = {
    "a factory": "net = make(3)",
    "a factory with the name of a class": "net = Made(3)",
    "a factory of a factory": "net = build(3)",
    "a factory of another module": "net = models.Made(3)",
    "moved later": "net = make(3)\nnet = net.cuda()",
    "moved at once": "net = make(3).cuda()",
    "wrapped": "net = nn.DataParallel(make(3))",
    "wrapped later": "net = make(3).cuda()\nnet = DDP(net, device_ids=[0])",
    "wrapped and moved later": "net = build(3)\nif gpus:\n    net = nn.DataParallel(net).cuda()",
    "a dict of what factories make": 'zoo = {"a": make(3), "b": Scale()}\nnet = zoo["a"]',
    "a dict of factories": 'zoo = {"a": make, "b": Scale}\nnet = zoo["a"](3)',
    "a dict of classes": 'zoo = {"a": Net, "b": Scale}\nnet = zoo["a"](3)',
    "a class under another name": "Model = Net if big else None\nnet = Model(3)",
    "a class's own name": "net = Net\nnet = net(3)",
    "a loop over a list": "nets = [make(3)]\nnet = nets[0]",
    "parts of a tuple": "net, criterion = both(3)",
    "the module in a wrapper": "net = DDP(make(3))\nnet = net.module if wrapped else net",
    "the module in a compiled one": 'net = getattr(torch.compile(make(3)), "_orig_mod", None)',
    "unwrapped": "net = accelerator.unwrap_model(make(3))",
    "prepared": "net, optimizer = accelerator.prepare(make(3), optimizer)",
    "a class with a method that loads it": "net = Net.from_pretrained('a')",
    "an item of a dict that was set later": 'nets = {}\nnets["a"] = make(3)\nnet = nets["a"]',
    "a copy": "import copy\nnet = copy.deepcopy(make(3))",
    "a class that is passed": "def of(kind):\n    return kind(3)\nnet = of(Net)",
    "an expression that chooses": "net = make(3) if big else build(4)",
}


@pytest.mark.parametrize("before", MADE.values(), ids=list(MADE))
def test_a_call_of_what_was_made_leads_to_forward(
    found_in: Callable[..., list[str]], before: str
) -> None:
    assert found_in(loop(before)) == FORWARD


CALLED = {
    "the module of a wrapper": ("net = DDP(make(3))", "net.module(images)"),
    "an item of a list": ("nets = [make(3), Scale()]", "nets[0](images)"),
    "an item of a dict": ('nets = {"a": make(3), "b": Scale()}', 'nets["a"](images)'),
    "an item of a dict that `get` gives": ('nets = {"a": make(3)}', 'nets.get("a")(images)'),
}


@pytest.mark.parametrize(("before", "call"), CALLED.values(), ids=list(CALLED))
def test_a_call_of_an_item_leads_to_forward(
    found_in: Callable[..., list[str]], before: str, call: str
) -> None:
    assert found_in(loop(before, call)) == FORWARD


def test_each_part_of_a_tuple_is_what_is_in_its_place(
    found_in: Callable[..., list[str]],
) -> None:
    assert found_in(loop("net, criterion = both(3)", "criterion(images)")) == SCALE


CONTAINERS = {
    "a list": "self.parts = nn.ModuleList([Part(), Part()])",
    "a comprehension": "self.parts = nn.ModuleList([Part() for _ in range(3)])",
    "a list that grew": (
        "parts = []\nfor _ in range(3):\n    parts.append(Part())\nself.parts = nn.ModuleList(parts)"
    ),
    "a container that grew": (
        "self.parts = nn.ModuleList()\nfor _ in range(3):\n    self.parts.append(Part())"
    ),
    "a list that was added to": "parts = []\nparts += [Part()]\nself.parts = nn.ModuleList(parts)",
    "a sequence": "self.parts = nn.Sequential(Part(), Part())",
    "a sequence of a list": "parts = [Part()]\nself.parts = nn.Sequential(*parts)",
    "a dict": 'self.parts = nn.ModuleDict({"a": Part()}).values()',
}
RUN = {
    "one by one": "for part in self.parts:\n    x = part(x)",
    "one by one with a number": "for i, part in enumerate(self.parts):\n    x = part(x)",
    "one by one from the end": "for part in reversed(self.parts):\n    x = part(x)",
    "by number": "for i in range(3):\n    x = self.parts[i](x)",
    "by a range": "for part in self.parts[1:]:\n    x = part(x)",
    "in pairs": "for part, scale in zip(self.parts, scales):\n    x = part(x) * scale",
}


def container(made: str, run: str) -> dict[str, str]:
    indented = made.replace("\n", "\n        ")
    called = run.replace("\n", "\n        ")
    net = (
        "import torch\nfrom torch import nn\nfrom parts import Part\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        {indented}\n    def forward(self, x):\n        {called}\n        return x\n"
    )
    part = (
        "import torch\nfrom torch import nn\nclass Part(nn.Module):\n"
        "    def forward(self, x):\n        return x * x.abs().max().item()\n"
    )
    train = LOOP.format(before="net = Net()", call="net(images)").replace(
        "import models\nfrom models import Scale, Made, Net, both, build, make",
        "from net import Net",
    )
    return {"net.py": net, "parts.py": part, "train.py": train}


@pytest.mark.parametrize("made", CONTAINERS.values(), ids=list(CONTAINERS))
def test_the_items_of_a_container_run_where_a_loop_calls_them(
    found_in: Callable[..., list[str]], made: str
) -> None:
    assert found_in(container(made, RUN["one by one"])) == ["parts.py:5 TL201"]


@pytest.mark.parametrize("run", RUN.values(), ids=list(RUN))
def test_the_items_of_a_container_run_however_they_are_called(
    found_in: Callable[..., list[str]], run: str
) -> None:
    assert found_in(container(CONTAINERS["a list"], run)) == ["parts.py:5 TL201"]


LAYERS = """\
import torch
from torch import nn
from parts import Part
class Base(nn.Module):
    def __init__(self, block, blocks):
        super().__init__()
        self.layer = self._make_layer(block, blocks)
    def _make_layer(self, block, blocks):
        layers = []
        layers.append(block(3, 3))
        for _ in range(1, blocks):
            layers.append(block(3, 3))
        return nn.Sequential(*layers)
    def forward(self, x):
        return self.layer(x)
def Net():
    return Base(Part, 3)
"""


def test_a_class_that_is_passed_runs_where_its_objects_are_called(
    found_in: Callable[..., list[str]],
) -> None:
    files = container("pass", "pass") | {"net.py": LAYERS}
    assert found_in(files) == ["parts.py:5 TL201"]


def test_a_sequence_runs_its_items(found_in: Callable[..., list[str]]) -> None:
    files = container(CONTAINERS["a sequence"], "x = self.parts(x)")
    assert found_in(files) == ["parts.py:5 TL201"]


def test_items_that_only_an_evaluation_calls_are_cold(found_in: Callable[..., list[str]]) -> None:
    files = container(CONTAINERS["a list"], RUN["one by one"])
    files["net.py"] = files["net.py"].replace("def forward", "def evaluate")
    assert found_in(files) == []


HANDED = """\
import torch
from torch import nn
from models import Scale, Net, make
def epoch(rank, nets, loader, optimizer):
    {taken}
    for images in loader:
        loss = {call}(images.to("cuda")).sum()
        loss.backward()
        optimizer.step()
def run(rank):
    net_g = make(3).cuda(rank)
    net_d = Scale().cuda(rank)
    net_g = nn.parallel.DistributedDataParallel(net_g, device_ids=[rank])
    epoch(rank, {given}, loader, optimizer)
run(0)
"""
TAKEN = {
    "unpacked": ("net_g, net_d = nets", "net_g", "[net_g, net_d]", FORWARD),
    "the other one": ("net_g, net_d = nets", "net_d", "[net_g, net_d]", SCALE),
    "a tuple": ("net_g, net_d = nets", "net_g", "(net_g, net_d)", FORWARD),
    "by number": ("net_g = nets[0]", "net_g", "(net_g, net_d)", FORWARD),
    "at once": ("pass", "nets[1]", "[net_g, net_d]", SCALE),
    "renamed": ("model = nets", "model", "net_g", FORWARD),
    "by name": ('net_d = nets["d"]', "net_d", '{"g": net_g, "d": net_d}', SCALE),
    "a list under a name": ("net_g, net_d = nets", "net_d", "pair", SCALE),
    "named by keywords": ('net_d = nets["d"]', "net_d", "dict(g=net_g, d=net_d)", SCALE),
}


@pytest.mark.parametrize(("taken", "call", "given", "found"), TAKEN.values(), ids=list(TAKEN))
def test_a_parameter_that_holds_several_models(
    found_in: Callable[..., list[str]], taken: str, call: str, given: str, found: list[str]
) -> None:
    text = HANDED.format(taken=taken, call=call, given=given)
    if given == "pair":
        text = text.replace("    epoch(rank", "    pair = [net_g, net_d]\n    epoch(rank")
    assert found_in({"models.py": MODELS, "train.py": text}) == found


TRAINER = """\
import torch
from base import Base
class Trainer(Base):
    def __init__(self, {parameters}):
        {init}
    def step(self, images):
        loss = {call}(images.to("cuda")).sum()
        loss.backward()
        self.optimizer.step()
    def run(self):
        for images in self.loader:
            self.step(images)
"""
BASE = "class Base:\n    def __init__(self, nets, optimizer):\n        self.nets = nets\n"
KEPT = {
    "a dict": ("nets", "self.nets = nets", 'self.nets["g"]', '{"g": make(3)}', FORWARD),
    "one of a dict": (
        "nets",
        "self.nets = nets",
        'self.nets["d"]',
        '{"g": make(3), "d": Scale()}',
        SCALE,
    ),
    "through the base class": (
        "n, o",
        "super().__init__(n, o)",
        "self.nets[0]",
        "[make(3)], 0",
        FORWARD,
    ),
    "a part of a parameter": (
        "nets",
        "self.g, self.d = nets",
        "self.d",
        "(make(3), Scale())",
        SCALE,
    ),
    "an item of a parameter": (
        "nets",
        'self.g = nets["g"]',
        "self.g",
        '{"g": make(3), "d": Scale()}',
        FORWARD,
    ),
}


@pytest.mark.parametrize(
    ("parameters", "init", "call", "given", "found"), KEPT.values(), ids=list(KEPT)
)
def test_models_that_an_object_keeps(
    found_in: Callable[..., list[str]],
    parameters: str,
    init: str,
    call: str,
    given: str,
    found: list[str],
) -> None:
    files = {
        "models.py": MODELS,
        "base.py": BASE,
        "trainer.py": TRAINER.format(parameters=parameters, init=init, call=call),
        "main.py": (
            "import torch\nfrom models import Scale, make\nfrom trainer import Trainer\n"
            f"Trainer({given}).run()\n"
        ),
    }
    assert found_in(files) == found


def test_functions_that_an_object_calls_one_by_one(found_in: Callable[..., list[str]]) -> None:
    files = {
        "metric.py": (
            "import torch\ndef accuracy(output):\n    return output.sum().item()\n"
            "def other(output):\n    return output.sum().item()\n"
        ),
        "base.py": "class Base:\n    def __init__(self, metrics):\n        self.metrics = metrics\n",
        "trainer.py": (
            "import torch\nfrom base import Base\nclass Trainer(Base):\n"
            "    def __init__(self, model, metrics):\n        super().__init__(metrics)\n"
            "        self.model = model\n"
            "    def epoch(self, loader):\n        for images in loader:\n"
            "            output = self.model(images.to('cuda'))\n            output.sum().backward()\n"
            "            for metric in self.metrics:\n                metric(output)\n"
        ),
        "main.py": (
            "import torch\nimport metric\nfrom trainer import Trainer\n"
            "metrics = [metric.accuracy]\nTrainer(model, metrics).epoch(loader)\n"
        ),
    }
    assert found_in(files) == ["metric.py:3 TL201"]


CHOSEN = {
    "metric.py": (
        "import torch\ndef accuracy(output):\n    return output.sum().item()\n"
        "def evaluate(output):\n    return output.sum().item()\n"
    ),
    "base.py": "class Base:\n    def __init__(self, metrics):\n        self.metrics = metrics\n",
    "trainer/__init__.py": "from .trainer import *",
    "trainer/trainer.py": (
        "import torch\nfrom base import Base\nclass Trainer(Base):\n"
        "    def __init__(self, model, metrics):\n        super().__init__(metrics)\n"
        "        self.model = model\n"
        "    def epoch(self, loader):\n        for images in loader:\n"
        "            output = self.model(images.to('cuda'))\n            output.sum().backward()\n"
        "            for metric in self.metrics:\n                metric(output)\n"
    ),
    "main.py": (
        "import metric as functions\nfrom trainer import Trainer\ndef main(names):\n"
        "    Trainer(model, {metrics}).epoch(loader)\n"
    ),
}


def tiers(report: Any) -> list[str]:
    return [f"{each.path}:{each.start.row} {each.tier.value}" for each in report.findings]


@pytest.mark.parametrize(
    ("metrics", "found"),
    [
        ("[getattr(functions, name) for name in names]", ["metric.py:3 hint"]),
        ("[getattr(functions, 'accuracy')]", ["metric.py:3 default"]),
        ("[getattr(functions, 'other')]", []),
    ],
)
def test_a_function_that_is_got_by_its_name(
    check_text: Callable[..., Any], metrics: str, found: list[str]
) -> None:
    main = CHOSEN["main.py"].format(metrics=metrics)
    assert tiers(check_text(CHOSEN | {"main.py": main})) == found


def test_a_loop_is_not_a_training_loop_for_what_a_computed_name_may_call(
    found_in: Callable[..., list[str]],
) -> None:
    steps = (
        "import torch\ndef first(x):\n    x.cuda().sum().backward()\n"
        "def other(x):\n    return x.cuda().sum()\n"
    )
    main = (
        "import torch\nimport steps\nfor name in names:\n"
        "    loss = getattr(steps, name)(x.cuda())\n    print(loss.cuda().item())\n"
    )
    assert found_in({"steps.py": steps, "main.py": main}) == []


PARTS = """\
from torch import nn
class Encoder(nn.Module):
    def forward(self, x):
        return x * x.abs().max().item()
class Base(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
class Net(Base):
    def __init__(self):
        super().__init__(Encoder())
        self.head = Encoder()
class Other(nn.Module):
    def forward(self, x):
        return x * x.abs().max().item()
"""
PART = ["parts.py:4 TL201"]


@pytest.mark.parametrize("call", ["net.head(images)", "net.encoder(images)"])
def test_a_call_of_a_part_of_a_model_leads_to_its_forward(
    found_in: Callable[..., list[str]], call: str
) -> None:
    train = LOOP.format(before="from parts import Net\nnet = Net().cuda()", call=call)
    assert found_in({"models.py": MODELS, "parts.py": PARTS, "train.py": train}) == PART


def test_a_part_of_a_model_that_an_object_keeps_leads_to_its_forward(
    found_in: Callable[..., list[str]],
) -> None:
    before = """
    from parts import Net
    class Trainer:
        def __init__(self, net):
            self.net = net
        def loss(self, x):
            return self.net.head(x)
    trainer = Trainer(Net().cuda())
    """
    train = LOOP.format(before=dedent(before), call="trainer.loss(images)")
    assert found_in({"models.py": MODELS, "parts.py": PARTS, "train.py": train}) == PART
