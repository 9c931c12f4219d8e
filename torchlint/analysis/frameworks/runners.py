"""What runs a program: whether it takes an accelerator, and whether it trains.

A parsed file is asked by `torchlint.analysis.training.runs`, any other by its text. What the
files of a program show is joined by `torchlint.project.programs`.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Final

from torchlint.analysis.frameworks.frameworks import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.analysis.frameworks.adapter import Runner


class Device(IntEnum):
    """Where a file shows that its program runs. Of several files, the highest counts."""

    UNSAID = 0
    CHOSEN = 1
    """A framework takes an accelerator where there is one, if nothing keeps it on the CPU."""
    CPU = 2
    """A framework is kept on the CPU."""
    ACCELERATOR = 3

    @property
    def is_accelerator(self) -> bool:
        return self in (Device.CHOSEN, Device.ACCELERATOR)


START_METHODS: Final = frozenset().union(*(each.starts for each in ANY.runners))
"""Methods that take the training steps of a program: `trainer.fit(model)`."""
_STARTER: Final = r"(?:[tT]rainer|[rR]unner)\w{0,40}"
"""What the objects with such a method are called."""
_ALONE: Final = "|".join(each.trains for each in ANY.runners if each.trains)
_STARTS: Final = rf"\.(?:{'|'.join(sorted(START_METHODS))})\("
_BESIDE_STARTER: Final = rf"{_STARTER}(?:\([^\n]{{0,200}}\))?{_STARTS}|\b(?:{_ALONE})\("
_BELOW_ARGUMENTS: Final = rf"[ \t]{{0,40}}\){_STARTS}"
"""In a line that begins with the parenthesis behind the arguments of the starter."""
START_WORDS: Final = rf"{_BESIDE_STARTER}|\n{_BELOW_ARGUMENTS}"
"""A pattern for files in which a framework is told to train."""
_TRAINS: Final = (
    rf"(?m)^[^#\n]*(?:backward\(|\b(?:{'|'.join(ANY.step_methods)})\b|{_BESIDE_STARTER}|"
    rf"(?m:^{_BELOW_ARGUMENTS}))"
)
_ACCELERATED: Final = "|".join(ANY.accelerator_words)
_PACKAGES: Final = frozenset(package for each in ANY.runners for package in each.packages)
_TOP_PACKAGES: Final = frozenset(package.partition(".")[0] for package in _PACKAGES)


def uses_accelerator(name: str) -> bool:
    """Whether a call of this dotted name shows that there is an accelerator."""
    return name.startswith(ANY.accelerator_calls) and name not in ANY.accelerator_questions


def sounds_like_starter(name: str) -> bool:
    """Whether an object is called as those are that take training steps: `trainer`."""
    return re.match(rf"\w*{_STARTER}$", name) is not None


def may_have_runners(imported: Iterable[str]) -> bool:
    """Whether one of these imported modules is of a package with runners."""
    return any(name.partition(".")[0] in _TOP_PACKAGES for name in imported)


@cache
def runner_of(name: str) -> Runner | None:
    """The runner that a dotted name is one of."""
    last = name.rpartition(".")[2]
    for each in ANY.runners:
        inside = any(name.startswith(f"{package}.") for package in each.packages)
        if inside and re.fullmatch(each.names, last):
            return each
    return None


def is_one_of(name: str, last: str) -> bool:
    """Whether the last part of a dotted name matches a pattern of a runner."""
    return bool(last) and re.fullmatch(last, name.rpartition(".")[2]) is not None


# text --------------------------------------------------------------------------------------


def trains_in_text(matches: Callable[[str], bool]) -> bool:
    """Whether the text of a file shows that its program trains.

    Args:
        matches: whether the text matches a pattern.
    """
    if matches(_TRAINS):
        return True
    return matches(_imports(_PACKAGES)) and any(
        matches(rf"\.(?:{'|'.join(sorted(each.starts))})\(") and _is_used(each, matches)
        for each in ANY.runners
        if each.starts
    )


def device_in_text(matches: Callable[[str], bool]) -> Device:
    """Where the text of a file shows that its program runs.

    Args:
        matches: whether the text matches a pattern.
    """
    if matches(_ACCELERATED):
        return Device.ACCELERATOR
    if not matches(_imports(_PACKAGES)):
        return Device.UNSAID
    return max(_by_runner(each, matches) for each in ANY.runners)


def _by_runner(runner: Runner, matches: Callable[[str], bool]) -> Device:
    if not _is_used(runner, matches):
        return Device.UNSAID
    if not matches(rf"\b(?:{runner.decides})\b"):
        return Device.CHOSEN
    if runner.told and not matches(rf"\b{runner.told}\b"):
        return Device.UNSAID
    return Device.CPU if _keeps(runner) and matches(_keeps(runner)) else Device.ACCELERATOR


def _is_used(runner: Runner, matches: Callable[[str], bool]) -> bool:
    return matches(_imports(frozenset(runner.packages))) and matches(rf"\b(?:{runner.names})\b")


@cache
def _imports(packages: frozenset[str]) -> str:
    """A pattern for files that import one of these packages."""
    names = "|".join(sorted(map(re.escape, packages)))
    return rf"(?m:^[ \t]*(?:from|import)[ \t]+(?:{names})\b)"


def _keeps(runner: Runner) -> str:
    """A pattern for files that keep a runner on the CPU: by a keyword, or an entry of a dict."""
    return "|".join(
        rf"\b{each.keyword}['\"]?\s{{0,40}}[=:]\s{{0,40}}{_written(each.value)}"
        for each in runner.keeps
    )


def _written(value: object) -> str:
    return rf"['\"]{value}['\"]" if isinstance(value, str) else rf"{value}\b"
