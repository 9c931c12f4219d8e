"""TL301: which programs are told to switch cudnn.benchmark on, and where the line goes."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability, Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "cudnn-benchmark-missing"
ONLY = Selection(select=("TL301",), ignore=())

IMPORTS = (
    "import argparse\nimport torch\nfrom torch import nn\nfrom torchvision import transforms\n"
)
CROP = "crop = transforms.CenterCrop(224)\n"
CONVOLUTION = 'model = nn.Conv2d(3, 8, 3).to("cuda")\n'
LOOP = "for x in loader:\n    model(x).sum().backward()\n    optimizer.step()\n"
READ = "print(torch.backends.cudnn.version())\n"
"""Makes a script worth reading whatever it imports."""
LIBRARY = IMPORTS.replace("import argparse\n", "") + CROP + CONVOLUTION
SCRIPT = IMPORTS + CROP + CONVOLUTION + LOOP
"""A whole program at the top level of a file."""
TRAIN = (
    "def train(model, loader, optimizer):\n"
    "    for x in loader:\n"
    "        model(x.cuda()).sum().backward()\n"
    "        optimizer.step()\n"
)
MAIN = 'if __name__ == "__main__":\n    train(model, loader, optimizer)\n'

OTHER_METHODS = """
class Trainer:
    def fit(self):
        for x in loader:
            model(x.cuda()).sum().backward()
    def show(self):
        print(model)

if __name__ == "__main__":
"""


def program(*, before: str = "", guard: str = "", train: str = TRAIN) -> str:
    """A script with a function that trains and a main block."""
    block = f'if __name__ == "__main__":\n{guard}    train(model, loader, optimizer)\n'
    return IMPORTS + CROP + CONVOLUTION + dedent(before) + train + block


def findings(main: str, path: str = "main.py", **others: str) -> list[Finding]:
    files = {path: dedent(main)} | {
        f"{name.replace('_in_', '/')}.py": dedent(code) for name, code in others.items()
    }
    report = check([Target(name, ONLY, (2, 13), code.encode()) for name, code in files.items()])
    assert not report.diagnostics
    return list(report.findings)


def fixed(code: str) -> str:
    report = fix_targets([Target("main.py", ONLY, (2, 13), code.encode())], unsafe=True)
    assert not report.diagnostics
    return report.files[0].after.decode() if report.files else code


# reported ----------------------------------------------------------------------------------

REPORTED: dict[str, dict[str, str]] = {
    "a loop at the top level": {"main": SCRIPT},
    "a main block that calls a function": {"main": program()},
    "the loop calls a function that trains one epoch": {
        "main": IMPORTS
        + CROP
        + CONVOLUTION
        + TRAIN
        + "for epoch in range(9):\n    train(model, loader, optimizer)\n"
    },
    "no command line, and the loop goes over numbers": {
        "main": LIBRARY + TRAIN + "for i in range(9):\n    train(model, loader, optimizer)\n"
    },
    "no command line, and the step is a method of something imported": {
        "main": "from engine import Trainer\ntrainer = Trainer()\n"
        "for x in loader:\n    trainer.step_once(x)\n",
        "engine": LIBRARY
        + "class Trainer:\n    def step_once(self, x):\n        model(x).sum().backward()\n",
    },
    "an action is drawn without chance": {"main": SCRIPT + "act(x, deterministic=True)\n"},
    "the function is handed to fire": {
        "main": "import fire\n" + IMPORTS + CROP + CONVOLUTION + TRAIN + "fire.Fire(train)\n"
    },
    "a method of a class that does nothing else": {
        "main": IMPORTS + CROP + CONVOLUTION + OTHER_METHODS + "    Trainer().fit()\n"
    },
    "the training loop is imported": {
        "main": IMPORTS + CROP + CONVOLUTION + "from engine import train\n" + MAIN,
        "engine": "import torch\n" + TRAIN,
    },
    "the training loop is imported with everything else": {
        "main": "from engine import *\nif __name__ == '__main__':\n    train(x, y, z)\n",
        "engine": LIBRARY + TRAIN,
    },
    "the script itself never says torch": {
        "main": "from engine import Trainer\nif __name__ == '__main__':\n    Trainer().fit()\n",
        "engine": IMPORTS
        + CROP
        + CONVOLUTION
        + """
class Base:
    def fit(self):
        for x in loader:
            model(x).sum().backward()

class Trainer(Base):
    pass
""",
    },
    "a package hands the trainer on": {
        "main": "from algo import Trainer\nif __name__ == '__main__':\n    Trainer().fit()\n",
        "algo_in___init__": "from .trainer import Trainer\n",
        "algo_in_trainer": IMPORTS
        + CROP
        + CONVOLUTION
        + """
class Trainer:
    def fit(self):
        for x in loader:
            model(x).sum().backward()
""",
    },
    "the step is two calls away": {
        "main": "from start import run\nif __name__ == '__main__':\n    run()\n",
        "start": "import torch\nfrom engine import train\ndef run():\n    device = 'cuda'\n"
        "    for epoch in range(9):\n        train(model, loader, optimizer)\n",
        "engine": IMPORTS + CROP + CONVOLUTION + TRAIN,
    },
    "the network is in a file that nothing else makes worth parsing": {
        "main": IMPORTS + CROP + "from models import Net\nmodel = Net().cuda()\n" + LOOP,
        "models": "from torch import nn\nNet = lambda: nn.Conv2d(3, 8, 3)\n",
    },
    "the network is imported by a computed name": {
        "main": IMPORTS + CROP + "import importlib\n"
        "model = importlib.import_module(args.model).Net().cuda()\n" + LOOP,
        "models_in_vgg": "from torch import nn\nNet = lambda: nn.Conv2d(3, 8, 3)\n",
    },
    "a network of torchvision, picked by name": {
        "main": IMPORTS + CROP + "from torchvision import models\n"
        "model = models.__dict__[args.arch]().cuda()\n" + LOOP
    },
    "a network of torchvision, through getattr": {
        "main": IMPORTS + CROP + "from torchvision import models\n"
        "model = getattr(models, args.arch)().cuda()\n" + LOOP
    },
    "a network of timm": {
        "main": IMPORTS
        + CROP
        + "import timm\nmodel = timm.create_model('resnet50').cuda()\n"
        + LOOP
    },
    "the switch stands in a comment only": {
        "main": SCRIPT + "# torch.backends.cudnn.benchmark = True\n"
    },
    "a comparison switches nothing on": {
        "main": SCRIPT + "torch.backends.cudnn.benchmark == True\n"
    },
    "another library's benchmark": {"main": SCRIPT + "args.benchmark = True\n"},
    "determinism is switched off": {
        "main": SCRIPT + "torch.backends.cudnn.deterministic = False\n"
    },
    "determinism on request, which nobody makes": {
        "main": "from seeds import seed\nseed(0)\n" + SCRIPT,
        "seeds": """
            import torch
            def seed(value, deterministic=False):
                if deterministic:
                    torch.use_deterministic_algorithms(True)
            """,
    },
    "another script switches it on": {
        "main": SCRIPT,
        "other": SCRIPT + "torch.backends.cudnn.benchmark = True\n",
    },
}


@pytest.mark.parametrize("files", REPORTED.values(), ids=REPORTED)
def test_reported(files: dict[str, str]) -> None:
    (finding,) = [each for each in findings(**files) if each.path == "main.py"]
    assert finding.tier is Tier.DEFAULT


HINTS = {
    "nothing shows that inputs have one size": IMPORTS + CONVOLUTION + LOOP,
    "a resize that keeps the proportions": IMPORTS
    + "resize = transforms.Resize(256)\n"
    + CONVOLUTION
    + LOOP,
    "determinism only with a seed": SCRIPT
    + "if args.seed is not None:\n    torch.backends.cudnn.deterministic = True\n",
    "benchmark off only with a seed": SCRIPT
    + "if args.seed is not None:\n    torch.backends.cudnn.benchmark = False\n",
    "the seed function is called only with a seed": SCRIPT
    + "def seed():\n    torch.use_deterministic_algorithms(True)\nif args.seed:\n    seed()\n",
    "determinism unless a caller says no": SCRIPT
    + "def seed(strict=True):\n    if strict:\n        torch.use_deterministic_algorithms(True)\n"
    "seed()\n",
    "determinism as the command line says": SCRIPT
    + "torch.backends.cudnn.deterministic = args.deterministic\n",
    "cuDNN as the command line says": SCRIPT + "torch.backends.cudnn.enabled = args.cudnn\n",
    "a flag that has cuda in its name is a choice": SCRIPT
    + "if args.cuda_deterministic:\n    torch.backends.cudnn.deterministic = True\n",
}


@pytest.mark.parametrize("code", HINTS.values(), ids=HINTS)
def test_hinted_without_a_fix(code: str) -> None:
    (finding,) = findings(code)
    assert finding.tier is Tier.HINT
    assert finding.fix is None
    assert finding.withheld


def test_one_finding_per_script_on_the_line_that_starts_it() -> None:
    first, second = findings(program(), other=SCRIPT)
    assert (first.path, first.start.row, first.end.row) == ("main.py", 11, 11)
    assert (second.path, second.start.row) == ("other.py", 7)


# left alone --------------------------------------------------------------------------------

SELF_TEST = """
class Trainer:
    def fit(self):
        for x in loader:
            model(x.cuda()).sum().backward()

if __name__ == "__main__":
    print(model(torch.rand(1, 3, 8, 8)))
"""
LEFT_ALONE: dict[str, dict[str, str]] = {
    "switched on": {"main": SCRIPT + "torch.backends.cudnn.benchmark = True\n"},
    "switched on through an alias": {
        "main": "from torch.backends import cudnn as c\nc.benchmark = True\n" + SCRIPT
    },
    "switched on as the command line says": {
        "main": SCRIPT + "torch.backends.cudnn.benchmark = not args.deterministic\n"
    },
    "switched on for the GPU": {
        "main": SCRIPT + "if torch.cuda.is_available():\n"
        "    torch.backends.cudnn.benchmark = True\n"
    },
    "switched on by setattr": {
        "main": SCRIPT + "setattr(torch.backends.cudnn, 'benchmark', True)\n"
    },
    "switched on by a context": {
        "main": SCRIPT
        + "with torch.backends.cudnn.flags(enabled=True, benchmark=True):\n    go()\n"
    },
    "switched on through a name that nobody can follow": {
        "main": SCRIPT + "backends.cudnn.benchmark = True\n"
    },
    "switched on in a file that the script imports": {
        "main": "import setup_gpu\n" + SCRIPT,
        "setup_gpu": "import torch\ntorch.backends.cudnn.benchmark = True\n",
    },
    "benchmark off on purpose": {"main": SCRIPT + "torch.backends.cudnn.benchmark = False\n"},
    "benchmark off on purpose in the main block": {
        "main": program(guard="    torch.backends.cudnn.benchmark = False\n")
    },
    "deterministic": {"main": SCRIPT + "torch.backends.cudnn.deterministic = True\n"},
    "deterministic on the GPU": {
        "main": SCRIPT + "if args.cuda:\n    torch.backends.cudnn.deterministic = True\n"
    },
    "deterministic in a function that always runs": {
        "main": SCRIPT + "def seed():\n    torch.use_deterministic_algorithms(True)\nseed()\n"
    },
    "deterministic in an imported function": {
        "main": "from seeds import seed\nif args.seed:\n    seed()\n" + SCRIPT,
        "seeds": "import torch\ndef seed():\n    torch.use_deterministic_algorithms(True)\n",
    },
    "deterministic algorithms": {"main": SCRIPT + "torch.use_deterministic_algorithms(True)\n"},
    "a seed function is asked for determinism": {
        "main": SCRIPT + "from lib import seed_all\nseed_all(0, deterministic=True)\n"
    },
    "cuDNN off": {"main": SCRIPT + "torch.backends.cudnn.enabled = False\n"},
    "a detector": {"main": SCRIPT + "from torchvision.models.detection import ssd300_vgg16\n"},
    "pooling over regions": {"main": SCRIPT + "from torchvision.ops import roi_align\n"},
    "packed sequences": {"main": SCRIPT + "y = nn.utils.rnn.pack_padded_sequence(x, lengths)\n"},
    "padded sequences": {"main": SCRIPT + "from torch.nn.utils.rnn import pad_sequence\n"},
    "several scales": {"main": SCRIPT + "if opt.multi_scale:\n    resize()\n"},
    "a collate function that pads": {
        "main": "from data import collate\nuse = collate\n" + SCRIPT,
        "data": "import torch\ndef collate(batch):\n    longest = max(map(len, batch))\n"
        "    return torch.stack([F.pad(x, (0, longest - len(x))) for x in batch])\n",
    },
    "Lightning has a switch of its own": {
        "main": SCRIPT + "from lightning import LightningModule\n"
    },
    "mmcv has a switch of its own": {"main": SCRIPT + "from mmcv import Config\n"},
    "no convolutions": {"main": IMPORTS + CROP + "model = nn.Linear(3, 8).cuda()\n" + LOOP},
    "convolutions in a comment of another file": {
        "main": IMPORTS + CROP + "from models import Net\nmodel = Net().cuda()\n" + LOOP,
        "models": "from torch import nn\n# was nn.Conv2d(3, 8, 3)\nNet = lambda: nn.Linear(3, 8)\n",
    },
    "convolutions in a string of the script": {
        "main": IMPORTS + CROP + '"""\nmodel = nn.Conv2d(3, 8, 3)\n"""\n'
        "model = nn.Linear(3, 8).cuda()\n" + LOOP
    },
    "convolutions beside the script that it does not import": {
        "main": IMPORTS + CROP + "model = nn.Linear(3, 8).cuda()\n" + LOOP,
        "models": "from torch import nn\nNet = lambda: nn.Conv2d(3, 8, 3)\n",
    },
    "no GPU": {
        "main": IMPORTS + CROP + "model = nn.Conv2d(3, 8, 3)\n" + LOOP,
    },
    "nobody trains": {"main": IMPORTS + CROP + CONVOLUTION + "print(model(x))\n"},
    "a library that lists its functions": {
        "main": LIBRARY + TRAIN + "TRAINERS = {'plain': train}\n"
    },
    "a library that registers its functions in a loop": {
        "main": LIBRARY + TRAIN + "for name in 'ab':\n    register(name, train)\n"
    },
    "a library with a type from argparse that calls something else": {
        "main": IMPORTS + CROP + CONVOLUTION + TRAIN + "TRAINERS = {'plain': train}\nsetup()\n"
    },
    "a method that trains, of a class that is not used": {
        "main": IMPORTS + CROP + CONVOLUTION + OTHER_METHODS + "    model.fit()\n"
    },
    "another method of the class that trains": {
        "main": IMPORTS + CROP + CONVOLUTION + OTHER_METHODS + "    Trainer().show()\n"
    },
    "an import that uses a class of the same name": {
        "main": IMPORTS
        + CROP
        + CONVOLUTION
        + "from plots import plot\n"
        + OTHER_METHODS
        + "    plot()\n",
        "plots": IMPORTS + "from curves import Trainer\n"
        "def plot():\n    Trainer().fit()\nfor x in y:\n    x.backward()\n",
    },
    "a script that imports a function from a training script": {
        "main": IMPORTS + CROP + "from engine import show\n" + READ + "if __name__ == '__main__':\n"
        "    show()\n",
        "engine": IMPORTS + CONVOLUTION + "def draw():\n    pass\ndef show():\n    draw()\n"
        "if __name__ == '__main__':\n    for x in loader:\n        model(x).backward()\n",
    },
    "a library": {"main": IMPORTS.replace("argparse", "math") + CROP + CONVOLUTION + TRAIN},
    "a main block that only tries the model": {"main": IMPORTS + CROP + CONVOLUTION + SELF_TEST},
    "a script that imports the network from a training script": {
        "main": IMPORTS + CROP + "from engine import Net\nif __name__ == '__main__':\n"
        "    print(Net().cuda()(x))\n",
        "engine": IMPORTS + CONVOLUTION + "class Net:\n    pass\n" + TRAIN,
    },
    "a method of the same name in another class": {
        "main": IMPORTS + CROP + "from engine import Net\n" + READ + "if __name__ == '__main__':\n"
        "    Net().cuda().fit()\n",
        "engine": IMPORTS + CONVOLUTION + "class Net:\n    pass\nclass Trainer:\n"
        "    def fit(self):\n        for x in loader:\n            model(x).backward()\n",
    },
}


@pytest.mark.parametrize("files", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(files: dict[str, str]) -> None:
    assert [each for each in findings(**files) if each.path == "main.py"] == []


def test_silent_in_tests() -> None:
    assert findings(SCRIPT, path="tests/test_train.py") == []


# fixes -------------------------------------------------------------------------------------

LINE = "torch.backends.cudnn.benchmark = True\n"
FIXED = {
    "first in the main block": (
        program(),
        program(guard=f"    {LINE}"),
    ),
    "first in main(), below its docstring": (
        program(before='def main():\n    """Go."""\n    go()\n', guard="    main()\n"),
        program(before=f'def main():\n    """Go."""\n    {LINE}    go()\n', guard="    main()\n"),
    ),
    "in the main block if it does not call main()": (
        program(before="def main():\n    go()\n"),
        program(before="def main():\n    go()\n", guard=f"    {LINE}"),
    ),
    "below the imports of a script without main block": (
        SCRIPT,
        IMPORTS + LINE + CROP + CONVOLUTION + LOOP,
    ),
    "below the imports where other processes train": (
        program(guard="    mp.spawn(train)\n"),
        IMPORTS + LINE + program(guard="    mp.spawn(train)\n").removeprefix(IMPORTS),
    ),
    "below the imports if the main block is one line": (
        IMPORTS + CROP + CONVOLUTION + TRAIN + 'if __name__ == "__main__": train(m, loader, o)\n',
        IMPORTS
        + LINE
        + CROP
        + CONVOLUTION
        + TRAIN
        + 'if __name__ == "__main__": train(m, loader, o)\n',
    ),
    "by the name that the file imports": (
        "from torch.backends import cudnn\n" + program(),
        "from torch.backends import cudnn\n" + program(guard="    cudnn.benchmark = True\n"),
    ),
    "by the name that the file gives torch": (
        program().replace("import torch\n", "import torch as th\n"),
        program(guard="    th.backends.cudnn.benchmark = True\n").replace(
            "import torch\n", "import torch as th\n"
        ),
    ),
    "not by a name that is imported now and then": (
        "try:\n    from torch.backends import cudnn\nexcept ImportError:\n    pass\n" + program(),
        "try:\n    from torch.backends import cudnn\nexcept ImportError:\n    pass\n"
        + program(guard=f"    {LINE}"),
    ),
    "not by a name that is set twice": (
        "from torch.backends import cudnn\ncudnn = wrap(cudnn)\n" + program(),
        "from torch.backends import cudnn\ncudnn = wrap(cudnn)\n" + program(guard=f"    {LINE}"),
    ),
    "above the loop even if something is imported after it": (
        SCRIPT + "import time\n",
        IMPORTS + LINE + CROP + CONVOLUTION + LOOP + "import time\n",
    ),
    "with an import where torch is not bound": (
        program().replace("import torch\n", ""),
        program(guard=f"    {LINE}")
        .replace("import torch\n", "")
        .replace("import transforms\n", "import transforms\nimport torch\n"),
    ),
}


@pytest.mark.parametrize(("code", "expected"), FIXED.values(), ids=FIXED)
def test_fixed(code: str, expected: str) -> None:
    (finding,) = findings(code)
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE
    assert fixed(code) == expected
    assert findings(expected) == []


def test_a_script_on_disk_that_never_says_torch_is_fixed(tmp_path: Path) -> None:
    main = "from engine import Trainer\n\nif __name__ == '__main__':\n    Trainer().fit()\n"
    body = (
        "class Trainer:\n    def fit(self):\n        for x in y:\n            model(x).backward()\n"
    )
    (tmp_path / "main.py").write_text(main)
    (tmp_path / "engine.py").write_text(LIBRARY + body)
    targets = [Target(str(path), ONLY, (2, 13)) for path in sorted(tmp_path.iterdir())]
    report = fix_targets(targets, unsafe=True)
    assert not report.diagnostics
    (file,) = report.files
    after = main.replace("Trainer\n\n", "Trainer\nimport torch\n\n")
    assert file.after.decode() == after.replace("    Trainer()", f"    {LINE}    Trainer()")


def test_withheld_without_a_plain_place() -> None:
    lines = "".join(f"    {line}\n" for line in IMPORTS.splitlines())
    code = f"try:\n{lines}except ImportError:\n    raise\n" + CROP + CONVOLUTION + TRAIN
    one_line = 'if __name__ == "__main__": train(model, loader, optimizer)\n'
    unbound = (IMPORTS + CROP + CONVOLUTION + TRAIN).replace("import torch\n", "")
    for script in (code + one_line, unbound + one_line):
        (finding,) = findings(script)
        assert finding.fix is None
        assert finding.withheld


# whole programs ----------------------------------------------------------------------------


def test_the_bad_program_becomes_the_fixed_one() -> None:
    assert fixed((FIXTURES / "bad.py").read_text()) == (FIXTURES / "fixed.py").read_text()


@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    assert findings((FIXTURES / name).read_text()) == []
