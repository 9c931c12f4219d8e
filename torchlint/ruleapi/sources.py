"""Where rules are found, without importing them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

BUILT_IN = "torchlint.rules"
GROUP = "torchlint.rules"
"""The entry point group for plugins: each entry names a module or package with rules."""
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACES = (os.path.join(_HOME, "rules"), os.path.join(os.path.dirname(_HOME), "rules"))
"""Where the built-in rules are: in an installation, and in a checkout."""


class RuleError(Exception):
    """A rule that cannot be loaded; the message is for its author."""


def roots() -> list[ModuleSpec]:
    """The modules and packages with rules: the built-in ones first, then plugins.

    Raises:
        RuleError: a module of a plugin is missing.
    """
    from importlib import metadata, util

    plugins = {entry.value.partition(":")[0] for entry in metadata.entry_points(group=GROUP)}
    built_in = util.find_spec(BUILT_IN) or _in_checkout()
    found = [] if built_in is None else [built_in]
    for name in sorted(plugins - {BUILT_IN}):
        spec = util.find_spec(name)
        if spec is None:
            raise RuleError(
                f"There is no module `{name}`, which an installed plugin names; install the plugin "
                "again or remove it."
            )
        found.append(spec)
    return found


def _in_checkout() -> ModuleSpec | None:
    """The built-in rules beside this package, when a checkout is used without installation."""
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
