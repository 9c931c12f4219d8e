"""What a name refers to: aliases, re-bound names, star imports, and what shadows what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst
import pytest

from torchlint.analysis.names import How, Names
from torchlint.source.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

ALIASES = {
    "a package under another name": (
        "import torch.nn as tnn\nprobe(tnn.Conv2d)",
        ["torch.nn.Conv2d"],
    ),
    "`import a.b` binds a": (
        "import torch.nn.functional\nprobe(torch.nn.functional.relu)",
        ["torch.nn.functional.relu"],
    ),
    "a class under another name": (
        "from torch.utils.data import DataLoader as DL\nprobe(DL)",
        ["torch.utils.data.DataLoader"],
    ),
    "one import names several": (
        "import numpy as np, torch.nn as nn\nprobe(nn.Linear)",
        ["torch.nn.Linear"],
    ),
    "the module that a class lives in": (
        "from torch.nn.modules.conv import Conv2d\nprobe(Conv2d)",
        ["torch.nn.Conv2d"],
    ),
    "the long way to a class": (
        "import torch\nprobe(torch.nn.modules.batchnorm.BatchNorm2d)",
        ["torch.nn.BatchNorm2d"],
    ),
    "DataParallel by its package": (
        "from torch.nn.parallel import DataParallel\nprobe(DataParallel)",
        ["torch.nn.DataParallel"],
    ),
    "DataLoader by its module": (
        "import torch.utils.data.dataloader as d\nprobe(d.DataLoader)",
        ["torch.utils.data.DataLoader"],
    ),
    "an optimizer by its module": (
        "from torch.optim.sgd import SGD\nprobe(SGD)",
        ["torch.optim.SGD"],
    ),
    "no_grad from autograd": (
        "from torch import autograd\nprobe(autograd.no_grad)",
        ["torch.no_grad"],
    ),
    "Lightning's old package": (
        "import pytorch_lightning as pl\nprobe(pl.LightningModule)",
        ["lightning.pytorch.LightningModule"],
    ),
    "Lightning's top level": (
        "import lightning as L\nprobe(L.Trainer)",
        ["lightning.pytorch.Trainer"],
    ),
    "Fabric's top level": ("import lightning as L\nprobe(L.Fabric)", ["lightning.fabric.Fabric"]),
    "one dot": ("from . import utils\nprobe(utils.accuracy)", [".utils.accuracy"]),
    "two dots and a module": (
        "from ..utils import accuracy\nprobe(accuracy)",
        ["..utils.accuracy"],
    ),
    "a function of this file": ("def f(): pass\nprobe(f)", [":f"]),
    "a method of this file": ("class A:\n  def f(self): pass\nprobe(A.f)", [":A.f"]),
    "a builtin": ("probe(float)", ["builtins.float"]),
    "nothing known": ("probe(mystery.part)", []),
    "no name at all": ("probe(f().part)", []),
}

REBOUND = {
    "a class gets a second name": (
        "from torch import nn\nDP = nn.DataParallel\nprobe(DP)",
        ["torch.nn.DataParallel"],
    ),
    "a second name of a second name": (
        "from torch import nn\nA = nn.DataParallel\nB = A\nprobe(B)",
        ["torch.nn.DataParallel"],
    ),
    "a module gets a second name": (
        "import torch\nF = torch.nn.functional\nprobe(F.relu)",
        ["torch.nn.functional.relu"],
    ),
    "one of two by a condition": (
        "import torch\nTensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n"
        "probe(Tensor)",
        ["torch.cuda.FloatTensor", "torch.FloatTensor"],
    ),
    "a default after `or`": (
        "from torch import nn\ndef f(norm=None):\n  layer = norm or nn.BatchNorm2d\n  probe(layer)",
        ["torch.nn.BatchNorm2d"],
    ),
    "one of two in an `if`": (
        """
        from torch import nn
        if sync:
            Norm = nn.SyncBatchNorm
        else:
            Norm = nn.BatchNorm2d
        probe(Norm)
        """,
        ["torch.nn.SyncBatchNorm", "torch.nn.BatchNorm2d"],
    ),
    "an annotated assignment": (
        "from torch import nn\nDP: type = nn.DataParallel\nprobe(DP)",
        ["torch.nn.DataParallel"],
    ),
    "itself": ("x = x\nprobe(x)", []),
    "each other": ("a = b\nb = a\nprobe(a)", []),
}

CONDITIONAL = {
    "try and except": (
        """
        try:
            from apex.parallel import DistributedDataParallel as DDP
        except ImportError:
            from torch.nn.parallel import DistributedDataParallel as DDP
        probe(DDP)
        """,
        ["apex.parallel.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallel"],
    ),
    "the other way round": (
        """
        try:
            from torch.nn.parallel import DistributedDataParallel as DDP
        except ImportError:
            from apex.parallel import DistributedDataParallel as DDP
        probe(DDP)
        """,
        ["torch.nn.parallel.DistributedDataParallel", "apex.parallel.DistributedDataParallel"],
    ),
    "an import or an assignment": (
        """
        import torch
        if fast:
            amp_step = torch.cuda.amp.step
        else:
            from mine import amp_step
        probe(amp_step)
        """,
        ["torch.cuda.amp.step", "mine.amp_step"],
    ),
    "an import or a definition": (
        """
        try:
            from fast import accuracy
        except ImportError:
            def accuracy(output, target): pass
        probe(accuracy)
        """,
        ["fast.accuracy", ":accuracy"],
    ),
    "the same twice counts once": (
        "try:\n  from torch import nn\nexcept E:\n  import torch.nn as nn\nprobe(nn.Linear)",
        ["torch.nn.Linear"],
    ),
}

STARS = {
    "torch.nn": ("from torch.nn import *\nprobe(Conv2d)", ["torch.nn.Conv2d"]),
    "torch": ("from torch import *\nprobe(nn.Conv2d)", ["torch.nn.Conv2d"]),
    "torch.optim": ("from torch.optim import *\nprobe(AdamW)", ["torch.optim.AdamW"]),
    "torch.utils.data": (
        "from torch.utils.data import *\nprobe(DataLoader)",
        ["torch.utils.data.DataLoader"],
    ),
    "torch.nn.parallel": (
        "from torch.nn.parallel import *\nprobe(DataParallel)",
        ["torch.nn.DataParallel"],
    ),
    "a name that the module lacks": ("from torch.nn import *\nprobe(DataLoader)", []),
    "a module of the project, perhaps": ("from models import *\nprobe(Conv2d)", [":Conv2d"]),
    "a package that a module of the project imports": (
        "from models import *\nprobe(torch.nn.Linear)",
        ["torch.nn.Linear"],
    ),
    "what such a package is often called": (
        "from models import *\nprobe(nn.Linear)",
        ["torch.nn.Linear"],
    ),
    "such a word that the file binds itself": (
        "from models import *\nimport net as nn\nprobe(nn.Linear)",
        ["net.Linear"],
    ),
    "such a word without a star": ("import models\nprobe(nn.Linear)", []),
    "a name that the file binds itself": (
        "from torch.nn import *\nfrom mine import Conv2d\nprobe(Conv2d)",
        ["mine.Conv2d"],
    ),
}

BROUGHT = {
    "a class": ("probe(DataLoader)", ["torch.utils.data.DataLoader"]),
    "a package": ("probe(np.array)", ["numpy.array"]),
    "a name of a star there": ("probe(Conv2d)", ["torch.nn.Conv2d", ":Conv2d"]),
    "before what a word often means": ("probe(optim)", ["mine.optim"]),
    "behind what the file binds": ("import re as np\nprobe(np.array)", ["re.array"]),
    "nothing else": ("probe(other)", [":other"]),
}

SHADOWED = {
    "a parameter": ("from torch import nn\ndef f(nn):\n  probe(nn.Linear)", []),
    "a keyword-only parameter": ("def f(*, float):\n  probe(float)", []),
    "*args": ("def f(*nn):\n  probe(nn)", []),
    "a lambda's parameter": ("from torch import nn\nlambda nn: probe(nn.Linear)", []),
    "a local variable": ("from torch import nn\ndef f():\n  nn = 3\n  probe(nn.Linear)", []),
    "a local variable that is bound later": (
        "from torch import nn\ndef f():\n  probe(nn.Linear)\n  nn = 3",
        [],
    ),
    "a local import": (
        "from a import g\ndef f():\n  from b import g\n  probe(g)",
        ["b.g"],
    ),
    "the target of a loop": ("from torch import nn\ndef f():\n  for nn in x: probe(nn.Linear)", []),
    "the name of a `with`": (
        "from torch import nn\ndef f():\n  with x as nn: probe(nn.Linear)",
        [],
    ),
    "the name of an exception": (
        "from torch import nn\ndef f():\n  try: pass\n  except E as nn: probe(nn.Linear)",
        [],
    ),
    "a walrus": ("from torch import nn\ndef f():\n  if (nn := g()): probe(nn.Linear)", []),
    "part of an unpacked tuple": (
        "from torch import nn\ndef f():\n  a, (nn, b) = g()\n  probe(nn.Linear)",
        [],
    ),
    "a nested function's name": (
        "from a import g\ndef f():\n  def g(): pass\n  probe(g)",
        [":f.g"],
    ),
    "the target of a comprehension": ("from torch import nn\n[probe(nn.Linear) for nn in x]", []),
    "a class attribute, in the class body": (
        "from torch import nn\nclass A:\n  nn = None\n  x = probe(nn.Linear)",
        [],
    ),
}

NOT_SHADOWED = {
    "by a class attribute, in a method": (
        "from torch import nn\nclass A:\n  nn = None\n  def f(self): probe(nn.Linear)",
        ["torch.nn.Linear"],
    ),
    "by a method of the same name": (
        "class A:\n  def float(self): pass\n  def f(self): probe(float)",
        ["builtins.float"],
    ),
    "after the comprehension": (
        "from torch import nn\n[nn for nn in x]\nprobe(nn.Linear)",
        ["torch.nn.Linear"],
    ),
    "in the default of a parameter": (
        "from torch import nn\ndef f(nn=probe(nn.Linear)): pass",
        ["torch.nn.Linear"],
    ),
    "in the default of a lambda's parameter": (
        "from torch import nn\nlambda nn=probe(nn.Linear): nn",
        ["torch.nn.Linear"],
    ),
    "in an annotation": (
        "from models import net\ndef f(net: probe(net.Net)): pass",
        ["models.net.Net"],
    ),
    "in what a function returns": (
        "from models import net\ndef f(net) -> probe(net.Net): pass",
        ["models.net.Net"],
    ),
    "in a decorator": (
        "import torch\n@probe(torch.no_grad)\ndef f(torch): pass",
        ["torch.no_grad"],
    ),
    "in the bases of a class": (
        "from torch import nn\nclass A(probe(nn.Module)):\n  nn = None",
        ["torch.nn.Module"],
    ),
    "in the first iterable of a comprehension": (
        "from torch import nn\n[nn for nn in probe(nn.Linear)]",
        ["torch.nn.Linear"],
    ),
    "by the local of another function": (
        "from torch import nn\ndef g():\n  nn = 3\ndef f():\n  probe(nn.Linear)",
        ["torch.nn.Linear"],
    ),
    "by `= None` before the real thing": (
        "from torch import nn\nDP = None\nif many:\n  DP = nn.DataParallel\nprobe(DP)",
        ["torch.nn.DataParallel"],
    ),
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(*case, id=f"{title}-{reason}")
        for title, table in (
            ("alias", ALIASES),
            ("rebound", REBOUND),
            ("conditional", CONDITIONAL),
            ("star", STARS),
            ("shadowed", SHADOWED),
            ("not-shadowed", NOT_SHADOWED),
        )
        for reason, case in table.items()
    ],
)
def test_a_name_stands_for(probed: Callable[..., Any], text: str, names: list[str]) -> None:
    asked = probed(text)
    assert list(asked.module.resolve(asked.asked)) == names


@pytest.mark.parametrize(("text", "names"), BROUGHT.values(), ids=BROUGHT)
def test_a_star_import_binds_what_its_file_has_imported(text: str, names: list[str]) -> None:
    tree = Tree(cst.parse_module(f"from common import *\n{text}"))
    brought = {
        "DataLoader": "torch.utils.data.DataLoader",
        "np": "numpy",
        "optim": "mine.optim",
        "*torch.nn": "torch.nn",
    }
    (call,) = tree.nodes(cst.Call)
    assert list(Names(tree, brought).resolve(call.args[0].value)) == names


def test_a_name_declared_global_is_bound_in_the_module(probed: Callable[..., Any]) -> None:
    asked = probed(
        """
        from torch import nn
        DP = nn.Linear
        def choose():
            global DP
            DP = nn.DataParallel
        probe(DP)
        """
    )
    assert asked.module.resolve(asked.asked) == ("torch.nn.Linear", "torch.nn.DataParallel")


def test_a_name_declared_nonlocal_is_bound_in_the_function_around(
    probed: Callable[..., Any],
) -> None:
    asked = probed(
        """
        from torch import nn
        def outer():
            layer = nn.Linear
            def inner():
                nonlocal layer
                layer = nn.Conv2d
            probe(layer)
        """
    )
    assert asked.module.resolve(asked.asked) == ("torch.nn.Linear", "torch.nn.Conv2d")


def test_many_candidates_are_cut_to_the_first_eight(probed: Callable[..., Any]) -> None:
    lines = [f"if x == {i}: from m{i} import f" for i in range(12)]
    asked = probed("\n".join([*lines, "probe(f)"]))
    assert asked.module.resolve(asked.asked) == tuple(f"m{i}.f" for i in range(8))


class TestBindings:
    """How a name got its value, and from which expression."""

    @pytest.mark.parametrize(
        ("text", "how", "value", "path"),
        [
            ("x = f()", How.ASSIGNMENT, "f()", ()),
            ("x: int = f()", How.ASSIGNMENT, "f()", ()),
            ("a = x = f()", How.ASSIGNMENT, "f()", ()),
            ("a, x = f()", How.UNPACKING, "f()", (1,)),
            ("a, (b, x) = f()", How.UNPACKING, "f()", (1, 1)),
            ("[x, a] = f()", How.UNPACKING, "f()", (0,)),
            ("*x, a = f()", How.OTHER, None, ()),
            ("x += f()", How.UPDATE, "f()", ()),
            ("x[0] = f()", How.UPDATE, "f()", ()),
            ("for x in f(): pass", How.ITERATION, "f()", ()),
            ("for i, (a, x) in f(): pass", How.ITERATION, "f()", (1, 1)),
            ("with f() as x: pass", How.CONTEXT, "f()", ()),
            ("with f() as (a, x): pass", How.CONTEXT, "f()", (1,)),
            ("try: pass\nexcept E as x: pass", How.OTHER, None, ()),
            ("if (x := f()): pass", How.ASSIGNMENT, "f()", ()),
            ("import x", How.IMPORT, None, ()),
            ("def x(): pass", How.DEFINITION, None, ()),
            ("class x: pass", How.DEFINITION, None, ()),
        ],
        ids=lambda value: value if isinstance(value, str) and "x" in value else None,
    )
    def test_of_one_statement(
        self,
        module_of: Callable[..., Any],
        text: str,
        how: How,
        value: str | None,
        path: tuple[int, ...],
    ) -> None:
        module = module_of(text + "\n")
        (binding,) = module.names.module.bindings["x"]
        shown = module.source(binding.value) if binding.value is not None else None
        assert (binding.how, shown, binding.path) == (how, value, path)

    def test_a_parameter_with_its_default_and_stars(self, module_of: Callable[..., Any]) -> None:
        module = module_of("def f(a, b=1, *c, d, **e): pass\n")
        scope = module.names.scope(module.nodes(cst.FunctionDef)[0].body.body[0])
        found = {name: bindings[0] for name, bindings in scope.bindings.items()}
        assert list(found) == ["a", "b", "d", "c", "e"]
        assert {binding.how for binding in found.values()} == {How.PARAMETER}
        assert module.source(found["b"].value) == "1"
        assert [found[name].starred for name in "ace"] == ["", "*", "**"]

    def test_a_declaration_without_value_binds_nothing(self, module_of: Callable[..., Any]) -> None:
        assert "x" not in module_of("x: int\n").names.module.bindings

    def test_they_come_in_source_order_whatever_binds(self, module_of: Callable[..., Any]) -> None:
        module = module_of("for x in a: pass\nx = 1\nimport x\nx += 1\n")
        found = [binding.how for binding in module.names.module.bindings["x"]]
        assert found == [How.ITERATION, How.ASSIGNMENT, How.IMPORT, How.UPDATE]


def test_a_method_is_named_after_its_classes_and_functions(
    module_of: Callable[..., Any],
) -> None:
    module = module_of("class A:\n  class B:\n    def f(self):\n      def g(): pass\n")
    names = [module.qualified_name(node) for node in module.nodes(cst.FunctionDef)]
    assert names == ["A.B.f", "A.B.f.g"]
