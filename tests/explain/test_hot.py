"""The tree of hot code: what it shows, and why it leaves the rest out."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import NEWEST_TORCH, Selection
from torchlint.explain.hot import HotTree, Node, State, hot_tree
from torchlint.project.target import Target
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., HotTree]:
    """The tree of some programs, given by path."""
    monkeypatch.chdir(tmp_path)

    def made(**files: str) -> HotTree:
        targets = []
        for name, text in files.items():
            path = f"{name}.py"
            (tmp_path / path).write_text(dedent(text))
            targets.append(Target(path, Selection(), NEWEST_TORCH))
        return hot_tree(targets, pool=Pool())

    return made


def lines(tree: HotTree) -> list[str]:
    """Each node as `path:line code state`, indented below its parent."""

    def below(node: Node, depth: int) -> Iterator[str]:
        place = f"{'  ' * depth}{node.path}:{node.position.row} {node.code}"
        yield f"{place} {node.state.value}{' (elsewhere)' if node.seen else ''}"
        for each in node.inside:
            yield from below(each, depth + 1)

    return [line for root in tree.roots for line in below(root.node, 0)]


def only(tree: HotTree, state: State) -> Node:
    def below(node: Node) -> Iterator[Node]:
        yield node
        for each in node.inside:
            yield from below(each)

    (found,) = (node for root in tree.roots for node in below(root.node) if node.state is state)
    return found


TRAIN = """\
    from helpers import accuracy, validate
    def train(model, loader, optimizer):
        for step, x in enumerate(loader):
            loss = model(x)
            loss.backward()
            optimizer.step()
            accuracy(loss)
            if step % 100 == 0:
                accuracy(loss)
            validate(model)
"""
HELPERS = """\
    import torch
    def accuracy(loss):
        return rounded(loss)
    def rounded(loss):
        return round(loss)
    def validate(model):
        accuracy(model)
"""


def test_calls_are_followed_from_the_loop_and_shown_once(tree: Callable[..., HotTree]) -> None:
    assert lines(tree(train=TRAIN, helpers=HELPERS)) == [
        "train.py:3 for step, x in enumerate(loader) hot",
        "  train.py:4 model(…) unknown",
        "  train.py:7 accuracy(…) hot",
        "    helpers.py:3 rounded(…) hot",
        "  train.py:9 accuracy(…) guarded",
        "  train.py:10 validate(…) evaluation",
    ]


def test_calls_that_lead_nowhere_are_shown(tree: Callable[..., HotTree]) -> None:
    train = """\
        import torch
        from models import make
        class Trainer:
            def __init__(self, metrics):
                self.metrics = metrics
                self.head = torch.nn.Linear(3, 3)
            def train(self, nets, loader):
                net_g, net_d = nets
                criterion = torch.nn.MSELoss().cuda()
                ema = make(3)
                teacher = hub[3]
                for x in loader:
                    loss = criterion(self.head(net_g(x)), teacher(x))
                    loss.backward()
                    ema(x)
                    nets[1](x)
                    for metric in self.metrics:
                        metric(loss)
    """
    models = "def make(width):\n    return models[width]\n"
    assert lines(tree(train=train, models=models)) == [
        "train.py:12 for x in loader hot",
        "  train.py:13 net_g(…) unknown",
        "  train.py:13 teacher(…) unknown",
        "  train.py:15 ema(…) unknown",
        "  train.py:16 nets[1](…) unknown",
        "  train.py:18 metric(…) unknown",
    ]


def test_a_function_of_a_computed_name_is_likely(tree: Callable[..., HotTree]) -> None:
    train = """\
        import losses
        loss_of = getattr(losses, config.loss)
        for x in loader:
            loss = loss_of(x)
            loss.backward()
    """
    helpers = "def dice(x):\n    return x.sum()\ndef validate(x):\n    return x.sum()\n"
    assert lines(tree(train=train, losses=helpers)) == [
        "train.py:3 for x in loader hot",
        "  train.py:4 loss_of(…) likely",
        "  train.py:4 loss_of(…) evaluation",
    ]


def test_the_guard_that_decides_is_named(tree: Callable[..., HotTree]) -> None:
    train = """\
        def train(model, loader):
            for iter_num, x in enumerate(loader):
                model(x).backward()
                if iter_num % every == 0:
                    if iter_num >= 5:
                        speed(x)
        def speed(x):
            return x
    """
    assert (
        only(tree(train=train), State.GUARDED).why == "under `if iter_num % every == 0` in line 4"
    )


def test_a_loop_says_what_trains_in_it(tree: Callable[..., HotTree]) -> None:
    (root,) = tree(train=TRAIN, helpers=HELPERS).roots
    assert root.node.why == "`loss.backward()` in line 5"


def test_a_guard_is_quoted(tree: Callable[..., HotTree]) -> None:
    guarded = only(tree(train=TRAIN, helpers=HELPERS), State.GUARDED)
    assert guarded.why == "under `if step % 100 == 0` in line 8"
    assert guarded.target is not None
    assert guarded.target[:2] == ("accuracy", "helpers.py")


def test_a_condition_to_continue_guards_what_is_below_it(tree: Callable[..., HotTree]) -> None:
    found = tree(
        train="""\
            def log(loss): pass
            for step, x in enumerate(loader):
                loss.backward()
                if step % 100:
                    continue
                log(loss)
        """
    )
    assert only(found, State.GUARDED).why == "after `if step % 100` in line 4"


def test_a_loop_that_trains_through_a_call_names_the_call(tree: Callable[..., HotTree]) -> None:
    found = tree(
        train="""\
            import torch
            def step(x):
                loss = net(x)
                loss.backward()
            for x in loader:
                step(x)
        """
    )
    (root,) = found.roots
    assert (root.node.position.row, root.node.why) == (5, "`step(…)` in line 6")


def test_a_framework_is_a_beginning(tree: Callable[..., HotTree]) -> None:
    found = tree(
        module="""\
            import lightning as L
            class Net(L.LightningModule):
                def training_step(self, batch, index):
                    return self.loss(batch)
                def loss(self, batch):
                    return batch
        """
    )
    assert lines(found) == [
        "module.py:3 def Net.training_step hot",
        "  module.py:4 self.loss(…) hot",
    ]
    assert found.roots[0].node.why == "a framework calls this on each step"


STARTS = """\
    from transformers import Trainer
    def main(data, resume):
        trainer = Trainer(net(), train_dataset=data)
        if resume:
            trainer.train(resume_from_checkpoint=True)
        else:
            trainer.train()
"""


def test_a_framework_that_takes_steps_of_its_own_is_one_too(tree: Callable[..., HotTree]) -> None:
    found = tree(main=STARTS)
    assert lines(found) == ["main.py:5 trainer.train(…) hot"]
    assert found.roots[0].node.why == "a framework takes the training steps here"


def test_a_trainer_that_is_made_where_it_trains_is_named_in_short(
    tree: Callable[..., HotTree],
) -> None:
    main = "from transformers import Trainer\nTrainer(net, args(1), data=d).train()\n"
    assert lines(tree(main=main)) == ["main.py:2 Trainer(…).train() hot"]


def test_what_another_loop_heats_is_not_a_step_of_a_framework(tree: Callable[..., HotTree]) -> None:
    main = f"import helpers\n{dedent(STARTS)}"
    found = lines(tree(main=main, train=TRAIN, helpers=HELPERS))
    assert "main.py:6 trainer.train(…) hot" in found


def test_a_framework_that_calls_a_step_of_the_project_is_not(tree: Callable[..., HotTree]) -> None:
    loss = """\
        from transformers import Trainer
        class Mine(Trainer):
            def compute_loss(self, model, inputs):
                return inputs
    """
    main = dedent(STARTS).replace("net()", "loss.net").replace("def main", "import loss\ndef main")
    assert lines(tree(main=main, loss=loss)) == ["loss.py:3 def Mine.compute_loss hot"]


def test_calls_beyond_the_fifth_are_not_followed(tree: Callable[..., HotTree]) -> None:
    chain = "".join(f"def f{n}(x): f{n + 1}(x)\n" for n in range(7)) + "def f7(x): pass\n"
    found = tree(
        train="import torch\n" + chain + "for x in loader:\n    net(x).backward()\n    f0(x)\n"
    )
    far = only(found, State.TOO_FAR)
    assert far.code == "f5(…)"
    assert "more than 5 calls" in far.why


def test_a_function_that_calls_itself_is_shown_once(tree: Callable[..., HotTree]) -> None:
    found = tree(
        train="""\
            import torch
            def walk(x): other(x)
            def other(x): walk(x)
            for x in loader:
                net(x).backward()
                walk(x)
        """
    )
    assert lines(found) == [
        "train.py:4 for x in loader hot",
        "  train.py:6 walk(…) hot",
        "    train.py:2 other(…) hot",
        "      train.py:3 walk(…) hot (elsewhere)",
    ]


def test_a_chain_of_calls_is_as_deep_as_it_is_followed(tree: Callable[..., HotTree]) -> None:
    chain = "".join(f"def f{n}(x): f{n + 1}(x)\n" for n in range(300)) + "def f300(x): pass\n"
    body = "".join(f"    f{n}(x)\n" for n in range(300))
    found = tree(
        train="import torch\n" + chain + "for x in loader:\n    net(x).backward()\n" + body
    )
    shown = lines(found)
    assert max(len(line) - len(line.lstrip()) for line in shown) <= 2 * 7
    assert {f"f{n}(…)" for n in range(300)} <= {line.split(" ")[-2] for line in shown} | {
        line.split(" ")[-3] for line in shown
    }


def test_the_scripts_that_run_a_file_are_named(tree: Callable[..., HotTree]) -> None:
    found = tree(
        main="import torch\nfrom engine import train\nif __name__ == '__main__':\n    train()\n",
        engine="import torch\ndef train():\n    for x in loader:\n        net(x).backward()\n",
    )
    assert [root.scripts for root in found.roots] == [("main.py",)]


def test_a_file_that_cannot_be_parsed_hides_no_other(tree: Callable[..., HotTree]) -> None:
    found = tree(train=TRAIN, helpers=HELPERS, broken="loss.backward(\nimport torch")
    assert len(found.roots) == 1
    assert [each.path for each in found.diagnostics] == ["broken.py"]


def test_a_project_without_training_has_no_tree(tree: Callable[..., HotTree]) -> None:
    assert tree(helpers=HELPERS).roots == ()


def test_a_call_in_a_branch_that_no_caller_takes_says_so(tree: Callable[..., HotTree]) -> None:
    text = """\
        def train(model, loader, optimizer):
            for x in loader:
                loss = model(x)
                loss.backward()
                optimizer.step()
                note(loss)
        def note(loss, detailed=False):
            if detailed:
                show(loss)
        def show(loss):
            print(loss)
    """
    refused = only(tree(train=text), State.GUARDED)
    assert refused.target is not None
    assert refused.target[0] == "show"
    assert refused.why == "no caller passes what the condition around it asks for"
