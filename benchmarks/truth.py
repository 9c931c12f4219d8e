"""Holds `check` against what rehearsals of public scripts have seen, line by line.

    python benchmarks/truth.py CHECKOUTS --out FOLDER [--only WORD] [--markdown FILE]

CHECKOUTS has one clone for each repository of `truth/scripts.toml`, named `owner+name`. Each script
runs unchanged, at the commit of its entry, with data that the entry's recipe makes, and with
`truth/stand_ins` on the path, which stands in for data sets that would be downloaded. Results stay
in FOLDER, and are not made again.

A line that a rehearsal saw wait, or copy, and that `check` does not name is missed; a finding at a
line that ran in the counted steps and did not do what it says is wrong; lines that did not run
count neither way.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SCRIPTS = HERE / "truth" / "scripts.toml"
STAND_INS = HERE / "truth" / "stand_ins"
LONGEST_S = 300
FEWEST_STEPS = 3
SEEN = {
    "TR201": "the host reads",
    "TR202": "a batch is copied, and the host waits",
    "TR203": "made on the host, and copied",
}


@dataclass(frozen=True)
class Script:
    """One entry of the list.

    Args:
        folder: where it runs, in the checkout.
        recipe: Python that makes the files that it reads, run there.
        path: folders of the checkout that are on the path as well.
        env: variables of its environment.
        key: tells two entries of one script apart.
        module: `script` is one.
    """

    repo: str
    commit: str
    folder: str
    script: str
    data: str
    args: list[str] = field(default_factory=list)
    recipe: str = ""
    packages: list[str] = field(default_factory=list)
    style: str = "plain"
    nproc: int = 1
    path: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    key: str = ""
    module: bool = False

    @property
    def name(self) -> str:
        words = f"{self.repo}/{self.folder}/{self.script}/{self.key}".replace("/./", "/")
        return re.sub(r"[^\w.-]+", "+", words).rstrip("+")


@dataclass
class Agreement:
    """What `check` says about lines that a rehearsal has seen.

    Args:
        lines: by what was seen: lines, and those named by default, and with hints.
        waits: of a step, the same.
        missed: lines that nothing names, by how the read happens.
        static: findings of `check` by rule and by what became of them.
    """

    lines: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    waits: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    static: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, found: dict[str, Any]) -> None:
        """One rehearsal."""
        for each in found["findings"]:
            if each["code"] not in SEEN or not each["path"]:
                continue
            how = named(each)
            counted = per_step(each)
            for what in how:
                self.lines[each["code"]][what] += 1
                if each["code"] == "TR201":
                    self.waits[what] += round(1000 * counted)
            if "hints" not in how:
                self.missed[mechanism(each)] += 1
        for each in found["static"]:
            tier = "default" if each["tier"] == "default" else "hint"
            self.static[each["code"]][f"{each['status']}, {tier}"] += 1


def named(finding: dict[str, Any]) -> list[str]:
    """`all`, and whether `check` names the line by default, and with hints."""
    tiers = {each["tier"] for each in finding["static"]}
    return ["all", *(["default"] if "default" in tiers else []), *(["hints"] if tiers else [])]


def per_step(finding: dict[str, Any]) -> float:
    kinds = finding["values"].get("kinds") or {}
    return float(sum(kinds.values()))


def mechanism(finding: dict[str, Any]) -> str:
    """How a line that `check` does not name came to wait or to copy."""
    library = re.search(r"\) in (\w+)[\w.<>]*", finding["fact"])
    if library:
        return f"{finding['code']} inside {library[1]}"
    if finding["code"] == "TR202":
        return "TR202 a batch that no rule follows"
    kinds = finding["values"].get("kinds") or {}
    what = ", ".join(sorted(kinds)) or finding["fact"].split(" of ")[-1].partition(" (")[0]
    return f"{finding['code']} {what}"


def rehearse(script: Script, checkouts: Path, out: Path, python: str) -> dict[str, Any] | str:
    """What the rehearsal found, or why there is none."""
    clone = checkouts / script.repo.replace("/", "+")
    kept = out / f"{script.name}.json"
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    if not clone.is_dir():
        return "there is no clone"
    git = ["git", "-C", str(clone), "checkout", "--quiet", script.commit]
    if subprocess.run(git, capture_output=True, check=False).returncode:
        return f"the clone has no {script.commit[:12]}"
    folder = clone / script.folder
    if script.recipe:
        subprocess.run([python, "-c", script.recipe], cwd=folder, check=True)
    program = ["-m", script.script] if script.module else [script.script]
    command = [python, "-W", "ignore", "-m", "torchlint", "rehearse", *program, "--yes"]
    command += ["--isolated", "--json", str(kept), "--budget-time", f"{LONGEST_S}s"]
    command += ["--nproc-per-node", str(script.nproc)] if script.nproc > 1 else []
    command += ["--", *script.args]
    path = [str(STAND_INS), str(ROOT), *(str(clone / each) for each in script.path)]
    environment = {**os.environ, **script.env, "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    (out / f"{script.name}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode:
        kept.unlink(missing_ok=True)
        lines = done.stdout.splitlines()
        return lines[1] if len(lines) > 1 else done.stderr.strip().rpartition("\n")[2]
    return json.loads(kept.read_text(encoding="utf-8"))


def share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "-"


def report(agreement: Agreement, ran: list[tuple[Script, dict[str, Any]]]) -> str:
    """The tables, in Markdown."""
    lines = [
        f"{len(ran)} scripts of {len({script.repo for script, _ in ran})} repositories.",
        "",
        "| seen in a step | lines | named by default | with hints |",
        "|---|---:|---:|---:|",
    ]
    for code, what in SEEN.items():
        counts = agreement.lines[code]
        lines.append(
            f"| {code} {what} | {counts['all']} | {share(counts['default'], counts['all'])} | "
            f"{share(counts['hints'], counts['all'])} |"
        )
    waits = agreement.waits
    lines += [
        f"| waits per step at lines of TR201 | {waits['all'] / 1000:.0f} | "
        f"{share_of_waits(waits, 'default')} | {share_of_waits(waits, 'hints')} |",
        "",
        "| rule | confirmed | contradicted | ran, a rehearsal cannot tell | not in a step | "
        "precision on executed lines |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    total: Counter[str] = Counter()
    for code, counts in sorted(agreement.static.items()):
        lines.append(row(code, counts))
        total.update(counts)
    lines.append(row("all", total))
    by_default = Counter({k: v for k, v in total.items() if k.endswith("default")})
    lines.append(row("all, by default", by_default))
    lines += ["", "| lines that no rule names, by how they wait or copy | lines |", "|---|---:|"]
    lines += [f"| {what} | {count} |" for what, count in agreement.missed.most_common()]
    lines += [
        "",
        "| script | commit | data | steps | waits | before backward | lines missed |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for script, found in ran:
        seen = found["rehearsal"]
        missed = sum(
            each["code"] in SEEN and not each["static"] and bool(each["path"])
            for each in found["findings"]
        )
        place = f"{script.repo} {script.folder}/{script.script}".replace(" ./", " ")
        lines.append(
            f"| {place} | {script.commit[:12]} | {script.data} | {seen['steps']} | "
            f"{seen['waits']:.3g} | {seen['before_backward']:.3g} | {missed} |"
        )
    return "\n".join(lines) + "\n"


def share_of_waits(waits: Counter[str], what: str) -> str:
    return f"{waits[what] / waits['all']:.2f}" if waits["all"] else "-"


def row(code: str, counts: Counter[str]) -> str:
    """Of a rule: what became of its findings."""

    def of(status: str) -> int:
        return sum(count for key, count in counts.items() if key.startswith(f"{status}, "))

    told = [of(status) for status in ("confirmed", "contradicted", "ran", "not in a step")]
    precision = share(told[0], told[0] + told[1])
    return f"| {code} | {' | '.join(map(str, told))} | {precision} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--python", default=sys.executable, help="has what the scripts need")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    entries = tomllib.loads(SCRIPTS.read_text(encoding="utf-8"))["script"]
    scripts = [Script(**each) for each in entries]
    agreement, ran = Agreement(), []
    for script in scripts:
        if given.only not in script.name:
            continue
        found = rehearse(script, given.checkouts, given.out.resolve(), given.python)
        if isinstance(found, str):
            print(f"{script.name}: not rehearsed: {found}")
        elif found["rehearsal"] is None or found["rehearsal"]["steps"] < FEWEST_STEPS:
            print(f"{script.name}: too few steps")
        else:
            agreement.add(found)
            ran.append((script, found))
            print(f"{script.name}: {len(found['findings'])} findings", flush=True)
    text = report(agreement, ran)
    print(text)
    if given.markdown is not None:
        given.markdown.write_text(text, encoding="utf-8")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
