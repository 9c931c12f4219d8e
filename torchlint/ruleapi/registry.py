"""Loads all rules and experiments: the built-in ones and those of plugins."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from functools import cache, partial
from importlib import util
from itertools import chain
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final, TypeVar

from torchlint.config.settings import LISTED, ConfigError, nearest, normalised, shortened
from torchlint.ruleapi.experiment import Experiment
from torchlint.ruleapi.plugins import PluginError, Trouble, contained, one_line
from torchlint.ruleapi.rule_definition import Rule
from torchlint.ruleapi.sources import roots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.machinery import ModuleSpec

    from torchlint.ruleapi.sources import RuleRoot

_CODE: Final = re.compile(r"[A-Z][A-Z0-9]{1,15}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_EXPERIMENTS: Final = "experiments"
"""The folder of a family with its experiments; what only checks code does not import it."""
_M = TypeVar("_M", Rule, Experiment)


@cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its code, sorted; without those of plugins that have `troubles`."""
    return _loaded()[0]


def troubles() -> tuple[Trouble, ...]:
    """What is wrong with the plugins that are installed."""
    return _loaded()[1]


def troubles_so_far() -> tuple[Trouble, ...]:
    """The same, if rules or experiments have been loaded at all."""
    loaded = (each() for each in (_loaded, _loaded_experiments) if each.cache_info().currsize)
    return tuple(chain.from_iterable(wrong for _, wrong in loaded))


@cache
def _loaded() -> tuple[Mapping[str, Rule], tuple[Trouble, ...]]:
    by_code: dict[str, Rule] = {}
    wrong: list[Trouble] = []
    for root in roots():
        if not root.plugin:
            by_code.update((rule.code, rule) for rule in _made_in(root, Rule))
            continue
        who, where = _plugin_of(root)
        made = _made_by_plugin(root, Rule, wrong)
        if made is None:
            continue
        rules, printed = made
        if root.spec is None:
            message = f"{who} names the module `{root.name}`, and there is none; install it again."
            wrong.append(Trouble(where, message))
        if printed:
            message = f"{who} printed `{printed}` while it was loaded; a rule prints nothing."
            wrong.append(Trouble(where, message))
        for rule in rules:
            unfit = _unfit(rule, by_code)
            if unfit:
                wrong.append(Trouble(where, f"{who} has a rule {unfit}"))
            else:
                rule.plugin = root.plugin
                by_code[rule.code] = rule
    return MappingProxyType(dict(sorted(by_code.items()))), tuple(wrong)


def all_experiments() -> tuple[Experiment, ...]:
    """Every experiment; without those of plugins that fail, or have the name of another one."""
    return _loaded_experiments()[0]


@cache
def _loaded_experiments() -> tuple[tuple[Experiment, ...], tuple[Trouble, ...]]:
    by_name: dict[str, Experiment] = {}
    wrong: list[Trouble] = []
    for root in roots():
        if not root.plugin:
            by_name.update((each.name, each) for each in _made_in(root, Experiment))
            continue
        who, where = _plugin_of(root)
        made = _made_by_plugin(root, Experiment, wrong)
        for each in made[0] if made is not None else ():
            if each.name in by_name:
                message = (
                    f"{who} has an experiment {each.name}, and there is one already; rename it."
                )
                wrong.append(Trouble(where, message))
                continue
            each.plugin = root.plugin
            by_name[each.name] = each
    return tuple(by_name.values()), tuple(wrong)


def _plugin_of(root: RuleRoot) -> tuple[str, str]:
    """How messages name a plugin, and where it is."""
    return f"The plugin `{root.plugin}`", (root.spec and root.spec.origin) or root.name


def _made_by_plugin(
    root: RuleRoot, kind: type[_M], wrong: list[Trouble]
) -> tuple[list[_M], str] | None:
    """What a plugin makes, and what it printed meanwhile; None if it fails, which `wrong` then
    says."""
    who, where = _plugin_of(root)
    try:
        return contained(who, partial(_made_in, root, kind))
    except PluginError as error:
        left_out = f"{kind.__name__.lower()}s"
        wrong.append(
            Trouble(where, f"{error}, so its {left_out} are left out; repair or remove it.")
        )
        return None


def _made_in(root: RuleRoot, kind: type[_M]) -> list[_M]:
    """The rules or experiments in a module or package, each once."""
    made: dict[_M, None] = {}
    for module in _modules(root.spec, experiments=kind is Experiment):
        for value in list(vars(module).values()):
            if isinstance(value, kind):
                made[value] = None
    return list(made)


def _unfit(rule: Rule, known: Mapping[str, Rule]) -> str:
    """Why a rule of a plugin cannot be used; empty if it can."""
    if not (_is_text(rule.code, _CODE) and _is_text(rule.name, _NAME)):
        return (
            f"{one_line(repr(rule.code))} {one_line(repr(rule.name))}, and a code is like "
            "`HOUSE1`, a name like `slow-thing`; rename it."
        )
    for other in known.values():
        if rule.code == other.code or rule.name == other.name:
            return (
                f"{rule.code} {rule.name}, and there is {other.code} {other.name} already; take "
                "another code or name."
            )
    alternatives = ((each,) if isinstance(each, str) else each for each in rule.gate.words)
    patterns = [*chain.from_iterable(alternatives), *rule.gate.on_demand, rule.gate.unless]
    patterns += [*chain.from_iterable(rule.pattern_words), *rule.clues.values()]
    try:
        for pattern in patterns:
            re.compile(pattern.encode())
    except (re.error, AttributeError, TypeError) as error:
        return f"{rule.code} whose triggers are not patterns ({one_line(str(error))}); repair them."
    return ""


def _is_text(value: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


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


def _modules(root: ModuleSpec | None, *, experiments: bool) -> Iterator[ModuleType]:
    """The modules of a root, imported.

    Args:
        experiments: those of experiments as well.
    """
    if root is None:
        return
    if root.name not in sys.modules:
        made = sys.modules[root.name] = util.module_from_spec(root)
        assert root.loader is not None
        try:
            root.loader.exec_module(made)
        except BaseException:
            del sys.modules[root.name]  # as `import` does
            raise
    yield sys.modules[root.name]
    yield from _below(root.name, root.submodule_search_locations or (), experiments=experiments)


def _below(name: str, folders: Iterable[str], *, experiments: bool) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(list(folders), f"{name}."):
        if info.name.rpartition(".")[2] == _EXPERIMENTS and not experiments:
            continue
        module = importlib.import_module(info.name)
        yield module
        if info.ispkg:
            yield from _below(info.name, module.__path__, experiments=experiments)
