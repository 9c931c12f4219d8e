"""The words by which `--only` names runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import nearest
from torchlint.profile.catalogue import all_kinds
from torchlint.profile.planned_runs import (
    DIAGNOSTICS,
    NAMES,
    WITHOUT_CHECKPOINTS,
    WITHOUT_RECOMPILING,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLLOWS: Final = ((WITHOUT_RECOMPILING, "reads"), (WITHOUT_CHECKPOINTS, "layers"))
"""Runs that another one asks for, if it sees that they are needed."""


def chosen(words: str) -> tuple[str, ...]:
    """The names of the runs that a value of `--only` means, each once.

    Args:
        words: separated by commas. A run has its own name, those of its instruments, and the codes
            and names of the findings that these watch for.

    Raises:
        ValueError: there is no such run; the message ends with what to choose from.
    """
    runs: list[str] = []
    for word in filter(None, (each.strip() for each in words.split(","))):
        known = _runs().get(word.lower())
        if known is None:
            hint = nearest(word, _runs())
            raise ValueError(f'there is no "{word}"{hint}; choose from {", ".join(NAMES)}')
        runs += known
    return tuple(dict.fromkeys(runs))


def in_words() -> str:
    """`reads (shapes, …), input, …`: the runs, each with its instruments."""
    said = []
    for name in NAMES:
        others = [word for word in _instruments() if _instruments()[word] == name != word]
        said.append(f"{name} ({', '.join(others)})" if others else name)
    return ", ".join(said)


@cache
def _runs() -> Mapping[str, tuple[str, ...]]:
    """The runs of each word, in lower case."""
    runs: dict[str, tuple[str, ...]] = {word: (run,) for word, run in _instruments().items()}
    for run, first in _FOLLOWS:
        runs.update({word: (first,) for word in (run.name, *run.instruments) if word not in runs})
    for kind in all_kinds().values():
        watched = [runs[each][0] for each in (*kind.instruments, *kind.also) if each in runs]
        if watched:
            runs[kind.code.lower()] = runs[kind.name] = tuple(watched)
    return runs


@cache
def _instruments() -> Mapping[str, str]:
    """The run of each instrument and, by its own name, of each run of `NAMES`."""
    runs = {name: name for name in NAMES}
    for run in DIAGNOSTICS:
        name = run.name if run.name in NAMES else "input"  # the one that repeats a batch
        runs.update(dict.fromkeys(run.instruments, name))
    return runs
