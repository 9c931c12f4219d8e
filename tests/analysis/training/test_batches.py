"""Which code runs on each call of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.training.batches import runs_each_time, runs_in_forward

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Probed

CLASS = """
class Net(Module):
    def forward(self, x):
        {}
    def helper(self, x):
        {}
    def other(self, x):
        {}
"""


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        (("probe(x)", "pass", "pass"), True),
        (("return self.helper(x)", "probe(x)", "pass"), True),
        (("return self.helper(x)", "return self.other(x)", "probe(x)"), False),
        (("pass", "probe(x)", "pass"), False),
        (("if not self.training: probe(x)", "pass", "pass"), False),
        (("if self.step % 100 == 0: probe(x)", "pass", "pass"), False),
    ],
)
def test_forward_and_what_it_calls_run_on_each_call(
    probed: Callable[..., Probed], lines: tuple[str, ...], runs: bool
) -> None:
    text = probed(CLASS.format(*lines))
    assert runs_in_forward(text.call, text.module) is runs
    assert runs_each_time(text.call, text.module) is runs


@pytest.mark.parametrize(
    "text",
    [
        "def forward(x):\n    probe(x)\n",
        "class Car:\n    def forward(self, x):\n        probe(x)\n",
        "probe(x)\n",
    ],
)
def test_other_functions_of_that_name_do_not(probed: Callable[..., Probed], text: str) -> None:
    found = probed(text)
    assert not runs_in_forward(found.call, found.module)


def test_a_step_loop_runs_for_each_batch(probed: Callable[..., Probed]) -> None:
    text = probed("for x in loader:\n    probe(x)\n    loss.backward()\n")
    assert runs_each_time(text.call, text.module)
    assert not runs_in_forward(text.call, text.module)
