"""What kind of value an expression is: where a tensor is, what is not a tensor, what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst
import pytest

from torchlint.analysis.values.combine import arithmetic, container
from torchlint.analysis.values.iteration import is_over_loader
from torchlint.analysis.values.kinds import (
    DEVICE_VALUE,
    HOST_VALUE,
    UNKNOWN_VALUE,
    Kind,
    Value,
    kind_by_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

HEADER = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm
device = torch.device("cuda")
net = nn.Linear(3, 3).to(device)
data = DataLoader(things)
"""

DEVICE = {
    "what a module returns": "probe(net(x))",
    "what a module held by self returns": (
        "class T:\n  def f(self, x):\n    probe(self.net(x))\n"
        "  def __init__(self):\n    self.net = nn.Linear(1, 1)"
    ),
    "what something that sounds like a model returns": "def f(model, x): probe(model(x))",
    "what a criterion returns": "def f(criterion, a, b): probe(criterion(a, b))",
    "what something that has parameters returns": (
        "def f(thing, x):\n  thing.parameters()\n  probe(thing(x))"
    ),
    "a moved tensor": "probe(x.cuda())",
    "a tensor moved by `to`": "probe(x.to(device))",
    "a tensor moved by `to`, with another argument": "probe(x.to(device, non_blocking=True))",
    "a tensor constructed there": "probe(torch.zeros(3, device=device))",
    "a typed tensor constructed there": "probe(torch.cuda.FloatTensor(3))",
    "a function of one": "probe(torch.exp(net(x)))",
    "a functional loss of one": "probe(F.cross_entropy(net(x), y))",
    "a function of a list with one": "probe(torch.stack([net(x), y]))",
    "a method of one": "probe(net(x).sum())",
    "one method after the other": "probe(net(x).eq(y).sum())",
    "a method of another tensor that takes one": "probe(torch.zeros(3).add(net(x)))",
    "arithmetic with a number": "probe(net(x) / 4)",
    "arithmetic with a batch": "probe(net(x) - y)",
    "a negative": "probe(-net(x))",
    "a comparison": "probe(net(x) > 0)",
    "an item": "probe(net(x)[0])",
    "a slice": "probe(net(x)[:, 1])",
    "`.data`": "probe(net(x).data)",
    "detached": "probe(net(x).detach())",
    "a name for it": "y = net(x)\nprobe(y)",
    "part of several results": "y, z = net(x)\nprobe(z)",
    "a name that the loop moves": "for x in data:\n  x = x.to(device)\n  probe(x)",
    "what backward is called on": (
        "def f(mystery):\n  loss = mystery()\n  loss.backward()\n  probe(loss)"
    ),
    "what Accelerate goes backward from": "loss = f()\naccelerator.backward(loss)\nprobe(loss)",
    "what is scaled before backward": "loss = f()\nscaler.scale(loss).backward()\nprobe(loss)",
    "a loss held by self": (
        "class T:\n  def f(self):\n    self.loss = g()\n    self.loss.backward()\n"
        "    probe(self.loss)"
    ),
    "what a function of this file returns": "def f(x):\n  return net(x)\nprobe(f(1))",
    "what a function returns of a device argument": "def f(a):\n  return a.sum()\nprobe(f(net(x)))",
    "one of several that a function returns": (
        "def f(x):\n  return 1, net(x)\na, b = f(2)\nprobe(b)"
    ),
    "what a method of self returns": (
        "class T:\n  def g(self):\n    return net(1)\n  def f(self):\n    probe(self.g())"
    ),
    "an element of a list of them": "xs = [net(x), net(y)]\nprobe(xs[0])",
    "what a loop over a list of them hands out": "xs = [net(x)]\nfor v in xs: probe(v)",
    "what a loop over a dict's items hands out": (
        "xs = {'a': net(x)}\nfor k, v in xs.items(): probe(v)"
    ),
    "what a comprehension makes": "xs = [net(x) for x in y]\nprobe(xs[0])",
    "`sum` of a list of them": "probe(sum([net(x), net(y)]))",
    "a registered buffer": (
        "class M(nn.Module):\n  def __init__(self):\n"
        "    self.register_buffer('q', torch.zeros(1))\n"
        "  def forward(self): probe(self.q)"
    ),
    "a parameter of a module": "for p in net.parameters(): probe(p)",
    "a batch of a prepared loader": (
        "ready = accelerator.prepare(data)\nfor x, y in ready: probe(x)"
    ),
    "a batch in Lightning's step": (
        "import lightning as L\nclass M(L.LightningModule):\n"
        "  def training_step(self, batch, batch_idx):\n    x, y = batch\n    probe(y)"
    ),
    "the wrapped model's result": "ddp = nn.DataParallel(net)\nprobe(ddp(x))",
    "the compiled model's result": "fast = torch.compile(net)\nprobe(fast(x))",
    "the result of a model of this file": (
        "class Net(nn.Module):\n  def go(self): pass\nthing = Net().cuda()\nprobe(thing(x))"
    ),
    "one on the device of another": "probe(torch.ones(3, device=net(x).device))",
    "one on the device that a call names": (
        "def made(n, device='cpu'): return torch.rand(n, device=device)\n"
        "probe(made(3, device='cuda'))"
    ),
    "one on the device that settings name": "def f(args): probe(torch.ones(3, device=args.device))",
    "one on the device that a parameter names": "def f(device): probe(torch.ones(3, device=device))",
    "a walrus": "if (y := net(x)) is not None: probe(y)",
    "either way": "probe(net(x) if c else net(y))",
}

CPU = {
    "`.cpu()`": "probe(net(x).cpu())",
    "`.to('cpu')`": "probe(net(x).to('cpu'))",
    "`.to(torch.device('cpu'))`": "probe(net(x).to(torch.device('cpu')))",
    "`.to` a name for the CPU": "host = torch.device('cpu')\nprobe(net(x).to(host))",
    "a constructor without device": "probe(torch.tensor([1.0]))",
    "a constructor with device='cpu'": "probe(torch.zeros(3, device='cpu'))",
    "a function of one": "probe(torch.exp(torch.zeros(3)))",
    "a method of one": "probe(torch.zeros(3).sum())",
    "one on the device of another": "x = torch.zeros(3)\nprobe(torch.ones(3, device=x.device))",
    "one on a device with a name": (
        "x = torch.zeros(3)\nplace = x.device\nprobe(torch.ones(3, device=place))"
    ),
    "one on the device that is a parameter's default": (
        "def made(n, device='cpu'):\n  return torch.round(torch.rand(n, device=device) * 3)\n"
        "probe(made(3))"
    ),
    "one on the device that is passed on": (
        "def made(n, *, device): return torch.rand(n, device=device)\n"
        "def more(n, device=None): return made(n, device=device).view(1, n)\nprobe(more(3))"
    ),
    "one on the device of an argument": (
        "def beside(x): return torch.ones(3, device=x.device).sum()\nprobe(beside(torch.zeros(3)))"
    ),
    "a batch that was not moved": "for x, y in data: probe(y)",
    "a batch under a progress bar": "for x, y in tqdm(data): probe(y)",
    "a counted batch": "for i, (x, y) in enumerate(data): probe(y)",
    "a counted batch under a progress bar": "for i, (x, y) in tqdm(enumerate(data)): probe(y)",
    "a batch of two loaders": "for x, y in zip(data, other): probe(x)",
    "the next batch": "it = iter(data)\nprobe(next(it))",
}

ARRAY = {
    "`.numpy()`": "probe(net(x).cpu().numpy())",
    "an array with a number": "a = net(x).cpu().numpy()\nprobe(a * 2)",
    "a method of an array": "a = net(x).cpu().numpy()\nprobe(a.reshape(2))",
    "an array as an annotation says": "def f(a: np.ndarray):\n  b = a\n  probe(b)",
}

HOST = {
    "a number": "probe(1)",
    "a string": "probe('a')",
    "None": "probe(None)",
    "`.item()`": "probe(net(x).item())",
    "`.tolist()`": "probe(net(x).tolist())",
    "`float()`": "probe(float(net(x)))",
    "`len()`": "probe(len(data))",
    "a shape": "probe(net(x).shape)",
    "`.size(0)`": "probe(net(x).size(0))",
    "a sum of numbers": "n = 0\nn += 1\nprobe(n + len(y))",
    "the count of a loop": "for i, x in enumerate(data): probe(i)",
    "the round of a loop": "for i in range(3): probe(i)",
    "the name of a parameter": "for name, p in net.named_parameters(): probe(name)",
    "the name of a counted buffer": "for i, (n, b) in enumerate(net.named_buffers()): probe(n)",
    "what a command line gives": "args = parser.parse_args()\nprobe(args.steps)",
    "a number by a check of its type": (
        "def f(x):\n  if not isinstance(x, (int, float)): return\n  probe(x)"
    ),
    "the key of a dict": "xs = {'a': net(x)}\nfor k, v in xs.items(): probe(k)",
    "`is`": "probe(net(x) is None)",
    "`not`": "probe(not net(x))",
    "the time": "import time\nprobe(time.time())",
    "Lightning's batch index": (
        "import lightning as L\nclass M(L.LightningModule):\n"
        "  def training_step(self, batch, batch_idx):\n    probe(batch_idx)"
    ),
    "a device": "probe(device)",
}

OTHERS = {
    "a module": ("probe(net)", Kind.MODULE),
    "a moved module": ("probe(net.cpu())", Kind.MODULE),
    "a module in evaluation": ("probe(net.eval().cpu())", Kind.MODULE),
    "a model from torchvision": (
        "import torchvision\nprobe(torchvision.models.resnet18())",
        Kind.MODULE,
    ),
    "a model from timm": ("import timm\nprobe(timm.create_model('a').cuda())", Kind.MODULE),
    "a pretrained model": (
        "from transformers import AutoModel\nprobe(AutoModel.from_pretrained('a'))",
        Kind.MODULE,
    ),
    "a tokenizer is none": (
        "from transformers import AutoTokenizer\nprobe(AutoTokenizer.from_pretrained('a'))",
        Kind.UNKNOWN,
    ),
    "an optimizer": ("probe(torch.optim.SGD(p))", Kind.OPTIMIZER),
    "what sounds like an optimizer": ("def f(opt_g): probe(opt_g)", Kind.OPTIMIZER),
    "a loader": ("probe(data)", Kind.LOADER),
    "what sounds like a loader": ("def f(train_loader): probe(train_loader)", Kind.LOADER),
    "a dataset": ("probe(TensorDataset(x))", Kind.DATASET),
    "a dataset of this file": (
        "class D(torch.utils.data.Dataset): pass\nprobe(D())",
        Kind.DATASET,
    ),
    "a list": ("probe([net(x)])", Kind.CONTAINER),
    "a parameter": ("def f(x): probe(x)", Kind.PARAMETER),
    "a method of a parameter": ("def f(x): probe(x.mean())", Kind.PARAMETER),
    "a parameter or None": ("def f(x=None): probe(x)", Kind.PARAMETER),
    "a tensor on the device of a parameter": (
        "def f(x): probe(torch.ones(3, device=x.device))",
        Kind.TENSOR | Kind.PARAMETER,
    ),
    "what a function is called for": ("probe(build_model(3))", Kind.MODULE),
    "what a method is called for": ("probe(registry.get_network(net(x)))", Kind.MODULE),
    "what a function does with a model": ("probe(train_model(3))", Kind.UNKNOWN),
    "a number beside the tensors of an output": (
        "probe(net(x).num_tokens)",
        Kind.DEVICE | Kind.HOST,
    ),
    "a buffer that other code gives a number": (
        "class T(nn.Module):\n  def __init__(self):\n    self.register_buffer('n', torch.ones(1))\n"
        "  def forward(self): probe(self.n)\nthing.module.n = 0",
        Kind.DEVICE | Kind.HOST,
    ),
    "a parameter that is annotated as tensor": (
        "def f(x: torch.Tensor): probe(x)",
        Kind.TENSOR | Kind.PARAMETER,
    ),
    "a parameter that is annotated as number": (
        "def f(x: float): probe(x)",
        Kind.HOST | Kind.PARAMETER,
    ),
    "a parameter with methods that only tensors have": (
        "def f(x):\n  x.unsqueeze(0)\n  probe(x)",
        Kind.TENSOR | Kind.PARAMETER,
    ),
    "a tensor from a file": ("probe(torch.load(p))", Kind.UNKNOWN),
    "a function of nothing known": ("probe(torch.exp(x))", Kind.TENSOR),
    "an unknown function of a device tensor": ("probe(mystery(net(x)))", Kind.LIKELY),
    "a method that nobody knows, of a module": ("probe(net.mystery(1))", Kind.LIKELY),
    "an unknown function": ("probe(mystery(1))", Kind.UNKNOWN),
    "an unknown name": ("probe(mystery)", Kind.UNKNOWN),
    "a lambda": ("probe(lambda: 1)", Kind.UNKNOWN),
    "a number or a device tensor": (
        "total = 0\nfor x in data:\n  total += net(x)\nprobe(total)",
        Kind.HOST | Kind.DEVICE,
    ),
    "a function that hands its parameter on": (
        "def f(a):\n  return a\ndef g(y): probe(f(y))",
        Kind.PARAMETER,
    ),
}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(*case, id=f"{title}-{reason}")
        for title, table in (
            ("device", {reason: (text, Kind.DEVICE) for reason, text in DEVICE.items()}),
            ("cpu", {reason: (text, Kind.CPU) for reason, text in CPU.items()}),
            ("host", {reason: (text, Kind.HOST) for reason, text in HOST.items()}),
            ("other", OTHERS),
        )
        for reason, case in table.items()
    ],
)
def test_the_kind_of(probed: Callable[..., Any], text: str, kind: Kind) -> None:
    asked = probed(HEADER + text)
    assert asked.module.value(asked.asked).kind == kind


@pytest.mark.parametrize("text", ARRAY.values(), ids=list(ARRAY))
def test_arrays_are_no_tensors(probed: Callable[..., Any], text: str) -> None:
    asked = probed(HEADER + text)
    value = asked.module.value(asked.asked)
    assert value.has(Kind.ARRAY | Kind.FRESH)
    assert not value.has(Kind.DEVICE | Kind.CPU | Kind.TENSOR | Kind.LIKELY)


def test_a_value_names_the_parameters_that_it_comes_from(probed: Callable[..., Any]) -> None:
    asked = probed("def f(a, b, c):\n  d = a.mean() + b.sum()\n  probe(d)")
    assert asked.module.value(asked.asked).parameters == {"a", "b"}


def test_an_object_names_its_class(probed: Callable[..., Any]) -> None:
    asked = probed("class Meter:\n  pass\nmeter = Meter()\nprobe(meter)")
    assert asked.module.value(asked.asked).classes == (":Meter",)


def test_an_object_of_a_class_of_another_file_names_it(probed: Callable[..., Any]) -> None:
    asked = probed("from utils import Meter\nmeter = Meter(1)\nprobe(meter)")
    assert asked.module.value(asked.asked).classes == ("utils.Meter",)


@pytest.mark.parametrize(
    "text",
    [
        "x = x + 1\nprobe(x)",
        "def f(a): return f(a)\nprobe(f(1))",
        "def f(a): return g(a)\ndef g(a): return f(a)\nprobe(f(1))",
        "a = b\nb = a\nprobe(a)",
        "class A:\n  def f(self):\n    self.x = self.x + 1\n    probe(self.x)",
        "class A(B): pass\nclass B(A): pass\nprobe(A())",
        "for x in x: probe(x)",
        "probe(" + " + ".join(["a"] * 300) + ")",
        "\n".join(
            ["x0 = 1", *(f"x{i} = x{i - 1} + x{i - 1}" for i in range(1, 200)), "probe(x199)"]
        ),
    ],
    ids=["itself", "recursion", "mutual", "names", "attribute", "bases", "loop", "wide", "long"],
)
def test_definitions_that_go_in_circles_or_on_and_on_end(
    probed: Callable[..., Any], text: str
) -> None:
    asked = probed(text)
    assert not asked.module.value(asked.asked).has(Kind.DEVICE)


class TestLoopsOverBatches:
    @pytest.mark.parametrize(
        "source",
        [
            "train_loader",
            "tqdm(train_loader)",
            "enumerate(train_loader, 1)",
            "enumerate(tqdm(train_loader))",
            "zip(train_loader, others)",
            "metric_logger.log_every(train_loader, 10, header)",
            "self.dataloader",
            "data",
            "islice(data, 10)",
        ],
    )
    def test_goes_over_the_loader(self, module_of: Callable[..., Any], source: str) -> None:
        module = module_of(HEADER + f"for batch in {source}: pass\n")
        (loop,) = module.nodes(cst.For)
        assert is_over_loader(loop.iter, module.values)

    @pytest.mark.parametrize(
        "source", ["range(10)", "files", "enumerate(files)", "net.parameters()"]
    )
    def test_goes_over_something_else(self, module_of: Callable[..., Any], source: str) -> None:
        module = module_of(HEADER + f"for batch in {source}: pass\n")
        (loop,) = module.nodes(cst.For)
        assert not is_over_loader(loop.iter, module.values)


class TestWords:
    @pytest.mark.parametrize(
        ("kind", "names"),
        [
            (Kind.MODULE, "model net netD net_g G_net my_encoder discriminator ddp_model"),
            (Kind.MODULE, "criterion loss_fn loss_func criterion_ce criterionGAN"),
            (Kind.OPTIMIZER, "optimizer optim opt opt_g D_optimizer solver"),
            (Kind.LOADER, "loader train_loader trainloader val_dataloader dl train_iter"),
            (Kind.NOTHING, "modeling network_size x models_path internet loss losses total_loss"),
            (Kind.MODULE, "model_ema model_without_ddp model_1 model_fn"),
            (Kind.NOTHING, "model_names model_parser model_setup model_registry model_outputs"),
            (Kind.NOTHING, "build_model get_network save_model train_model load_encoder"),
            (Kind.NOTHING, "option options scheduler adopted load data reloaded iterations"),
        ],
    )
    def test_name_a_kind(self, kind: Kind, names: str) -> None:
        assert {name: kind_by_name(name) for name in names.split()} == dict.fromkeys(
            names.split(), kind
        )


class TestValue:
    def test_either_of_two_keeps_what_both_say(self) -> None:
        one = Value(Kind.DEVICE, frozenset({"a"}), ("A",), DEVICE_VALUE, "float32")
        two = Value(Kind.HOST, frozenset({"b"}), ("B", "A"), HOST_VALUE, "float64")
        both = one | two
        assert both.kind == Kind.DEVICE | Kind.HOST
        assert both.parameters == {"a", "b"}
        assert both.classes == ("A", "B")
        assert both.element == DEVICE_VALUE | HOST_VALUE
        assert both.dtype is None

    def test_only_needs_something_known(self) -> None:
        assert HOST_VALUE.only(Kind.HOST | Kind.CPU)
        assert not (HOST_VALUE | UNKNOWN_VALUE).only(Kind.HOST)
        assert not Value(Kind.NOTHING).only(Kind.HOST)

    def test_a_container_knows_what_its_elements_can_be(self) -> None:
        assert container([DEVICE_VALUE, HOST_VALUE]).element == DEVICE_VALUE | HOST_VALUE
        assert container([]).element is None


@pytest.mark.parametrize(
    ("operands", "kind"),
    [
        ((Kind.DEVICE, Kind.HOST), Kind.DEVICE),
        ((Kind.DEVICE, Kind.UNKNOWN), Kind.DEVICE),
        ((Kind.DEVICE | Kind.HOST, Kind.HOST), Kind.DEVICE | Kind.HOST),
        ((Kind.CPU, Kind.HOST), Kind.CPU),
        ((Kind.TENSOR, Kind.PARAMETER), Kind.TENSOR | Kind.PARAMETER),
        ((Kind.LIKELY, Kind.HOST), Kind.LIKELY),
        ((Kind.ARRAY, Kind.HOST), Kind.FRESH),
        ((Kind.ARRAY, Kind.PARAMETER), Kind.ARRAY),
        ((Kind.SCALAR, Kind.HOST), Kind.SCALAR),
        ((Kind.PARAMETER, Kind.HOST), Kind.PARAMETER),
        ((Kind.UNKNOWN, Kind.HOST), Kind.UNKNOWN),
        ((Kind.HOST, Kind.HOST), Kind.HOST),
        ((Kind.CONTAINER, Kind.HOST), Kind.CONTAINER),
    ],
    ids=str,
)
def test_arithmetic_makes_what_the_strongest_operand_is(
    operands: tuple[Kind, Kind], kind: Kind
) -> None:
    assert arithmetic(*map(Value, operands)).kind == kind
