"""Where rules are found, without importing them."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

BUILT_IN = "torchlint.rules"
GROUP = "torchlint.rules"
"""The entry point group for plugins: each entry names a module or package with rules."""
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACES = (os.path.join(_HOME, "rules"), os.path.join(os.path.dirname(_HOME), "rules"))
"""Where the built-in rules are: in an installation, and in a checkout."""


_INFORMATION: Final = (".dist-info", "egg-info")
"""How the folders end that describe what is installed."""


class RuleRoot(NamedTuple):
    """A module or package with rules.

    Args:
        plugin: the name of the distribution that provides it; empty for the built-in ones.
        spec: where it is; None if there is no such module.
    """

    name: str
    plugin: str
    spec: ModuleSpec | None


def roots() -> list[RuleRoot]:
    """The modules and packages with rules: the built-in ones first, then those of plugins."""
    from importlib import util

    roots_found = [RuleRoot(BUILT_IN, "", util.find_spec(BUILT_IN) or _in_checkout())]
    for name, plugin in sorted(_plugins().items()):
        if name != BUILT_IN:
            roots_found.append(RuleRoot(name, plugin, _found(name)))
    return roots_found


def _plugins() -> dict[str, str]:
    """The distributions that provide rules, by the names of their modules."""
    if not _may_be_plugins():
        return {}
    from importlib import metadata

    return {
        entry.value.partition(":")[0]: entry.dist.name if entry.dist is not None else entry.name
        for entry in metadata.entry_points(group=GROUP)
    }


def _may_be_plugins() -> bool:
    """Whether an installed distribution mentions the group: to import `importlib.metadata`, which
    knows, takes a twentieth of the check of a short file."""
    if any(hasattr(each, "find_distributions") for each in sys.meta_path if each is not PathFinder):
        return True
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:
            return True  # an archive
        except OSError:
            continue
        for name in names:
            if name.lower().endswith(_INFORMATION) and _mentions_group(os.path.join(folder, name)):
                return True
    return False


def _mentions_group(information: str) -> bool:
    try:
        with open(os.path.join(information, "entry_points.txt"), "rb") as file:
            return GROUP.encode() in file.read()
    except OSError:
        return False


def _found(name: str) -> ModuleSpec | None:
    """Where a module of a plugin is; nothing of it is imported, apart from a package around it."""
    from importlib import util

    try:
        return util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None


def _in_checkout() -> ModuleSpec | None:
    """The built-in rules next to this package, when a checkout is used without installation."""
    from importlib import util

    if not has_built_in_rules():
        return None
    beside = PLACES[1]
    return util.spec_from_file_location(
        BUILT_IN, os.path.join(beside, "__init__.py"), submodule_search_locations=[beside]
    )


def has_built_in_rules() -> bool:
    """Whether the built-in rules are on disk; imports nothing."""
    return any(os.path.isfile(os.path.join(place, "__init__.py")) for place in PLACES)
