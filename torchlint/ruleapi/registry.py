"""Finds the rules: the built-in ones, and those that entry points of other packages name."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from functools import cache
from importlib import metadata, util
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from torchlint.ruleapi.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.machinery import ModuleSpec

BUILT_IN = "torchlint.rules"
GROUP = "torchlint.rules"
"""The entry points by which other packages bring rules: a module or package each."""


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, in the order of the codes.

    Raises:
        ValueError: two rules share a code or a name.
        ModuleNotFoundError: a module of a plugin is missing.
    """
    found: dict[str, Rule] = {}
    names: dict[str, str] = {}
    for root in roots():
        for module in _modules(root):
            for rule in vars(module).values():
                if not isinstance(rule, Rule) or found.get(rule.code) is rule:
                    continue
                if rule.code in found or rule.name in names:
                    raise ValueError(f"{module.__name__}: {rule.code} {rule.name} is taken")
                found[rule.code] = rule
                names[rule.name] = rule.code
                rule.page = module.__doc__ or ""
    return MappingProxyType(dict(sorted(found.items())))


def roots() -> list[ModuleSpec]:
    """The modules and packages that rules are in: the built-in ones first, then the plugins'.

    Raises:
        ModuleNotFoundError: a module of a plugin is missing.
    """
    plugins = {entry.value.partition(":")[0] for entry in metadata.entry_points(group=GROUP)}
    built_in = util.find_spec(BUILT_IN) or _in_checkout()
    found = [] if built_in is None else [built_in]
    for name in sorted(plugins - {BUILT_IN}):
        spec = util.find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"There is no module `{name}`, which should hold rules")
        found.append(spec)
    return found


def _in_checkout() -> ModuleSpec | None:
    """The built-in rules beside this package, where a checkout is used without an installation."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "rules")
    package = os.path.join(os.path.abspath(folder), "__init__.py")
    if not os.path.isfile(package):
        return None
    return util.spec_from_file_location(
        BUILT_IN, package, submodule_search_locations=[os.path.dirname(package)]
    )


def _modules(root: ModuleSpec) -> Iterator[ModuleType]:
    if root.name not in sys.modules:
        sys.modules[root.name] = util.module_from_spec(root)
        assert root.loader is not None
        root.loader.exec_module(sys.modules[root.name])
    yield sys.modules[root.name]
    for info in pkgutil.walk_packages(root.submodule_search_locations or (), f"{root.name}."):
        yield importlib.import_module(info.name)
