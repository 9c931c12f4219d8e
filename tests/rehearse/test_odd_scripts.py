"""Scripts that do what scripts should not, or what is rarely done: promises hold all the same."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.rehearse.conftest import Rehearse

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts do not run on Windows")

LOOP = """\
import torch
from torch import nn

model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(steps=60):
    for _ in range(steps):
        loss = model(torch.rand(2, 4, device="cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()  # read


"""
FINE = {
    "writes into the project and starts a program": """
import subprocess
open("mine.txt", "w").write("x")
subprocess.Popen(["sleep", "60"])
train()
""",
    "replaces functions of torch": """
torch.cuda.synchronize = None
torch.zeros = None
train()
""",
    "trains on threads": """
import threading

def of_its_own():
    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(60):
        loss = model(torch.rand(2, 4, device="cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()  # read

threads = [threading.Thread(target=of_its_own) for _ in range(3)]
[each.start() for each in threads]
[each.join() for each in threads]
""",
    "has a trace function": """
import sys
sys.settrace(lambda *_: None)
train()
""",
    "has modes of its own": """
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

class Heard(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

with Seen(), Heard():
    train()
""",
    "derives from Tensor": """
class Own(torch.Tensor):
    pass

x = torch.rand(3, device="cuda").as_subclass(Own)
assert x.is_cuda and (x + 1).device.type == "cuda"
train()
""",
    "takes gradients of functions, and maps them": """
x = torch.rand(3, 2, device="cuda")
assert torch.func.grad(lambda w: (w**2).sum())(x).is_cuda
assert torch.func.vmap(lambda each: each * 2)(x).is_cuda
assert torch.func.vmap(lambda each: each.new_zeros(2) + each)(x).is_cuda
train()
""",
    "compiles with TorchScript": """
@torch.jit.script
def widened(x: torch.Tensor):
    return x.to(torch.float64) + torch.zeros(1, device=x.device)

widened(torch.rand(3, device="cuda"))
train()
""",
    "traces a model": """
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).cuda()
torch.jit.trace(net, torch.rand(1, 3, 8, 8, device="cuda"))
train()
""",
    "has sparse tensors": """
index = torch.tensor([[0, 1], [1, 0]], device="cuda")
x = torch.sparse_coo_tensor(index, torch.rand(2, device="cuda"), (2, 2))
assert x.is_cuda and x.to_dense().is_cuda
x @ torch.rand(2, 2, device="cuda")
train()
""",
    "pickles what is on the device": """
import copy
import pickle
for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
    assert again.weight.is_cuda
train()
""",
    "has a default device": """
torch.set_default_device("cuda")
assert torch.zeros(3).is_cuda and torch.tensor([1.0]).is_cuda
assert torch.get_default_device().type == "cuda"
train()
""",
    "has default tensors of the device": """
torch.set_default_tensor_type("torch.cuda.FloatTensor")
assert isinstance(torch.zeros(3), torch.cuda.FloatTensor)
assert torch.cuda.FloatTensor([1.0]).is_cuda and torch.cuda.FloatTensor(2, 3).shape == (2, 3)
train()
""",
    "wraps the model in DataParallel": """
model = nn.DataParallel(model)
train()
""",
    "has functions with gradients of their own": """
class Doubled(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, gradient):
        assert gradient.is_cuda
        return gradient * 2 + torch.zeros(1, device=gradient.device)

x = torch.rand(3, device="cuda", requires_grad=True)
with torch.autocast("cuda"):
    Doubled.apply(x).sum().backward()
assert x.grad.is_cuda
train()
""",
    "asks for numbers in NumPy": """
import numpy
try:
    torch.rand(3, device="cuda").numpy()
    raise SystemExit("a GPU has no arrays of NumPy")
except TypeError:
    assert numpy.asarray(torch.rand(3, device="cuda").cpu()).shape == (3,)
train()
""",
    "has operations of its own, in Python": """
if hasattr(torch.library, "custom_op"):
    @torch.library.custom_op("mine::widened", mutates_args=())
    def widened(x: torch.Tensor) -> torch.Tensor:
        made = torch.zeros(len(x), 2, device=x.device)
        made[:, 0] = x
        return made

    assert widened(torch.rand(3, device="cuda")).is_cuda
train()
""",
    "has tensors that are made of others": """
if hasattr(torch.nested, "nested_tensor_from_jagged"):
    x = torch.nested.nested_tensor([torch.rand(2, 4), torch.rand(3, 4)], layout=torch.jagged)
    on_device = x.to("cuda", non_blocking=True)
    assert on_device.is_cuda and on_device.values().is_cuda and on_device.offsets().is_cuda
    assert on_device.requires_grad_().cpu().device.type == "cpu"
    there = torch.nested.nested_tensor(list(on_device.unbind()), device="cuda")
    assert there.is_cuda
train()
""",
    "has generators": """
generator = torch.Generator(device="cuda").manual_seed(3)
first = torch.randperm(9, generator=generator, device="cuda").tolist()
assert first == torch.randperm(9, generator=generator.manual_seed(3), device="cuda").tolist()
assert isinstance(torch.default_generator, torch.Generator)
before = torch.get_rng_state()
torch.rand(3, device="cuda"), nn.Dropout(0.5)(torch.rand(3, device="cuda"))
assert torch.equal(before, torch.get_rng_state())
torch.manual_seed(1)
one = torch.rand(3, device="cuda").tolist()
torch.cuda.manual_seed_all(1)
assert one == torch.rand(3, device="cuda").tolist()
train()
""",
    "asks what the card is": """
properties = torch.cuda.get_device_properties(0)
assert properties.total_memory == torch.cuda.mem_get_info()[1] and properties.major == 8
assert torch.cuda.get_device_name() == properties.name
before = torch.cuda.memory_allocated()
kept = torch.zeros(1000, device="cuda")
assert torch.cuda.memory_allocated() - before == 4096
kept.untyped_storage().resize_(0)
assert torch.cuda.memory_allocated() == before
kept.untyped_storage().resize_(4000)
assert torch.cuda.memory_allocated() - before == 4096
del kept
assert torch.cuda.memory_allocated() == before
train()
""",
    "goes over its data before": """
from torch.utils.data import DataLoader
mean = torch.cat([each for each in DataLoader(torch.rand(500, 4))]).mean()
train()
""",
    "has a module that imports when it is asked": """
import sys, types

class Lazy(types.ModuleType):
    def __getattr__(self, name):
        raise ImportError(name)

sys.modules["lazy_thing"] = Lazy("lazy_thing")
train()
""",
    "gives a batch of the host to DataParallel": """
parallel = nn.DataParallel(model)
for _ in range(60):
    loss = parallel(torch.rand(2, 4)).sum()
    loss.backward()
    optimizer.step()
    loss.item()  # read
""",
    "only infers": """
model.eval()
with torch.inference_mode():
    for _ in range(60):
        model(torch.rand(2, 4, device="cuda")).sum().item()  # read
""",
}
FAILS = {
    "raises": ("train(3)\nraise ValueError('no data')\n", 4, "ValueError: no data"),
    "ends at once": ("import os\nos._exit(3)\n", 4, "exit code 3"),
    "takes three steps": ("train(3)\n", 6, "ended after 3 steps, too few to measure"),
    "takes no step": ("print(1)\n", 6, "No training or inference steps were seen"),
    "wants more devices": ("torch.rand(3, device='cuda:1')\n", 4, "more with --devices"),
    "goes back through what the optimizer has changed": (
        "twice = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).cuda()\n"
        "adam = torch.optim.Adam(twice.parameters())\n"
        "loss = twice(torch.rand(2, 4, device='cuda')).sum()\n"
        "loss.backward(retain_graph=True)\nadam.step()\nloss.backward()\n",
        4,
        "modified by an inplace operation",
    ),
    "wants an input": ("input()\n", 4, "without a standard input"),
    "uses the device in a fork": (
        "import os\ntorch.rand(3, device='cuda') + 1\npid = os.fork()\n"
        "if not pid:\n    try:\n        torch.rand(3).cuda()\n    except RuntimeError:\n"
        "        os._exit(7)\nassert os.waitpid(pid, 0)[1] == 7 << 8\nraise ValueError('as on one')\n",
        4,
        "ValueError: as on one",
    ),
}


@pytest.mark.parametrize("script", FINE.values(), ids=FINE)
def test_it_is_counted_as_ever(rehearse: Rehearse, tmp_path: Path, script: str) -> None:
    text = LOOP + script.lstrip()
    row = max(at for at, line in enumerate(text.splitlines(), 1) if line.endswith("# read"))
    code, said = rehearse(text, "--steps", "4")
    assert code == 0, said
    assert f"train.py:{row} " in said
    assert "TR201" in said
    assert "TR204" not in said
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.parametrize(("script", "expected", "words"), FAILS.values(), ids=FAILS)
def test_it_fails_with_a_sentence(
    rehearse: Rehearse, tmp_path: Path, script: str, expected: int, words: str
) -> None:
    code, said = rehearse(LOOP + script, "--steps", "4")
    assert (code, words in " ".join(said.split())) == (expected, True), said
    assert os.listdir(tmp_path) == ["train.py"]
