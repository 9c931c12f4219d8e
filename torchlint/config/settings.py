"""Settings: which rules, which files, which torch; from `[tool.torchlint]` or `torchlint.toml`.

A configuration file comes with the code that is checked, so it is read as hostile input: capped
in size, never executed, and whatever is wrong with it becomes a `ConfigError` with a sentence.
"""

# No postponed annotations here: named tuples would compile each one at start-up.

import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from torchlint.finding import Tier

NEWEST_TORCH: Final = (2, 13)
MAX_BYTES: Final = 1 << 20
"""A configuration or requirements file larger than this is not read."""
_MOST_DOTS: Final = 2_000
"""Dots in one line of TOML, or as many that take as long in several: the time to read a name grows
with the square of its parts."""

# fmt: off
DEFAULT_EXCLUDE: Final = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
    ".pants.d", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules",
    "site-packages", "venv",
)
# fmt: on

LISTED: Final = "; `torchlint rule` lists all"
"""Ends a sentence about an unknown rule that resembles no known one."""
_EXACT: Final = 1_000
_LONGEST_SHOWN: Final = 200


class ConfigError(Exception):
    """A setting that cannot be used; `path` is its file, if any."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Selection(NamedTuple):
    """Which rules are on for one file.

    Entries are codes (`TL201`), families as prefixes (`TL2`), names (`item-in-step-loop`) or
    `ALL`. The more specific one wins between `select` and `ignore`, and `ignore` wins a tie; the
    rules in `off` are off whatever `select` says. With `require_reason`, a comment that
    suppresses a rule has to say why. `hints` and `pedantic` say whether such findings are asked
    for; those of rules that `select` names always are.
    """

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    require_reason: bool = False
    hints: bool = True
    pedantic: bool = True

    def enabled(self, code: str, name: str) -> bool:
        if _closeness(self.off, code, name) >= 0:
            return False
        return _closeness(self.select, code, name) > _closeness(self.ignore, code, name)

    def asks_for(self, tier: Tier, code: str, name: str) -> bool:
        """Whether findings of a rule and of a tier are asked for."""
        asked = {Tier.HINT: self.hints, Tier.PEDANTIC: self.pedantic}.get(tier, True)
        return asked or self.names_exactly(code, name)

    def names_exactly(self, code: str, name: str) -> bool:
        """Whether `select` asks for this rule by its own code or name."""
        return code in self.select or name in self.select


def _closeness(entries: tuple[str, ...], code: str, name: str) -> int:
    best = -1
    for entry in entries:
        if entry in (code, name):
            return _EXACT
        if entry == "ALL":
            best = max(best, 0)
        elif code.startswith(entry):
            best = max(best, len(entry))
    return best


class Settings(NamedTuple):
    """What one configuration file says. Globs are relative to `root`."""

    root: str
    source: str | None = None
    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    target_torch: tuple[int, int] | None = None
    baseline: str | None = None
    """The absolute path of the file with the known findings."""
    require_reason: bool = False

    @property
    def selectors(self) -> tuple[str, ...]:
        """Every code, prefix or name that this configuration mentions."""
        ignored = (entry for _, entries in self.per_file_ignores for entry in entries)
        return (*self.select, *self.ignore, *ignored)


def tool_table(data: Mapping[str, object], path: str) -> Mapping[str, object] | None:
    """`[tool.torchlint]` of a parsed TOML file, or None."""
    tool = data.get("tool")
    table = tool.get("torchlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError("`tool.torchlint` is a table; write `[tool.torchlint]`.", path)
    if table is None and isinstance(data.get("torchlint"), dict):
        raise ConfigError("`[torchlint]` means nothing here; write `[tool.torchlint]`.", path)
    return table


def read_capped(path: str, most: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of at most `most` bytes.

    Raises:
        ConfigError: it is missing, unreadable, not a regular file, or too large.
    """
    try:
        with open(path, "rb", opener=_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError("This is not a regular file; name another.", path)
            data = file.read(most + 1)
    except OSError as error:
        raise ConfigError(_why_unreadable(error), path) from None
    if len(data) > most:
        raise ConfigError(f"This file is over {most >> 20} MiB, too large to read.", path)
    return data


def _why_unreadable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "There is no such file; check the name."
    action = "name a file" if isinstance(error, IsADirectoryError) else "check its permissions"
    return f"Cannot be read: {error.strerror or error}; {action}."


def _at_once(path: str, flags: int) -> int:
    # Opening a FIFO must not wait for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_toml(path: str) -> dict[str, object]:
    """A TOML file as plain values.

    Raises:
        ConfigError: it cannot be read or is not TOML.
    """
    data = read_capped(path)
    if sum(line.count(b".") ** 2 for line in data.split(b"\n")) > _MOST_DOTS**2:
        raise ConfigError("Its lines have too many dots to be read; break the longest.", path)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        message = f"This is not valid TOML: {shortened(str(error))}; fix it."
        raise ConfigError(message, path) from None


def parse_torch(text: str) -> tuple[int, int] | None:
    """`(2, 1)` from "2.1" or "2.1.2", or None."""
    match = re.fullmatch(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,3})?", text.strip())
    return None if match is None else (int(match[1]), int(match[2]))


def normalised(entries: Iterable[str]) -> tuple[str, ...]:
    """Codes in capitals, names in lower case, each once, without blanks and empty entries."""
    stripped = (entry.strip() for entry in entries)
    named = (
        entry.upper() if re.fullmatch(r"[A-Za-z]+[0-9]*", entry) else entry.lower()
        for entry in stripped
        if entry
    )
    return tuple(dict.fromkeys(named))


def unknown_selector(entries: Iterable[str], known: Mapping[str, str]) -> str | None:
    """A sentence about the first entry that selects no rule, or None.

    Args:
        known: the name of every rule by its code.
    """
    for entry in entries:
        if entry == "ALL" or entry in known or entry in known.values():
            continue
        letters = entry.rstrip("0123456789")
        if letters.isalpha() and any(
            code.startswith(entry) and code.rstrip("0123456789") == letters for code in known
        ):
            continue
        hint = nearest(entry, (*known, *known.values()), LISTED)
        return f"Unknown rule `{shortened(entry)}`{hint}."
    return None


def shortened(text: str) -> str:
    """The text, cut to what fits in a sentence."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def nearest(word: str, words: Iterable[str], otherwise: str = "") -> str:
    """Ends a sentence about an unknown word with the known word that is most like it.

    Args:
        otherwise: what to return if none is.
    """
    import difflib

    known = list(words)
    close = difflib.get_close_matches(word[:100], known, n=1)
    close = close or [each for each in known if word and word[:100].lower() in each.lower()]
    return f"; the nearest known one is `{close[0]}`" if close else otherwise
