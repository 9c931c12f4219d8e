"""What the rest of torchlint asks about training frameworks, without knowing one by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from torchlint.analysis.frameworks.accelerate import ACCELERATE
from torchlint.analysis.frameworks.adapter import Framework
from torchlint.analysis.frameworks.fabric import FABRIC
from torchlint.analysis.frameworks.ignite import IGNITE
from torchlint.analysis.frameworks.lightning import LIGHTNING
from torchlint.analysis.frameworks.monai import MONAI
from torchlint.analysis.frameworks.openmmlab import OPENMMLAB
from torchlint.analysis.frameworks.plain_torch import PLAIN_TORCH
from torchlint.analysis.frameworks.settings_owners import SETTINGS_OWNERS
from torchlint.analysis.frameworks.sharding import SHARDING
from torchlint.analysis.frameworks.torchnet import TORCHNET
from torchlint.analysis.frameworks.transformers import TRANSFORMERS

if TYPE_CHECKING:
    from collections.abc import Iterable

FRAMEWORKS: Final = (
    PLAIN_TORCH,
    LIGHTNING,
    FABRIC,
    TRANSFORMERS,
    ACCELERATE,
    IGNITE,
    MONAI,
    OPENMMLAB,
    TORCHNET,
    SETTINGS_OWNERS,
    SHARDING,
)


def _joined(*fields: Any) -> Any:
    return frozenset().union(*fields) if isinstance(fields[0], frozenset) else sum(fields, ())


ANY: Final = Framework._make(map(_joined, *FRAMEWORKS))
"""All frameworks in one: what any of them has."""

STEP_WORDS: Final = "|".join((*ANY.step_words, *ANY.step_methods))
"""A pattern for files in which training steps are taken."""
HOOK_WORDS: Final = "|".join(
    (
        *ANY.hook_words,
        *sorted({each for _, methods in ANY.step_hooks + ANY.loose_hooks for each in methods}),
    )
)
"""A pattern for files with functions that a framework calls on each step."""


def owned(setting: str) -> str:
    """A pattern for files whose framework has a switch of its own for a torch setting."""
    return "|".join("|".join(each.shown_by) for each in FRAMEWORKS if setting in each.owns)


def owns(setting: str, names: Iterable[str]) -> bool:
    """Whether one of these dotted names comes from a framework that sees to a setting itself."""
    owners = tuple(name for each in FRAMEWORKS if setting in each.owns for name in each.packages)
    owners += tuple(old for old, new in ANY.renamed if new.startswith(owners))
    return any(f"{name}.".startswith(owners) for name in names)


def keywords(setting: str, names: Iterable[str] | None = None) -> frozenset[str]:
    """The keywords that mean a setting, in a call of one of these dotted names or of any."""
    return frozenset(
        keyword
        for each in ANY.settings
        if each.name == setting and (names is None or any(re.search(each.of, n) for n in names))
        for keyword in each.keywords
    )


def setting_words(setting: str) -> str:
    """A pattern for files that set a setting, or may leave it at its default."""
    words = {each.words for each in ANY.settings if each.name == setting} - {""}
    return "|".join(sorted(keywords(setting) | words))


def is_step_hook(method: str, bases: list[str]) -> bool:
    """Whether a framework or a hand-written loop calls this method of a class with these bases on
    each step."""
    return is_passed_tensors(method, bases) or _is_one_of(ANY.loose_hooks, method, bases)


def is_passed_tensors(method: str, bases: list[str]) -> bool:
    """Whether a framework calls it, with a batch and the like that are on the device."""
    if method == "forward":
        return any(re.search(pattern, base) for pattern in ANY.step_forwards for base in bases)
    return _is_one_of(ANY.step_hooks, method, ["", *bases])


def _is_one_of(
    hooks: tuple[tuple[str, frozenset[str]], ...], method: str, bases: list[str]
) -> bool:
    return any(
        method in methods and any(re.search(pattern, base) for base in bases)
        for pattern, methods in hooks
    )
