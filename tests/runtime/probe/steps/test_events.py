"""Every kind of step is heard, once, and listening changes nothing."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.steps.events import GRAD, PASS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Listen = Callable[..., list[int]]


# torch's own compiler uses what torch has deprecated.
compiles = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def listen() -> Iterator[Listen]:
    """`listen(events.watch_…, …)` gives the list of the numbers that are heard."""
    undone = []

    def begin(watch: Callable[..., Any], **more: Any) -> list[int]:
        numbers: list[int] = []
        undone.append(watch(lambda number, *_: numbers.append(number), **more))
        return numbers

    yield begin
    for undo in undone:
        undo()


def weights(size: int = 3) -> list[nn.Parameter]:
    return [nn.Parameter(torch.ones(size))]


def graded(optimizer: torch.optim.Optimizer, gradient: float = 1.0) -> Any:
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.full_like(parameter, gradient)
    return optimizer


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.optim.SGD(weights(), lr=0.1),
        lambda: torch.optim.AdamW(weights(), fused=True),
        lambda: torch.optim.AdamW(weights(), foreach=True),
        lambda: torch.optim.Adagrad(weights()),
    ],
)
def test_an_optimizers_steps_are_heard(listen: Listen, make: Callable[[], Any]) -> None:
    heard, optimizer = listen(events.watch_optimizers), make()
    for _ in range(3):
        graded(optimizer).step()
    assert heard == [0, 0, 0]


def test_optimizers_are_numbered_in_the_order_of_their_first_steps(listen: Listen) -> None:
    heard = listen(events.watch_optimizers)
    first, second = (graded(torch.optim.SGD(weights(), lr=0.1)) for _ in range(2))
    second.step()
    first.step()
    second.step()
    assert heard == [0, 1, 0]


def test_a_search_within_a_step_is_part_of_it(listen: Listen) -> None:
    steps, passes = listen(events.watch_optimizers), listen(events.watch_backward)
    weight = nn.Parameter(torch.tensor([3.0, -2.0]))
    optimizer = torch.optim.LBFGS([weight], max_iter=4)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (weight**4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert steps == [0]
    assert len(passes) > 1


def test_a_step_that_calls_its_parents_is_one(listen: Listen) -> None:
    class Clipped(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            return super().step(closure)

    plain, clipped = (graded(kind(weights(), lr=0.1)) for kind in (torch.optim.SGD, Clipped))
    heard = listen(events.watch_optimizers)
    for _ in range(2):
        clipped.step()
        plain.step()
    assert heard == [0, 1, 0, 1]


def test_a_wrapped_optimizers_step_is_its_wrappers(listen: Listen) -> None:
    class Wrapper(torch.optim.Optimizer):
        def __init__(self, inner: torch.optim.Optimizer) -> None:
            self.inner = inner
            super().__init__(inner.param_groups, {})

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    wrapper = Wrapper(torch.optim.SGD(weights(), lr=0.1))
    heard = listen(events.watch_optimizers)
    for _ in range(3):
        graded(wrapper).step()
    assert heard == [0, 0, 0]


def test_a_listener_may_stop_others_while_a_step_ends() -> None:
    """As at the end of a window; torch goes through its hooks meanwhile."""
    heard: list[str] = []
    undo_last: list[Any] = []

    def first(*_: object) -> None:
        heard.append("first")
        while undo_last:
            undo_last.pop()()

    undo_first = events.watch_optimizers(first)
    undo_last += [
        events.watch_optimizers(lambda *_: heard.append("last")),
        events.watch_optimizers(lambda *_: heard.append("last")),
    ]
    try:
        parameter = torch.ones(2, requires_grad=True)
        parameter.sum().backward()
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        optimizer.step()
        optimizer.step()
    finally:
        undo_first()
    assert heard == ["first", "first"]


def test_a_skipped_step_is_heard_and_told_apart(listen: Listen) -> None:
    skips: list[int] = []
    heard = listen(events.watch_optimizers, skipped=lambda: skips.append(len(heard)))
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    optimizer = torch.optim.SGD(weights(), lr=0.1)
    for gradient in (1.0, float("inf"), 1.0):
        scaler.scale(torch.ones(()))
        scaler.step(graded(optimizer, gradient))
        scaler.update()
    assert heard == [0, 0, 0]
    assert skips == [1]


def test_a_disabled_scaler_adds_nothing(listen: Listen) -> None:
    skips: list[int] = []
    heard = listen(events.watch_optimizers, skipped=lambda: skips.append(1))
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    scaler.step(graded(torch.optim.SGD(weights(), lr=0.1)))
    assert (heard, skips) == ([0], [])


def test_an_optimizer_made_again_keeps_the_number(listen: Listen) -> None:
    heard, shared, kept = listen(events.watch_optimizers), weights(), []
    for _ in range(3):
        kept.append(torch.optim.SGD(shared, lr=0.1))
        graded(kept[-1]).step()
    graded(torch.optim.SGD(weights(), lr=0.1)).step()
    assert heard == [0, 0, 0, 1]


def test_an_optimizer_that_follows_one_that_is_gone_takes_its_number(listen: Listen) -> None:
    heard = listen(events.watch_optimizers)
    for _ in range(3):
        graded(torch.optim.SGD(weights(), lr=0.1)).step()
        gc.collect()
    assert heard == [0, 0, 0]


def test_nothing_is_kept_alive(listen: Listen) -> None:
    listen(events.watch_optimizers)
    listen(events.watch_forward)
    optimizer, module = torch.optim.SGD(weights(), lr=0.1), nn.Linear(1, 1)
    graded(optimizer).step()
    module(torch.ones(1))
    gone = [
        weakref.ref(each) for each in (optimizer, optimizer.param_groups[0]["params"][0], module)
    ]
    del optimizer, module
    gc.collect()
    assert [each() for each in gone] == [None, None, None]


@compiles
def test_a_compiled_step_is_heard_and_compiled_all_the_same(listen: Listen) -> None:
    heard, optimizer = listen(events.watch_optimizers), torch.optim.Adam(weights())
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    step = torch.compile(optimizer.step, backend="aot_eager")
    for _ in range(4):
        graded(optimizer)
        step()
    assert heard == [0, 0, 0, 0]
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda loss, weight: loss.backward(),
        lambda loss, weight: torch.autograd.backward(loss),
        lambda loss, weight: torch.autograd.backward([loss], inputs=[weight]),
    ],
)
def test_a_backward_pass_is_heard_once(
    listen: Listen, differentiate: Callable[[Any, Any], Any]
) -> None:
    heard, [weight] = listen(events.watch_backward), weights()
    differentiate((weight**2).sum(), weight)
    assert heard == [PASS]
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_gradients_are_heard_unless_they_are_terms_of_a_loss(listen: Listen) -> None:
    heard, [weight] = listen(events.watch_backward), weights()
    torch.autograd.grad((weight**2).sum(), weight)
    assert heard == [GRAD]
    torch.autograd.grad((weight**2).sum(), weight, create_graph=True)
    torch.autograd.grad((weight**2).sum(), weight, None, None, True)
    assert heard == [GRAD]


def test_gradients_of_a_tensor_that_overrides_torch_are_heard_once(listen: Listen) -> None:
    class Logged(torch.Tensor):
        calls: ClassVar[list[Any]] = []

        @classmethod
        def __torch_function__(cls, func: Any, *rest: Any) -> Any:
            cls.calls.append(func)
            return super().__torch_function__(func, *rest)

    heard = listen(events.watch_backward)
    weight = torch.ones(2).as_subclass(Logged).requires_grad_()
    loss = (weight * 2).sum()
    torch.autograd.grad(loss, weight, retain_graph=True)
    assert heard == [GRAD]
    assert torch.autograd.grad in Logged.calls
    loss.backward()
    assert heard == [GRAD, PASS]


def test_what_a_backward_pass_does_again_is_not_heard(listen: Listen) -> None:
    passes, calls = listen(events.watch_backward), listen(events.watch_forward)
    model = nn.Linear(2, 2)
    loss = checkpoint(model, torch.ones(1, 2, requires_grad=True), use_reentrant=True).sum()
    assert calls == [0]
    loss.backward()
    assert passes == [PASS]
    assert calls == [0]


@compiles
def test_a_scripted_function_may_take_gradients(listen: Listen) -> None:
    listen(events.watch_backward)

    @torch.jit.script
    def gradient(x: torch.Tensor):
        return torch.autograd.grad([(x * x).sum()], [x])

    [slope] = gradient(torch.ones(2, requires_grad=True))
    assert slope.tolist() == [2.0, 2.0]


def test_a_model_is_heard_and_its_parts_are_not(listen: Listen) -> None:
    heard = listen(events.watch_forward)
    model, loss = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.MSELoss()
    for _ in range(2):
        loss(model(torch.ones(1, 2)), torch.ones(1, 2))
    model[0](torch.ones(1, 2))
    model(torch.ones(1, 2))
    assert heard == [0, 0, 1, 0]


def test_a_model_is_heard_after_one_that_failed(listen: Listen) -> None:
    heard, model = listen(events.watch_forward), nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(RuntimeError):
        model(torch.ones(1, 3))
    model(torch.ones(1, 2))
    assert heard == [0]


def test_a_model_is_heard_with_its_inputs() -> None:
    class Scaled(nn.Linear):
        def forward(self, x: Any, *, scale: float) -> Any:
            return super().forward(x) * scale

    heard: list[Any] = []
    undo = events.watch_forward(lambda *event: heard.append(event))
    model, x = Scaled(2, 2), torch.ones(1, 2)
    model(x, scale=2.0)
    undo()
    assert heard == [(0, model, ([x], {"scale": 2.0}))]


def test_once_the_model_is_found_others_are_left_alone() -> None:
    class Model(nn.Linear):
        pass

    call, heard = nn.Module.__call__, []
    undo = events.watch_forward(lambda number, *_: heard.append(number), only=1)
    other, model = nn.Linear(2, 2), Model(2, 2)
    for _ in range(3):
        other(torch.ones(1, 2))
        model(torch.ones(1, 2))
    assert heard == [0, 1, 1, 1]
    assert nn.Module.__call__ is call
    assert "__call__" in vars(Model)
    assert "__call__" not in vars(nn.Linear)
    undo()
    assert "__call__" not in vars(Model)


@compiles
def test_a_compiled_model_is_heard_and_compiled_whole(listen: Listen) -> None:
    calls, passes = listen(events.watch_forward), listen(events.watch_backward)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    for _ in range(3):
        compiled(torch.ones(1, 2)).sum().backward()
    assert calls == [0, 0, 0]
    assert passes == [PASS] * 3
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@compiles
def test_passes_inside_a_compiled_step_are_heard(listen: Listen) -> None:
    steps, passes = listen(events.watch_optimizers), listen(events.watch_backward)
    torch._dynamo.reset()
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend="aot_eager")
    def train(x: Any) -> None:
        torch.autograd.backward(model(x).sum())
        optimizer.step()

    for _ in range(3):
        train(torch.ones(1, 2))
    assert passes == [PASS] * 3
    assert steps == [0, 0, 0]


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_heard(listen: Listen, workers: int) -> None:
    heard = listen(events.watch_loader)
    loader = DataLoader(list(range(6)), batch_size=2, num_workers=workers)
    got = [batch.tolist() for _ in range(2) for batch in loader]
    assert got == [[0, 1], [2, 3], [4, 5]] * 2
    assert heard == [0] * 6


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        (Anchor("optimizer", 1), 2),
        (Anchor("backward"), 6),
        (Anchor("backward", GRAD), 3),
        (Anchor("forward", 1), 3),
        (Anchor("loader"), 3),
    ],
)
def test_an_anchor_is_heard_alone(anchor: Anchor, expected: int) -> None:
    boundaries: list[int] = []
    undo = events.at_anchor(anchor, lambda: boundaries.append(1))
    first, second = nn.Linear(1, 1), nn.Linear(1, 1)
    often, seldom = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (first, second))
    for number, batch in enumerate(DataLoader([torch.ones(1)] * 3)):
        for model, optimizer in ((first, often), (second, seldom)):
            loss = model(batch).sum()
            loss.backward()
            if optimizer is often or number:
                optimizer.step()
        torch.autograd.grad((first.weight * 2).sum(), first.weight)
    undo()
    assert len(boundaries) == expected


def test_an_unknown_anchor_is_refused() -> None:
    with pytest.raises(ValueError, match="'epoch'"):
        events.at_anchor(Anchor("epoch"), lambda: None)


def test_an_exception_of_a_listener_stays_outside(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("ear ache")

    watches = (events.watch_optimizers, events.watch_backward, events.watch_forward)
    undone = [watch(fail) for watch in (*watches, events.watch_loader)]
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader([torch.ones(1)]):
        model(batch).sum().backward()
        optimizer.step()
    for undo in undone:
        undo()
    assert capsys.readouterr().err.count("RuntimeError: ear ache") == 4


def test_everything_can_be_taken_back() -> None:
    from torch.optim.optimizer import (
        _global_optimizer_post_hooks,
        _global_optimizer_pre_hooks,
    )
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    def touched() -> list[Any]:
        return [
            torch.autograd.backward,
            torch.autograd.grad,
            nn.Module.__call__,
            _BaseDataLoaderIter.__next__,
            torch.amp.GradScaler.step,
            dict(_global_optimizer_post_hooks),
            dict(_global_optimizer_pre_hooks),
        ]

    class Silent:
        def enter(self, lane: str) -> None: ...
        def leave(self) -> None: ...

    before = touched()
    ears = [
        events.watch_optimizers(print, Silent()),
        events.watch_backward(print),
        events.watch_forward(print),
        events.watch_loader(print),
    ]
    assert all(now is not then for now, then in zip(touched(), before, strict=True))
    assert touched() != before
    for undo in ears:
        undo()
    assert touched() == before
