"""Questions about a file that are answered once."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., object]")


def once(ask: _F) -> _F:
    """Let a file keep each answer of a function that takes it as `module`, for what many places
    of a file ask alike: without that, a file of many such places takes quadratic time. All
    arguments are given by position.
    """
    place = ask.__code__.co_varnames.index("module")

    @wraps(ask)
    def kept(*about: Any) -> object:
        answers: dict[object, object] = about[place].answers
        key = (ask, *about)
        if key not in answers:
            answers[key] = ask(*about)
        return answers[key]

    return cast("_F", kept)
