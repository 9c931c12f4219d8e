"""Which kernels a step runs, and how many operations its products are."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import KernelsSeen
from torchlint.runtime.probe.instruments import kernels
from torchlint.runtime.probe.wrapping import flops

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Watch = Callable[[Callable[[], object]], KernelsSeen]

USER = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 8)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))  # line

def goes_around(x):
    for row in x:
        row + 1  # row
    x.sum().backward()  # backward

state = torch.full((4, 8), 1e-39)

def decays():
    state.mul_(0.5)  # in place
    state[:2].clone() + torch.ones(2, 8)  # normal
    torch.cat([state, torch.zeros(12, 8)])  # a quarter

def decays_in_lists():
    torch._foreach_mul_([state, torch.ones(8)], 0.5)  # list

def two_of_a_kind(x):
    for each in (nn.Linear(16, 16), nn.Linear(16, 16)):
        x = each(x)  # both
"""
FIRST, SECOND = 2 * 10 * 16 * 32, 2 * 10 * 32 * 8
"""Forward FLOPs of the two layers of `Net` with ten samples."""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, USER)


@pytest.fixture
def watch(user: UserFile) -> Watch:
    """`watch(work)`: what is seen of a window in which only the work is done."""

    def see(work: Callable[[], object]) -> KernelsSeen:
        before = private.dispatch_mode()
        seen: KernelsSeen = user.watched(kernels, work, 1)
        assert private.dispatch_mode() is before
        return seen

    return see


def by_name(found: dict[str, Any]) -> dict[str, int | None]:
    return {each.name or each.kind: each.flops for each in found.flops.modules}


def train(net: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor) -> None:
    optimizer.zero_grad()
    net(inputs).sum().backward()
    optimizer.step()


def test_products_count_by_part_and_by_module(user: UserFile, watch: Watch) -> None:
    net, inputs = user.module.Net(), torch.ones(10, 16)
    found = watch(lambda: net(inputs).sum().backward())
    # The first layer's inputs need no gradient: of its backward pass only half is there.
    assert found.flops.parts == {
        "forward": FIRST + SECOND,
        "backward": FIRST + 2 * SECOND,
    }
    assert found.flops.types == {"float32": 2 * FIRST + 3 * SECOND}
    assert by_name(found) == {"Net": 0, "first": 2 * FIRST, "second": 3 * SECOND}
    assert found.flops.modules[1].place == user.place("# line")
    assert (found.flops.uncounted, found.flops.unattributed) == ([], 0)


def test_what_is_frozen_or_needs_no_gradient_does_not_take_the_backward_pass_of_others(
    user: UserFile, watch: Watch
) -> None:
    net, other = user.module.Net(), user.module.nn.Linear(8, 8)

    def work() -> None:
        loss = net(torch.ones(10, 16)).sum()
        with torch.no_grad():
            other(torch.ones(10, 8))
        loss.backward()

    seen = by_name(watch(work))
    assert seen["Linear"] == 2 * 10 * 8 * 8
    assert (seen["first"], seen["second"]) == (2 * FIRST, 3 * SECOND)


def test_a_backward_pass_inside_a_module_counts_for_the_modules_that_it_belongs_to(
    user: UserFile, watch: Watch
) -> None:
    class Trainer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = user.module.Net()

        def forward(self, inputs: torch.Tensor) -> None:
            self.net(inputs).sum().backward()

    trainer = Trainer()
    seen = by_name(watch(lambda: trainer(torch.ones(10, 16))))
    assert (seen["Trainer"], seen["net.first"]) == (0, 2 * FIRST)


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_is_computed_again_counts_again(user: UserFile, watch: Watch, reentrant: bool) -> None:
    net, inputs = user.module.Net(), torch.ones(10, 16, requires_grad=True)

    def work() -> None:
        checkpoint(net, inputs, use_reentrant=reentrant).sum().backward()

    again = by_name(watch(work))
    plain = by_name(watch(lambda: net(inputs).sum().backward()))
    # A checkpoint that stops early leaves out what nobody needs: the last product.
    assert again["first"] == 4 * FIRST
    assert again["second"] in (3 * SECOND, 4 * SECOND)
    assert plain == {"Net": 0, "first": 3 * FIRST, "second": 3 * SECOND}


def test_convolutions_and_custom_functions_count(user: UserFile, watch: Watch) -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(inputs, weight)
            return inputs @ weight

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            inputs, weight = ctx.saved_tensors
            return grad @ weight.t(), inputs.t() @ grad

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
            self.weight = nn.Parameter(torch.ones(8, 5))

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return Twice.apply(self.stem(inputs).mean((2, 3)), self.weight)

    net = Net()
    seen = by_name(watch(lambda: net(torch.ones(2, 3, 6, 6)).sum().backward()))
    assert seen["stem"] == 2 * (2 * 2 * 36 * 3 * 8 * 9)
    assert seen["Net"] == 3 * (2 * 2 * 8 * 5)


def test_inference_mode_counts_the_same(user: UserFile, watch: Watch) -> None:
    net = user.module.Net()

    def work() -> None:
        with torch.inference_mode():
            net(torch.ones(10, 16))
            functional.scaled_dot_product_attention(*[torch.ones(1, 2, 8, 4)] * 3)

    found = watch(work)
    assert found.flops.parts["forward"] == FIRST + SECOND
    assert found.flops.parts["other"] == 2 * 2 * 2 * 8 * 8 * 4
    assert found.attention == {"flash": 1}


@pytest.mark.parametrize("backend", ["flash", "math"])
def test_the_backend_of_attention_is_told_and_its_products_are_the_same(
    watch: Watch, backend: str
) -> None:
    query = torch.ones(2, 4, 8, 16, requires_grad=True)
    chosen = SDPBackend.MATH if backend == "math" else SDPBackend.FLASH_ATTENTION

    def work() -> None:
        for _ in range(3):
            with sdpa_kernel(chosen):
                functional.scaled_dot_product_attention(query, query, query).sum().backward()

    found = watch(work)
    assert found.attention == {backend: 3}
    product = 2 * 2 * 4 * 8 * 8 * 16
    # Flash computes the scores once more in its backward pass.
    backward = 4 if backend == "math" else 5
    assert found.flops.types == {"float32": 3 * (2 + backward) * product}


def test_attention_that_a_backward_pass_computes_again_is_not_another_call(watch: Watch) -> None:
    def attend(query: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(query, query, query)

    query = torch.ones(2, 4, 8, 16, requires_grad=True)
    found = watch(lambda: checkpoint(attend, query, use_reentrant=False).sum().backward())
    assert found.attention == {"flash": 1}


@pytest.mark.parametrize(
    ("make", "path", "operations"),
    [
        (lambda ps: torch.optim.SGD(ps, lr=0.1, foreach=True), "foreach", 1),
        (lambda ps: torch.optim.SGD(ps, lr=0.1, foreach=False), "single", 4),
        (lambda ps: torch.optim.AdamW(ps, fused=True), "fused", 1),
    ],
)
def test_the_path_of_an_optimizer_is_told(
    user: UserFile, watch: Watch, make: Any, path: str, operations: int
) -> None:
    net = user.module.Net()
    optimizer = make(net.parameters())
    train(net, optimizer, torch.ones(10, 16))
    (seen,) = watch(lambda: train(net, optimizer, torch.ones(10, 16))).optimizers
    assert (seen.name, seen.tensors) == (type(optimizer).__name__, 4)
    assert seen.paths[path] == operations
    assert path == "fused" or sum(seen.paths.values()) == operations


def test_optimizers_are_told_apart_and_a_closure_is_not_theirs(
    user: UserFile, watch: Watch
) -> None:
    nets = [user.module.Net() for _ in range(2)]
    one = torch.optim.SGD(nets[0].parameters(), lr=0.1, foreach=True)
    other = torch.optim.Adagrad(nets[1].parameters(), foreach=False)

    def closure() -> Any:
        loss = nets[0](torch.ones(10, 16)).sum()
        loss.backward()
        return loss

    def work() -> None:
        one.step(closure)
        train(nets[1], other, torch.ones(10, 16))

    found = watch(work)
    first, second = found.optimizers
    assert (first.name, first.foreach, first.fused) == ("SGD", 1, 0)
    assert second.name == "Adagrad"
    assert second.single >= 4
    assert "optimizer" not in found.flops.parts


def test_autocast_shows_in_the_type_of_products(user: UserFile, watch: Watch) -> None:
    net = user.module.Net()

    def work() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = net(torch.ones(10, 16))
        outputs.float().sum().backward()
        torch.ones(2, 2) @ torch.ones(2, 2)

    assert watch(work).flops.types == {"bfloat16": 2 * FIRST + 3 * SECOND, "float32": 16}


def test_a_product_of_unknown_size_is_named_and_its_module_unknown(
    user: UserFile, watch: Watch
) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 4)
            self.head = nn.Linear(4, 4)

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.head(self.lstm(inputs)[0])

    net = Net()
    found = watch(lambda: net(torch.ones(5, 2, 4)).sum().backward())
    assert all("rnn" in name for name in found.flops.uncounted)
    seen = by_name(found)
    assert (seen["lstm"] is None) == bool(found.flops.uncounted)
    assert seen["head"] == 3 * 2 * 10 * 4 * 4


@pytest.mark.parametrize(
    ("work", "named"),
    [
        (lambda: torch.fft.fft(torch.ones(8)), ["aten::_fft_r2c"]),
        (lambda: torch.nn.utils.get_total_norm([torch.ones(8)]), []),
        (lambda: torch.mv(torch.ones(2, 2), torch.ones(2)), ["aten::mv"]),
        (lambda: torch.mvlgamma(torch.ones(2) * 3, 1), []),
        (lambda: torch.eye(2).to_sparse() @ torch.ones(2, 2), ["aten::mm"]),
    ],
)
def test_only_products_are_missed(
    watch: Watch, work: Callable[[], object], named: list[str]
) -> None:
    found = watch(work).flops
    assert (found.uncounted, found.types) == (named, {})


def test_a_formula_that_fails_counts_nothing_and_hurts_nobody(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> int:
        raise AssertionError

    monkeypatch.setattr(private, "formulas", lambda: {torch.ops.aten.mm: fails})
    found = watch(lambda: torch.ones(2, 2) @ torch.ones(2, 2)).flops
    assert (found.uncounted, found.types) == (["aten::mm"], {})


def test_without_formulas_flops_are_unknown(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "formulas", lambda: None)
    found = watch(lambda: torch.ones(2, 2) @ torch.ones(2, 2))
    assert (found.flops.types, found.flops.parts) == (None, None)


def test_a_graph_from_before_the_window_belongs_to_no_module(user: UserFile, watch: Watch) -> None:
    loss = user.module.Net()(torch.ones(10, 16)).sum()
    assert watch(loss.backward).flops.unattributed == 3


def test_numbers_that_two_threads_gave_belong_to_no_module(user: UserFile) -> None:
    counted = flops.Flops(user.settings)
    undo = counted.begin()
    inputs, mm = torch.ones(10, 16), torch.ops.aten.mm.default
    counted._number = lambda: 100
    for _ in range(2):
        counted.add(mm, (inputs, inputs.t()), {}, inputs @ inputs.t(), "forward")
    assert counted._made[99] == (threading.get_ident(), None)
    other = threading.Thread(
        target=counted.add, args=(mm, (inputs, inputs.t()), {}, inputs @ inputs.t(), "forward")
    )
    other.start()
    other.join()
    assert counted._made[99] is None
    undo()


def test_modules_on_another_thread_leave_all_unknown(user: UserFile, watch: Watch) -> None:
    net = user.module.Net()

    def work() -> None:
        thread = threading.Thread(target=net, args=(torch.ones(10, 16),))
        thread.start()
        thread.join()

    assert watch(work) == KernelsSeen(why="modules run on several threads")


def test_a_script_that_compiles_is_not_watched(
    user: UserFile, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private, "compiled_frames", lambda: 1)
    modes = []
    found = watch(lambda: modes.append(private.dispatch_mode()))
    assert found == KernelsSeen(why="compiled regions are not seen")
    assert modes == [None]


def test_a_script_with_a_dispatch_mode_of_its_own_is_not_watched(watch: Watch) -> None:
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    with Mode():
        assert watch(lambda: None) == KernelsSeen(why="the script has a dispatch mode of its own")


def test_a_replayed_graph_leaves_all_unknown(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    class Graph:
        def replay(self) -> str:
            return "replayed"

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    said: list[str] = []
    assert watch(lambda: said.append(Graph().replay())) == KernelsSeen(
        why="CUDA graphs are not seen"
    )
    assert said == ["replayed"]


def test_a_tensor_of_another_class_is_seen_by_what_it_calls(watch: Watch) -> None:
    class Wrapped(torch.Tensor):
        inner: torch.Tensor

        @staticmethod
        def __new__(cls, inner: torch.Tensor) -> Any:
            made = torch.Tensor._make_wrapper_subclass(cls, (100, 100))
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*(each.inner if isinstance(each, Wrapped) else each for each in args))

    wrapped = Wrapped(torch.ones(2, 2))
    found = watch(lambda: torch.mm(wrapped, wrapped))
    assert found.flops.types == {"float32": 2 * 2 * 2 * 2}


def test_modules_that_nothing_tells_apart_are_one(user: UserFile, watch: Watch) -> None:
    found = watch(lambda: user.module.two_of_a_kind(torch.ones(10, 16)))
    (only,) = found.flops.modules
    assert only.flops == 2 * (2 * 10 * 16 * 16)
    assert only.place == user.place("# both")


def test_what_a_dataset_computes_is_left_out(watch: Watch) -> None:
    class Data(torch.utils.data.Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, _: int) -> torch.Tensor:
            return torch.ones(3, 3) @ torch.ones(3, 3)

    loader = torch.utils.data.DataLoader(Data())
    assert watch(lambda: list(loader)).flops.types == {}


def test_what_was_computed_is_the_same(user: UserFile, watch: Watch) -> None:
    net, inputs, seen = user.module.Net(), torch.randn(10, 16), []
    watch(lambda: seen.append(net(inputs)))
    assert torch.equal(seen[0], net(inputs))


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [(True, None, True), (False, "none", False), (False, "tf32", True), (None, "none", None)],
)
def test_tf32_is_asked_for_in_the_way_that_this_torch_knows(
    old: bool | None, new: str | None, may: bool | None
) -> None:
    class Holder:
        if new is not None:
            fp32_precision = new

        @property
        def allow_tf32(self) -> bool:
            if old is None:
                raise RuntimeError("both ways were used")
            return old

    assert kernels._may_use_tf32(Holder()) is may


def test_the_setting_of_tf32_is_that_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = not before
    try:
        assert kernels._tf32().products is (not before)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    assert kernels._tf32().convolutions is torch.backends.cudnn.allow_tf32


def test_the_operations_that_are_looked_for_exist() -> None:
    for name in (*kernels.ATTENTION, *flops._AS):
        assert hasattr(torch.ops.aten, name.removeprefix("aten::")), name
    for name in flops._AS.values():
        assert getattr(torch.ops.aten, name) in (private.formulas() or {}), name


def test_operations_are_counted_by_the_line_that_asks_for_them(
    user: UserFile, watch: Watch
) -> None:
    weights = torch.ones(7, 2, requires_grad=True)
    found = watch(lambda: user.module.goes_around(weights * 2))
    lines = {each.place: each for each in found.lines}
    assert lines[user.place("# row")].count == 7
    assert lines[user.place("# row")].seconds > 0
    assert lines[user.place("# backward")].count <= 2  # the sum, and a one for its gradient


def small_values(user: UserFile, watched: str, line: str, steps: int = 1) -> tuple[int, int]:
    seen = user.watched(kernels, watched, steps)
    (found,) = [each for each in seen.lines if each.place == user.place(line)]
    return found.values, found.subnormal


def test_values_that_are_nearly_zero_are_counted_in_one_step(user: UserFile) -> None:
    assert small_values(user, "decays", "# in place", steps=3) == (32, 32)
    assert small_values(user, "decays", "# a quarter") == (96 + 128, 32)
    assert small_values(user, "decays_in_lists", "# list") == (48, 32)


def test_values_of_other_sizes_are_not(user: UserFile) -> None:
    # The slice is a view, and its copy: both are subnormal; the ones and the sum are not.
    assert small_values(user, "decays", "# normal") == (64, 32)
