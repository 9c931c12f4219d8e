"""What a script has, and the steps whose numbers were compared did not come to."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed
from torchlint.files.reading import SourceError, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torchlint.runtime.probe.messages import Recorded

_MOST_PLACES: Final = 3


def unreached(
    original: Recorded,
    changed: Recorded,
    main: str,
    places: Mapping[str, str],
    *,
    with_last_step: bool = False,
) -> tuple[str, ...]:
    """What is beyond the recorded steps, each as a noun.

    Args:
        original: of the program as it is.
        changed: of the changed one.
        main: real path of the script.
        places: id of a changed place → where it is, as `train.py:31`.
        with_last_step: the script takes no step beyond the recorded ones.
    """
    sentences: list[str] = []
    known = original.exercise_known and changed.exercise_known
    ran = {*original.exercised, *changed.exercised}
    lines = list(dict.fromkeys(where for id_, where in places.items() if id_ not in ran))
    if lines and known:
        sentences.append(f"the change at {listed(lines, _MOST_PLACES)}")
    if original.finished:
        return tuple(sentences)
    reached = original.reached
    if reached.passes == 1 and not with_last_step:
        many = f" ({reached.batches} batches)" if reached.batches else ""
        sentences.append(f"the end of the first pass over the data{many}")
    if reached.schedules and not with_last_step:
        sentences.append(f"a change of the learning rate by {' or '.join(reached.schedules)}")
    if not reached.evaluates:
        evaluations = list(_evaluations(dict.fromkeys((main, *reached.files))))
        if evaluations:
            sentences.append(f"evaluation ({listed(evaluations, _MOST_PLACES)})")
    return tuple(sentences)


def _evaluations(paths: Iterable[str]) -> Iterator[str]:
    """Where the files put a model into evaluation mode: `model.eval()`."""
    for path in paths:
        try:
            tree = ast.parse(decode(path, read_bytes(path)).text)
        except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        rows = sorted(call.lineno for call in calls if _is_evaluation(call))
        yield from (f"{os.path.relpath(path)}:{row}" for row in rows)


def _is_evaluation(call: ast.Call) -> bool:
    is_eval = isinstance(call.func, ast.Attribute) and call.func.attr == "eval"
    return is_eval and not call.args and not call.keywords
