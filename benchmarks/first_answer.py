"""When `profile` says something of ten public scripts, and when it ends.

    python benchmarks/first_answer.py CHECKOUTS [--python PYTHON] [--quick] [--tree ANOTHER]

CHECKOUTS is that of `truth.py`, whose list has the scripts, and the recipes of their data. Printed
for each script: seconds until the first look was over and what a step consists of was told, until
the first finding, and until the end; with `--tree`, a checkout of an earlier torchlint, until its
end as well. One line of JSON each.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from truth import ROOT, SCRIPTS, STAND_INS, Script, tomllib

TEN = {
    "Diego999/pyGAT": (),
    "HobbitLong/SupContrast": (),
    "davda54/sam": (),
    "eriklindernoren/PyTorch-GAN": (),
    "karpathy/makemore": ("--device", "cpu"),
    "karpathy/nanoGPT": ("--device=cpu", "--compile=False"),
    "locuslab/TCN": ("--cuda",),  # which turns it off
    "milesial/Pytorch-UNet": (),
    "pmixer/SASRec.pytorch": ("--device", "cpu"),
    "vwxyzjn/cleanrl": (),
}
"""Repositories with a script that trains on a CPU, by these arguments behind its own."""
_TOLD = re.compile(r"^\[ *(\d+) s\] (limit: |[^ ]+:\d+: TR|TR)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--python", default=sys.executable, help="has what the scripts need")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--only", default=",".join(TEN), metavar="REPOSITORIES")
    given = parser.parse_args()
    entries = [Script(**each) for each in tomllib.loads(SCRIPTS.read_text("utf-8"))["script"]]
    for repository in given.only.split(","):
        script = next(each for each in entries if each.repo == repository)
        script = replace(script, args=[*script.args, *TEN[repository]])
        folder = prepared(script, given.checkouts, given.python)
        options = ["--quick"] if given.quick else []
        found = profiled(script, given.checkouts, folder, given.python, ROOT, options)
        if given.tree is not None:
            tree = given.tree.resolve()
            before = profiled(script, given.checkouts, folder, given.python, tree, [])
            found |= {"before_end_s": before["end_s"], "before_exit": before["exit"]}
        print(json.dumps({"script": script.name, **found}), flush=True)
    return 0


def prepared(script: Script, checkouts: Path, python: str) -> Path:
    """The folder in which the script runs, with its data."""
    clone = checkouts / script.repo.replace("/", "+")
    git = ["git", "-C", str(clone), "checkout", "--quiet", script.commit]
    subprocess.run(git, check=True)
    if script.recipe:
        subprocess.run([python, "-c", script.recipe], cwd=clone / script.folder, check=True)
    return clone / script.folder


def profiled(
    script: Script, checkouts: Path, folder: Path, python: str, tree: Path, options: list[str]
) -> dict[str, Any]:
    """Seconds until what was told, of a profile by the torchlint of a tree."""
    clone = checkouts / script.repo.replace("/", "+")
    program = ["-m", script.script] if script.module else [script.script]
    command = [python, "-W", "ignore", "-m", "torchlint", "profile", *program, "--yes"]
    command += ["--isolated", *options, "--", *script.args]
    path = [str(STAND_INS), str(tree), *(str(clone / each) for each in script.path)]
    environment = {**os.environ, **script.env, "PYTHONPATH": os.pathsep.join(path)}
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    end_s = time.monotonic() - begun
    told: dict[str, int] = {}
    for line in done.stderr.splitlines():
        match = _TOLD.match(line)
        if match is not None:
            what = "limit_s" if match[2].startswith("limit") else "first_finding_s"
            told.setdefault(what, int(match[1]))
    findings = re.findall(r"^ +\d+  \S+ +(TR\d+)", done.stdout, re.MULTILINE)
    return {**told, "end_s": round(end_s), "exit": done.returncode, "findings": findings}


if __name__ == "__main__":
    sys.exit(main())
