"""Measures what each fix is worth on this machine, on the training scripts of the fixtures.

Usage: evidence.py [--device D] [--budget TIME] [--pairs N,…] [--only NAME]… [--out FOLDER]
       evidence.py --again [--out FOLDER]

Writes `<machine>.json`, `<machine>.md` and `<machine>.svg` into `docs/evidence`, and what the pages
of rules say about it. `--only` keeps what is there of the other scripts. `--again` measures nothing
and makes all that again from the JSON files that are there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from evidence_page import page, plot
from verified_fixtures import Outcome, names, verify

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "evidence"
MEASURED = ROOT / "torchlint" / "report" / "fix_evidence.json"
_LIMIT_S = 1800.0
_NUMBERS = re.compile(r"\[\s+((?:(?:-?\d[\d.e+-]*|null)(?:,\s+)?)+)\s+\]")


def machine_of(environment: dict[str, Any]) -> str:
    """A name for the kind of machine: `nvidia-h200`, `cpu-2cores`. It says nothing of whose."""
    gpu = (environment.get("gpu") or {}).get("name")
    if gpu:
        return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return f"cpu-{environment['processors']}cores"


def collected(outcomes: list[Outcome], options: list[str]) -> dict[str, Any]:
    """One document of all scripts; those that could be run say what the machine is.

    Raises:
        SystemExit: none could be run.
    """
    ran = [each.document["environment"] for each in outcomes if each.document]
    if not ran:
        sys.exit(f"No script could be verified:\n{outcomes[0].said if outcomes else ''}")
    return {
        "machine": machine_of(ran[0]),
        "options": options,
        "scripts": {each.name: each.as_json() for each in outcomes},
    }


def with_others(evidence: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The evidence with what the same machine measured before of scripts that are still there."""
    path = folder / f"{evidence['machine']}.json"
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))["scripts"]
        scripts = {**before, **evidence["scripts"]}
        evidence["scripts"] = {name: scripts[name] for name in names() if name in scripts}
    return evidence


def write(evidence: dict[str, Any], folder: Path) -> None:
    """Write the JSON, the plot and the page of one machine."""
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / evidence["machine"]
    base.with_suffix(".json").write_text(laid_out(evidence), encoding="utf-8")
    base.with_suffix(".svg").write_text(plot(evidence), encoding="utf-8")
    base.with_suffix(".md").write_text(page(evidence), encoding="utf-8")


def on_pages(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """By the names of the scripts: what each machine measured, for the pages of rules."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.json")):
        evidence = json.loads(path.read_text(encoding="utf-8"))
        for name, script in evidence["scripts"].items():
            total = script["document"].get("total")
            if total:
                environment = script["document"]["environment"]
                found.setdefault(name, []).append(
                    {
                        "machine": evidence["machine"],
                        "torch": environment["torch"],
                        "verdict": total["verdict"],
                        "ratio": total["ratio"],
                        "ci": total["ci"],
                        "ms": total["ms"],
                        "numbers": (total["numerics"] or {}).get("agreement", "not compared"),
                        "why": " ".join((total["why"] or "").split()),
                    }
                )
    return found


def laid_out(evidence: dict[str, Any]) -> str:
    """JSON with every list of numbers on one line."""
    text = json.dumps(evidence, indent=1, ensure_ascii=False)
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def measured(arguments: argparse.Namespace) -> list[Outcome]:
    """Each script in turn, with nothing else running."""
    options = options_of(arguments)
    outcomes = []
    for name in arguments.only or names():
        outcomes.append(verify(name, options, limit_s=_LIMIT_S))
        print(f"{name}: {outcomes[-1].status}, {outcomes[-1].seconds:.0f} s", flush=True)
    return outcomes


def options_of(arguments: argparse.Namespace) -> list[str]:
    """What each verification is told."""
    given = {"--device": arguments.device, "--budget": arguments.budget, "--pairs": arguments.pairs}
    return [word for name, value in given.items() if value for word in (name, value)]


def parse(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--budget", metavar="TIME", help="for each script")
    parser.add_argument("--pairs", metavar="N,…", help="process pairs at each look")
    parser.add_argument("--only", action="append", choices=names(), metavar="NAME")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER")
    parser.add_argument("--again", action="store_true", help="only write the pages again")
    return parser.parse_args(words)


def main() -> int:
    """0 if every script could be verified."""
    arguments = parse(sys.argv[1:])
    if arguments.again:
        for path in sorted(arguments.out.glob("*.json")):
            write(json.loads(path.read_text(encoding="utf-8")), arguments.out)
    else:
        outcomes = measured(arguments)
        evidence = collected(outcomes, options_of(arguments))
        write(with_others(evidence, arguments.out), arguments.out)
    if arguments.out == OUT:
        MEASURED.write_text(laid_out(on_pages(OUT)), encoding="utf-8")
    if arguments.again:
        return 0
    return int(any(each.status != "ok" for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
