"""Writes what README.md shows of a run of its first command, and the table of rules/README.md.

Usage: record_readme.py [--check]    --check writes nothing and exits with 1 if a page is stale
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from torchlint.report.rules import fixes
from torchlint.ruleapi.registry import all_rules

ROOT = Path(__file__).resolve().parents[1]
SHOWN = "TL201"
_COMMAND = re.compile(r"(?<=/)torchlint check .+$", re.MULTILINE)


def run(command: str) -> str:
    """What a torchlint command of the README prints when its output is not a terminal."""
    words = shlex.split(command)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *words],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 1:
        sys.exit(f"{command}: expected findings, got exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def excerpt(output: str) -> str:
    """One finding of a report and its closing sentence; dots replace the others."""
    *findings, sentence = output.strip().split("\n\n")
    (shown,) = (finding for finding in findings if f" {SHOWN} " in finding.partition("\n")[0])
    return f"```text\n...\n{shown}\n...\n{sentence}\n```\n"


def output_of_readme(page: str) -> str:
    """What the README shows of the run of its first command."""
    command = _COMMAND.search(page)
    if command is None:
        sys.exit("README.md has no `torchlint check` command to record.")
    return excerpt(run(command[0]))


def rules_table() -> str:
    """The rules, one row each, with a link to the file that explains and finds the pattern."""
    rows = ["| code | name | what it reports | effect | fix |", "|---|---|---|---|---|"]
    for code, rule in all_rules().items():
        file = Path(rule.path).relative_to(ROOT / "rules").as_posix()
        fix = fixes(rule)
        rows.append(
            f"| {code} | [{rule.name}]({file}) | {rule.summary} | {rule.effect.value} | {fix} |"
        )
    return "\n".join(rows) + "\n"


def recorded(page: str, part: str, text: str) -> str:
    """The page with one of its recorded parts made again."""
    place = re.compile(rf"(<!-- recorded: {part} [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
    page, count = place.subn(lambda match: match[1] + text + match[2], page)
    if count != 1:
        sys.exit(f"A page needs one `<!-- recorded: {part} -->` part, has {count}.")
    return page


def main() -> int:
    """Records, or with --check compares."""
    stale = []
    for name, part in (("README.md", "output"), ("rules/README.md", "rules")):
        before = (ROOT / name).read_text(encoding="utf-8")
        text = output_of_readme(before) if part == "output" else rules_table()
        after = recorded(before, part, text)
        if after != before:
            stale.append(name)
            if sys.argv[1:] != ["--check"]:
                (ROOT / name).write_text(after, encoding="utf-8")
    if sys.argv[1:] == ["--check"] and stale:
        print(f"Stale: {', '.join(stale)}; run `python benchmarks/record_readme.py`.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
