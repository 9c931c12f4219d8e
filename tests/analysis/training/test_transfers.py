"""Which calls copy a tensor to the device, and what follows on a tensor that was created."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.analysis.training.transfers import follow, names_device, transfer_behind, transfer_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Probed

HEADER = "import torch\nnet = torch.nn.Linear(1, 1).cuda()\nt = net(x)\nhost = torch.tensor([1])\n"


def header_and(line: str) -> str:
    return f"{HEADER}{line}\n"


@pytest.mark.parametrize(
    "device",
    [
        '"cuda"',
        '"cuda:1"',
        "0",
        "device",
        "DEVICE",
        "self.device",
        "args.gpu",
        "gpus[0]",
        "rank",
        "local_rank",
        "t.device",
        "get_device()",
        "torch.cuda.current_device()",
        'torch.device("cuda")',
        'f"cuda:{rank}"',
    ],
)
def test_a_device_is_known_by_its_value_or_its_words(
    probed: Callable[..., Probed], device: str
) -> None:
    text = probed(header_and(f"probe({device})"))
    assert names_device(text.asked, text.module)


@pytest.mark.parametrize(
    "other",
    ['"cpu"', '"meta"', "cpu_device", "device_dtype", "torch.float16", "x", "frank", 'f"{name}"'],
)
def test_the_cpu_and_types_are_no_such_devices(probed: Callable[..., Probed], other: str) -> None:
    text = probed(header_and(f"probe({other})"))
    assert not names_device(text.asked, text.module)


@pytest.mark.parametrize(
    ("call", "like"),
    [
        ("host.cuda()", False),
        ("host.cuda(0)", False),
        ("host.to(device)", False),
        ("host.to(device=device)", False),
        ("host.to(t)", True),
        ("host.to(other=t)", True),
        ("host.type_as(t)", True),
    ],
)
def test_a_transfer_is_spelled_in_several_ways(
    probed: Callable[..., Probed], call: str, like: bool
) -> None:
    text = probed(header_and(f"probe({call})"))
    assert isinstance(text.asked, cst.Call)
    transfer = transfer_of(text.asked, text.module)
    assert transfer is not None
    assert text.module.source(transfer.tensor) == "host"
    assert (transfer.like, transfer.sure) == (like, True)


@pytest.mark.parametrize(
    "call",
    [
        'host.to("cpu")',
        "host.to(torch.float16)",
        "host.to(t.dtype)",
        "host.to(dtype)",
        "host.to(host)",
        "host.to()",
        "host.to(*t)",
        "host.type_as()",
        "host.type_as(host)",
        "host.type(t)",
        "to(t)",
    ],
)
def test_other_calls_copy_nothing_to_the_device(probed: Callable[..., Probed], call: str) -> None:
    text = probed(header_and(f"probe({call})"))
    assert isinstance(text.asked, cst.Call)
    assert transfer_of(text.asked, text.module) is None


def test_what_may_be_a_type_is_not_a_sure_transfer(probed: Callable[..., Probed]) -> None:
    text = probed("def f(host, other):\n    probe(host.to(other))\n")
    assert isinstance(text.asked, cst.Call)
    transfer = transfer_of(text.asked, text.module)
    assert transfer is not None
    assert not transfer.sure


@pytest.mark.parametrize(
    "line",
    [
        "probe(3).cuda()",
        "probe(3).view(1, -1).float().to(device)",
        "(2 * -probe(3)[None, 0] + 1).to(device)",
        "(probe(3) < 1).to(device)",
        "probe(3).to(torch.int64).to(device)",
    ],
)
def test_a_tensor_is_followed_to_its_transfer(probed: Callable[..., Probed], line: str) -> None:
    text = probed(header_and(line))
    assert transfer_behind(text.call, text.module) is not None


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("y = probe(3).view(1, -1)", "probe(3).view(1, -1)"),
        ("y = probe(3).numpy().to(device)", "probe(3)"),
        ("y = probe(3).data.to(device)", "probe(3)"),
        ("y = (probe(3) * host).to(device)", "probe(3)"),
        ("y = probe(3)[host].to(device)", "probe(3)"),
        ("y = table[probe(3)].to(device)", "probe(3)"),
        ("y = f(probe(3)).to(device)", "probe(3)"),
    ],
)
def test_it_is_followed_only_as_far_as_it_is_in_one_place(
    probed: Callable[..., Probed], line: str, whole: str
) -> None:
    text = probed(header_and(line))
    last, transfer = follow(text.call, text.module)
    assert text.module.source(last) == whole
    assert transfer is None


def test_a_long_chain_ends_the_search(probed: Callable[..., Probed]) -> None:
    text = probed(header_and(f"probe(3){'.t()' * 99}.to(device)"))
    assert transfer_behind(text.call, text.module) is None
