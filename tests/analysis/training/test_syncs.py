"""What is spelled like a sync, what it reads, and how the value is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.analysis.training.consumers import (
    consumer,
    decides_on_the_host,
    is_action,
    is_stored,
    needs_host_tensor,
)
from torchlint.analysis.training.syncs import Operand, Sync, operand_of, sync_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

HEADER = "import numpy as np\nimport torch\nnet = torch.nn.Linear(1, 1).cuda()\nt = net(x)\n"

SYNCS = {
    "t.item()": (".item()", "t", True),
    "t.sum().item()": (".item()", "t.sum()", True),
    "float(t)": ("float()", "t", True),
    "int(t)": ("int()", "t", True),
    "t.cpu()": (".cpu()", "t", False),
    "t.numpy()": (".numpy()", "t", False),
    "t.tolist()": (".tolist()", "t", False),
    "t.to('cpu')": ('.to("cpu")', "t", False),
    "t.to(device='cpu')": ('.to("cpu")', "t", False),
    "t.to(torch.device('cpu'))": ('.to("cpu")', "t", False),
    "np.asarray(t)": ("np.asarray()", "t", False),
    "np.array(t, dtype=float)": ("np.array()", "t", False),
}
NO_SYNCS = [
    "t.item(0)",
    "t.items()",
    "item()",
    "float()",
    "float(*t)",
    "int(t, 16)",
    "int(x=t)",
    "bool(t)",
    "t.cpu(1)",
    "t.to('cuda')",
    "t.to(device)",
    "t.to()",
    "np.zeros(t)",
    "np.asarray()",
    "np.asarray(*t)",
    "mine.asarray(t)",
    "len(t)",
    "(str if c else float)(t)",
]


def first_sync(module: Module) -> Sync:
    found = (sync_of(call, module) for call in module.nodes(cst.Call))
    return next(sync for sync in found if sync is not None)


class TestSpelling:
    @pytest.mark.parametrize(("text", "sync"), SYNCS.items(), ids=list(SYNCS))
    def test_of_a_sync(
        self, module_of: Callable[..., Module], text: str, sync: tuple[str, str, bool]
    ) -> None:
        module = module_of(HEADER + text)
        found = sync_of(module.nodes(cst.Expr)[0].value, module)
        assert found is not None
        assert (found.how, module.source(found.operand), found.scalar) == sync

    @pytest.mark.parametrize("text", NO_SYNCS)
    def test_of_something_else(self, module_of: Callable[..., Module], text: str) -> None:
        module = module_of(HEADER + text)
        assert sync_of(module.nodes(cst.Expr)[0].value, module) is None

    def test_of_a_builtin_that_was_given_another_meaning(
        self, module_of: Callable[..., Module]
    ) -> None:
        module = module_of("from mine import float\nfloat(t)")
        assert sync_of(module.nodes(cst.Call)[0], module) is None


SURE = Operand(True, True, ())
OPERANDS = {
    "a device tensor": ("t.item()", SURE),
    "a device tensor as a number": ("float(t)", SURE),
    "a tensor on an unknown device": ("torch.exp(x).item()", SURE),
    "what an unknown function makes of one": ("mystery(t).item()", SURE),
    "what an unknown function makes of one, as a number": ("float(mystery(t))", None),
    "a CPU tensor": ("torch.zeros(3).item()", None),
    "a number": ("float(3)", None),
    "a number or a device tensor": ("u = 0\nif x: u = t\nu.item()", SURE),
    "a number or a device tensor, as a number": ("u = 0\nif x: u = t\nfloat(u)", None),
    "an array": ("t.cpu().numpy().item()", None),
    "an array or a device tensor, copied": ("u = t\nif x: u = np.zeros(3)\nu.tolist()", None),
    "a module": ("net.cpu()", None),
    "a parameter that is a module": ("def f(model): model.cpu()", None),
    "a CPU tensor or one nobody knows where": (
        "u = torch.exp(x)\nif x: u = torch.zeros(3)\nu.item()",
        None,
    ),
    "something unknown that is used as a tensor": (
        "u = mystery()\nu.unsqueeze(0)\nu.item()",
        Operand(True, True, (), guessed=True),
    ),
    "something unknown": ("mystery.item()", Operand(True, True, (), guessed=True)),
    "a parameter": ("def f(a): a.item()", Operand(False, True, ("a",), guessed=True)),
    "a parameter as a number": ("def f(a): float(a)", Operand(False, False, ("a",))),
    "what is made of two parameters": (
        "def f(a, b): (a.mean() + b.mean()).item()",
        Operand(False, True, ("a", "b"), guessed=True),
    ),
    "a parameter that is a tensor": (
        "def f(a: torch.Tensor): a.item()",
        Operand(False, True, ("a",)),
    ),
    "a method that only tensors have, of a parameter": (
        "def f(a): a.eq(1).sum().item()",
        Operand(False, True, ("a",)),
    ),
}


@pytest.mark.parametrize(("text", "operand"), OPERANDS.values(), ids=list(OPERANDS))
def test_the_operand_is(
    module_of: Callable[..., Module], text: str, operand: Operand | None
) -> None:
    module = module_of(HEADER + text)
    calls = [call for call in module.nodes(cst.Call) if sync_of(call, module) is not None]
    sync = sync_of(calls[0], module)
    assert sync is not None
    assert operand_of(sync, module) == operand


ACTIONS = {
    "env.step(t.item())": True,
    "env.step([t.item(), 1])": True,
    "envs.step(t.cpu().numpy())": True,
    "a = t.item()\nenv.step(a)": True,
    "action = t\nplay(action.item())": True,
    "next_token_id = t\nplay(next_token_id.item())": True,
    "actions_np = t\nplay(actions_np.cpu())": True,
    "def act(s):\n  return net(s).argmax().item()": True,
    "def select_action(s):\n  return net(s).argmax().item()": True,
    "def epsilon_greedy_action(s):\n  return net(s).argmax().item()": True,
    "scheduler.step(t.item())": False,
    "lr_sched.step(t.item())": False,
    "optimizer.step(t.item())": False,
    "scaler.step(t.item())": False,
    "a = t.item()\nb = a\nprint(b)": False,
    "a = 1\nenv.step(a)\na = t.item()": False,
    "fraction = t\nplay(fraction.item())": False,
    "activation = t\nplay(activation.item())": False,
    "def contact(s):\n  return net(s).argmax().item()": False,
    "print(t.item())\nenv.step(1)": False,
}


@pytest.mark.parametrize(("text", "action"), ACTIONS.items(), ids=list(ACTIONS))
def test_the_value_is_an_action(module_of: Callable[..., Module], text: str, action: bool) -> None:
    module = module_of(HEADER + text)
    assert is_action(first_sync(module), module) is action


ENDS = {
    "for x in y:\n  if t.item() < 1: break": True,
    "for x in y:\n  a = t.item()\n  if a >= 1: break": True,
    "def f():\n  if t.item() > 1:\n    log()\n    return": True,
    "while t.item() > 1: pass": True,
    "for x in y:\n  if c and t.item() < 1: break": True,
    "for x in y:\n  if t.item() < 1: log()": False,
    "for x in y:\n  if t.item() == 1: break": False,
    "for x in y:\n  if c: print(t.item()); break": False,
    "for x in y:\n  a = t.item()\n  a = 2\n  if a < 1: break": False,
    "def f():\n  return t.item() < 1": False,
    "while c: t.item() > 1": False,
    "for x in y:\n  if check(t.item()): break": False,
    "for x in y:\n  if c: log(t.item() < 1); break": False,
}


@pytest.mark.parametrize(("text", "ends"), ENDS.items(), ids=list(ENDS))
def test_the_number_ends_the_loop(module_of: Callable[..., Module], text: str, ends: bool) -> None:
    module = module_of(HEADER + text)
    assert decides_on_the_host(first_sync(module), module) is ends


CONSUMERS = {
    "f(t.cpu())": "f",
    "f(1, key=t.cpu())": "f",
    "f(t.cpu().numpy())": "f",
    "f(t.cpu()[0])": "f",
    "a.append(t.cpu())": "a.append",
    "t.cpu().numpy()": None,
    "x = t.cpu()": None,
    "f(t.cpu() + 1)": None,
    "f([t.cpu()])": None,
}


@pytest.mark.parametrize(("text", "name"), CONSUMERS.items(), ids=list(CONSUMERS))
def test_who_takes_the_value(module_of: Callable[..., Module], text: str, name: str | None) -> None:
    module = module_of(HEADER + text)
    calls = module.nodes(cst.Call)
    sync = next(sync for call in calls if (sync := sync_of(call, module)) and sync.how == ".cpu()")
    found = consumer(sync, module)
    assert (found and module.source(found.func)) == name


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("replay_buffer.push(t.cpu(), 1)", True),
        ("self.memory.append(t.cpu())", True),
        ("rollouts.insert(t.cpu())", True),
        ("agent.storage.add(t.cpu())", True),
        ("losses.append(t.cpu())", False),
        ("replay_buffer.sample(t.cpu())", False),
        ("memory(t.cpu())", False),
        ("x = t.cpu()", False),
    ],
)
def test_a_replay_buffer_stores_it(
    module_of: Callable[..., Module], text: str, stored: bool
) -> None:
    module = module_of(HEADER + text)
    assert is_stored(first_sync(module), module) is stored


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("from torch.nn.utils.rnn import pack_padded_sequence as p\np(x, t.cpu())", True),
        ("torch.nn.utils.rnn.pack_padded_sequence(x, t.tolist())", True),
        ("torch.nn.utils.rnn.pad_sequence(t.cpu())", False),
        ("pack_padded_sequence(t.cpu())", False),
    ],
)
def test_torch_demands_it_on_the_host(
    module_of: Callable[..., Module], text: str, needs: bool
) -> None:
    module = module_of(HEADER + text)
    assert needs_host_tensor(first_sync(module), module) is needs
