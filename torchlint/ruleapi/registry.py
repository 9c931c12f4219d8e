"""Loads all rules: the built-in ones and those of plugins."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from importlib import util
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from torchlint.config.settings import LISTED, ConfigError, nearest, normalised, shortened
from torchlint.ruleapi.rule import Rule
from torchlint.ruleapi.sources import RuleError, roots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.machinery import ModuleSpec


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, sorted.

    Raises:
        RuleError: two rules share a code or a name, or a module of a plugin is missing.
    """
    found: dict[str, Rule] = {}
    for root in roots():
        for module in _modules(root):
            for rule in vars(module).values():
                if not isinstance(rule, Rule) or found.get(rule.code) is rule:
                    continue
                for other in found.values():
                    if rule.code == other.code or rule.name == other.name:
                        raise RuleError(
                            f"{module.__name__} is {rule.code} {rule.name}, and there is "
                            f"{other.code} {other.name} already; take another code or name."
                        )
                found[rule.code] = rule
    return MappingProxyType(dict(sorted(found.items())))


def rule_named(word: str) -> Rule:
    """The rule with this code or name.

    Raises:
        ConfigError: there is none.
    """
    (wanted,) = normalised([word]) or ("",)
    for rule in all_rules().values():
        if wanted in (rule.code, rule.name):
            return rule
    words = [word for rule in all_rules().values() for word in (rule.code, rule.name)]
    hint = nearest(wanted, words, LISTED)
    raise ConfigError(f"There is no rule `{shortened(word)}`{hint}.")


def _modules(root: ModuleSpec) -> Iterator[ModuleType]:
    if root.name not in sys.modules:
        sys.modules[root.name] = util.module_from_spec(root)
        assert root.loader is not None
        root.loader.exec_module(sys.modules[root.name])
    yield sys.modules[root.name]
    for info in pkgutil.walk_packages(root.submodule_search_locations or (), f"{root.name}."):
        yield importlib.import_module(info.name)
