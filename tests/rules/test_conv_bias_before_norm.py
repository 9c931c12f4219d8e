"""TL304: which biases a norm cancels, what the fix writes, and when it is withheld."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from torchlint.rules.model.conv_bias_before_norm import rule

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

HEADER = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n"
FIXTURES = Path(__file__).parents[2] / "fixtures" / "conv-bias-before-norm"
ONLY = Selection(select=("TL304",), ignore=())


def targets(**files: str) -> list[Target]:
    return [
        Target(f"{name}.py", ONLY, (2, 13), dedent(code).encode()) for name, code in files.items()
    ]


def findings(code: str, **others: str) -> list[Finding]:
    report = check(targets(model=HEADER + dedent(code), **others))
    assert not report.diagnostics
    return [finding for finding in report.findings if finding.path == "model.py"]


def fixed(code: str) -> str:
    report = fix_targets(targets(model=HEADER + dedent(code)), unsafe=True)
    assert not report.diagnostics
    after = report.files[0].after.decode() if report.files else HEADER + dedent(code)
    return after.removeprefix(HEADER)


def network(init: str, forward: str, **methods: str) -> str:
    """A module with these bodies."""
    parts = {"__init__(self, c=8, bn=True)": init, "forward(self, x)": forward, **methods}
    lines = ["class Net(nn.Module):"]
    for signature, body in parts.items():
        head = signature if "(" in signature else f"{signature}(self, x)"
        lines += [f"    def {head}:", indent(dedent(body).strip("\n"), " " * 8)]
    return "\n".join(lines) + "\n"


CONV_BN = """
    self.conv = nn.Conv2d(c, c, 3)
    self.bn = nn.BatchNorm2d(c)
"""
MANY = """
    self.convs = nn.ModuleList()
    self.bns = nn.ModuleList()
    for _ in range(3):
        self.convs.append(nn.Conv2d(c, c, 1))
        self.bns.append(nn.BatchNorm2d(c))
"""

REPORTED = {
    "Conv1d": "net = nn.Sequential(nn.Conv1d(3, 8, 3), nn.BatchNorm1d(8))",
    "Conv2d": "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))",
    "Conv3d": "net = nn.Sequential(nn.Conv3d(3, 8, 3), nn.BatchNorm3d(8))",
    "transposed": "net = nn.Sequential(nn.ConvTranspose2d(3, 8, 3), nn.BatchNorm2d(8))",
    "sync norm": "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.SyncBatchNorm(8))",
    "lazy": "net = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d())",
    "lazy, and the norm's first argument is eps": (
        "net = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(1e-3))"
    ),
    "bias=True": "net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=True), nn.BatchNorm2d(8))",
    "bias by place": (
        'net = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 0, 1, 1, True, "zeros"), nn.BatchNorm2d(8))'
    ),
    "MLP: as many features in the norm as in the layer": (
        "def mlp(i, o):\n    return nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU())"
    ),
    "nested Sequential before": (
        "net = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Conv2d(3, 8, 3)), nn.BatchNorm2d(8))"
    ),
    "nested Sequential behind": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Sequential(nn.BatchNorm2d(8), nn.ReLU()))"
    ),
    "Identity between hands it on": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Identity(), nn.BatchNorm2d(8))"
    ),
    "a hundred Sequentials around it": (
        f"net = {'nn.Sequential(' * 100}nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8){')' * 100}"
    ),
    "OrderedDict of pairs": """
        from collections import OrderedDict
        net = nn.Sequential(OrderedDict([
            ("conv", nn.Conv2d(3, 8, 3)),
            ("bn", nn.BatchNorm2d(8)),
        ]))
    """,
    "OrderedDict that grows": """
        from collections import OrderedDict
        def make():
            parts = OrderedDict()
            parts["conv"] = nn.Conv2d(3, 8, 3)
            parts["bn"] = nn.BatchNorm2d(8)
            return nn.Sequential(parts)
    """,
    "subclass of Sequential": """
        class Block(nn.Sequential):
            def __init__(self, c):
                super().__init__(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))
    """,
    "subclass of Sequential with add_module": """
        class Block(nn.Sequential):
            def __init__(self, c):
                super().__init__()
                self.add_module("conv", nn.Conv2d(c, c, 3))
                self.add_module("bn", nn.BatchNorm2d(c))
            def forward(self, x):
                return torch.cat([x, super().forward(x)], 1)
    """,
    "imported layer with another name": """
        from torch.nn import Conv2d as C, BatchNorm2d as BN
        net = nn.Sequential(C(3, 8, 3), BN(8))
    """,
    "layer under another name": """
        conv = nn.Conv2d
        norm = nn.SyncBatchNorm if torch.distributed.is_initialized() else nn.BatchNorm2d
        net = nn.Sequential(conv(3, 8, 3), norm(8))
    """,
    "either of two convolutions": """
        def make(dim):
            conv = nn.Conv2d if dim == 2 else nn.Conv3d
            return nn.Sequential(conv(3, 8, 3), nn.SyncBatchNorm(8))
    """,
    "name on a line of its own": """
        conv = (
            nn.Conv2d
        )
        net = nn.Sequential(conv(3, 8, 3), nn.BatchNorm2d(8))
    """,
    "list literal that a helper returns": (
        "def block(c):\n    return [nn.Conv2d(c, c, 3), nn.BatchNorm2d(c), nn.ReLU()]"
    ),
    "list += literal in a loop": """
        def features(config):
            layers, c = [], 3
            layers = []
            for width in config:
                if width == "M":
                    layers += [nn.MaxPool2d(2)]
                    continue
                layers += [nn.Conv2d(c, width, 3), nn.BatchNorm2d(width), nn.ReLU()]
                c = width
            return nn.Sequential(*layers)
    """,
    "append and append": """
        def projector(sizes):
            layers = []
            for i in range(len(sizes) - 2):
                layers.append(nn.Linear(sizes[i], sizes[i + 1]))
                layers.append(nn.BatchNorm1d(sizes[i + 1]))
                layers.append(nn.ReLU())
            return nn.Sequential(*layers)
    """,
    "extend, and a list plus a list": """
        def make(c):
            layers = [nn.Conv2d(3, c, 3)]
            layers.extend([nn.BatchNorm2d(c), nn.ReLU()])
            layers = layers + [nn.Flatten()]
            return nn.Sequential(*layers)
    """,
    "list in a method that grows an attribute": network(
        """
        self.layers = []
        self.layers.append(nn.Conv2d(c, c, 3))
        self.layers.append(nn.BatchNorm2d(c))
        self.net = nn.Sequential(*self.layers)
        """,
        "return self.net(x)",
    ),
    "end of one round, start of the next": """
        def make(c):
            layers = [nn.ReLU()]
            for _ in range(3):
                layers.append(nn.BatchNorm2d(c))
                layers.append(nn.ReLU())
                layers.append(nn.Conv2d(c, c, 3))
            layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
    "list comprehension of blocks": """
        def make(c):
            return nn.Sequential(
                *[nn.Sequential(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c)) for _ in range(3)]
            )
    """,
    "norm only if asked for": """
        def block(i, o, normalize=True):
            layers = [nn.Linear(i, o)]
            if normalize:
                layers.append(nn.BatchNorm1d(o, 0.8))
            layers.append(nn.LeakyReLU(0.2))
            return layers
    """,
    "one layer for both arms": """
        def make(c, batch_norm):
            layers = []
            conv = nn.Conv2d(3, c, 3)
            if batch_norm:
                layers += [conv, nn.BatchNorm2d(c), nn.ReLU()]
            else:
                layers += [conv, nn.ReLU()]
            return nn.Sequential(*layers)
    """,
    "nested calls in forward": network(CONV_BN, "return F.relu(self.bn(self.conv(x)))"),
    "one after the other in forward": network(
        CONV_BN, "x = self.conv(x)\nx = self.bn(x)\nreturn x"
    ),
    "with an annotation": network(CONV_BN, "y: torch.Tensor = self.conv(x)\nreturn self.bn(y)"),
    "only the shape is read between": network(
        CONV_BN, "x = self.conv(x)\nassert x.shape[1] == 8\nreturn self.bn(x)"
    ),
    "dry run in __init__": network(
        CONV_BN + "\n    self.size = self.conv(torch.zeros(1, c, 8, 8)).numel()",
        "return self.bn(self.conv(x))",
    ),
    "another class stops something of the same name": network(
        CONV_BN, "return self.bn(self.conv(x))"
    )
    + "class Other(nn.Module):\n    def __init__(self):\n"
    + "        self.bn = nn.Dropout()\n        self.bn.eval()\n",
    "Sequential in forward": network(
        """
        self.features = nn.Sequential(nn.ReLU(), nn.Conv2d(c, c, 3))
        self.bn = nn.BatchNorm2d(c)
        """,
        "x = self.features(x)\nreturn self.bn(x)",
    ),
    "one convolution or another": network(
        """
        if bn:
            self.conv = nn.Conv2d(c, c, 3)
        else:
            self.conv = nn.Conv2d(c, c, 5, bias=False)
        self.bn = nn.BatchNorm2d(c)
        """,
        "return self.bn(self.conv(x))",
    ),
    "norm or Identity": network(
        """
        self.conv = nn.Conv2d(c, c, 3)
        self.bn = nn.BatchNorm2d(c) if bn else nn.Identity()
        """,
        "return self.bn(self.conv(x))",
    ),
    "paired ModuleLists with an index": network(
        MANY,
        "for i, conv in enumerate(self.convs):\n"
        "    bn = self.bns[i]\n"
        "    x = F.relu(bn(conv(x)))\n"
        "return x",
    ),
    "paired ModuleLists with zip": network(
        MANY, "for conv, bn in zip(self.convs, self.bns):\n    x = F.relu(bn(conv(x)))\nreturn x"
    ),
    "paired ModuleLists from comprehensions": network(
        """
        self.convs = nn.ModuleList([nn.Conv2d(c, c, 1) for _ in range(3)])
        self.bns = nn.ModuleList(nn.BatchNorm2d(c) for _ in range(3))
        """,
        "for i in range(3):\n    x = self.bns[i](self.convs[i](x))\nreturn x",
    ),
    "ModuleLists of ModuleLists": network(
        """
        self.all_convs = nn.ModuleList()
        self.all_bns = nn.ModuleList()
        for _ in range(2):
            convs = nn.ModuleList()
            bns = nn.ModuleList()
            for _ in range(3):
                convs.append(nn.Conv2d(c, c, 1))
                bns.append(nn.BatchNorm2d(c))
            self.all_convs.append(convs)
            self.all_bns.append(bns)
        """,
        "for i in range(2):\n"
        "    for j in range(3):\n"
        "        conv = self.all_convs[i][j]\n"
        "        bn = self.all_bns[i][j]\n"
        "        x = bn(conv(x))\n"
        "return x",
    ),
    "ModuleList that a plain loop runs": network(
        "self.layers = nn.ModuleList([nn.Conv2d(c, c, 3), nn.BatchNorm2d(c), nn.ReLU()])",
        "for layer in self.layers:\n    x = layer(x)\nreturn x",
    ),
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=REPORTED)
def test_reports_a_bias_that_the_norm_cancels(code: str) -> None:
    found = findings(code)
    assert [finding.code for finding in found] == ["TL304"]
    assert found[0].tier is Tier.DEFAULT


HINTS = {
    "instance norm": "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8))",
    "a group per channel": "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(8, 8))",
    "one norm behind two layers shares its running mean": network(
        """
        self.conv1 = nn.Conv2d(c, c, 3, bias=False)
        self.conv2 = nn.Conv2d(c, c, 3)
        self.bn = nn.BatchNorm2d(c)
        """,
        "return self.bn(self.conv2(F.relu(self.bn(self.conv1(x)))))",
    ),
}


@pytest.mark.parametrize("code", HINTS.values(), ids=HINTS)
def test_only_hints_where_the_gain_is_less_certain(code: str) -> None:
    assert [finding.tier for finding in findings(code)] == [Tier.HINT]


LEFT_ALONE = {
    "activation between in forward": network(
        CONV_BN, "x = F.relu(self.conv(x))\nx = self.bn(x)\nreturn x"
    ),
    "activation between in Sequential": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.BatchNorm2d(8))"
    ),
    "dropout between": ("net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.3), nn.BatchNorm1d(8))"),
    "PixelShuffle mixes the channels": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.PixelShuffle(2), nn.BatchNorm2d(2))"
    ),
    "output used beside the norm": network(
        CONV_BN, "y = self.conv(x)\nz = self.bn(y) + y\nreturn z"
    ),
    "output used beside a norm that is optional": network(
        "self.conv = nn.Conv2d(c, c, 3)\nif bn:\n    self.bn = nn.BatchNorm2d(c)",
        "y = self.conv(x)\nreturn self.bn(y) + y",
    ),
    "output kept for later": network(
        CONV_BN, "y = self.conv(x)\nself.seen = y\ny = self.bn(y)\nreturn y"
    ),
    "output read by a closure": network(
        CONV_BN, "y = self.conv(x)\nlater = lambda: y\nreturn self.bn(y), later"
    ),
    "output returned too": network(CONV_BN, "y = self.conv(x)\nreturn y, self.bn(y)"),
    "sum with a shortcut": network(CONV_BN, "return self.bn(self.conv(x) + x)"),
    "norm on one path in forward": network(
        CONV_BN, "x = self.conv(x)\nif self.training:\n    x = self.bn(x)\nreturn F.relu(x)"
    ),
    "order in __init__ is not the order of calls": network(
        """
        self.conv1 = nn.Conv2d(c, c, 3)
        self.bn1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, bias=False)
        """,
        "return self.conv1(F.relu(self.bn1(self.conv2(x))))",
    ),
    "attributes that nobody calls": network(CONV_BN, "return x"),
    "add_module in a class that is no Sequential": network(
        """
        self.add_module("conv", nn.Conv2d(c, c, 3))
        self.add_module("bn", nn.BatchNorm2d(c))
        """,
        "return self.conv(F.relu(self.bn(x)))",
    ),
    "container that does not say in which order it runs": """
        class Parts(nn.Module):
            def __init__(self, c):
                super().__init__()
                self.add_module("conv", nn.Conv2d(c, c, 3))
                self.add_module("bn", nn.BatchNorm2d(c))
    """,
    "list to choose from": (
        "import random\npart = random.choice([nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8)])"
    ),
    "Sequential with a forward of its own": """
        class Block(nn.Sequential):
            def __init__(self, c):
                super().__init__(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))
            def forward(self, x):
                return self[1](F.relu(self[0](x)))
    """,
    "GroupNorm with larger groups": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.BatchNorm2d(8))"
    ),
    "GroupNorm with unknown groups": (
        "def f(g, c):\n"
        "    return nn.Sequential(nn.Conv2d(3, c, 3), nn.GroupNorm(g, c), nn.BatchNorm2d(c))"
    ),
    "LayerNorm": (
        "net = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.ReLU(), nn.BatchNorm1d(8))"
    ),
    "Linear and a norm over the length": network(
        "self.fc = nn.Linear(c, c)\nself.bn = nn.BatchNorm1d(100)", "return self.bn(self.fc(x))"
    ),
    "Linear and a lazy norm over nobody knows what": (
        "net = nn.Sequential(nn.Linear(3, 8), nn.LazyBatchNorm1d())"
    ),
    "Linear and InstanceNorm1d, which takes (N, C) for (C, L)": (
        "net = nn.Sequential(nn.Linear(3, 8), nn.InstanceNorm1d(8))"
    ),
    "a norm for another number of channels": (
        "def parts():\n    return [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(16)]"
    ),
    "same weights twice": network(CONV_BN, "return self.conv(F.relu(self.bn(self.conv(x))))"),
    "same weights in two calls, each with a norm": network(
        CONV_BN + "\n    self.bn2 = nn.BatchNorm2d(c)",
        "return self.bn(self.conv(x)) + self.bn2(self.conv(2 * x))",
    ),
    "same weights in the test of a conditional": network(
        CONV_BN, "return self.bn(self.conv(x)) if self.bn(self.conv(-x)).mean() > 0 else x"
    ),
    "same layer in two containers": network(
        """
        conv = nn.Conv2d(c, c, 3)
        self.a = nn.Sequential(conv, nn.BatchNorm2d(c))
        self.b = nn.Sequential(conv, nn.BatchNorm2d(c))
        """,
        "return self.a(x), self.b(x)",
    ),
    "same layer in a container and in a call": network(
        """
        self.conv = nn.Conv2d(c, c, 3)
        self.a = nn.Sequential(self.conv, nn.BatchNorm2d(c))
        self.bn = nn.BatchNorm2d(c)
        """,
        "return self.a(x), self.bn(self.conv(x))",
    ),
    "layer handed to unknown code": network(
        CONV_BN, "return self.bn(self.conv(x)) + checkpoint(self.conv, x)"
    ),
    "layer under a second name": network(
        CONV_BN + "\n    self.first = [self.other(self.conv)]", "return self.bn(self.conv(x))"
    ),
    "output seen by a hook": network(
        CONV_BN + "\n    self.conv.register_forward_hook(print)", "return self.bn(self.conv(x))"
    ),
    "subclass overrides forward": network(CONV_BN, "return self.bn(self.conv(x))")
    + "class Other(Net):\n    def forward(self, x):\n        return self.bn(-self.conv(x))\n",
    "weight_norm around the layer": """
        from torch.nn.utils import weight_norm
        net = nn.Sequential(weight_norm(nn.Conv2d(3, 8, 3)), nn.BatchNorm2d(8))
    """,
    "spectral_norm applied later": network(
        CONV_BN + "\n    nn.utils.spectral_norm(self.conv)", "return self.bn(self.conv(x))"
    ),
    "functional convolution with own parameters": network(
        "self.w = self.b = None\nself.bn = nn.BatchNorm2d(c)",
        "return self.bn(F.conv2d(x, self.w, self.b))",
    ),
    "bias from a configuration": (
        "def f(cfg):\n"
        "    return nn.Sequential(nn.Conv2d(3, 8, 3, bias=cfg.bias), nn.BatchNorm2d(8))\n"
        "other = nn.Conv2d(3, 8, 3)"
    ),
    "bias perhaps in **kwargs": (
        "def f(**kw):\n    return nn.Sequential(nn.Conv2d(3, 8, 3, **kw), nn.BatchNorm2d(8))\n"
        "other = nn.Conv2d(3, 8, 3)"
    ),
    "bias perhaps in *args": (
        "def f(*args):\n    return nn.Sequential(nn.Conv2d(*args), nn.BatchNorm2d(8))"
    ),
    "no bias by place": ("net = nn.Sequential(nn.Linear(3, 8, False), nn.BatchNorm1d(8))"),
    "no bias by place in a lazy layer": (
        "net = nn.Sequential(nn.LazyConv2d(8, 3, 1, 0, 1, 1, False), nn.BatchNorm2d(8))"
    ),
    "norm that a parameter may choose": """
        def f(norm_layer=None):
            if norm_layer is None:
                norm_layer = nn.BatchNorm2d
            return nn.Sequential(nn.Conv2d(3, 8, 3), norm_layer(8))
        other = nn.BatchNorm2d(8)
    """,
    "perhaps a layer of another library": """
        import quantized
        def f(quantize):
            conv = quantized.Conv2d if quantize else nn.Conv2d
            return nn.Sequential(conv(3, 8, 3), nn.BatchNorm2d(8))
    """,
    "one of several norms": """
        def f(c, norm):
            layers = [nn.Conv2d(3, c, 3)]
            if norm == "batch":
                layers.append(nn.BatchNorm2d(c))
            elif norm == "layer":
                layers.append(nn.LayerNorm([c, 8, 8]))
            layers.append(nn.ReLU())
            return nn.Sequential(*layers)
    """,
    "the last of several norms": """
        def f(c, norm):
            layers = [nn.Conv2d(3, c, 3)]
            if norm == "layer":
                layers.append(nn.LayerNorm([c, 8, 8]))
            elif norm == "batch":
                layers.append(nn.BatchNorm2d(c))
            layers.append(nn.ReLU())
            return nn.Sequential(*layers)
    """,
    "a norm or a convolution follows, and no condition says which": """
        def f(c):
            layers = []
            for _ in range(3):
                layers.append(nn.Conv2d(c, c, 3))
            layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
    "the rest of the round is skipped at times": """
        def f(c, kinds):
            layers = []
            for kind in kinds:
                layers.append(nn.Conv2d(c, c, 3))
                if kind == "plain":
                    continue
                layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
    "norm without affine": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, affine=False))"
    ),
    "norm without running statistics": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, track_running_stats=False))"
    ),
    "frozen norm of another library": """
        from torchvision.ops import FrozenBatchNorm2d
        net = nn.Sequential(nn.Conv2d(3, 8, 3), FrozenBatchNorm2d(8))
        other = nn.BatchNorm2d(8)
    """,
    "norm class of this file": """
        class BatchNorm2d(nn.Module):
            pass
        net = nn.Sequential(nn.Conv2d(3, 8, 3), BatchNorm2d(8))
        other = nn.BatchNorm2d(8)
    """,
    "bn.eval()": network(CONV_BN + "\n    self.bn.eval()", "return self.bn(self.conv(x))"),
    "bn.train(False)": network(
        CONV_BN + "\n    self.bn.train(False)", "return self.bn(self.conv(x))"
    ),
    "bn.requires_grad_(False)": network(
        CONV_BN + "\n    self.bn.requires_grad_(False)", "return self.bn(self.conv(x))"
    ),
    "bn.weight.requires_grad = False": network(
        CONV_BN + "\n    self.bn.weight.requires_grad = False", "return self.bn(self.conv(x))"
    ),
    "parameters of the norm frozen in a loop": network(
        CONV_BN + "\n    for p in self.bn.parameters():\n        p.requires_grad = False",
        "return self.bn(self.conv(x))",
    ),
    "norm of a model frozen from outside": network(CONV_BN, "return self.bn(self.conv(x))")
    + "net = Net()\nnet.bn.eval()\n",
    "all norms frozen by type": network(CONV_BN, "return self.bn(self.conv(x))")
    + "for m in Net().modules():\n    if isinstance(m, nn.BatchNorm2d):\n        m.eval()\n",
    "fused for inference": network(CONV_BN, "return self.bn(self.conv(x))")
    + "torch.ao.quantization.fuse_modules(Net(), [['conv', 'bn']])\n",
    "ModuleList runs in no order of its own": network(
        "self.parts = nn.ModuleList([nn.Conv2d(c, c, 3), nn.BatchNorm2d(c)])",
        "return self.parts[1](F.relu(self.parts[0](x)))",
    ),
    "list that becomes a ModuleList": network(
        """
        parts = []
        parts.append(nn.Conv2d(c, c, 3))
        parts.append(nn.BatchNorm2d(c))
        self.parts = nn.ModuleList(parts)
        """,
        "return run(self.parts, x)",
    ),
    "Sequential run by hand with more in between": network(
        "self.layers = nn.Sequential(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))",
        "for layer in self.layers:\n    x = layer(x)\n    x = x.masked_fill(x < 0, 0)\nreturn x",
    ),
    "Sequential given to a class that runs it by hand": """
        class Masked(nn.Module):
            def __init__(self, layers):
                super().__init__()
                self.layers = layers
            def forward(self, x, mask):
                for layer in self.layers:
                    x = layer(x)
                    x = x.masked_fill(mask, 0)
                return x
        net = Masked(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)))
    """,
    "layers that are only looped over together": network(
        CONV_BN + "\n    for part in [self.conv, self.bn]:\n        part.to('cuda')",
        "return self.bn(F.relu(self.conv(x)))",
    ),
    "layers taken off the list again": """
        def f(c):
            layers = [nn.ReLU(), nn.Conv2d(3, c, 3)]
            layers.pop()
            layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
    "helper's last layer, which other callers may follow with anything": """
        def first(c):
            return [nn.Conv2d(3, c, 3)]
        net = nn.Sequential(*first(8), nn.BatchNorm2d(8))
    """,
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_is_silent_where_the_bias_matters_or_nobody_can_tell(code: str) -> None:
    assert findings(code) == []


FIXES = {
    "argument appended": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))",
        "net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8))",
    ),
    "bias=True replaced": (
        "net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=True, groups=1), nn.BatchNorm2d(8))",
        "net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False, groups=1), nn.BatchNorm2d(8))",
    ),
    "bias by place replaced": (
        "net = nn.Sequential(nn.Linear(3, 8, True), nn.BatchNorm1d(8))",
        "net = nn.Sequential(nn.Linear(3, 8, False), nn.BatchNorm1d(8))",
    ),
    "norm under a parameter": (
        "def f(c, bn):\n"
        "    layers = [nn.Conv2d(3, c, 3)]\n"
        "    if bn:\n"
        "        layers += [nn.BatchNorm2d(c)]\n"
        "    return nn.Sequential(*layers)\n",
        "def f(c, bn):\n"
        "    layers = [nn.Conv2d(3, c, 3, bias=not bn)]\n"
        "    if bn:\n"
        "        layers += [nn.BatchNorm2d(c)]\n"
        "    return nn.Sequential(*layers)\n",
    ),
    "norm unless a parameter": (
        "def f(c, first):\n"
        "    layers = [nn.Conv2d(3, c, 3)]\n"
        "    if not first:\n"
        "        layers.append(nn.BatchNorm2d(c))\n"
        "    layers.append(nn.ReLU())\n"
        "    return layers\n",
        "def f(c, first):\n"
        "    layers = [nn.Conv2d(3, c, 3, bias=bool(first))]\n"
        "    if not first:\n"
        "        layers.append(nn.BatchNorm2d(c))\n"
        "    layers.append(nn.ReLU())\n"
        "    return layers\n",
    ),
    "norm in the other arm": (
        "def f(c, plain):\n"
        "    conv = nn.Conv2d(3, c, 3)\n"
        "    if plain:\n"
        "        return nn.Sequential(conv, nn.ReLU())\n"
        "    else:\n"
        "        return nn.Sequential(conv, nn.BatchNorm2d(c))\n",
        "def f(c, plain):\n"
        "    conv = nn.Conv2d(3, c, 3, bias=bool(plain))\n"
        "    if plain:\n"
        "        return nn.Sequential(conv, nn.ReLU())\n"
        "    else:\n"
        "        return nn.Sequential(conv, nn.BatchNorm2d(c))\n",
    ),
    "both under one condition": (
        "def f(c, small):\n"
        "    if small:\n"
        "        return nn.Sequential(nn.Conv2d(3, c, 3), nn.BatchNorm2d(c))\n"
        "    return nn.Identity()\n",
        "def f(c, small):\n"
        "    if small:\n"
        "        return nn.Sequential(nn.Conv2d(3, c, 3, bias=False), nn.BatchNorm2d(c))\n"
        "    return nn.Identity()\n",
    ),
    "norm or Identity": (
        network(
            "self.conv = nn.Conv2d(c, c, 3)\nself.bn = nn.BatchNorm2d(c) if bn else nn.Identity()",
            "return self.bn(self.conv(x))",
        ),
        network(
            "self.conv = nn.Conv2d(c, c, 3, bias=not bn)\n"
            "self.bn = nn.BatchNorm2d(c) if bn else nn.Identity()",
            "return self.bn(self.conv(x))",
        ),
    ),
}


@pytest.mark.parametrize(("before", "after"), FIXES.values(), ids=FIXES)
def test_fix_leaves_the_bias_out_where_the_norm_is(before: str, after: str) -> None:
    assert fixed(before) == after
    assert fixed(after) == after


def test_fix_is_never_made_without_the_word_unsafe() -> None:
    code = "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n"
    assert not fix_targets(targets(model=HEADER + code), unsafe=False).files


PAIR = "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))\n"
DENSE = "net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8))\n"
WITHHELD = {
    "m.bias.data written by type": PAIR
    + "for m in net.modules():\n    if isinstance(m, nn.Conv2d):\n        m.bias.data.zero_()\n",
    "init.constant_ of the bias": PAIR + "nn.init.constant_(net[0].bias, 0)\n",
    "an item of the bias": PAIR + "net[0].bias[0] = 1\n",
    "by the name of the class": PAIR
    + "def init(m):\n"
    + "    if m.__class__.__name__.find('Conv') != -1:\n        m.bias.data.fill_(0)\n",
    "hasattr is no question: the attribute is there, and None": PAIR
    + "for m in net:\n    if hasattr(m, 'bias'):\n        m.bias.data.zero_()\n",
    "a Linear's, for a Linear": DENSE
    + "for m in net:\n    if isinstance(m, nn.Linear):\n        m.bias.data.zero_()\n",
    "in the arm for all but norms": PAIR
    + "for m in net:\n    if isinstance(m, nn.BatchNorm2d):\n        m.weight.data.fill_(1)\n"
    + "    else:\n        m.bias.data.zero_()\n",
    "of self.conv": network(
        CONV_BN + "\n    self.conv.bias.data.zero_()", "return self.bn(self.conv(x))"
    ),
    "given to a function that may use it": network(
        CONV_BN + "\n    init_layer(self.conv)", "return self.bn(self.conv(x))"
    ),
    "state dict loaded": PAIR + "net.load_state_dict(torch.load('old.pt'))\n",
    "pretrained weights": PAIR + "import models\nold = models.resnet18(pretrained=True)\n",
    "from_pretrained": PAIR + "old = Encoder.from_pretrained('name')\n",
    "torch.hub": PAIR + "old = torch.hub.load('repo', 'model')\n",
    "a condition that is no parameter": """
        def f(c, depth):
            layers = []
            for i in range(depth):
                layers.append(nn.Conv2d(c, c, 3))
                if i < depth - 1:
                    layers.append(nn.BatchNorm2d(c))
                layers.append(nn.ReLU())
            return nn.Sequential(*layers)
    """,
    "a parameter that is assigned again": """
        def f(c, bn):
            layers = [nn.Conv2d(3, c, 3)]
            bn = bn and c > 8
            if bn:
                layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
    "a condition that is computed later": """
        def f(c, depth):
            layers = [nn.Conv2d(3, c, 3)]
            bn = depth > 3
            if bn:
                layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
    "two conditions": """
        def f(c, bn, deep):
            layers = [nn.Conv2d(3, c, 3)]
            if deep:
                if bn:
                    layers.append(nn.BatchNorm2d(c))
            return nn.Sequential(*layers)
    """,
}


@pytest.mark.parametrize("code", WITHHELD.values(), ids=WITHHELD)
def test_withholds_the_fix_and_says_why(code: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is None
    assert finding.withheld


NOT_WITHHELD = {
    "asks whether there is a bias": PAIR
    + "for m in net:\n    if isinstance(m, nn.Conv2d):\n        if m.bias is not None:\n"
    + "            m.bias.data.zero_()\n",
    "asks whether the bias is anything": PAIR
    + "for m in net:\n    if isinstance(m, nn.Conv2d):\n        if m.bias:\n"
    + "            nn.init.constant_(m.bias, 0)\n",
    "a module's own parameter called bias": PAIR
    + network("self.bias = nn.Parameter(torch.zeros(c))", "return F.linear(x, x, self.bias)"),
    "only asks, and writes nothing": PAIR + "print(net[0].bias is None)\n",
    "bias only in a comment": PAIR
    + "for m in net:\n    if isinstance(m, nn.Conv2d):\n"
    + "        nn.init.ones_(m.weight)  # no bias, the norm has one\n",
    "bias of norms": PAIR
    + "for m in net:\n    if isinstance(m, nn.Conv2d):\n        nn.init.ones_(m.weight)\n"
    + "    elif isinstance(m, nn.BatchNorm2d):\n        m.bias.data.zero_()\n",
    "bias of another kind of layer": PAIR
    + "for m in net:\n    if isinstance(m, nn.Linear):\n        m.bias.data.zero_()\n",
    "bias of the norm": network(
        CONV_BN + "\n    self.bn.bias.data.zero_()", "return self.bn(self.conv(x))"
    ),
    "state of the optimizer": PAIR + "optimizer.load_state_dict(torch.load('old.pt'))\n",
    "pretrained=False": PAIR + "import models\nold = models.resnet18(pretrained=False)\n",
    "weight initialised": network(
        CONV_BN + "\n    nn.init.ones_(self.conv.weight)", "return self.bn(self.conv(x))"
    ),
}


@pytest.mark.parametrize("code", NOT_WITHHELD.values(), ids=NOT_WITHHELD)
def test_keeps_the_fix_where_nothing_needs_the_bias(code: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is not None


ELSEWHERE = {
    "initialises by type": """
        from torch import nn
        def init(net):
            for m in net.modules():
                if isinstance(m, (nn.Conv2d, nn.Linear)):
                    nn.init.kaiming_normal_(m.weight)
                    nn.init.constant_(m.bias, 0)
    """,
    "initialises by class name": """
        import torch
        def init(m):
            if type(m).__name__.find("Conv") != -1:
                m.weight.data.normal_(0, 0.02)
                m.bias.data.zero_()
    """,
    "loads a checkpoint": "import torch\ndef load(net):\n    net.load_state_dict(torch.load('x'))",
    "freezes the norms": """
        from torch import nn
        def freeze(net):
            for m in net.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.eval()
    """,
}
TRAIN = "import torch\nimport model\nimport tools\n"


@pytest.mark.parametrize("code", ELSEWHERE.values(), ids=ELSEWHERE)
def test_withholds_the_fix_for_what_another_file_of_the_program_does(code: str) -> None:
    (finding,) = findings(PAIR, tools=code, train=TRAIN)
    assert finding.fix is None
    assert finding.withheld
    (alone,) = findings(PAIR, tools=code)
    assert alone.fix is not None


HARMLESS = {
    "asks whether there is a bias": """
        from torch import nn
        def init(m):
            if isinstance(m, nn.Conv2d):
                nn.init.ones_(m.weight)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
    """,
    "asks whether the bias is anything": """
        from torch import nn
        def init(m):
            if isinstance(m, nn.Conv2d):
                nn.init.ones_(m.weight)
                if m.bias:
                    nn.init.zeros_(m.bias)
    """,
    "asks in the same line": """
        from torch import nn
        def init(m):
            if isinstance(m, nn.Conv2d) and m.bias is not None:
                nn.init.zeros_(m.bias)
    """,
    "initialises norms": """
        from torch import nn
        def init(m):
            if isinstance(m, nn.Conv2d):
                nn.init.ones_(m.weight)
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.zeros_(m.bias)
    """,
    "initialises linear layers": """
        from torch import nn
        def init(m):
            if isinstance(m, nn.Linear):
                nn.init.zeros_(m.bias)
    """,
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS)
def test_keeps_the_fix_if_another_file_leaves_such_biases_alone(code: str) -> None:
    (finding,) = findings(PAIR, tools=code, train=TRAIN)
    assert finding.fix is not None


def test_points_at_the_layer_and_names_the_norm() -> None:
    (finding,) = findings(
        "net = nn.Sequential(\n    nn.Conv2d(3, 8, 3),\n    nn.BatchNorm2d(8),\n)\n"
    )
    assert (finding.start.row, finding.start.column) == (6, 5)
    assert finding.related[0].position.row == 7
    assert "`Conv2d`" in finding.message
    assert "`BatchNorm2d`" in finding.message


def test_is_off_in_tests() -> None:
    code = (HEADER + PAIR).encode()
    assert not check([Target("tests/test_model.py", ONLY, (2, 13), code)]).findings


def test_a_model_made_from_itself_does_not_crash() -> None:
    code = network(
        """
        self.parts = nn.ModuleList([nn.Conv2d(c, c, 3), nn.BatchNorm2d(c)])
        self.parts = self.parts[1:]
        self.net = nn.Sequential(*self.net, nn.ReLU())
        self.net = nn.Sequential(self.net, nn.ReLU())
        """,
        "for part in self.parts:\n    x = F.relu(part(self.net(x)))\nreturn x",
    )
    code += "def f():\n    layers = []\n"
    code += "    for _ in range(3):\n        layers = [*layers, nn.ReLU()]\n"
    assert findings(code + "    return nn.Sequential(*layers)\n") == []


PARSED = {
    "plain": b"nn.Conv2d(3, 8, 3)\nnn.BatchNorm2d(8)",
    "bias=True": b"nn.Conv2d(3, 8, 3, bias=True)\nnn.BatchNorm2d(8)",
    "bias of something inside the call": b"nn.Linear(f(bias=False), 8)\nnn.BatchNorm1d(8)",
    "bias only in a comment": b"nn.Linear(3,  # bias=False\n 8)\nnn.BatchNorm1d(8)",
    "imported under another name": b"from torch.nn import Conv2d as C\nC(3, 8)\nnn.BatchNorm2d(8)",
    "another name of another name": b"a = nn.Linear\nb = a\nb(3, 8)\nnn.BatchNorm1d(8)",
    "norm under another name": b"bn = nn.BatchNorm1d\nnn.Linear(3, 8)\nbn(8)",
    "annotated name": b"conv: type = nn.Conv2d\nconv(3, 8, 3)\nnn.BatchNorm2d(8)",
    "a power is no **kwargs": b"nn.Linear(2 ** n, 8)\nnn.BatchNorm1d(8)",
    "lazy": b"nn.LazyConv2d(8, 3)\nnn.LazyBatchNorm2d()",
}
NOT_PARSED = {
    "norm is only a default on its own line": (
        b"def f(\n    c,\n    norm=nn.BatchNorm2d,\n):\n    norm(8)\n    nn.Conv2d(3, 8, 3)"
    ),
    "every layer says bias=False": b"nn.Conv2d(3, 8, 3, bias=False)\nnn.BatchNorm2d(8)",
    "bias over several lines": b"nn.Conv2d(\n    3, 8,\n    bias=False,\n)\nnn.BatchNorm2d(8)",
    "bias in **kwargs": b"nn.Conv2d(3, 8, 3, **kwargs)\nnn.BatchNorm2d(8)",
    "norm is only a default": b"def f(norm=nn.BatchNorm2d):\n    nn.Conv2d(3, 8, 3)",
    "norm is only a base class": b"class BatchNormAct(nn.BatchNorm2d):\n    a = nn.Conv2d(3, 8, 3)",
    "other layers with such names": b"MyConv2d(3, 8)\nQuantLinear(3, 8)\nnn.BatchNorm2d(8)",
    "own class": b"class Linear(nn.Module): pass\nnn.BatchNorm2d(8)",
}


@pytest.mark.parametrize("data", PARSED.values(), ids=PARSED)
def test_parses_a_file_that_can_hold_such_a_pair(data: bytes) -> None:
    assert rule.candidate is not None
    assert rule.candidate(data)


@pytest.mark.parametrize("data", NOT_PARSED.values(), ids=NOT_PARSED)
def test_does_not_parse_a_file_that_cannot(data: bytes) -> None:
    assert rule.candidate is not None
    assert not rule.candidate(data)


def test_fixtures_say_what_the_rule_does() -> None:
    paths = {name: str(FIXTURES / f"{name}.py") for name in ("bad", "fixed", "clean")}
    report = fix_targets([Target(paths["bad"], ONLY, (2, 13))], unsafe=True)
    assert report.files[0].after == (FIXTURES / "fixed.py").read_bytes()
    assert not report.withheld
    for name in ("fixed", "clean"):
        assert not check([Target(paths[name], ONLY, (2, 13))]).findings
