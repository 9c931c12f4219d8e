"""All kinds of run-time findings."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from torchlint.config.settings import normalised
from torchlint.profile import kinds
from torchlint.profile.kind import FindingKind

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def all_kinds() -> Mapping[str, FindingKind]:
    """Every kind by its code, sorted."""
    by_code: dict[str, FindingKind] = {}
    for info in pkgutil.iter_modules(kinds.__path__, f"{kinds.__name__}."):
        for each in vars(import_module(info.name)).values():
            if isinstance(each, FindingKind):
                assert by_code.get(each.code, each) is each, each.code
                by_code[each.code] = each
    return MappingProxyType(dict(sorted(by_code.items())))


def kind_named(word: str) -> FindingKind | None:
    """The kind with this code or name, if there is one."""
    (wanted,) = normalised([word]) or ("",)
    return next((k for k in all_kinds().values() if wanted in (k.code, k.name)), None)
