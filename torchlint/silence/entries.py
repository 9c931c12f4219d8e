"""The entries of files in which people write which findings may stay: baselines and budgets.

Such a file comes with the code that is checked and people edit it, so it is read as hostile input:
whatever is wrong with it becomes a `ConfigError` that names the entry.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from torchlint.config.settings import ConfigError, nearest, shortened
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from torchlint.silence.known_findings import BaselineEntry, EntryKey

_LONGEST: Final = 1_000


@contextmanager
def in_file(path: str) -> Iterator[None]:
    """Adds the path of the file to an error about what it says."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(error.message, path) from None


def only_keys(table: Mapping[str, object], known: Sequence[str]) -> None:
    """Refuses other keys at the top of a file."""
    for key in table:
        if key not in known:
            raise ConfigError(f"Unknown key `{shortened(key)}`{nearest(key, known)}.")


def distinct(
    listed: Iterable[object], shape: str, entry: Callable[[Fields], BaselineEntry]
) -> tuple[BaselineEntry, ...]:
    """The entries of a list; no two may be about the same.

    Args:
        shape: as of `Fields`.
        entry: makes one of its values.
    """
    entries: dict[EntryKey, BaselineEntry] = {}
    for number, values in enumerate(listed, start=1):
        fields = Fields(values, number, shape)
        made = entry(fields)
        if made.key in entries:
            raise ConfigError(f"{fields.name} repeats another; keep one of the two.")
        entries[made.key] = made
    return tuple(entries.values())


class Fields:
    """The values of one entry; each is checked when it is asked for.

    Args:
        values: as the file has them.
        number: of the entry, from 1.
        shape: what an entry must be, as the end of a sentence that begins with `Entry 3`.
    """

    def __init__(self, values: object, number: int, shape: str) -> None:
        if not isinstance(values, dict):
            raise ConfigError(f"Entry {number}{shape}.")
        self.values: Mapping[str, Any] = values
        self._number = number

    @property
    def name(self) -> str:
        """`Entry 7 (TL201 in src/train.py)`."""
        code, path = self.values.get("rule", self.values.get("code")), self.values.get("path")
        if not isinstance(code, str) or not isinstance(path, str):
            return f"Entry {self._number}"
        return f"Entry {self._number} ({shortened(code)} in {shortened(path)})"

    def fault(self, said: str) -> ConfigError:
        return ConfigError(f"{self.name}: {said}")

    def only(self, known: Sequence[str]) -> None:
        """Refuses other keys."""
        for key in self.values:
            if key not in known:
                hint = nearest(key, known)
                raise ConfigError(f"{self.name} has an unknown key `{shortened(key)}`{hint}.")

    def text(self, key: str, missing: str | None = None, *, least: int = 0) -> str:
        """A text of some characters at `least`, blanks aside; `missing` if there is none."""
        value = self.values.get(key, missing)
        if value == missing and missing is not None:
            return missing
        if not isinstance(value, str) or len(value) > _LONGEST or len(value.strip()) < least:
            size = f"{least} to" if least else "at most"
            raise self.fault(f"`{key}` must be a text of {size} {_LONGEST:,} characters.")
        return value

    def note(self, key: str) -> str | None:
        """A text that may be missing."""
        return None if self.values.get(key) is None else self.text(key)

    def most(self) -> float | None:
        """How often a step may have what the entry is about; None: as often as it likes."""
        most: float | None = self.values.get("most")
        if most is None or (type(most) in (int, float) and 0 < most < 1e9):
            return most
        raise self.fault("`most` must be a number of reads a step, such as 2.")

    def day(self, key: str) -> date | None:
        """The last day of the entry, as a text or as a date of TOML; None: it has no end."""
        value = self.values.get(key)
        day = parse_date(value) if isinstance(value, str) else value
        if value is None or (isinstance(day, date) and not isinstance(day, datetime)):
            return day
        raise self.fault(f"`{key}` must be a date such as 2027-01-31.")
