"""Small programs, and what each of their steps asks a GPU for, by torch's own sources.

`python programs.py` plays the device, runs them, and prints as JSON what was counted in each step;
so any Python with a torch can be asked. Lines of sources are those of PyTorch 2.7, below
`aten/src/ATen/native` unless they begin with `torch/` or `ATen/`.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional as F

if TYPE_CHECKING:
    from collections.abc import Callable

WARM, STEPS = 2, 20
VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


@dataclass(frozen=True)
class Program:
    """A program, what each step of it counts, and where torch's source says so."""

    name: str
    make: Callable[[], Callable[[], object]]
    expected: dict[str, int]
    source: str
    since: tuple[int, int] = (2, 1)


PROGRAMS: dict[str, Program] = {}


def counts(
    source: str, since: tuple[int, int] = (2, 1), **expected: int
) -> Callable[[Callable[[], Callable[[], object]]], Callable[[], Callable[[], object]]]:
    """Register a program. `copies` are those for which the host waits; `idle` are waits with nothing
    to wait for, which are looked at only where they are given."""

    def register(make: Callable[[], Callable[[], object]]) -> Callable[[], Callable[[], object]]:
        assert make.__name__ not in PROGRAMS
        PROGRAMS[make.__name__] = Program(make.__name__, make, expected, source, since)
        return make

    return register


def values(*shape: int) -> torch.Tensor:
    return torch.rand(*shape or (8,), device="cuda")


def numbers(*of: int) -> torch.Tensor:
    return torch.tensor(of, device="cuda")


# reads ---------------------------------------------------------------------------------------


@counts("cuda/CUDAScalar.cu:45", item=1)
def item():
    x = values()
    return lambda: x.sum().item()


@counts("cuda/CUDAScalar.cu:45", float=1, int=1, bool=1)
def conversions():
    x = values()
    return lambda: (float(x.sum()), int(x.sum()), bool(x.sum() > 3))


@counts(
    "torch/csrc/autograd/python_variable_indexing.cpp:492, ATen/TensorIndexing.h:492",
    index=2,
    item=1,
)
def indices():
    x, n, table = values(), numbers(1, 2), list(range(9))
    return lambda: (x[: n[1]], table[n[0]], x[n[1]])


@counts("torch/_tensor.py, __format__", format=1)
def formatted():
    x = values()
    return lambda: f"{x.sum():.3f}"


@counts("torch/csrc/utils/tensor_list.cpp:52", tolist=1)
def to_list():
    x = values()
    return lambda: [(x + 1).tolist()]


@counts("cuda/Copy.cu:424", cpu=2)
def to_host():
    x = values()
    return lambda: ((x + 1).cpu().numpy(), (x + 1).to("cpu"))


@counts("TensorConversions.cpp:345")
def to_host_without_waiting():
    x = values()
    return lambda: (x + 1).to("cpu", non_blocking=True)


@counts("cuda/Copy.cu:424", copy_=1)
def into_host():
    x, y = values(), torch.empty(8)
    return lambda: y.copy_(x + 1)


@counts("cuda/Equal.cpp:45, TensorCompare.cpp:330", equal=1, allclose=1)
def compared():
    x, y = values(), values()
    return lambda: (torch.equal(x, y), torch.allclose(x, y))


@counts("cuda/Nonzero.cu:214", nonzero=2)
def positions():
    x = values()
    return lambda: (torch.nonzero(x > 0.5), torch.where(x > 0.5))


@counts("IndexingUtils.h:41", mask_index=1)
def masked():
    x = values()
    return lambda: x[x > 0.5]


@counts(
    "FunctionsManual.cpp:5095: the mask is saved, and its elements are found again", mask_index=2
)
def masked_with_gradient():
    x = values().requires_grad_()

    def step():
        x.grad = None
        x[x > 0.5].sum().backward()

    return step


@counts(
    "torch/csrc/autograd/python_variable_indexing.cpp, THPVariable_setitem: the number stays on the "
    "host, and so are the zeros for it that the backward pass puts by the mask"
)
def number_by_mask_with_gradient():
    x = values().requires_grad_()

    def step():
        x.grad = None
        y = x.clone()
        y[y > 0.5] = 0.0
        y.sum().backward()

    return step


@counts("TensorAdvancedIndexing.cpp:992, canDispatchToMaskedFill")
def number_for_a_mask():
    x = values()

    def step():
        x[x > 0.5] = 0.25

    return step


@counts("IndexingUtils.h:41", mask_index=1)
def tensor_for_a_mask():
    x, y = values(), values(1)

    def step():
        x[x > 0.5] = y

    return step


@counts("TensorAdvancedIndexing.cpp:998", copies=1)
def number_for_indices():
    x, i = values(), numbers(1, 2)

    def step():
        x[i] = 0.25

    return step


@counts("ATen/TensorIndexing.h:423, Fill.cpp:56")
def number_for_a_row():
    x = values(4, 4)

    def step():
        x[1] = 0.25
        x[:, 2] = 0.5

    return step


@counts("ATen/TensorIndexing.h:413", copies=1)
def number_for_an_element():
    x = values(4, 4)

    def step():
        x[1, 2] = 0.25

    return step


@counts("cuda/IndexKernel.cpp:24", masked_select=1)
def selected():
    x = values()
    return lambda: torch.masked_select(x, x > 0.5)


@counts("cuda/UniqueCub.cu:121", unique=2)
def unique():
    x = numbers(1, 1, 2)
    return lambda: (torch.unique(x), x.unique_consecutive())


@counts("Repeat.h:35", repeat_interleave=2)
def repeated():
    x, n = values(3), numbers(1, 2, 3)
    return lambda: (
        torch.repeat_interleave(x, n),
        torch.repeat_interleave(x, n, output_size=6),
        torch.repeat_interleave(x, 2),
    )


@counts("cuda/SummaryOps.cu:266, :328", bincount=2, histc=2)
def counted():
    x, y = numbers(1, 1, 2), values()
    return lambda: (torch.bincount(x), torch.histc(y), torch.histc(y, min=0.0, max=1.0))


@counts("Onehot.cpp:45", one_hot=1)
def one_hot():
    y = numbers(0, 1, 2)
    return lambda: (F.one_hot(y), F.one_hot(y, 3))


@counts("DistributionTemplates.h:190", normal=2)
def drawn_with_deviations():
    mean, std = values(), values()
    return lambda: (torch.normal(mean, std), torch.normal(mean, 1.0), torch.randn_like(mean))


@counts(
    "Distributions.cpp:590; until 2.5 :616", **({} if VERSION >= (2, 6) else {"multinomial": 2})
)
def drawn_by_weight():
    x = values()
    return lambda: torch.multinomial(x, 1)


@counts("cuda/Indexing.cu:1895, TensorAdvancedIndexing.cpp:1995", masked_fill=1)
def filled_with_a_tensor():
    x, y = values(), values()[0]
    return lambda: (x.masked_fill(x > 0.5, y), x.masked_fill(x > 0.5, 0.0))


@counts("torch/csrc/utils/python_arg_parser: a scalar is read from a tensor", item=1)
def scaled_by_a_tensor():
    x, alpha = values(), values()[0]
    return lambda: torch.add(x, x, alpha=alpha)


@counts("BatchLinearAlgebra.cpp:1574, :2828, cuda/linalg/BatchLinearAlgebraLib.cpp:594", linalg=5)
def linear_algebra():
    x = torch.eye(3, device="cuda") + 0.1
    return lambda: (
        torch.linalg.inv(x),
        torch.linalg.cholesky(x),
        torch.linalg.eigh(x),
        torch.linalg.svd(x),
    )


@counts(
    "torch/csrc/autograd/FunctionsManual.cpp:801, :588, ReduceOps.cpp:615, LossNLL.cpp:591",
    prod=1,
    cumprod=1,
    masked_fill=1,
    cross_entropy=1,
)
def gradients_that_look():
    x, fill, weight = values(2, 3).requires_grad_(), values()[0].requires_grad_(), values(3)
    y = numbers(0, 1)

    def step():
        x.grad = None
        x.prod().backward()
        x.cumprod(0).sum().backward()
        x.masked_fill(x > 2, 1.0).sum().backward()
        loss = F.cross_entropy(x, y, weight=weight, label_smoothing=0.1)
        torch.masked_fill(x.detach(), x > 2, fill.detach() * 0).sum()
        return loss.backward()

    return step


@counts("TensorFactories.cpp:841, BatchLinearAlgebraLib.cpp:594", (2, 2), linspace=2, linalg=2)
def ends_and_inverses():
    x = torch.eye(3, device="cuda")
    return lambda: (torch.linspace(x[0, 1], x[0, 0], 5, device="cuda"), torch.linalg.pinv(x))


@counts("cuda/Copy.cu:424: a device's number is a device", copies=4)
def moved_by_number():
    x = torch.rand(3)
    like = values(2)

    def step():
        nn.Linear(2, 2).to(0)
        return x.to(0), torch.rand(2).type_as(like)

    return step


@counts("sparse/cuda/SparseCUDATensorMath.cu, TensorConversions.cpp", coalesce=1, to_sparse=2)
def sparse():
    index = numbers(0, 1)
    x = torch.sparse_coo_tensor(torch.stack([index, index]), values(2), (3, 3))
    y = values(3, 3)
    return lambda: (x @ y, y.to_sparse(), y.to_sparse_csr())


@counts("cuda/LossCTC.cu:286, :636: lengths and offsets are copied", ctc_loss=6)
def ctc():
    scores = values(6, 2, 5).requires_grad_()
    targets = torch.randint(1, 5, (2, 3), device="cuda")
    lengths, sizes = torch.tensor([6, 6]), torch.tensor([3, 2])

    def step():
        scores.grad = None
        loss = F.ctc_loss(scores.log_softmax(-1), targets, lengths, sizes, reduction="sum")
        loss.backward()

    return step


@counts("TensorCompare.cpp:598, :635", copies=1)
def chosen():
    x, y = values(), torch.tensor(0.5)
    return lambda: (torch.where(x > 0.5, x, 0.0), torch.where(x > 0.5, x, y))


@counts(
    "torch/csrc/utils/tensor_new.cpp: each number is read, then all are copied", tensor=3, copies=1
)
def list_of_numbers_of_the_device():
    x = values()
    return lambda: torch.tensor([x.sum(), x[0], x[1]], device="cuda")


@counts("torch/cuda/__init__.py", synchronize=4, empty_cache=1)
def commands():
    x = values()
    event, stream = torch.cuda.Event(), torch.cuda.Stream()

    def step():
        x.add_(1)
        torch.cuda.synchronize()
        x.add_(1)
        torch.cuda.current_stream().synchronize()
        x.add_(1)
        event.record()
        event.synchronize()
        with torch.cuda.stream(stream):
            x.add_(1)
        stream.wait_stream(torch.cuda.current_stream())
        stream.synchronize()
        x.add_(1)
        torch.cuda.empty_cache()

    return step


@counts("c10/cuda/CUDAStream.cpp, CUDAStream::synchronize", synchronize=4, item=1, idle=2)
def side_streams():
    x, y = values(), values()
    side, empty = torch.cuda.Stream(), torch.cuda.Stream()

    def step():
        x.add_(1)
        empty.synchronize()  # idle
        with torch.cuda.stream(side):
            y.add_(1)
        side.synchronize()
        x[0].item()  # the other one is done, and not this one
        x.add_(1)
        side.wait_stream(torch.cuda.current_stream())
        side.synchronize()
        torch.cuda.current_stream().synchronize()  # idle: the other one has waited for it

    return step


@counts("cuda/CUDAEvent: it is reached before what its stream is told later", synchronize=3, idle=1)
def event_before_a_wait():
    x, y = values(), values()
    event, side = torch.cuda.Event(), torch.cuda.Stream()

    def step():
        x.add_(1)
        event.record()
        with torch.cuda.stream(side):
            y.add_(1)
        torch.cuda.current_stream().wait_stream(side)
        event.synchronize()
        torch.cuda.current_stream().synchronize()
        torch.cuda.current_stream().synchronize()

    return step


# copies --------------------------------------------------------------------------------------


@counts("cuda/Copy.cu:424", copies=2)
def moved():
    x = torch.rand(8)
    return lambda: (x.to("cuda"), x.cuda())


@counts("cuda/Copy.cu:424", late=2)
def moved_without_waiting():
    x = torch.rand(8)
    return lambda: (x.to("cuda", non_blocking=True), x.cuda(non_blocking=True))


@counts("cuda/Copy.cu:424", asynchronous=2, copies=1)
def moved_from_pinned_memory():
    x = torch.rand(8).pin_memory()
    return lambda: (
        x.to("cuda", non_blocking=True),
        x.to("cuda", torch.float64, non_blocking=True),
        x.to("cuda"),
    )


@counts("torch/csrc/utils/tensor_new.cpp:375", copies=3)
def made_from_numbers():
    x = values()
    return lambda: (
        torch.tensor([1.0, 2.0], device="cuda"),
        x.new_tensor([1.0]),
        torch.as_tensor([3], device=x.device),
    )


@counts("cuda/Copy.cu:424")
def made_on_the_device():
    x = values()
    return lambda: (
        torch.zeros(3, device="cuda"),
        torch.full((2,), 1.5, device=x.device),
        torch.arange(4, device="cuda"),
        torch.randn(2, device="cuda"),
        x.new_zeros(3),
        torch.ones_like(x),
    )


@counts("TensorAdvancedIndexingUtils.h:92", copies=2)
def indexed_from_the_host():
    x, i = values(), torch.tensor([1, 2])
    return lambda: (x[i], x[[1, 2]])


@counts(
    "torch/nested/_internal/nested_tensor.py, jagged_from_list: values and offsets are copied",
    (2, 4),
    copies=2,
    tolist=1,
    item=1,
)
def jagged():
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU()).to("cuda")
    rows, offsets = values(5, 4), numbers(0, 2, 5)

    def step():
        x = torch.nested.nested_tensor(
            [torch.rand(2, 4), torch.rand(3, 4)], layout=torch.jagged, device="cuda"
        )
        out = model(x + torch.nested.nested_tensor_from_jagged(rows, x.offsets()))
        assert out.is_cuda
        assert out.device == out.offsets().device == x.device
        out.values().sum().backward()
        assert [each.is_cuda for each in x.unbind()] == [True, True]
        return torch.nested.nested_tensor_from_jagged(rows, offsets).values().sum().item()

    return step


@counts(
    "torch/nested/_internal/ops.py, to_copy_default: values and offsets", (2, 4), copies=2, cpu=2
)
def jagged_moved():
    x = torch.nested.nested_tensor_from_jagged(values(5, 4), numbers(0, 2, 5))

    def step():
        there = x.to("cpu")
        assert not there.is_cuda
        assert not there.offsets().is_cuda
        assert there.cuda().is_cuda

    return step


@counts("cuda/Copy.cu:424", copies=2)
def set_from_the_host():
    x, y = values(), torch.rand(3)

    def step():
        x[:3] = y
        x[:3].copy_(y)

    return step


@counts("FunctionsManual.cpp:6882: the gradient goes back, and waits", copies=1, cpu=1)
def gradient_of_a_move():
    weight = torch.rand(8, requires_grad=True)

    def step():
        weight.grad = None
        weight.to("cuda", non_blocking=False).sum().backward()
        assert weight.grad is not None
        assert not weight.grad.is_cuda

    return step


@counts("torch/utils/_device.py, torch/csrc/utils/tensor_new.cpp:375", copies=1)
def default_device():
    def step():
        with torch.device("cuda"):
            x = torch.zeros(3)
            model = nn.Linear(3, 2)
            assert torch.tensor([1.0]).is_cuda
        assert x.is_cuda
        assert model.weight.is_cuda
        model(x)

    return step


@counts("torch/serialization.py", cpu=1, copies=1)
def saved_and_loaded():
    x = values()

    def step():
        x.add_(1)
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        assert torch.load(file).is_cuda
        file.seek(0)
        assert not torch.load(file, map_location="cpu").is_cuda

    return step


# mixed ---------------------------------------------------------------------------------------


@counts("ATen/TensorIterator: expected all tensors to be on the same device", mixed=2)
def mixed():
    x, y, weight = values(), torch.rand(8), torch.rand(3)
    scores, target = values(2, 3), numbers(0, 1)
    return lambda: (x + y, F.cross_entropy(scores, target, weight=weight))


@counts("ATen/TensorIterator: a single number of the host is an argument of the kernel")
def number_of_the_host():
    x, y = values(), torch.tensor(2.0)
    return lambda: (x * y, torch.clamp(x, y, y), x + 1)


# training ------------------------------------------------------------------------------------


def trained(
    optimizer: Callable[..., torch.optim.Optimizer], **options: Any
) -> Callable[[], object]:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).to("cuda")
    optim = optimizer(model.parameters(), **options)
    x, y = values(4, 8), torch.randint(0, 4, (4,), device="cuda")

    def step():
        loss = F.cross_entropy(model(x), y)
        optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()

    return step


@counts("torch/optim/adam.py:166: the steps are counted on the host")
def adam():
    return trained(torch.optim.AdamW, lr=1e-3)


@counts("torch/optim/sgd.py")
def sgd():
    return trained(torch.optim.SGD, lr=1e-3, momentum=0.9)


@counts("torch/amp/grad_scaler.py:371", item=1)
def scaler():
    model = nn.Linear(8, 4).to("cuda")
    optim = torch.optim.AdamW(model.parameters())
    scale = torch.cuda.amp.GradScaler() if VERSION < (2, 3) else torch.amp.GradScaler("cuda")
    x, y = values(4, 8), torch.randint(0, 4, (4,), device="cuda")

    def step():
        with torch.autocast("cuda", torch.float16):
            loss = F.cross_entropy(model(x), y)
        assert loss.dtype == torch.float32
        optim.zero_grad()
        scale.scale(loss).backward()
        scale.unscale_(optim)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scale.step(optim)
        scale.update()

    return step


@counts("torch/utils/checkpoint.py:1616")
def checkpointed():
    from torch.utils.checkpoint import checkpoint

    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.GELU(), nn.Linear(8, 4)).to("cuda")
    x = values(4, 8)

    def step():
        checkpoint(model, x, use_reentrant=False).sum().backward()

    return step


@counts("torch/nn/modules/batchnorm.py:192, RNN.cpp")
def layers():
    model = nn.Sequential(nn.Conv1d(4, 8, 3), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2)).to(
        "cuda"
    )
    recurrent = nn.LSTM(8, 8, batch_first=True, dropout=0.5, num_layers=2).to("cuda")
    attention = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).to("cuda")
    embedding = nn.Embedding(10, 8).to("cuda")
    x, words = values(2, 4, 12), torch.randint(0, 10, (2, 5), device="cuda")

    def step():
        out = attention(recurrent(model(x).transpose(1, 2))[0]).sum() + embedding(words).sum()
        out.backward()

    return step


@counts("torch/nn/utils/rnn.py:311: lengths are of the host; sorted indices are copied", copies=1)
def packed():
    recurrent = nn.GRU(4, 4, batch_first=True).to("cuda")
    x, lengths = values(2, 5, 4), torch.tensor([3, 5])

    def step():
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        recurrent(packed)[0].data.sum().backward()

    return step


@counts(
    "torch/optim/swa_utils.py: the number of averages is a buffer of the host, whose copy is read",
    (2, 4),
    copies=1,
    item=1,
)
def averaged():
    model = nn.Linear(4, 4).to("cuda")
    mean = torch.optim.swa_utils.AveragedModel(model)
    x = values(2, 4)

    def step():
        model(x).sum().backward()
        mean.update_parameters(model)

    return step


@counts("torch/distributions: arguments and values are checked", bool=3, normal=2)
def distributions():
    mean, std = values(), values()

    def step():
        made = torch.distributions.Normal(mean, std)
        return made.log_prob(made.sample())

    return step


def play() -> Any:
    """Play the device in this process; gives its ledger."""
    from torchlint.runtime.probe.played import device
    from torchlint.runtime.probe.run_settings import PlayedDevice, RunSettings

    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    settings = RunSettings(main="", project=os.path.dirname(__file__), played=PlayedDevice("a100"))
    return device.play(settings)


_NAMES = {"pinned, non-blocking": "asynchronous", "pageable, non-blocking": "late"}


def plain(counted: dict[Any, Any]) -> dict[str, int]:
    """What was counted, without launches: waits by kind, copies by whether the host waits."""
    found: Counter[str] = Counter()
    for (what, kind, *_), count in counted.items():
        if what == "wait" and not kind.startswith("copy, "):
            found[kind.replace(" ", "_")] += count.calls
        elif what == "copy":
            found[_NAMES.get(kind, "copies")] += count.calls
        elif what == "mixed":
            found["mixed"] += count.calls
    return dict(found)


def run(program: Program, ledger: Any) -> list[dict[str, int]]:
    """What each of the steps counts."""
    torch.manual_seed(0)
    step = program.make()
    for _ in range(WARM):
        step()
    ledger.open = True
    ledger.take()
    found = []
    for _ in range(STEPS):
        step()
        counted, _ = ledger.take()
        idle = sum(each.idle for (what, *_), each in counted.items() if what == "wait")
        found.append(plain(counted) | ({"idle": idle} if "idle" in program.expected else {}))
    ledger.open = False
    return found


def main(names: list[str]) -> None:
    ledger = play()
    found: dict[str, Any] = {}
    for name in names or PROGRAMS:
        program = PROGRAMS[name]
        if program.since > VERSION:
            continue
        try:
            found[name] = run(program, ledger)
        except Exception as error:
            import traceback

            traceback.print_exc()
            found[name] = f"{type(error).__name__}: {error}"
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
