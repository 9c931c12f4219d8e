"""What the script raised, as plain data: its own frames only, the probe's left out."""

from __future__ import annotations

import os
import traceback

from torchlint.runtime.probe.messages import Raised

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "_status_alloc_failed",
)
"""Said by CUDA and HIP, torch's CPU allocator, that of Windows, and cuBLAS and cuDNN."""


def describe(error: BaseException, project: str) -> Raised:
    """What the parent is told about it."""
    told = _told(error)
    path, row = _place(error, told, project)
    trace = "".join(told.format())
    return Raised(type(error).__name__, _text(error), trace, out_of_memory(error), path, row)


def show(error: BaseException) -> str:
    """The traceback as Python prints it, the script's own frames only."""
    return "".join(_told(error).format())


def out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on the device or on the host."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = _text(error).lower()
    return isinstance(error, (RuntimeError, OSError)) and any(
        words in text for words in _OUT_OF_MEMORY
    )


def _told(error: BaseException) -> traceback.TracebackException:
    told = traceback.TracebackException.from_exception(error)
    _leave_out_the_probe(told, set())
    return told


def _leave_out_the_probe(told: traceback.TracebackException, seen: set[int]) -> None:
    if id(told) in seen:
        return
    seen.add(id(told))
    told.stack[:] = [frame for frame in told.stack if not frame.filename.startswith(HERE)]
    # Groups came with Python 3.11.
    group = getattr(told, "exceptions", None) or ()
    for other in (told.__cause__, told.__context__, *group):
        if other is not None:
            _leave_out_the_probe(other, seen)


def _place(
    error: BaseException, told: traceback.TracebackException, project: str
) -> tuple[str | None, int | None]:
    places = [(frame.filename, frame.lineno) for frame in told.stack]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno))
    inside = os.path.join(os.path.realpath(project), "")
    for path, row in reversed(places):
        if os.path.realpath(path).startswith(inside):
            return path, row
    return places[-1] if places else (None, None)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "<it has no text>"
