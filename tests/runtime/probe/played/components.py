"""Optimizers, schedulers, losses and layers of torch: which of them make the host wait on a GPU.

`python components.py` plays the device, runs each for some steps, and prints as JSON what a step
counts: nothing for most. What waits by torch's own sources is listed with the place.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional as F

from tests.runtime.probe.played import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[[], object]

VERSION = programs.VERSION
PARAMETERS = 4
"""Of the model that the optimizers train."""
STEPS = 3


def model() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).to("cuda")


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(4, 8, device="cuda"), torch.randint(0, 4, (4,), device="cuda")


# optimizers ----------------------------------------------------------------------------------

OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "foreach": {"foreach": True},
    "for-loop": {"foreach": False},
    "fused": {"fused": True},
    "capturable": {"capturable": True},
}


def optimizers() -> Iterator[tuple[str, Callable[[], Step]]]:
    for name, kind in sorted(vars(torch.optim).items()):
        if not isinstance(kind, type) or not issubclass(kind, torch.optim.Optimizer):
            continue
        if kind is torch.optim.Optimizer:
            continue
        known = inspect.signature(kind.__init__).parameters
        for word, options in OPTIONS.items():
            if all(option in known for option in options):
                yield (
                    f"{name} {word}".strip(),
                    lambda kind=kind, options=options: trained(kind, options),
                )


def trained(kind: Any, options: dict[str, Any]) -> Step:
    if kind is torch.optim.SparseAdam:
        net: Any = nn.Embedding(10, 4, sparse=True).to("cuda")
        words = torch.randint(0, 10, (6,), device="cuda")
    else:
        net = model()
    parameters: Any = net.parameters()
    if kind.__name__ == "Muon":
        parameters = [each for each in net.parameters() if each.dim() == 2]
    if kind is torch.optim.LBFGS:
        options = {**options, "max_iter": 4}
    optimizer = kind(parameters, lr=0.1, **options)
    x, y = batch()

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        out = net(words) if kind is torch.optim.SparseAdam else net(x)
        loss = out.sum() if kind is torch.optim.SparseAdam else F.cross_entropy(out, y)
        loss.backward()
        return loss

    def step() -> None:
        if kind is torch.optim.LBFGS:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()

    return step


def schedulers() -> Iterator[tuple[str, Callable[[], Step]]]:
    given: dict[str, tuple[Any, ...]] = {
        "StepLR": (2,),
        "MultiStepLR": ([2, 4],),
        "ConstantLR": (),
        "LinearLR": (),
        "ExponentialLR": (0.9,),
        "PolynomialLR": (),
        "CosineAnnealingLR": (10,),
        "CosineAnnealingWarmRestarts": (5,),
        "OneCycleLR": (0.1, 100),
        "CyclicLR": (0.01, 0.1),
        "LambdaLR": (lambda epoch: 0.9**epoch,),
        "MultiplicativeLR": (lambda epoch: 0.9,),
    }
    for name, arguments in given.items():
        yield name, lambda name=name, arguments=arguments: scheduled(name, arguments)


def scheduled(name: str, arguments: tuple[Any, ...]) -> Step:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scheduler = getattr(torch.optim.lr_scheduler, name)(optimizer, *arguments)
    x, y = batch()

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        scheduler.step()

    return step


# losses and layers ---------------------------------------------------------------------------


def floats(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, device="cuda").clamp(0.01, 0.99).requires_grad_()


def signs(*shape: int) -> torch.Tensor:
    return torch.randint(0, 2, shape, device="cuda") * 2.0 - 1


def losses() -> Iterator[tuple[str, Callable[[], Step]]]:
    some, other = (lambda: floats(4, 5)), (lambda: floats(4, 5).detach())
    classes = lambda: torch.randint(0, 5, (4,), device="cuda")  # noqa: E731
    given: dict[str, tuple[Callable[[], Any], ...]] = {
        **dict.fromkeys(("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss"), (some, other)),
        **dict.fromkeys(("BCELoss", "BCEWithLogitsLoss", "PoissonNLLLoss"), (some, other)),
        **dict.fromkeys(("KLDivLoss", "MultiLabelSoftMarginLoss"), (some, other)),
        **dict.fromkeys(("SoftMarginLoss", "HingeEmbeddingLoss"), (some, lambda: signs(4, 5))),
        **dict.fromkeys(("CrossEntropyLoss", "NLLLoss", "MultiMarginLoss"), (some, classes)),
        "MultiLabelMarginLoss": (some, lambda: torch.zeros(4, 5, device="cuda").long()),
        "GaussianNLLLoss": (some, other, other),
        "CosineEmbeddingLoss": (some, other, lambda: signs(4)),
        "MarginRankingLoss": (lambda: floats(4), lambda: floats(4), lambda: signs(4)),
        "TripletMarginLoss": (some, some, some),
        "TripletMarginWithDistanceLoss": (some, some, some),
        "CTCLoss": (
            lambda: floats(6, 2, 5),
            lambda: torch.randint(1, 5, (2, 3), device="cuda"),
            lambda: torch.tensor([6, 6]),
            lambda: torch.tensor([3, 2]),
        ),
    }
    for name, makers in given.items():
        yield name, lambda name=name, makers=makers: used(getattr(nn, name)(), makers)
    yield (
        "CrossEntropyLoss smooth, weighted, ignoring",
        lambda: used(
            nn.CrossEntropyLoss(torch.rand(5), label_smoothing=0.1, ignore_index=0).to("cuda"),
            (some, classes),
        ),
    )


def layers() -> Iterator[tuple[str, Callable[[], Step]]]:
    flat, line, image, volume = (4, 8), (2, 4, 16), (2, 4, 8, 8), (2, 4, 8, 8, 8)
    given: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
        "Linear": ((8, 4), flat),
        "Conv1d": ((4, 8, 3), line),
        "Conv2d": ((4, 8, 3), image),
        "Conv3d": ((4, 8, 3), volume),
        "ConvTranspose2d": ((4, 8, 3), image),
        "BatchNorm1d": ((4,), line),
        "BatchNorm2d": ((4,), image),
        "BatchNorm3d": ((4,), volume),
        "InstanceNorm2d": ((4, 1e-5, 0.1, True, True), image),
        "GroupNorm": ((2, 4), image),
        "LayerNorm": ((8,), flat),
        "LocalResponseNorm": ((2,), image),
        "MaxPool1d": ((2,), line),
        "MaxPool2d": ((2,), image),
        "AvgPool2d": ((2,), image),
        "LPPool2d": ((2, 2), image),
        "FractionalMaxPool2d": ((2, 4), image),
        "AdaptiveAvgPool2d": ((4,), image),
        "AdaptiveMaxPool2d": ((4,), image),
        "Dropout": ((0.5,), flat),
        "Dropout2d": ((0.5,), image),
        "AlphaDropout": ((0.5,), flat),
        "FeatureAlphaDropout": ((0.5,), image),
        "Upsample": ((None, 2), image),
        "PixelShuffle": ((2,), image),
        "ChannelShuffle": ((2,), image),
        "ZeroPad2d": ((1,), image),
        "ReflectionPad2d": ((1,), image),
        "ReplicationPad2d": ((1,), image),
        "CircularPad2d": ((1,), image),
        "Unfold": ((3,), image),
        "Flatten": ((), image),
        "RNN": ((8, 8, 2), (3, 2, 8)),
        "LSTM": ((8, 8, 2), (3, 2, 8)),
        "GRU": ((8, 8, 2), (3, 2, 8)),
        "LSTMCell": ((8, 8), flat),
        "GRUCell": ((8, 8), flat),
        **dict.fromkeys(
            "ReLU LeakyReLU PReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softplus Softsign "
            "Hardtanh Hardswish Hardsigmoid LogSigmoid Tanhshrink Softshrink Hardshrink RReLU GLU".split(),
            ((), flat),
        ),
        "Softmax": ((1,), flat),
        "LogSoftmax": ((1,), flat),
        "TransformerEncoderLayer": ((8, 2, 16), (3, 2, 8)),
    }
    for name, (arguments, shape) in given.items():
        if hasattr(nn, name):
            yield (
                name,
                lambda name=name, arguments=arguments, shape=shape: used(
                    getattr(nn, name)(*arguments).to("cuda"), (lambda: floats(*shape),)
                ),
            )
    words = lambda: torch.randint(0, 10, (4, 5), device="cuda")  # noqa: E731
    yield "Embedding", lambda: used(nn.Embedding(10, 8, padding_idx=0).to("cuda"), (words,))
    yield (
        "Embedding max_norm",
        lambda: used(nn.Embedding(10, 8, max_norm=1.0).to("cuda"), (words,), detached=True),
    )
    yield "EmbeddingBag", lambda: used(nn.EmbeddingBag(10, 8).to("cuda"), (words,))
    yield "Bilinear", lambda: used(nn.Bilinear(4, 4, 2).to("cuda"), (lambda: floats(3, 4),) * 2)
    yield (
        "MultiheadAttention",
        lambda: used(nn.MultiheadAttention(8, 2).to("cuda"), (lambda: floats(3, 2, 8),) * 3),
    )
    yield (
        "BatchNorm2d without momentum",
        lambda: used(nn.BatchNorm2d(4, momentum=None).to("cuda"), (lambda: floats(*image),)),
    )
    yield "AdaptiveLogSoftmaxWithLoss", adaptive
    yield "scaled_dot_product_attention", attention


def adaptive() -> Step:
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10]).to("cuda")
    x, y = floats(6, 8), torch.tensor([0, 1, 6, 7, 12, 13], device="cuda")
    return lambda: [layer(x, y).loss.backward()]


def attention() -> Step:
    x = floats(2, 2, 8, 4)
    return lambda: F.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()


def used(module: Any, makers: tuple[Callable[[], Any], ...], *, detached: bool = False) -> Step:
    arguments = [make() for make in makers]

    def step() -> None:
        if detached:
            with torch.no_grad():
                module(*arguments)
            return
        out = module(*arguments)
        out = out[0] if isinstance(out, tuple) else out
        if out.requires_grad:
            out.sum().backward()

    return step


# mixed precision -----------------------------------------------------------------------------


def precision() -> Iterator[tuple[str, Callable[[], Step]]]:
    for dtype in (torch.float16, torch.bfloat16):
        yield (
            f"autocast {str(dtype).partition('.')[2]}",
            lambda dtype=dtype: mixed(dtype, scaled=False),
        )
    yield "autocast float16, GradScaler", lambda: mixed(torch.float16, scaled=True)


def mixed(dtype: torch.dtype, *, scaled: bool) -> Step:
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    modern = hasattr(torch.amp, "GradScaler")
    scaler = torch.amp.GradScaler("cuda") if modern else torch.cuda.amp.GradScaler()
    x, y = batch()

    def step() -> None:
        with torch.autocast("cuda", dtype):
            loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        (scaler.scale(loss) if scaled else loss).backward()
        if scaled:
            scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        nn.utils.clip_grad_value_(net.parameters(), 1.0)
        if scaled:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()

    return step


WAITS: dict[str, tuple[dict[str, float], str]] = {
    "ASGD": ({"item": 4, "copies": 4}, "torch/optim/asgd.py: eta and mu are of the device"),
    "ASGD foreach": ({"item": 4, "copies": 4}, "the same"),
    "ASGD for-loop": ({"item": 12, "copies": 8}, "the same, and the step of each parameter"),
    "Adafactor": ({"item": 8}, "torch/optim/_adafactor.py: norms of parameters and updates"),
    "Adafactor foreach": ({"item": 8}, "the same"),
    "Adafactor for-loop": ({"item": 8}, "the same"),
    "SparseAdam": ({"coalesce": 1}, "sparse/cuda/SparseCUDATensor.cu:41"),
    "GaussianNLLLoss": ({"bool": 1}, "torch/nn/functional.py: whether a variance is negative"),
    "CTCLoss": ({"ctc_loss": 7}, "cuda/LossCTC.cu:286, :636, LossCTC.cpp:482"),
    "CrossEntropyLoss smooth, weighted, ignoring": (
        {"cross_entropy": 1},
        "LossNLL.cpp:591: targets that count are selected by a mask",
    ),
    "BatchNorm2d without momentum": ({"float": 1}, "torch/nn/modules/batchnorm.py:192"),
    "AdaptiveLogSoftmaxWithLoss": (
        {"nonzero": 3, "mask_index": 3},
        "torch/nn/modules/adaptive.py: the targets of each cluster",
    ),
    "autocast float16, GradScaler": ({"item": 1}, "torch/amp/grad_scaler.py:371"),
}
"""What makes the host wait, how often in a step, and where torch's source says so. Everything else
waits for nothing. LBFGS decides by its gradients, as often as its search takes."""
KINDS = {"LBFGS": {"float", "bool", "item"}}

SETS = (optimizers, schedulers, losses, layers, precision)


def main() -> None:
    warnings.simplefilter("ignore")
    ledger = programs.play()
    found: dict[str, Any] = {}
    for components in SETS:
        for name, make in components():
            try:
                torch.manual_seed(0)
                step = make()
                for _ in range(2):
                    step()
                ledger.open = True
                ledger.take()
                total: Counter[str] = Counter()
                for _ in range(STEPS):
                    step()
                    total.update(programs.plain(ledger.take()[0]))
                found[name] = {kind: count / STEPS for kind, count in total.items()}
            except Exception as error:
                found[name] = f"{type(error).__name__}: {str(error)[:200]}"
            ledger.open = False
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
