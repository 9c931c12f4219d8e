"""A profile that an earlier run wrote as JSON.

Anybody may have written the file, so it is read as hostile input: capped in size, and whatever is
wrong with it becomes a `ConfigError` with one sentence. Imported by `check`, so it imports little.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct, ValidationError, convert, field

from torchlint.config.settings import ConfigError, read_capped, shortened
from torchlint.experiment.earlier_json import digests, parsed
from torchlint.profile.profile_result import SCHEMA
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from torchlint.experiment.machine import Environment

MAX_BYTES: Final = 16 << 20
_NO_PROFILE: Final = (
    "This is not a profile; write one with `torchlint profile train.py --json profile.json`."
)
OF_WAITS: Final = frozenset(
    "TL201 TL202 TL204 TL205 TL206 TL208 TL209 TL213 TL215 TL217 TL220 TL221".split()
)
"""Rules of which a rehearsal sees, at a line that ran, whether it does what they say."""
_Code = Annotated[str, Meta(pattern=r"^T[LR][0-9]{3}\Z")]
_Text = Annotated[str, Meta(max_length=1_000, pattern=r"^[^\0]*\Z")]
_Row = Annotated[int, Meta(ge=0)]


class _Confirmed(Struct, frozen=True):
    code: _Code
    path: _Text
    row: _Row
    status: str


class _Place(Struct, frozen=True):
    path: _Text
    row: _Row


class EarlierFinding(Struct, frozen=True):
    """One finding; its `share` is at least 0 and below 1."""

    code: _Code
    path: _Text
    row: _Row
    name: _Text = ""
    fact: _Text = ""
    action: _Text = ""
    rules: Annotated[tuple[_Code, ...], Meta(max_length=100)] = ()
    share: Annotated[float, Meta(ge=0, lt=1)] | None = None
    values: object = None
    static: Annotated[tuple[_Confirmed, ...], Meta(max_length=2_000)] = ()
    made: _Place | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """Those of its reads."""
        return kinds_of(self.values)

    @property
    def confirmed(self) -> tuple[tuple[str, str, int], ...]:
        """Code, path and row of the findings of `check` that the run confirmed."""
        seen = (each for each in self.static if each.status == "confirmed")
        return tuple((each.code, each.path, each.row) for each in seen)


_Findings = Annotated[tuple[EarlierFinding, ...], Meta(max_length=2_000)]


class EarlierRehearsal(Struct, frozen=True):
    """What a rehearsal says of lines: which ran in a step, which asked the device for anything, and
    of which text, by its digest, that is true."""

    waits: Annotated[float, Meta(ge=0)]
    ran: dict[_Text, tuple[_Row, ...]]
    lines: tuple[_Place, ...]
    files: Annotated[dict[_Text, _Text], Meta(max_length=2_000)]


class _Timing(Struct, frozen=True):
    step_s: Annotated[float, Meta(gt=0, le=1e9)]
    noise: Annotated[float, Meta(ge=0, le=1)]


class _Machine(Struct, frozen=True):
    torch: _Text
    device: _Text
    processors: int
    gpu: dict[str, _Text] | None = None
    processor: _Text = ""
    processes: int = 1
    nodes: tuple[str, ...] = ()


class EarlierProfile(Struct, frozen=True):
    """What later runs ask of a profile: its findings, those of the census, and those that were too
    small to be shown."""

    findings: _Findings
    census: _Findings
    below: _Findings = ()
    timing: _Timing | None = None
    environment: _Machine | None = None
    written_on: str = field(name="date", default="")
    watched: tuple[_Code, ...] = ()
    rehearsal: EarlierRehearsal | None = None

    @property
    def date(self) -> str:
        """Empty if it says none."""
        return self.written_on if parse_date(self.written_on) else ""


def read(path: str) -> EarlierProfile:
    """The profile in a file.

    Raises:
        ConfigError: it cannot be read, is not a profile, or is one of another schema.
    """
    try:
        return decode(read_capped(path, MAX_BYTES))
    except ConfigError as error:
        raise ConfigError(error.message, path) from None


def decode(data: bytes) -> EarlierProfile:
    """The profile in some bytes.

    Raises:
        ConfigError: with a sentence on what is wrong.
    """
    values = parsed(data)
    if not isinstance(values, dict) or not {"schema", "findings", "census"} <= values.keys():
        raise ConfigError(_NO_PROFILE)
    if type(values["schema"]) is not int or values["schema"] != SCHEMA:
        raise ConfigError(
            f"The schema of this profile is not {SCHEMA}, which this torchlint reads; write it "
            "again with this torchlint."
        )
    try:
        return convert(values, EarlierProfile)
    except ValidationError as error:
        wrong = shortened(str(error))
        raise ConfigError(f"This profile is damaged: {wrong}; write it again.") from None


class SeenLines:
    """What a rehearsal says about findings of `check` in files that have not changed since.

    Args:
        seen: what the file has.
        made: where what is copied was made.

    Attributes:
        changed: the other files.
    """

    def __init__(self, seen: EarlierRehearsal, made: Iterable[_Place] = ()) -> None:
        self._ran = {os.path.realpath(path): set(rows) for path, rows in seen.ran.items()}
        self._asked = {(os.path.realpath(each.path), each.row) for each in (*seen.lines, *made)}
        now = digests(seen.files)
        self.changed = tuple(path for path, each in seen.files.items() if now.get(path) != each)
        real = {path: os.path.realpath(path) for path in seen.files}
        self._unchanged = {*real.values()} - {real[path] for path in self.changed}

    @classmethod
    def of(cls, profile: EarlierProfile) -> SeenLines | None:
        """That of a profile; None if it is of a real run."""
        found = (*profile.findings, *profile.census, *profile.below)
        made = [each.made for each in found if each.made is not None]
        return None if profile.rehearsal is None else cls(profile.rehearsal, made)

    def is_unchanged(self, path: str) -> bool:
        """Whether a file is as it was."""
        return os.path.realpath(path) in self._unchanged

    def contradicts(self, code: str, path: str, first: int, last: int) -> bool:
        """Whether these rows ran, and do not do what a finding of this rule says."""
        if code not in OF_WAITS or not self.is_unchanged(path):
            return False
        real, rows = os.path.realpath(path), range(first, max(first, last) + 1)
        ran = not self._ran.get(real, set()).isdisjoint(rows)
        return ran and not any((real, row) in self._asked for row in rows)


def machine_of(environment: Environment | _Machine | None) -> dict[str, str]:
    """What the time of a step depends on, in words, by what it is."""
    if environment is None:
        return {}
    gpu = environment.gpu
    return {
        "torch": environment.torch,
        "device": environment.device,
        "GPU": "none" if gpu is None else gpu.get("name", "unknown"),
        "processor": environment.processor,
        "processors": str(environment.processors),
        "processes": str(environment.processes),
        "nodes": str(len(environment.nodes) or 1),
    }


def kinds_of(values: object) -> frozenset[str]:
    """The kinds of read that a finding counts, by its values."""
    kinds = values.get("kinds") if isinstance(values, Mapping) else None
    return frozenset(map(str, kinds)) if isinstance(kinds, Mapping) else frozenset()
