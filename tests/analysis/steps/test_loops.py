"""Which code runs on each training step: loops, functions, guards, evaluation, framework hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

IN_STEP_LOOP = {
    "backward": "for x in data:\n  loss.backward()\n  probe(x)",
    "before the backward": "for x in data:\n  probe(x)\n  loss.backward()",
    "Accelerate's backward": "for x in data:\n  accelerator.backward(loss)\n  probe(x)",
    "Fabric's backward": "for x in data:\n  fabric.backward(loss)\n  probe(x)",
    "Lightning's manual backward": (
        "class M:\n  def f(self):\n    for x in data:\n      self.manual_backward(loss)\n"
        "      probe(x)"
    ),
    "DeepSpeed's engine": "for x in data:\n  engine.backward(loss)\n  engine.step()\n  probe(x)",
    "a scaled backward": "for x in data:\n  scaler.scale(loss).backward()\n  probe(x)",
    "a scaler's step": "for x in data:\n  scaler.step(optimizer)\n  probe(x)",
    "timm's loss scaler": "for x in data:\n  loss_scaler(loss, optimizer)\n  probe(x)",
    "only an optimizer's step": "for x in data:\n  optimizer.step()\n  probe(x)",
    "the step of an optimizer by another name": (
        "import torch\nrule = torch.optim.SGD(p)\nfor x in data:\n  rule.step()\n  probe(x)"
    ),
    "`while True` with `next`": (
        "while True:\n  x = next(it)\n  loss.backward()\n  optimizer.step()\n  probe(x)"
    ),
    "`while` with a counter": "while step < 10:\n  loss.backward()\n  probe(x)",
    "the condition of `while`": "while probe(loss) > 1:\n  loss.backward()",
    "tqdm": "for x in tqdm(data):\n  loss.backward()\n  probe(x)",
    "enumerate": "for i, x in enumerate(data):\n  loss.backward()\n  probe(x)",
    "zip": "for x, y in zip(a, b):\n  loss.backward()\n  probe(x)",
    "log_every": "for x in logger.log_every(data, 10):\n  loss.backward()\n  probe(x)",
    "backward under `if` and `with`": (
        "for x in data:\n  with autocast():\n    if ok:\n      loss.backward()\n  probe(x)"
    ),
    "an inner loop over something else": (
        "for x in data:\n  loss.backward()\n  for name in names:\n    probe(name)"
    ),
    "steps of several optimizers": (
        "for x in data:\n  for opt in optimizers:\n    opt.step()\n  probe(x)"
    ),
}

OUTSIDE = {
    "no training": "for x in data:\n  net(x)\n  probe(x)",
    "only a scheduler's step": "for x in data:\n  scheduler.step()\n  probe(x)",
    "only an environment's step": "for x in data:\n  env.step(a)\n  probe(x)",
    "the epoch loop around": (
        "for e in range(9):\n  for x in data:\n    loss.backward()\n  probe(e)"
    ),
    "behind the loop": "for x in data:\n  loss.backward()\nprobe(x)",
    "the loop's `else`": "for x in data:\n  loss.backward()\nelse:\n  probe(x)",
    "the loop's iterable": "for x in probe(data):\n  loss.backward()",
    "a function that the loop defines": (
        "for x in data:\n  loss.backward()\n  def f():\n    probe(x)"
    ),
    "a lambda that the loop defines": "for x in data:\n  loss.backward()\n  f = lambda: probe(x)",
    "backward in a nested function": "for x in data:\n  def f():\n    loss.backward()\n  probe(x)",
    "a function's own backward": (
        "class F:\n  def backward(ctx, g):\n    for x in g:\n      super().backward(1)\n"
        "      probe(x)"
    ),
    "one step by several optimizers": "for opt in optimizers:\n  opt.step()\n  probe(opt)",
    "one backward of several losses": "for loss in losses:\n  loss.backward()\n  probe(loss)",
    "one step of zipped optimizers": (
        "for opt, sched in zip(a, b):\n  scaler.step(opt)\n  probe(opt)"
    ),
}


class TestStepLoop:
    @pytest.mark.parametrize("text", IN_STEP_LOOP.values(), ids=list(IN_STEP_LOOP))
    def test_holds(self, probed: Callable[..., Any], text: str) -> None:
        asked = probed(text)
        assert asked.module.step_loop(asked.call) is not None

    @pytest.mark.parametrize("text", OUTSIDE.values(), ids=list(OUTSIDE))
    def test_does_not_hold(self, probed: Callable[..., Any], text: str) -> None:
        asked = probed(text)
        assert asked.module.step_loop(asked.call) is None

    def test_is_the_innermost_that_trains(self, probed: Callable[..., Any]) -> None:
        asked = probed(
            "for e in r:\n  opt.step()\n  for x in data:\n    loss.backward()\n    probe(x)"
        )
        loop = asked.module.step_loop(asked.call)
        assert asked.module.span(loop.node)[0].row == 3
        assert asked.module.source(loop.anchor) == "loss.backward()"

    def test_loops_are_numbered_alike_in_every_run(self, module_of: Callable[..., Module]) -> None:
        text = "while a: pass\nfor b in c: pass\nfor d in e:\n  while f: pass\n"
        first, second = module_of(text), module_of(text)
        for kind in (cst.For, cst.While):
            numbers = [first.loops.index(loop) for loop in first.nodes(kind)]
            assert numbers == [second.loops.index(loop) for loop in second.nodes(kind)]
        both = [*first.nodes(cst.For), *first.nodes(cst.While)]
        assert sorted(first.loops.index(loop) for loop in both) == [0, 1, 2, 3]


STEP_FUNCTIONS = {
    "backward and step are a whole step": (
        "def f():\n  loss.backward()\n  optimizer.step()",
        {"f": True},
    ),
    "backward alone is part of one": ("def f():\n  loss.backward()", {"f": False}),
    "a step alone is part of one": ("def f():\n  optimizer.step()", {"f": False}),
    "an optimizer that is given the loss does both": (
        "def f():\n  self.policy_optim.step(actor_loss, clip=1)",
        {"f": True},
    ),
    "an optimizer that is given something else does not": (
        "def f():\n  optimizer.step(metrics)",
        {"f": False},
    ),
    "a method": (
        "class T:\n  def f(self):\n    self.loss.backward()\n    self.optimizer.step()",
        {"f": True},
    ),
    "steps of several optimizers in a loop": (
        "def f():\n  loss.backward()\n  for opt in optimizers: opt.step()",
        {"f": True},
    ),
    "a loop of steps is none": ("def f():\n  for x in data:\n    loss.backward()", {}),
    "an LBFGS closure is none": (
        "def f():\n  def closure():\n    loss.backward()\n    return loss\n"
        "  optimizer.step(closure)",
        {"f": False},
    ),
    "a closure by another name is none": (
        "def f():\n  def again():\n    loss.backward()\n  optimizer.step(again)",
        {"f": False},
    ),
    "code of the module is none": ("loss.backward()", {}),
}


@pytest.mark.parametrize(("text", "functions"), STEP_FUNCTIONS.values(), ids=list(STEP_FUNCTIONS))
def test_functions_that_do_a_step(
    module_of: Callable[..., Module], text: str, functions: dict[str, bool]
) -> None:
    found = module_of(text).loops.stepping_functions
    assert {node.name.value: whole for node, whole in found.items()} == functions


HOOKS = {
    "Lightning's training_step": (
        "import lightning as L\nclass M(L.LightningModule):\n"
        "  def training_step(self, b, i): probe(b)",
        True,
    ),
    "Lightning's training_step, of an own base": (
        "class M(Base):\n  def training_step(self, b, i): probe(b)",
        True,
    ),
    "Lightning's hook after each batch": (
        "import pytorch_lightning as pl\nclass M(pl.LightningModule):\n"
        "  def on_train_batch_end(self, o, b, i): probe(b)",
        True,
    ),
    "a Lightning module through a base of this file": (
        "import lightning as L\nclass B(L.LightningModule): pass\nclass M(B):\n"
        "  def on_train_batch_end(self, o, b, i): probe(b)",
        True,
    ),
    "a Lightning callback": (
        "from lightning.pytorch import Callback\nclass C(Callback):\n"
        "  def on_train_batch_end(self, t, m, o, b, i): probe(o)",
        True,
    ),
    "compute_loss of Hugging Face": (
        "from transformers import Trainer\nclass T(Trainer):\n"
        "  def compute_loss(self, model, inputs): probe(inputs)",
        True,
    ),
    "a callback of Hugging Face": (
        "from transformers import TrainerCallback\nclass C(TrainerCallback):\n"
        "  def on_step_end(self, args, state, control): probe(args)",
        True,
    ),
    "OpenMMLab's train_step": (
        "from torch import nn\nclass M(nn.Module):\n  def train_step(self, d, o): probe(d)",
        True,
    ),
    "a train_step of what is not a module": (
        "class M:\n  def train_step(self, data): probe(data)",
        False,
    ),
    "torchnet's hook": (
        "def on_forward(state): probe(state)\nengine.hooks['on_forward'] = on_forward",
        True,
    ),
    "ignite's handler": (
        "def log(engine): probe(engine)\n"
        "trainer.add_event_handler(Events.ITERATION_COMPLETED, log)",
        True,
    ),
    "ignite's decorator": (
        "@trainer.on(Events.ITERATION_COMPLETED)\ndef log(engine): probe(engine)",
        True,
    ),
    "ignite's handler now and then": (
        "@trainer.on(Events.ITERATION_COMPLETED(every=100))\ndef log(engine): probe(engine)",
        False,
    ),
    "ignite's handler at the end of an epoch": (
        "@trainer.on(Events.EPOCH_COMPLETED)\ndef log(engine): probe(engine)",
        False,
    ),
    "torchnet's hook at the end": (
        "def on_end(state): probe(state)\nengine.hooks['on_end_epoch'] = on_end",
        False,
    ),
    "Lightning's hook at the end of an epoch": (
        "import lightning as L\nclass M(L.LightningModule):\n"
        "  def on_train_epoch_end(self): probe(1)",
        False,
    ),
    "a batch hook of a class that is not a framework's": (
        "class M:\n  def on_train_batch_end(self): probe(1)",
        False,
    ),
    "compute_loss of an own Trainer": (
        "class Trainer: pass\nclass T(Trainer):\n  def compute_loss(self, m): probe(m)",
        False,
    ),
}


@pytest.mark.parametrize(("text", "hook"), HOOKS.values(), ids=list(HOOKS))
def test_a_framework_calls_it_on_each_step(
    probed: Callable[..., Any], text: str, hook: bool
) -> None:
    asked = probed(text)
    function = asked.module.function(asked.call)
    assert function is not None
    assert asked.module.loops.is_step_hook(function) is hook


LOOP = """\
class Counter:
  def ready(self): return self.n % 100 == 0
c = Counter()
for step, x in enumerate(data):
  loss.backward()
  {}
"""
PERIODIC = {
    "every hundredth step": "if step % 100 == 0: probe(x)",
    "every hundredth step, the other way": "if not step % args.print_freq: probe(x)",
    "a switch of a logger": "if args.verbose: probe(x)",
    "a function that tells when": "if should_log(step): probe(x)",
    "camel case": "if isLogging: probe(x)",
    "a counter compared": "if counter > 1000: probe(x)",
    "the end of an epoch, and beyond": "if step >= len(data): probe(x)",
    "the last steps": "if step >= max_steps: probe(x)",
    "a bound that moves": "if step >= next_time: probe(x)",
    "a difference of steps": "if step - last_step >= 100: probe(x)",
    "an index compared": "if batch_idx == last: probe(x)",
    "something broke": "if torch.isnan(loss): probe(x)",
    "not finite": "if not math.isfinite(value): probe(x)",
    "a function that tells when, by another name": "if self.is_metric_step(): probe(x)",
    "a function of the file that counts": "if c.ready(): probe(x)",
    "an exception": "try: f()\n  except E: probe(x)",
    "the master's log": "if rank == 0 and step % 10 == 0: probe(x)",
    "an outer guard": "if step % 100 == 0:\n    if x:\n      probe(x)",
    "a conditional expression": "y = probe(x) if step % 100 == 0 else 0",
    "the rest of a skipped round": "if step % 100 != 0: continue\n  probe(x)",
    "the rest of a skipped round, in a block": "if step % 100: continue\n  with a: probe(x)",
    "the end of an epoch": "if step == len(data) - 1: probe(x)",
    "time to save": "if save_now: probe(x)",
    "the end of the loop": "if loss < small:\n    probe(x)\n    break",
    "the end of the function": "if loss < small:\n    with a: probe(x)\n    return",
    "the end of the function, in a loop inside": "for y in x:\n    if y: probe(x); return",
    "the end of the program": "if loss < small:\n    probe(x)\n    sys.exit()",
}
NONE = {
    "the first rank": "if rank == 0: probe(x)",
    "the main process": "if accelerator.is_main_process: probe(x)",
    "camel case": "if isMaster: probe(x)",
    "the local rank, counted": "if args.local_rank in (-1, 0): probe(x)",
    "nothing": "probe(x)",
    "the other arm of a guard": "if step % 100 == 0: pass\n  else: probe(x)",
    "the condition itself": "if probe(x) % 100 == 0: pass",
    "another condition": "if x.requires_grad: probe(x)",
    "a threshold of a loss": "if loss > threshold: probe(x)",
    "`try`": "try: probe(x)\n  except E: pass",
    "from some step on": "if step > 1000: probe(x)",
    "from some epoch on": "if epoch >= args.joint_epoch: probe(x)",
    "the end of a loop inside": "for y in x:\n    if y < loss:\n      probe(x)\n      break",
    "an ordinary call at the end": "if loss < small:\n    probe(x)\n    sys.flush()",
    "a loop with one round": "probe(x)\n  break",
    "skipping broken rounds": "if x is None: continue\n  probe(x)",
    "skipping a warm-up": "if step < 500: continue\n  probe(x)",
    "before the skip": "probe(x)\n  if step % 100: continue",
    "another arm of a conditional expression": "y = 0 if step % 100 == 0 else probe(x)",
    "a counter that is not compared": (
        "if step in done_steps_of[x]: pass\n  if steps is None: probe(x)"
    ),
}


class TestGuard:
    @pytest.mark.parametrize("body", PERIODIC.values(), ids=list(PERIODIC))
    def test_of_code_that_runs_now_and_then(self, probed: Callable[..., Any], body: str) -> None:
        asked = probed(LOOP.format(body))
        assert asked.module.guard(asked.call) is not None

    @pytest.mark.parametrize("body", NONE.values(), ids=list(NONE))
    def test_of_code_that_runs_on_each_step(self, probed: Callable[..., Any], body: str) -> None:
        asked = probed(LOOP.format(body))
        assert asked.module.guard(asked.call) is None

    def test_around_the_loop_does_not_count(self, probed: Callable[..., Any]) -> None:
        asked = probed("if step % 5 == 0:\n  for x in data:\n    loss.backward()\n    probe(x)")
        assert asked.module.guard(asked.call) is None

    def test_around_the_step_itself_does_not_count(self, probed: Callable[..., Any]) -> None:
        asked = probed(
            """
            for i, x in enumerate(data):
                loss.backward()
                if i % accumulate == 0:
                    probe(x)
            """
        )
        assert asked.module.guard(asked.call) is not None
        asked = probed(
            """
            for i, x in enumerate(data):
                if i < most:
                    loss.backward()
                    probe(x)
            """
        )
        assert asked.module.guard(asked.call) is None

    def test_around_all_optimizer_steps_does_not_count(self, probed: Callable[..., Any]) -> None:
        text = """
            for i, x in enumerate(data):
                loss.backward()
                {}
                if i % accumulate == 0:
                    optimizer.step()
                    probe(x)
            """
        assert (asked := probed(text.format("pass"))).module.guard(asked.call) is None
        asked = probed(text.format("second_optimizer.step()"))
        assert asked.module.guard(asked.call) is not None

    def test_of_a_closure_is_as_good_as_any(self, probed: Callable[..., Any]) -> None:
        asked = probed(
            """
            for x in data:
                def closure():
                    loss.backward()
                    probe(loss)
                optimizer.step(closure)
            """
        )
        assert asked.module.guard(asked.call) is not None

    def test_of_a_helper_that_returns_early(self, probed: Callable[..., Any]) -> None:
        asked = probed("def log(x, step):\n  if not should_log(step):\n    return\n  probe(x)")
        assert asked.module.guard(asked.call) is not None
        asked = probed("def log(x, step):\n  if x is None:\n    return\n  probe(x)")
        assert asked.module.guard(asked.call) is None

    def test_of_a_helper_is_its_body(self, probed: Callable[..., Any]) -> None:
        asked = probed("def log(x, step):\n  if step % 10 == 0:\n    probe(x)")
        assert asked.module.guard(asked.call) is not None


EVALUATES = {
    "a loop under no_grad": (
        "import torch\nwith torch.no_grad():\n  for x in data: probe(x)",
        True,
    ),
    "a loop under inference_mode": (
        "import torch\nwith torch.inference_mode():\n  for x in data: probe(x)",
        True,
    ),
    "a loop with gradients set off": (
        "import torch\nwith torch.set_grad_enabled(False):\n  for x in data: probe(x)",
        True,
    ),
    "a loop with gradients set on": (
        "import torch\nwith torch.set_grad_enabled(True):\n  for x in data: probe(x)",
        False,
    ),
    "a loop under no_grad from another package": (
        "from mine import no_grad\nwith no_grad():\n  for x in data: probe(x)",
        False,
    ),
    "a few lines under no_grad": ("import torch\nwith torch.no_grad():\n  probe(x)", False),
    "after eval()": ("net.eval()\nfor x in data: probe(x)", True),
    "after train(False)": ("net.train(False)\nfor x in data: probe(x)", True),
    "after eval() and train()": ("net.eval()\nnet.train()\nfor x in data: probe(x)", False),
    "before eval()": ("for x in data: probe(x)\nnet.eval()", False),
    "eval() in another branch": ("if a:\n  net.eval()\nfor x in data: probe(x)", False),
    "a function called evaluate": ("def evaluate(): probe(x)", True),
    "a method called validate_one_epoch": (
        "class T:\n  def validate_one_epoch(self): probe(x)",
        True,
    ),
    "a function in camel case": ("def runValidation(): probe(x)", True),
    "a function that tests and trains": (
        "def test(): probe(x)\n  loss.backward()".replace(": probe", ":\n  probe"),
        False,
    ),
    "a function called contest": ("def contest(): probe(x)", False),
    "a function that starts with eval()": ("def f(m):\n  m.eval()\n  probe(x)", True),
    "a function that starts with train()": (
        "def f(m):\n  m.train()\n  probe(x)\n  m.eval()",
        False,
    ),
    "a decorated function over a loader": (
        "import torch\n@torch.no_grad()\ndef f(loader):\n  for x in loader: probe(x)",
        True,
    ),
    "a decorated function without a loader": (
        "import torch\n@torch.no_grad()\ndef accuracy(a, b):\n  probe(a)",
        False,
    ),
    "Lightning's validation_step": ("class M:\n  def validation_step(self, b): probe(b)", True),
    "Hugging Face's evaluation_loop": ("class T:\n  def evaluation_loop(self, b): probe(b)", True),
    "a step loop": ("for x in data:\n  loss.backward()\n  probe(x)", False),
    "a step loop after eval(), as GANs have": (
        "other.eval()\nfor x in data:\n  loss.backward()\n  probe(x)",
        False,
    ),
    "eval() in a step loop": (
        "for x in data:\n  loss.backward()\n  net.eval()\n  probe(x)",
        True,
    ),
    "an evaluation loop in a step loop": (
        "import torch\nfor x in data:\n  loss.backward()\n  with torch.no_grad():\n"
        "    for y in other: probe(y)",
        True,
    ),
    "several models in a step loop, without gradients": (
        "import torch\nfor x in data:\n  loss.backward()\n  with torch.no_grad():\n"
        "    for model, name in zip(models, names): probe(x)",
        False,
    ),
    "batches of two loaders in a step loop, without gradients": (
        "import torch\nfor x in data:\n  loss.backward()\n  with torch.no_grad():\n"
        "    for a, b in zip(loader, others): probe(x)",
        True,
    ),
    "parameters in a step loop, without gradients": (
        "import torch\nfor x in data:\n  loss.backward()\n  with torch.no_grad():\n"
        "    for each in model.parameters(): probe(x)",
        False,
    ),
    "a step loop in a function called test": (
        "def test_speed():\n  for x in data:\n    loss.backward()\n    probe(x)",
        False,
    ),
}


@pytest.mark.parametrize(("text", "evaluates"), EVALUATES.values(), ids=list(EVALUATES))
def test_the_model_evaluates(probed: Callable[..., Any], text: str, evaluates: bool) -> None:
    asked = probed(text)
    assert asked.module.in_evaluation(asked.call) is evaluates


def test_gradients_are_off_within_the_loop_only(probed: Callable[..., Any]) -> None:
    inside = probed(
        "import torch\nfor x in data:\n  loss.backward()\n  with torch.no_grad():\n    probe(x)"
    )
    loop = inside.module.step_loop(inside.call).node
    assert inside.module.evaluations.grad_is_off(inside.call, inside=loop)
    around = probed(
        "import torch\nwith torch.no_grad():\n  for x in data:\n    opt.step()\n    probe(x)"
    )
    loop = around.module.step_loop(around.call).node
    assert not around.module.evaluations.grad_is_off(around.call, inside=loop)


class TestModule:
    @pytest.mark.parametrize(
        ("path", "text", "test_like"),
        [
            ("tests/train.py", "", True),
            ("docs/source/train.py", "", True),
            ("pkg/test_train.py", "", True),
            ("pkg/train_test.py", "", True),
            ("conftest.py", "", True),
            ("setup.py", "", True),
            ("pkg\\tests\\train.py", "", True),
            ("train.py", "import pytest", True),
            ("train.py", "from unittest import mock", True),
            ("train.py", "", False),
            ("test.py", "", False),
            ("contests/train.py", "", False),
            ("train.py", "x = 'import pytest'", False),
        ],
    )
    def test_a_path_or_an_import_makes_a_test(
        self, module_of: Callable[..., Module], path: str, text: str, test_like: bool
    ) -> None:
        assert module_of(text, path).test_like is test_like

    @pytest.mark.parametrize(
        ("text", "entry"),
        [
            ("if __name__ == '__main__': main()", True),
            ("import argparse", True),
            ("from hydra import main", True),
            ("import absl.flags", True),
            ("for x in data: loss.backward()", True),
            ("def f():\n  for x in data: loss.backward()", False),
            ("import torch", False),
            ("def f():\n  if __name__ == '__main__': main()", False),
        ],
    )
    def test_somebody_starts_it(
        self, module_of: Callable[..., Module], text: str, entry: bool
    ) -> None:
        assert module_of(text).is_entry is entry
