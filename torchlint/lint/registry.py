"""Finds the rules: every module that an entry point of the group `torchlint.rules` leads to."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from torchlint.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GROUP = "torchlint.rules"


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every installed rule by its code, in the order of the codes.

    Raises:
        ValueError: two rules share a code or a name.
    """
    found: dict[str, Rule] = {}
    names: dict[str, str] = {}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name):
        for module in _modules(importlib.import_module(entry.value.partition(":")[0])):
            for rule in vars(module).values():
                if not isinstance(rule, Rule) or found.get(rule.code) is rule:
                    continue
                if rule.code in found or rule.name in names:
                    raise ValueError(f"{module.__name__}: {rule.code} {rule.name} is taken")
                found[rule.code] = rule
                names[rule.name] = rule.code
                rule.page = module.__doc__ or ""
    return MappingProxyType(dict(sorted(found.items())))


def _modules(root: ModuleType) -> Iterator[ModuleType]:
    yield root
    for info in pkgutil.walk_packages(getattr(root, "__path__", ()), root.__name__ + "."):
        yield importlib.import_module(info.name)
