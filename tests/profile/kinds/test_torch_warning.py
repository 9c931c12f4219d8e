"""TR803: torch's own warnings about time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import torch_warning
from torchlint.runtime.probe.instrument_messages import TorchWarning, WarningsSeen
from torchlint.runtime.probe.instruments.warnings import UNUSED as UNUSED_NAME
from torchlint.runtime.probe.instruments.warnings import WORDS

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

UNUSED = (
    "find_unused_parameters=True was specified in DDP constructor, but did not find any unused "
    "parameters in the forward pass. This flag results in an extra traversal of the autograd graph "
    "every iteration,  which can adversely affect performance. If your model indeed never has any "
    "unused parameters in the forward pass, consider turning this flag off. (Triggered internally "
    "at /pytorch/torch/csrc/distributed/c10d/reducer.cpp:1.)"
)
ARRAYS = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)


def judged(name: str, text: str, ran: int = 0, watched: int = 5) -> list[Observed]:
    heard = TorchWarning(name, text, ("/train.py", 9), 1, watched, ran)
    return findings(torch_warning.kind, evidence(WarningsSeen([heard])))


def test_what_a_line_of_each_step_does_is_quoted() -> None:
    (found,) = judged("list-of-arrays", ARRAYS, ran=5)
    assert found.place == ("/train.py", 9)
    assert found.fact == (
        'torch warns: "Creating a tensor from a list of numpy.ndarrays is extremely slow" '
        "(the line ran in 5 of 5 steps)"
    )
    assert (found.share, found.rules) == (None, ("TL106",))


def test_a_line_that_no_step_runs_costs_nothing() -> None:
    assert judged("list-of-arrays", ARRAYS) == []


def test_what_torch_says_of_each_step_needs_no_line_in_it() -> None:
    (found,) = judged("unused-parameters", UNUSED, watched=20)
    assert found.fact == (
        'torch warns: "find_unused_parameters=True was specified in DDP ... This flag results in an '
        "extra traversal of the autograd graph every iteration, which can adversely affect "
        'performance"'
    )


def test_an_unused_parameter_may_come_later_or_on_another_rank() -> None:
    assert judged("unused-parameters", UNUSED, watched=9) == []
    heard = WarningsSeen([TorchWarning("unused-parameters", UNUSED, ("/train.py", 9), 1, 20)])
    ranks = evidence({0: heard, 1: WarningsSeen()}, ranks=2)
    assert findings(torch_warning.kind, ranks) == []


def test_there_is_advice_for_each_warning() -> None:
    assert set(torch_warning._ADVICE) == {*WORDS, UNUSED_NAME}
