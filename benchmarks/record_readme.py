"""Writes what README.md shows of torchlint: a real run of its first command, and the rules.

Usage: record_readme.py [--check]    --check writes nothing and exits with 1 if README.md is stale
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from torchlint.ruleapi.registry import all_rules

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
_COMMAND = re.compile(r"^torchlint check .+$", re.MULTILINE)


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


def rules_table() -> str:
    """The rules, one row each, with a link to the file that explains and finds the pattern."""
    rows = ["| code | name | what it reports | fix, at best |", "|---|---|---|---|"]
    for code, rule in all_rules().items():
        file = f"rules/{rule.family}/{rule.name.replace('-', '_')}.py"
        fix = rule.fix.value if rule.fix else "none"
        rows.append(f"| {code} | [{rule.name}]({file}) | {rule.summary} | {fix} |")
    return "\n".join(rows) + "\n"


def recorded(readme: str) -> str:
    """The README with its recorded parts made anew."""
    command = _COMMAND.search(readme)
    if command is None:
        sys.exit("README.md has no `torchlint check` command to record.")
    parts = {"output": f"```text\n{run(command[0])}```\n", "rules": rules_table()}
    for name, text in parts.items():
        place = re.compile(rf"(<!-- recorded: {name} [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
        readme, count = place.subn(lambda match, text=text: match[1] + text + match[2], readme)
        if count != 1:
            sys.exit(f"README.md needs one `<!-- recorded: {name} -->` part, has {count}.")
    return readme


def main() -> int:
    """Records, or with --check compares."""
    before = README.read_text(encoding="utf-8")
    after = recorded(before)
    if sys.argv[1:] == ["--check"]:
        if after != before:
            print("README.md is stale; run `python benchmarks/record_readme.py`.")
        return int(after != before)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
