"""`torchlint.testing`: tests that fail if code waits for the device."""

from __future__ import annotations

import subprocess
import sys
from importlib import util
from typing import TYPE_CHECKING, Any

import pytest
import torch

from torchlint.testing import no_sync

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

STEPS = """\
import torch


def item(x):
    return x.sum().item()


def decides(x):
    if x.sum() > 0:
        return x
    return -x


def reads_all(x):
    return x.tolist()


def masks(x):
    return x[x > 0]


def finds(x):
    return x.nonzero()


def in_the_middle(x):
    return sum(float(each) for each in x)


def copies(x):
    return x.cpu().numpy()


def stays(x):
    y = torch.where(x > 0, x, -x)
    return (y * 2).sum(), y.shape[0], len(y), y[0], y.detach()
"""


@pytest.fixture
def steps(tmp_path: Path) -> ModuleType:
    """Functions of a user's file."""
    path = tmp_path / "steps.py"
    path.write_text(STEPS)
    spec = util.spec_from_file_location("steps", path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "kind", "row"),
    [
        ("item", "item", 5),
        ("decides", "bool", 9),
        ("reads_all", "tolist", 15),
        ("masks", "mask index", 19),
        ("finds", "nonzero", 23),
        ("in_the_middle", "float", 27),
        ("copies", "cpu", 31),
    ],
)
def test_a_read_fails_at_its_line(steps: ModuleType, name: str, kind: str, row: int) -> None:
    with pytest.raises(AssertionError) as caught, no_sync():
        getattr(steps, name)(torch.ones(3))
    assert f"steps.py:{row}: {kind}" in str(caught.value)
    assert str(caught.value).count("steps.py") == 1


def test_what_stays_on_the_device_passes(steps: ModuleType) -> None:
    with no_sync():
        steps.stays(torch.ones(3))


def test_a_read_that_happens_often_is_one_line_with_its_count(steps: ModuleType) -> None:
    with pytest.raises(AssertionError, match=r"steps.py:27: float, 3 times"), no_sync():
        steps.in_the_middle(torch.ones(3))


def test_allowed_kinds_pass_and_others_do_not(steps: ModuleType) -> None:
    with no_sync(allow=("item",)):
        steps.item(torch.ones(3))
    with pytest.raises(AssertionError, match="tolist"), no_sync(allow=["item"]):
        steps.reads_all(torch.ones(3))


@pytest.mark.parametrize("allow", ["item", ("items",)])
def test_an_unknown_kind_is_refused(allow: Any) -> None:
    with (
        pytest.raises(ValueError, match=r"kinds of reads: .*item, .*nonzero"),
        no_sync(allow=allow),
    ):
        pass


def test_an_exception_of_the_code_comes_first(steps: ModuleType) -> None:
    def fails() -> None:
        steps.item(torch.ones(3))
        raise KeyError

    with pytest.raises(KeyError):
        no_sync()(fails)()
    steps.item(torch.ones(3))


def test_nothing_is_left_behind(steps: ModuleType) -> None:
    before = {
        name: getattr(torch.Tensor, name) for name in ("item", "__bool__", "cpu", "__getitem__")
    }
    with no_sync():
        assert torch.Tensor.item is not before["item"]
    assert {name: getattr(torch.Tensor, name) for name in before} == before


def test_one_inside_another_leaves_both_at_work(steps: ModuleType) -> None:
    with pytest.raises(AssertionError), no_sync(), no_sync(allow=["item"]):
        steps.item(torch.ones(3))

    @no_sync()
    def outer() -> None:
        with no_sync():
            pass
        steps.item(torch.ones(3))

    with pytest.raises(AssertionError):
        outer()


def test_it_decorates_a_test(steps: ModuleType) -> None:
    @no_sync()
    def reads() -> None:
        steps.item(torch.ones(3))

    with pytest.raises(AssertionError):
        reads()
    with pytest.raises(AssertionError):
        reads()


def test_importing_it_does_not_import_torch() -> None:
    code = "import sys, torchlint.testing; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
