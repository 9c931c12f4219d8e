"""Says of each rule how large it is, how it is tested, how much it finds, how often it is right.

    python benchmarks/rule_report.py
    python benchmarks/rule_report.py --sources CORPUS --sources WHEELS
    python benchmarks/rule_report.py --sources CORPUS --scorer score.py --map map.json
    python benchmarks/rule_report.py --guards TL208 TL405

`--sources` counts findings per 100,000 lines of Python, by tier. The first of them may be a
labelled corpus: `--scorer` and `--map` are then the scorer and the map of CONTRIBUTING.md, and
precision and recall are those of the label. `--guards` takes out each guard of the named rules, or
of all of them; that takes minutes. `--json FILE` writes everything.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from remove_guards import files_of  # noqa: E402

from tests.case_files import read_cases  # noqa: E402
from torchlint.report.rules import fixes  # noqa: E402
from torchlint.ruleapi.registry import all_rules  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.ruleapi.rule_definition import Rule

PER = 100_000


@dataclass
class Row:
    """What is known of one rule; what was not asked for stays empty."""

    code: str
    name: str
    tier: str
    fix: str
    declared: bool
    lines: int
    """Lines of code of its file and of the files that only it imports, without page and blanks."""
    cases: int
    evidence: list[str]
    """Verdicts on the machines of `docs/evidence`."""
    found: dict[str, dict[str, int]] = field(default_factory=dict)
    score: dict[str, Any] = field(default_factory=dict)
    guards: str = ""


def code_lines(text: str) -> int:
    """The lines of a file that are neither blank, nor comments, nor its docstring."""
    tree = ast.parse(text)
    page = tree.body[0] if ast.get_docstring(tree) is not None else None
    lines = enumerate(text.splitlines(), 1)
    return sum(
        bool(line.strip())
        and not line.lstrip().startswith("#")
        and (page is None or row > (page.end_lineno or 0))
        for row, line in lines
    )


def lines_of(rule: Rule, importers: Counter[str]) -> int:
    """The code of a rule: of its own file, and its share of a file that several rules import."""
    return round(
        sum(
            code_lines((ROOT / path).read_text(encoding="utf-8")) / importers[path]
            for path in files_of(rule.code)
        )
    )


def evidence_of(name: str) -> list[str]:
    """The verdicts on a rule's script, by machine."""
    known = json.loads((ROOT / "torchlint/report/fix_evidence.json").read_text(encoding="utf-8"))
    return [f"{each['machine']}: {each['verdict']}" for each in known.get(name, ())]


def findings_in(folder: str, file: Path) -> list[dict[str, Any]]:
    """What torchlint finds in a folder, also written to a file."""
    options = ("--isolated", "--no-cache", "--hints", "--pedantic", "--output-format", "json")
    command = [sys.executable, "-m", "torchlint", "check", *options, "."]
    with file.open("w") as out:
        ran = subprocess.run(
            command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL, check=False
        )
    if ran.returncode not in (0, 1, 2):
        sys.exit(f"check failed in {folder}")
    return list(json.loads(file.read_text()))


def lines_in(folder: str) -> int:
    return sum(path.read_bytes().count(b"\n") for path in Path(folder).rglob("*.py"))


def scored(findings: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The figures of each label."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        options = ("--map", arguments.map, "--low", "hint", "--json", out.name)
        command = [sys.executable, arguments.scorer, str(findings), *options]
        subprocess.run(command, check=True, capture_output=True)
        return dict(json.loads(Path(out.name).read_text()))


def guards_of(code: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / "remove_guards.py"), code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return (ran.stdout.strip() or ran.stderr.strip()).rpartition("\n")[2]


def report(arguments: argparse.Namespace) -> list[Row]:
    rules = [rule for rule in all_rules().values() if not rule.about_comments]
    importers = Counter(path for rule in rules for path in files_of(rule.code))
    rows = [_row(rule, importers) for rule in rules]
    by_code = {row.code: row for row in rows}
    for number, folder in enumerate(arguments.sources):
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary) / "findings.json"
            found = findings_in(folder, file)
            lines = lines_in(folder)
            for row in rows:
                tiers = Counter(each["tier"] for each in found if each["code"] == row.code)
                row.found[folder] = {**tiers, "lines": lines}
            if number == 0 and arguments.scorer:
                _add_scores(by_code, scored(file, arguments), arguments.map)
    wanted = by_code if arguments.guards == [] else arguments.guards or ()
    for code in wanted:
        by_code[code].guards = guards_of(code)
        print(by_code[code].guards, file=sys.stderr, flush=True)
    return rows


def _row(rule: Rule, importers: Counter[str]) -> Row:
    name = rule.name.replace("-", "_")
    return Row(
        code=rule.code,
        name=rule.name,
        tier=rule.tier.value,
        fix=fixes(rule),
        declared=bool(rule.finds) and not rule.checks and len(rule.module_checks) == 1,
        lines=lines_of(rule, importers),
        cases=len(read_cases(ROOT / f"tests/rules/cases/{name}.py")),
        evidence=evidence_of(rule.name),
    )


def _add_scores(by_code: dict[str, Row], scores: dict[str, Any], map_file: str) -> None:
    labels = json.loads(Path(map_file).read_text())
    for code, keys in labels.items():
        for key in [keys] if isinstance(keys, str) else keys or ():
            if code in by_code and key in scores:
                by_code[code].score[key] = scores[key]


def table(rows: Iterable[Row]) -> str:
    head = f"{'code':6} {'name':34} {'tier':8} {'fix':7} {'kind':9} {'lines':>5} {'cases':>5}"
    lines = [
        f"{head}  per {PER:,} lines: default, hint, pedantic · right, found · guards · evidence"
    ]
    for row in rows:
        kind = "declared" if row.declared else "predicate"
        text = f"{row.code:6} {row.name:34} {row.tier:8} {row.fix:7} {kind:9}"
        text += f" {row.lines:5} {row.cases:5}"
        for found in row.found.values():
            per = [f"{found.get(tier, 0) / found['lines'] * PER:.1f}" for tier in TIERS]
            text += f"  {', '.join(per)}"
        for key, score in row.score.items():
            text += f"  {key}: {_share(score['P'])} right, {_share(score['R'])} found"
        lines.append("  ".join(filter(None, (text, row.guards, "; ".join(row.evidence)))))
    return "\n".join(lines)


TIERS = ("default", "hint", "pedantic")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sources", action="append", default=[], help="a folder to count findings in"
    )
    parser.add_argument("--scorer", help="the scorer of a labelled corpus, the first of --sources")
    parser.add_argument("--map", help="codes to labels, for the scorer")
    parser.add_argument("--guards", nargs="*", help="take out the guards of these rules, or of all")
    parser.add_argument("--json", help="write everything to this file")
    arguments = parser.parse_args()
    if arguments.scorer and not (arguments.map and arguments.sources):
        parser.error("--scorer needs --map and --sources")
    rows = report(arguments)
    print(table(rows))
    declared = sum(row.declared for row in rows)
    median = statistics.median(row.lines for row in rows)
    print(
        f"{len(rows)} rules about code, {declared} declared; median of {median:.0f} lines of code"
    )
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
