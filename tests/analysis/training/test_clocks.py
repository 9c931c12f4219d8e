"""What a file takes for the time of the code between two reads of a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.training.clocks import clock_reads, interval_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module


@pytest.mark.parametrize(
    ("code", "elapsed"),
    [
        ("t = time.time()\nx = time.time() - t", "time.time() - t"),
        ("t = time.time()\nu = time.time()\nx = u - t", "u - t"),
        ("t = perf_counter()\nx = 1000 * (perf_counter() - t)", "perf_counter() - t"),
        ("t = time.time()\nx = t - time.time()", None),
        ("t = time.time()\nx = time.time() + t", None),
        ("t = time.time()\nx = limit - t", None),
        ("t = u = time.time()\nx = time.time() - t", "time.time() - t"),
        ("self.t = time.time()\nx = time.time() - self.t", None),
        ("for i in r:\n    x = time.time() - t\n    t = time.time()", None),
        ("print(time.time())", None),
    ],
)
def test_a_time_is_what_is_subtracted_below_the_first_read(
    module_of: Callable[..., Module], code: str, elapsed: str | None
) -> None:
    module = module_of(f"import time\nfrom time import perf_counter\n{code}\n")
    found = [interval_from(each, module) for each in clock_reads(module)]
    assert [module.source(each.elapsed) for each in found if each] == ([elapsed] if elapsed else [])
