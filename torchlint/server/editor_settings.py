"""The settings of an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from torchlint.config.settings import normalised, parse_torch
from torchlint.engine.targets import Wishes
from torchlint.report.terminal.safe_text import visible
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

_LISTS: Final = ("select", "ignore")
_SWITCHES: Final = ("enable", "hints", "pedantic")
_KEYS: Final = (*_LISTS, *_SWITCHES, "targetTorch")


class ClientSettings(NamedTuple):
    """The settings of an editor; the defaults are those of `torchlint check`."""

    enable: bool = True
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    hints: bool = False
    pedantic: bool = False
    target_torch: tuple[int, int] | None = None

    def wishes(self, given: Wishes) -> Wishes:
        """These settings over what the command line of the server says."""
        return Wishes(
            select=self.select or None,
            ignore=self.ignore,
            target_torch=self.target_torch,
            config=given.config,
            isolated=given.isolated,
        )

    @property
    def wanted(self) -> Wanted:
        return Wanted(hints=self.hints, pedantic=self.pedantic)


def section(sent: object) -> Mapping[str, object] | None:
    """The settings of torchlint in what a client sent: they alone, or under their name."""
    if not isinstance(sent, dict):
        return None
    inner = sent.get("torchlint", sent.get("settings"))
    if isinstance(inner, dict):
        return section(inner) or inner
    return sent if any(key in sent for key in _KEYS) else None


def read(
    sent: Mapping[str, object], base: ClientSettings
) -> tuple[ClientSettings, tuple[str, ...]]:
    """The settings after a change, and a sentence for each that cannot be used.

    Args:
        base: has the values of the others.
    """
    values: dict[str, Any] = {}
    wrong: list[str] = []
    for key in _SWITCHES:
        value = sent.get(key)
        if isinstance(value, bool):
            values[key] = value
        elif value is not None:
            wrong.append(f"The setting torchlint.{key} must be true or false.")
    for key in _LISTS:
        value = sent.get(key)
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            values[key] = normalised(value)
        elif value is not None:
            wrong.append(f'The setting torchlint.{key} must be a list, such as ["TL201"].')
    torch = sent.get("targetTorch")
    if torch == "":
        values["target_torch"] = None
    elif torch is not None:
        version = parse_torch(torch) if isinstance(torch, str) else None
        if version is None:
            shown = visible(str(torch)[:50])
            wrong.append(f'torchlint.targetTorch is "{shown}"; write a version such as "2.1".')
        else:
            values["target_torch"] = version
    return base._replace(**values), tuple(wrong)
