"""A profile that an earlier run wrote as JSON.

Anybody may have written the file, so it is read as hostile input: capped in size, and whatever is
wrong with it becomes a `ConfigError` with one sentence. Imported by `check`, so it imports little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct, ValidationError, convert, field

from torchlint.config.settings import ConfigError, read_capped, shortened
from torchlint.experiment.earlier_json import parsed
from torchlint.profile.profile_result import SCHEMA
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from torchlint.experiment.machine import Environment

MAX_BYTES: Final = 16 << 20
_NO_PROFILE: Final = (
    "This is not a profile; write one with `torchlint profile train.py --json profile.json`."
)
_Code = Annotated[str, Meta(pattern=r"^T[LR][0-9]{3}\Z")]
_Text = Annotated[str, Meta(max_length=1_000, pattern=r"^[^\0]*\Z")]
_Row = Annotated[int, Meta(ge=0)]


class _Confirmed(Struct, frozen=True):
    code: _Code
    path: _Text
    row: _Row
    status: str


class EarlierFinding(Struct, frozen=True):
    """One finding; its `share` is at least 0 and below 1."""

    code: _Code
    path: _Text
    row: _Row
    share: Annotated[float, Meta(ge=0, lt=1)] | None = None
    values: object = None
    static: Annotated[tuple[_Confirmed, ...], Meta(max_length=2_000)] = ()

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
