"""Finds the rules: the built-in ones, and those that entry points of other packages name."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from torchlint.ruleapi.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUILT_IN = "torchlint.rules"
GROUP = "torchlint.rules"
"""The entry points by which other packages bring rules: a module or package each."""


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, in the order of the codes.

    Raises:
        ValueError: two rules share a code or a name.
        ModuleNotFoundError: the built-in rules are missing, or a plugin's module is.
    """
    found: dict[str, Rule] = {}
    names: dict[str, str] = {}
    for root in roots():
        for module in _modules(importlib.import_module(root)):
            for rule in vars(module).values():
                if not isinstance(rule, Rule) or found.get(rule.code) is rule:
                    continue
                if rule.code in found or rule.name in names:
                    raise ValueError(f"{module.__name__}: {rule.code} {rule.name} is taken")
                found[rule.code] = rule
                names[rule.name] = rule.code
                rule.page = module.__doc__ or ""
    return MappingProxyType(dict(sorted(found.items())))


def roots() -> list[str]:
    """The modules and packages that rules are in: the built-in ones first, then the plugins'."""
    plugins = {entry.value.partition(":")[0] for entry in metadata.entry_points(group=GROUP)}
    return [BUILT_IN, *sorted(plugins - {BUILT_IN})]


def _modules(root: ModuleType) -> Iterator[ModuleType]:
    yield root
    for info in pkgutil.walk_packages(getattr(root, "__path__", ()), root.__name__ + "."):
        yield importlib.import_module(info.name)
