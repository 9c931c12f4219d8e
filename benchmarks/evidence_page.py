"""The page that shows what was measured on one machine: a table and a plot of intervals."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

_COLORS = {"CONFIRMED": "#1b7f4b", "SLOWER": "#b3261e"}
_OTHER = "#5f6b7a"
_TIMES = "\N{MULTIPLICATION SIGN}"
_HEAD = (
    "| script | verdict | step, ms | ratio | 95 % interval | CPU time | numbers | A/A | pairs |",
    "|---|---|---|---:|---|---:|---|---|---:|",
)


def page(evidence: dict[str, Any]) -> str:
    """The page in Markdown; the plot is next to it."""
    machine = evidence["machine"]
    lines = [
        f"# What the fixes are worth on {machine}",
        "",
        _introduction(evidence),
        "",
        f"![Intervals of the ratio of step times, fix by fix]({machine}.svg)",
        "",
        *_HEAD,
        *(_row(script) for script in evidence["scripts"].values()),
        "",
        *_remarks(evidence),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _introduction(evidence: dict[str, Any]) -> str:
    environment = _environment(evidence)
    gpu = (environment.get("gpu") or {}).get("name")
    threads = environment["threads"]
    facts = [
        gpu or "no GPU",
        f"processors: {environment['processors']}",
        f"torch's threads per process: {'its default' if threads is None else threads}",
        f"torch {environment['torch']}",
        f"Python {environment['python']}",
        f"sandbox: {environment['sandbox']}",
    ]
    command = " ".join(["python benchmarks/evidence.py", *evidence["options"]])
    caution = "" if gpu else " Ratios on a CPU say nothing about a GPU."
    return (
        f"Measured with `{command}` on: {', '.join(facts)}. Each row is `torchlint verify` on "
        "`fixtures/<rule>/train.py`, a small script in which the pattern costs something, or a "
        "patch next to such a script; it does not say what the fix is worth in yours. The ratio is "
        "the step time before by that after; its interval covers the differences between pairs of "
        "processes in this session."
        f"{caution}"
    )


def _environment(evidence: dict[str, Any]) -> dict[str, Any]:
    documents = [script["document"] for script in evidence["scripts"].values()]
    return next(document["environment"] for document in documents if document)


def _row(script: dict[str, Any]) -> str:
    name = f"[{script['name']}](../../fixtures/{script['name']}/train.py)"
    total, aa = script["document"].get("total"), script["document"].get("aa")
    if not total:
        return f"| {name} | {_no_result(script)} |" + " |" * 7
    before_after = " → ".join(f"{each:.3g}" for each in total["ms"] or ())
    agreement = (total["numerics"] or {}).get("agreement", "")
    cells = (
        name,
        total["verdict"],
        before_after,
        _times(total["ratio"]),
        _interval(total["ci"]),
        _times(total["cpu_ratio"]),
        agreement,
        _interval(aa and aa["ci"]),
        str(total["pairs"] or ""),
    )
    return f"| {' | '.join(cells)} |"


def _no_result(script: dict[str, Any]) -> str:
    fixes = script["document"].get("fixes") or ()
    if fixes:
        return str(fixes[0]["verdict"])
    return "took too long" if script["status"] == "timeout" else f"exit code {script['exit']}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{_TIMES}{ratio:.3f}"


def _interval(ends: list[float] | None) -> str:
    return "" if not ends else f"{ends[0]:.3f} to {ends[1]:.3f}"


def _remarks(evidence: dict[str, Any]) -> Iterator[str]:
    """Why a verdict is what it is, where it says so."""
    for script in evidence["scripts"].values():
        total = script["document"].get("total") or {}
        numerics = total.get("numerics") or {}
        summary = script["document"].get("summary") if script["exit"] else ""
        reasons = [total.get("why"), numerics.get("why"), summary, script["said"]]
        said = list(dict.fromkeys(" ".join(each.split()) for each in reasons if each))
        if said:
            yield f"- {script['name']}: {'; '.join(said)}"


# the plot ----------------------------------------------------------------------------------


def plot(evidence: dict[str, Any]) -> str:
    """A forest plot as SVG: the interval of each fix, and that of the original with itself."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib.figure import Figure

    rows = [script for script in evidence["scripts"].values() if script["document"].get("total")]
    rows = [script for script in rows if script["document"]["total"]["ratio"]]
    with mpl.rc_context({"svg.hashsalt": "torchlint", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7.5, 1.2 + 0.42 * len(rows)), layout="constrained")
        axes = figure.subplots()
        _draw(axes, rows)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"


def _draw(axes: Axes, rows: list[dict[str, Any]]) -> None:
    margins = [script["document"]["plan"]["margin"] for script in rows]
    margin = max(margins, default=0.0)
    axes.axvspan(1 - margin, 1 + margin, color="#dfe3e8", label="margin", linewidth=0)
    axes.axvline(1, color="#9aa3ad", linewidth=0.8)
    for place, script in enumerate(rows):
        total, aa = script["document"]["total"], script["document"]["aa"]
        color = _COLORS.get(total["verdict"], _OTHER)
        _bar(axes, place, total, color, "o", 2.2)
        if aa:
            _bar(axes, place + 0.26, aa, "#9aa3ad", "|", 1.0)
        axes.annotate(
            f"{_times(total['ratio'])}  {total['verdict'].lower()}",
            (total["ci"][1], place),
            (7, 0),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=7,
        )
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.35)  # room for the last label
    axes.set_yticks(range(len(rows)), [script["name"] for script in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("step time before / after, with 95 % interval; grey: the original with itself")
    _label_ratios(axes)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def _bar(
    axes: Axes, place: float, measured: dict[str, Any], color: str, marker: str, width: float
) -> None:
    low, high = measured["ci"]
    axes.plot([low, high], [place, place], color=color, linewidth=width, solid_capstyle="butt")
    axes.plot([measured["ratio"]], [place], color=color, marker=marker, markersize=5)


def _label_ratios(axes: Axes) -> None:
    """Ticks at ratios that people read, as many as have room."""
    low, high = axes.get_xlim()
    spread = math.log(high / low)
    steps = (0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3) if spread < 0.7 else (0.5, 0.8, 1, 1.25, 1.5)
    wanted = [*steps, 2, 3, 4, 6, 8, 12, 16]
    shown = [each for each in wanted if low <= each <= high]
    axes.set_xticks(shown, [f"{_TIMES}{each:g}" for each in shown])
    axes.set_xticks([], minor=True)
