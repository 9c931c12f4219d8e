"""For tests of training code: assert that it does not wait for the device.

from torchlint.testing import no_sync

def test_a_step_reads_nothing():
    with no_sync():
        train_step(model, batch)
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from torchlint.runtime.probe.instrument_messages import HostCall

__all__ = ["no_sync"]

_MOST_LINES = 10


@contextmanager
def no_sync(*, allow: Collection[str] = ()) -> Iterator[None]:
    """Fail if the code inside reads a tensor's value on the host, as `loss.item()` does.

    It needs no GPU: reads of tensors on the CPU count, since the same code would wait if they lay
    on a GPU. So does what torch has to know the size of a result: a mask as index, `nonzero`,
    `unique` and the like. What torch's optimizers and a `DataLoader` do is left out, `.to("cpu")`
    and what a compiled function does inside is not seen, and `x.cpu().numpy()` counts once.

    Also a decorator: `@no_sync()`.

    Args:
        allow: kinds of reads that may happen: `item`, `float`, `int`, `bool`, `index`, `format`,
            `tolist`, `numpy`, `array`, `cpu`, `mask index`, `nonzero` and others, which the error
            about an unknown one lists.

    Raises:
        AssertionError: something was read; it names each line, the innermost one outside of torch
            and of installed packages. An exception of the code itself comes first.
        ValueError: there is no such kind of read.
    """
    __tracebackhide__ = True  # from pytest
    # Late, so that tests can be collected without torch.
    from torchlint.runtime.probe.instruments.reads import FUNCTIONS, METHODS, ReadObserver
    from torchlint.runtime.probe.run_settings import RunSettings

    _check(allow, {kind for kind, _ in (*METHODS.values(), *FUNCTIONS.values())})
    # With the device "cpu" all tensors count, so that a test says the same on every machine.
    reads = ReadObserver(RunSettings(main="", project=os.path.abspath(os.sep), device="cpu"))
    reads.open()
    try:
        yield
    except BaseException:
        reads.close()
        raise
    reads.close()
    seen = [each for each in reads.end().reads if each.kind not in allow]
    if seen:
        raise AssertionError(_message(seen))


def _check(allow: Collection[str], kinds: Collection[str]) -> None:
    if isinstance(allow, str) or any(each not in kinds for each in allow):
        known = ", ".join(sorted(kinds))
        raise ValueError(f"allow={allow!r} has to be a list of kinds of reads: {known}")


def _message(seen: Sequence[HostCall]) -> str:
    lines = sorted(_line(each) for each in seen)
    more = len(lines) - _MOST_LINES
    shown = [*lines[:_MOST_LINES], *([f"and {more} more"] if more > 0 else [])]
    kinds = sorted({each.kind for each in seen})
    return "\n".join(
        [
            "The host reads values of tensors, which waits for the device if they are on one:",
            *(f"  {line}" for line in shown),
            f"Keep them there, or allow them: no_sync(allow={kinds!r}).",
        ]
    )


def _line(read: HostCall) -> str:
    where = f"{read.place[0]}:{read.place[1]}" if read.place else "no line of a file"
    through = f", in {read.via}" if read.via else ""
    times = "" if read.calls == 1 else f", {read.calls} times"
    return f"{where}: {read.kind}{through}{times}"
