"""Why a rule did or did not report a line."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import NEWEST_TORCH, Selection
from torchlint.explain.why import explain
from torchlint.files.reading import SourceError
from torchlint.finding import Position, Tier
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torchlint.explain.rule_answers import Answer


@pytest.fixture
def why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """The answer of one rule for the line with `# here`."""
    monkeypatch.chdir(tmp_path)

    def asked(code: str, selection: Selection | None = None, **files: str) -> Answer:
        targets = []
        asked_for = None
        for name, text in files.items():
            path = f"{name}.py"
            text = dedent(text)
            (tmp_path / path).write_text(text)
            targets.append(Target(path, Selection(), NEWEST_TORCH))
            for row, line in enumerate(text.split("\n"), 1):
                if line.endswith("# here"):
                    asked_for = targets[-1], Position(row, 1)
        assert asked_for is not None
        target, place = asked_for
        target = target._replace(selection=selection or Selection())
        found = explain(target, place, [all_rules()[code]], targets, pool=Pool())
        (answer,) = found.answers
        return answer

    return asked


LOOP = """\
    import torch
    for step, x in enumerate(loader):
        loss = net(x.cuda())
        loss.backward()
"""


def test_a_finding_names_the_loop(why: Callable[..., Answer]) -> None:
    answer = why("TL201", train=LOOP + "        print(loss.item())  # here\n")
    assert answer.reported is Tier.DEFAULT
    assert answer.reasons[0].why == "this loop runs it on each step: line 2"


def test_a_finding_in_a_helper_tells_how_far_the_loop_is(why: Callable[..., Answer]) -> None:
    answer = why(
        "TL201",
        train=LOOP + "        log(loss)\n    from log import log\n",
        log="def log(loss):\n    print(loss.item())  # here\n",
    )
    assert answer.reasons[0].why == "this loop runs it on each step: train.py:2, through 1 call"


SILENT = {
    "a guard": (
        "        if step % 100 == 0:\n            print(loss.item())  # here\n",
        "this runs only every 100 steps (line 5)",
    ),
    "the `else` of most steps": (
        "        if step % 100 != 0:\n            pass\n"
        "        else:\n            print(loss.item())  # here\n",
        "only every 100 steps in the `else` of `if step % 100 != 0` in line 5",
    ),
    "a name for most steps": (
        "        most = step % 100 != 0 and n\n"
        "        if not most and step % 1 == 0 and step < 9:\n"
        "            print(loss.item())  # here\n",
        "this runs only under `if not most and step % 1 == 0 and step < 9` in line 6",
    ),
    "a branch for the CPU": (
        "        if not torch.cuda.is_available():\n            print(loss.item())  # here\n",
        "only where there is no accelerator",
    ),
    "evaluation": (
        "        with torch.no_grad():\n            for y in loader:\n"
        "                print(net(y.cuda()).item())  # here\n",
        "the loop around this evaluates: it is under `with torch.no_grad()` in line 5",
    ),
    "a second read": (
        "        print(loss.item())\n        print(loss.item())  # here\n",
        "the same number is read just before, in line 5",
    ),
    "nothing to read": ("        print(3)  # here\n", "nothing on this line is what the rule"),
    "a comment": (
        "        print(loss.item())  # torchlint: ignore[TL201] # here\n",
        "a comment suppresses it",
    ),
}


@pytest.mark.parametrize(("line", "reason"), SILENT.values(), ids=SILENT)
def test_silence_has_a_reason(why: Callable[..., Answer], line: str, reason: str) -> None:
    answer = why("TL201", train=LOOP + line)
    assert answer.reported is None
    assert reason in answer.reasons[0].why


def test_a_line_without_anything_names_the_lines_that_have_something(
    why: Callable[..., Answer],
) -> None:
    read = "        print(loss.item())\n        print(3)  # here\n"
    (reason,) = why("TL201", train=LOOP + read).reasons
    assert reason.why.startswith(
        "nothing on this line is what the rule looks for: a number is read"
    )
    assert reason.change == "in this file it looks at line 5"


TRUE_REASONS = {
    "a clock that ends a time": (
        "TL801",
        "    import time\n    start = time.time()\n    net(x.cuda())\n"
        "    print(time.time() - start)  # here\n",
        "this read ends the time that begins in line 6; the rule looks at its start",
    ),
    "a name for a clock that ends a time": (
        "TL801",
        "    import time\n    start = time.time()\n    end = time.time()  # here\n"
        "    print(end - start)\n",
        "this read ends the time that begins in line 6; the rule looks at its start",
    ),
    "a clock that ends the time since an attribute": (
        "TL801",
        "    import time\n    self.start = time.time()\n    print(time.time() - self.start)  # here\n",
        "this read ends the time since `self.start`; the rule looks at its start",
    ),
    "a clock in an attribute": (
        "TL801",
        "    import time\n    self.start = time.time()  # here\n    print(now - self.start)\n",
        "the clock is read into `self.start`; the rule follows what is read into a plain name",
    ),
    "a time that ends at something unknown": (
        "TL801",
        "    import time\n    start = time.time()  # here\n    print(now - start)\n",
        "nothing shows that `now` in line 7 is a read of the clock below this one",
    ),
    "a clock that nothing is computed from": (
        "TL801",
        "    import time\n    start = time.time()  # here\n    print(start)\n",
        "no time is computed from this read of the clock",
    ),
    "a loss as a number": (
        "TL203",
        "        losses.append(loss.item())  # here\n",
        "`loss.item()` is a number, which keeps no graph",
    ),
    "a loss of another loop": (
        "TL203",
        "        losses.append(other)  # here\n",
        "nothing shows that `other` is a loss that the loop in line 2 calls `backward()` for",
    ),
    "widths that are written out": (
        "TL307",
        "    torch.nn.Conv2d(32, 64, 3)  # here\n",
        "its kernel is small: 9 places",
    ),
    "a kernel with a stride": (
        "TL307",
        "    torch.nn.Conv2d(32, 64, 16, 2)  # here\n",
        "its kernel has a stride, or groups, or a size that is not written out",
    ),
    "few channels": (
        "TL307",
        "    torch.nn.Conv2d(3, 8, 3)  # here\n",
        "its channels are few: 3 and 8",
    ),
    "a width that is not written out": (
        "TL307",
        "    torch.nn.Conv2d(32, width, 3)  # here\n",
        "its widths are not written out as numbers",
    ),
    "a narrow layer": (
        "TL307",
        "    torch.nn.Conv2d(64, 8, 3, 2)\n    torch.nn.Linear(32, 8)  # here\n",
        "its smaller width, 8, is below 16",
    ),
    "a dataset of a class of the file": (
        "TL109",
        "    from torch.utils.data import DataLoader, Dataset\n    class Own(Dataset):\n"
        "        def __init__(self):\n            self.x = torch.randn(9, 3)\n"
        "        def __getitem__(self, i):\n            return self.x[i]\n"
        "    DataLoader(Own(), num_workers=4)  # here\n",
        "its dataset is of a class of your own, whose `__getitem__` may take time",
    ),
}


@pytest.mark.parametrize(("code", "lines", "reason"), TRUE_REASONS.values(), ids=TRUE_REASONS)
def test_the_reason_is_true_of_the_line(
    why: Callable[..., Answer], code: str, lines: str, reason: str
) -> None:
    answer = why(code, train=LOOP + lines)
    assert reason in [each.why for each in answer.reasons]


HOOK = """\
    import torch
    import lightning as L
    from transformers import Trainer, TrainingArguments
    class Net(L.LightningModule):
        def training_step(self, batch, batch_idx):
            loss = self.net(batch).sum()
            self.losses.append(loss)  # kept
            return loss
    args = TrainingArguments("out")  # set
    Trainer(args=args).train()
"""


def test_what_a_framework_calls_is_not_called_outside_of_training(
    why: Callable[..., Answer],
) -> None:
    answer = why("TL203", train=HOOK.replace("# kept", "# here"))
    assert answer.reasons[0].why == (
        "a framework calls `training_step` on each step; the rule follows only sums and lists of a "
        "loop that the file writes out"
    )


def test_a_file_whose_steps_a_framework_takes_is_not_said_to_take_none(
    why: Callable[..., Answer],
) -> None:
    answer = why("TL501", train=HOOK.replace("# set", "# here"))
    said = [part for each in answer.reasons for part in (each.why, each.change)]
    assert any("here a framework takes them, `Trainer" in part for part in said)


UNLIKE = {
    "a method of a list": ("TL212", "        kept.append(3)  # here\n"),
    "a method of `self`": ("TL309", "        self.log(loss)  # here\n"),
    "a method of a result": ("TL212", "        torch.isnan(loss).append()  # here\n"),
    "a comparison of texts": ("TL204", "    if __name__ == '__main__':  # here\n        pass\n"),
}


@pytest.mark.parametrize(("code", "line"), UNLIKE.values(), ids=UNLIKE)
def test_what_shares_one_word_is_not_close(
    why: Callable[..., Answer], code: str, line: str
) -> None:
    text = "    import numpy\n    def train(self, kept, loader):\n"
    text += "".join(f"    {each}\n" for each in (LOOP + line).split("\n")[1:-1])
    answer = why(code, train="    import torch\n" + text)
    assert not answer.near
    assert not any(" is `" in each.why for each in answer.reasons)


def test_a_function_that_may_be_the_one_of_a_library_comes_close(
    why: Callable[..., Answer],
) -> None:
    text = """\
        import torch
        def grow(self, cat, loader):
            kept = torch.zeros(0)
            for x in loader:
                kept = {}([kept, x])  # here
    """
    for name in ("cat", "self.torch.cat"):
        assert why("TL212", train=text.format(name)).near


def test_a_function_that_nothing_calls_is_called_so(why: Callable[..., Answer]) -> None:
    answer = why("TL201", train=LOOP + "    def log(loss):\n        print(loss.item())  # here\n")
    assert answer.reasons[0].why == "no call of `log` was found"


def test_a_loop_over_epochs_is_told_from_the_one_inside(why: Callable[..., Answer]) -> None:
    answer = why(
        "TL201",
        train="""\
            import torch
            for epoch in range(3):
                for x in loader:
                    loss = net(x.cuda())
                    loss.backward()
                print(loss.item())  # here
        """,
    )
    assert answer.reasons[0].why == (
        "the loop around it is not a training loop: `for epoch in range(3)` in line 2 runs "
        "around `for x in loader` in line 3"
    )


def test_a_loop_of_a_helper_is_not_a_reason_of_its_own(why: Callable[..., Answer]) -> None:
    body = (
        "    def norms(loss):\n        for each in (loss, loss):\n"
        "            print(loss.item())  # here\n"
    )
    answer = why("TL201", train=LOOP + body)
    assert answer.reasons[0].why == "no call of `norms` was found"


def test_callers_that_do_not_train_are_named(why: Callable[..., Answer]) -> None:
    body = "    def log(loss):\n        print(loss.item())  # here\n    def report(x):\n        log(x)\n"
    answer = why("TL201", train=LOOP + body)
    assert answer.reasons[0].why == (
        "no training step calls `log`; it is called by `report` (line 7)"
    )


EPOCHS = """\
    import torch
    def train_one_epoch(model, loader):
        for x in loader:
            loss = model(x.cuda()).mean()
            loss.backward()
            optimizer.step()
        print(loss.item())  # beside
        return loss
    def main(model, loader):
        for epoch in range(9):
            print(train_one_epoch(model, loader).item())  # around
    main(model, loader)
"""


@pytest.mark.parametrize("place", ["beside", "around"])
def test_what_is_outside_of_the_training_loop_is_told_so(
    why: Callable[..., Answer], place: str
) -> None:
    answer = why("TL201", train=EPOCHS.replace(f"# {place}", "# here"))
    told = "it is outside of the training loop, which is in `train_one_epoch` (line 2)"
    assert answer.reasons[0].why == told


def test_a_command_line_is_a_caller(why: Callable[..., Answer]) -> None:
    text = """\
        import fire
        import torch
        def show(model, x):
            print(model(x.cuda()).mean().item())  # here
        def train(model, loader):
            for x in loader:
                model(x).backward()
        if __name__ == "__main__":
            fire.Fire({"show": show, "train": train})
    """
    assert "it is called by the top level of this file" in why("TL201", train=text).reasons[0].why


def test_a_parameter_that_gets_no_device_tensor_is_named(why: Callable[..., Answer]) -> None:
    body = "        log(3.0)\n    def log(loss):\n        print(float(loss))  # here\n"
    answer = why("TL201", train=LOOP + body)
    assert answer.reasons[0].why == "nothing shows that callers pass a device tensor for `loss`"


def test_a_branch_that_no_caller_takes_is_named(why: Callable[..., Answer]) -> None:
    body = (
        "        log(loss)\n    def log(loss, mask=None):\n"
        "        if mask is not None:\n            print(loss.item())  # here\n"
    )
    answer = why("TL201", train=LOOP + body)
    assert answer.reasons[0].why == (
        "no caller takes this branch: none passes what it asks of `mask`"
    )


def test_a_program_without_an_accelerator_is_told_so(why: Callable[..., Answer]) -> None:
    text = LOOP.replace(".cuda()", "") + "        print(loss.item())  # here\n"
    answer = why("TL201", train=text)
    assert "nothing shows a program that uses an accelerator" in answer.reasons[0].why


def test_what_a_star_import_binds_is_known(why: Callable[..., Answer]) -> None:
    train = "import torch\nfrom common import *\nDataParallel(model)  # here\n"
    common = "from torch.nn import DataParallel\n"
    assert why("TL601", train=train, common=common).reported is not None


def test_a_framework_that_is_kept_on_the_cpu_is_named(why: Callable[..., Answer]) -> None:
    net = """\
        import lightning as L
        class Net(L.LightningModule):
            def training_step(self, batch, batch_idx):
                print(self.model(batch).mean().item())  # here
    """
    main = """\
        import lightning as L
        from net import Net
        L.Trainer(accelerator="cpu").fit(Net())
    """
    assert why("TL201", net=net).reported is not None
    assert (
        why("TL201", net=net, main=main).reasons[0].why == "main.py keeps its framework on the CPU"
    )


def test_words_that_the_program_must_have_or_lack_are_named(why: Callable[..., Answer]) -> None:
    text = LOOP.replace("in enumerate(loader):", "in enumerate(loader):  # here")
    answer = why("TL502", train=text)
    assert answer.reasons[0].why == "no file of the program has attention, which the rule needs"
    attends = (
        "class Attention(torch.nn.Module): ...\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
    )
    answer = why("TL502", train=text, model="import torch\nimport train\n" + attends)
    assert answer.reasons[0].why == (
        "the rule is silent in programs with a setting for the precision of float32, as in model.py:4"
    )


def test_what_was_parsed_for_another_rule_is_asked_too(why: Callable[..., Answer]) -> None:
    """`torch.zeros(3).cuda()` is worth a look in code that no training step runs as well."""
    model = """        import torch
        class Net(torch.nn.Module):
            def forward(self, x):
                state = torch.zeros(3).cuda()
                return state * x.sum().item()  # here
    """
    train = "from model import Net\nnet = Net().cuda()\n" + dedent(LOOP)
    assert why("TL201", train=train, model=model).reported is Tier.DEFAULT


def test_a_rule_that_is_off_says_so(why: Callable[..., Answer]) -> None:
    off = Selection(ignore=("TL201",))
    answer = why("TL201", off, train=LOOP + "        print(loss.item())  # here\n")
    assert answer.reasons[0].why == "it is switched off for this file"


def test_an_exception_of_a_declared_rule_is_named(why: Callable[..., Answer]) -> None:
    answer = why(
        "TL102",
        train=LOOP + "    loader = torch.utils.data.DataLoader(data, pin_memory=False)  # here\n",
    )
    assert answer.reasons


def test_what_the_rest_of_the_program_decides_is_told(why: Callable[..., Answer]) -> None:
    answer = why(
        "TL301",
        train="""\
            import torch
            torch.backends.cudnn.benchmark = False
            model = torch.nn.Conv2d(3, 8, 3).to("cuda")
            for x in loader:  # here
                model(x).sum().backward()
        """,
    )
    assert answer.reported is None
    assert answer.reasons[0].why == "line 2 decides about `cudnn.benchmark` already"


def test_a_line_of_another_file_that_decides_is_named(why: Callable[..., Answer]) -> None:
    train = LOOP.replace("loader):", "loader):  # here").replace(
        "net(", "torch.nn.Conv2d(3, 8, 3)("
    )
    seeds = "import torch\ntorch.backends.cudnn.benchmark = True\n"
    answer = why("TL301", train="    import seeds\n" + train, seeds=seeds)
    assert answer.reasons[0].why == "seeds.py:2 decides about `cudnn.benchmark` already"


def test_a_name_is_compared_with_all_that_the_rule_looks_for(why: Callable[..., Answer]) -> None:
    answer = why("TL212", train="import torch\nx = torch.cat([x, y])  # here\n")
    assert answer.reasons[0].why == "nothing in the file begins empty and grows in a loop"


def test_a_finding_that_needs_no_other_file_is_reported(why: Callable[..., Answer]) -> None:
    answer = why(
        "TL101",
        train="""\
            import torch
            from torch.utils.data import DataLoader
            from torchvision.datasets import ImageFolder
            if __name__ == "__main__":
                loader = DataLoader(ImageFolder("train"), 32)  # here
                for x in loader:
                    net(x).backward()
        """,
    )
    assert answer.reported is Tier.DEFAULT


def test_a_line_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\n")
    target = Target(str(path), Selection(), NEWEST_TORCH)
    with pytest.raises(SourceError, match="There is no line 99; the file has 1"):
        explain(target, Position(99, 1), [], [target], pool=Pool())
