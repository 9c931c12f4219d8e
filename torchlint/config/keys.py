"""The keys of `[tool.torchlint]`: what each takes, what it means, and how it is read.

There are no other keys, and the reference page is generated from these.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar

from torchlint.config.settings import (
    ConfigError,
    Settings,
    nearest,
    normalised,
    parse_torch,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_GLOBS: Final = 1_000
"""Globs in one setting: each is tried on each file."""
_T = TypeVar("_T")

KEYS: Final[dict[str, tuple[str, str, str]]] = {
    "select": (
        "list of rules",
        "The rules that are on. An entry is a code (`TL201`), a family (`TL2`), a name "
        "(`item-in-step-loop`) or `ALL`. Between `select` and `ignore` the closer entry wins: a "
        "code or name before a family, a family before `ALL`; `ignore` wins a tie. A pedantic "
        "rule that is selected by its own code or name is shown without `--pedantic`. `--select` "
        "on the command line takes the place of this key and of `ignore`.",
        'select = ["TL1", "TL2"]',
    ),
    "ignore": (
        "list of rules",
        "The rules that are off, with the same entries as `select`. `--ignore` on the command "
        "line adds to this key.",
        'ignore = ["TL304"]',
    ),
    "per-file-ignores": (
        "table from globs to lists of rules",
        "What is off in some files, whatever `select` says. A glob without a slash means that "
        "name in any folder; one with a slash starts at the folder of the configuration file. "
        "`**` spans folders. A glob that matches a folder means everything in it.",
        'per-file-ignores = { "examples/*" = ["TL101"] }',
    ),
    "exclude": (
        "list of globs",
        "Files and folders that a search of a folder skips. This replaces the default, so prefer "
        "`extend-exclude`. A file that is named on the command line is checked "
        "whatever excludes it.",
        'exclude = ["build", "third_party"]',
    ),
    "extend-exclude": (
        "list of globs",
        "The same, in addition to `exclude` or its default.",
        'extend-exclude = ["third_party"]',
    ),
    "target-torch": (
        "string",
        "The oldest torch that the code must work with. No rule recommends what that version "
        "lacks. Without this key it is the lower bound that the project states for torch in its "
        "requirements, `pyproject.toml`, `setup.cfg` or `setup.py`; without one, the newest "
        "version that an upper bound allows (2.3 for `torch<2.4`), and without any bound the "
        "newest torch that this torchlint knows.",
        'target-torch = "2.1"',
    ),
    "baseline": (
        "string",
        "A file with findings that are known, in the folder of the configuration file or below. "
        "`torchlint check` does not report what it covers, and `torchlint baseline` writes, checks "
        "and prunes it. `--baseline` names another one, and `--no-baseline` shows everything.",
        'baseline = "torchlint-baseline.json"',
    ),
    "require-reason": (
        "true or false",
        "Whether a comment that silences a finding has to say why, as in "
        "`# torchlint: ignore[TL201] -- the scheduler needs it`. One that does not is reported.",
        "require-reason = true",
    ),
}
"""By name: its type in words, its meaning in Markdown, and an example in TOML."""


def from_table(table: Mapping[str, object], base: Settings) -> Settings:
    """The settings of a table, with those of `base` where it says nothing.

    Raises:
        ConfigError: an unknown key, or a value that its key does not take.
    """

    def words(key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        if key not in table:
            return default
        wrong = f'`{key}` must be a list of strings, such as {key} = ["..."].'
        return _strings(table[key], wrong, base.source)

    for key in table:
        if key not in KEYS:
            raise ConfigError(_unknown_key(key, KEYS), base.source)
    return base._replace(
        select=normalised(words("select", base.select)),
        ignore=normalised(words("ignore", base.ignore)),
        per_file_ignores=_per_file(table.get("per-file-ignores", {}), base.source),
        exclude=_few(words("exclude", base.exclude), "exclude", base.source)
        + _few(words("extend-exclude", ()), "extend-exclude", base.source),
        target_torch=_target(table.get("target-torch"), base.source),
        baseline=_baseline(table.get("baseline"), base.source),
        require_reason=_flag(table, "require-reason", base.source),
    )


def _unknown_key(key: str, known: Mapping[str, object]) -> str:
    if key == "tool":
        return "This file takes the keys without `[tool.torchlint]`; take that line out."
    hint = nearest(key, known, f"; the known ones are {', '.join(known)}")
    return f"Unknown key `{shortened(key)}`{hint}."


def _flag(table: Mapping[str, object], key: str, path: str | None) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigError(f"`{key}` must be true or false.", path)
    return value


def _strings(value: object, wrong: str, path: str | None) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ConfigError(wrong, path)
    return tuple(value)


def _per_file(value: object, path: str | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ConfigError(
            "`per-file-ignores` must be a table from a glob to a list of codes, "
            'such as per-file-ignores = { "tests/*" = ["TL201"] }.',
            path,
        )
    return tuple(
        (pattern, normalised(_codes_for(pattern, codes, path)))
        for pattern, codes in _few(tuple(value.items()), "per-file-ignores", path)
    )


def _codes_for(pattern: str, value: object, path: str | None) -> tuple[str, ...]:
    needs = f"`per-file-ignores` needs a list of strings for `{shortened(pattern)}`"
    return _strings(value, f'{needs}, such as ["TL201"].', path)


def _few(globs: tuple[_T, ...], key: str, path: str | None) -> tuple[_T, ...]:
    if len(globs) > MOST_GLOBS:
        raise ConfigError(
            f"`{key}` has {len(globs):,} globs, and at most {MOST_GLOBS:,} are allowed; "
            "name folders instead of files.",
            path,
        )
    return globs


def _target(value: object, path: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ConfigError('`target-torch` must be a string, such as target-torch = "2.1".', path)
    version = parse_torch(value)
    if version is None:
        raise ConfigError(
            f'`target-torch` is "{shortened(value)}"; write a version such as "2.1".', path
        )
    return version


def leads_out(path: str, folder: str) -> bool:
    """Whether a path in a folder leads out of it through links."""
    inside, place = os.path.realpath(folder), os.path.realpath(path)
    return not place.startswith(os.path.join(inside, ""))


def _baseline(value: object, path: str | None) -> str | None:
    if value is None:
        return None
    name = os.path.normpath(value) if isinstance(value, str) and "\0" not in value else ""
    # `baseline write` writes what a checkout names here, so nothing outside of it.
    if name in ("", ".") or os.path.isabs(name) or name.split(os.sep)[0] == os.pardir:
        raise ConfigError(
            "`baseline` must name a file in the folder of this configuration or below it, "
            'such as baseline = "torchlint-baseline.json".',
            path,
        )
    folder = os.path.abspath(os.path.dirname(path or ""))
    place = os.path.join(folder, name)
    if leads_out(place, folder):
        raise ConfigError(
            f"`baseline` is {shortened(name)}, a link that leads out of the folder of this "
            "configuration; name a file in it.",
            path,
        )
    return place
