"""A profile that an earlier run wrote as JSON.

Anybody may have written the file, so it is read as hostile input: capped in size, and whatever is
wrong with it becomes a `ConfigError` with one sentence. Imported by `check`, so it imports little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import ConfigError, read_capped, shortened
from torchlint.profile.result import SCHEMA
from torchlint.runtime.messages import MalformedError, Message
from torchlint.suppressions.until import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 16 << 20
_MOST: Final = 2_000
"""Findings of one list."""
_LONGEST: Final = 1_000
_DIGITS: Final = 15
_CODE: Final = re.compile(r"T[LR]\d{3}", re.ASCII)
_NO_PROFILE: Final = (
    "This is no profile; write one with `torchlint profile train.py --json profile.json`."
)


@dataclass(frozen=True, slots=True)
class WrittenFinding:
    """One finding.

    `share` is at least 0 and below 1; `kinds` are those of its reads; `confirmed` are code, path
    and row of the findings of `check` that the run confirmed.
    """

    code: str
    path: str
    row: int
    share: float | None
    kinds: frozenset[str]
    confirmed: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What later runs ask of a profile.

    `findings` are those of the census, too, and `below` those that were too small to be shown.
    `machine` says in words what a step time depends on, by what it is.
    """

    date: str
    step_s: float | None
    noise: float | None
    findings: tuple[WrittenFinding, ...]
    below: tuple[WrittenFinding, ...]
    watched: tuple[str, ...]
    machine: Mapping[str, str] = field(default_factory=dict)


def read(path: str) -> Written:
    """The profile in a file.

    Raises:
        ConfigError: it cannot be read, is no profile, or is one of another schema.
    """
    data = read_capped(path, MAX_BYTES)
    try:
        return decode(data)
    except ConfigError as error:
        raise ConfigError(error.message, path) from None


def decode(data: bytes) -> Written:
    """The profile in some bytes.

    Raises:
        ConfigError: with a sentence on what is wrong.
    """
    try:
        found = json.loads(data.decode("utf-8-sig"), parse_int=_number)
    except (ValueError, RecursionError):
        raise ConfigError(_NO_PROFILE) from None
    if not isinstance(found, dict) or not {"schema", "findings", "census"} <= found.keys():
        raise ConfigError(_NO_PROFILE)
    if type(found["schema"]) is not int or found["schema"] != SCHEMA:
        raise ConfigError(
            f"The schema of this profile is not {SCHEMA}, which this torchlint reads; write it "
            "again with this torchlint."
        )
    try:
        return _profile(Message("profile", found))
    except MalformedError as error:
        wrong = shortened(str(error))
        raise ConfigError(f"This profile is damaged: {wrong}; write it again.") from None


def _profile(found: Message) -> Written:
    timing = found.part("timing")
    step_s = noise = None
    if timing is not None:
        step_s, noise = timing.number("step_s"), timing.number("noise")
        if not (step_s > 0 and 0 <= noise <= 1):
            raise MalformedError(f"a step of {step_s} s with a noise of {noise}")
    date = found.text("date", "")
    return Written(
        date=date if parse_date(date) else "",
        step_s=step_s,
        noise=noise,
        findings=(*_findings(found, "findings"), *_findings(found, "census")),
        below=tuple(_findings(found, "below")),
        watched=tuple(code for code in found.texts("watched") if _CODE.fullmatch(code)),
        machine=machine_of(found.part("environment")),
    )


def machine_of(environment: Message | None) -> dict[str, str]:
    """What the time of a step depends on."""
    if environment is None:
        return {}
    gpu = environment.part("gpu")
    name = "none" if gpu is None else gpu.text("name", "unknown")
    found = {
        "torch": environment.text("torch"),
        "device": environment.text("device"),
        "GPU": name,
        "processor": environment.text("processor", ""),
        "processors": str(environment.integer("processors")),
        "processes": str(environment.integer("processes", 1)),
        "nodes": str(len(environment.texts("nodes")) or 1),
    }
    return {name: _short(value, name) for name, value in found.items()}


def _findings(found: Message, key: str) -> Iterator[WrittenFinding]:
    for each in _parts(found, key):
        share = each.number_or_none("share")
        if share is not None and not 0 <= share < 1:
            raise MalformedError(f"{each.type}: share is {share}, not a part of a step")
        confirmed = (
            _place(other) for other in _parts(each, "static") if other.text("status") == "confirmed"
        )
        code, path, row = _place(each)
        kinds = kinds_of(each.values.get("values"))
        yield WrittenFinding(code, path, row, share, kinds, tuple(confirmed))


def kinds_of(values: object) -> frozenset[str]:
    """The kinds of read that a finding counts, by its values."""
    kinds = values.get("kinds") if isinstance(values, Mapping) else None
    return frozenset(map(str, kinds)) if isinstance(kinds, Mapping) else frozenset()


def _place(found: Message) -> tuple[str, str, int]:
    code, row = found.text("code"), found.integer("row")
    if not _CODE.fullmatch(code) or row < 0:
        raise MalformedError(f"{found.type}: {code[:60]!r} in row {row}")
    return code, _short(found.text("path"), "path"), row


def _parts(found: Message, key: str) -> Iterator[Message]:
    """The objects in a list."""
    listed = found.values.get(key, [])
    if not isinstance(listed, list) or len(listed) > _MOST:
        raise MalformedError(f"{found.type}: {key} is no list of at most {_MOST:,} findings")
    for each in listed:
        if not isinstance(each, dict):
            raise MalformedError(f"{found.type}: {key} holds what is no object")
        yield Message(f"{found.type}.{key}", each)


def _short(text: str, name: str) -> str:
    if len(text) > _LONGEST or "\0" in text:
        raise MalformedError(f"{name} is not a text of at most {_LONGEST:,} characters")
    return text


def _number(text: str) -> int:
    # In older versions of Python the time to read a number grows with the square of its digits.
    return int(text) if len(text) <= _DIGITS else -1
