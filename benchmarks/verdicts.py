"""The bounds that torchlint holds itself to, and the table that says whether it did."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """One bound: what was measured, and the most that is allowed."""

    what: str
    value: float
    bound: float
    unit: str

    @property
    def held(self) -> bool:
        return self.value <= self.bound

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "held": self.held}

    def row(self) -> str:
        places = 0 if self.unit == " MB" else 4 if self.bound < 0.1 else 2
        value = f"{self.value:.{places}f}{self.unit}"
        bound = f"{self.bound:.{places}f}{self.unit}"
        return f"| {self.what} | {value} | {bound} | {'yes' if self.held else 'NO'} |"


def judge(result: dict[str, Any]) -> list[Verdict]:
    """Every bound that this run has the numbers for."""
    cpu, peak = result["cpu_seconds"], result["peak_bytes"]
    check = cpu["check"]
    verdicts = []
    if "torchfix" in cpu:
        verdicts.append(Verdict("check / TorchFix", check / cpu["torchfix"], 1 / 40, "x"))
    short, long = result["inside_one_process"]["check"]
    verdicts += [
        Verdict(
            "check / parsing the files that mention torch",
            check / cpu["parse mention"],
            0.40,
            "x",
        ),
        Verdict(
            "check --hints / parsing the files that mention torch",
            cpu["check --hints"] / cpu["parse mention"],
            0.55,
            "x",
        ),
        Verdict("check of a script of 300 lines", cpu["check script"], 0.45, " s"),
        Verdict("peak memory of check", peak["check"] / MEGABYTE, 200, " MB"),
        Verdict(
            "check of 300 files without torch / `import click`",
            cpu["check plain"] / cpu["import click"],
            2,
            "x",
        ),
        Verdict(
            "a file ten times as long, whole process",
            cpu["check long"] / cpu["check short"],
            11,
            "x",
        ),
        Verdict("a file ten times as long, inside one process", long / short, 11, "x"),
    ]
    return verdicts


def table(result: dict[str, Any], verdicts: Sequence[Verdict]) -> str:
    """Markdown: the bounds first, then every median behind them."""
    return "\n".join(_lines(result, verdicts))


def _lines(result: dict[str, Any], verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "| bound | measured | at most | held |"
    yield "|---|---:|---:|---|"
    for verdict in verdicts:
        yield verdict.row()
    yield ""
    yield "| whole process | median CPU seconds | runs | peak MB |"
    yield "|---|---:|---:|---:|"
    for name, seconds in result["cpu_seconds"].items():
        peak = result["peak_bytes"][name] / MEGABYTE
        yield f"| {name} | {seconds:.3f} | {result['runs'][name]} | {peak:.0f} |"
    yield ""
    yield "| inside one process | short file, s | long file, s | ratio |"
    yield "|---|---:|---:|---:|"
    for name, (short, long) in result["inside_one_process"].items():
        yield f"| {name} | {short:.3f} | {long:.3f} | {long / short:.1f} |"
    yield ""
    named = (f"{name}: {value}" for name, value in result["versions"].items() if value)
    yield "; ".join(named)
