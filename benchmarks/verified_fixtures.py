"""Runs `torchlint verify` on the training scripts of the fixtures, each in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PATCH = "change.patch"
"""Beside a script that no rule mends: the change to measure with `--with`."""
_TO_CLEAN_UP_S = 20.0
_BULKY = ("diff", "lanes", "losses", "envelope", "message", "side_effects", "argv")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one verification.

    `status` is `ok`, `failed` or `timeout`; `document` what it wrote as JSON, without the bulky
    parts and without anything that names this machine; `said` its last words if it failed.
    """

    name: str
    status: str
    exit: int
    seconds: float
    document: dict[str, Any] = field(default_factory=dict)
    said: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def names() -> list[str]:
    """The rules that have a training script, in the order of their codes; then the patches."""
    rules = [rule.name for rule in all_rules().values()]
    patches = sorted(path.parent.name for path in FIXTURES.glob(f"*/{PATCH}"))
    return [name for name in rules if (FIXTURES / name / "train.py").is_file()] + patches


def verify(
    name: str, options: Sequence[str], *, limit_s: float, against_itself: bool = False
) -> Outcome:
    """Verify one script from a copy, so that the project around it is the script alone.

    Args:
        options: of `torchlint verify`.
        limit_s: it is interrupted after this time.
        against_itself: compare it with itself instead of with its fix.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torchlint-evidence-") as folder:
        shutil.copy(FIXTURES / name / "train.py", folder)
        patch = FIXTURES / name / PATCH
        written = Path(folder, "verify.json")
        command = [sys.executable, "-m", "torchlint", "verify", "--yes", "--json", str(written)]
        if against_itself:
            command += ["--against", "train.py"]
        elif patch.is_file():
            command += ["--with", str(patch)]
        else:
            command += ["--select", name, "--hints"]
        code, said = _run([*command, *options, "train.py"], folder, limit_s)
        text = written.read_text(encoding="utf-8") if written.is_file() else "{}"
        document = without_places(brief(json.loads(text)), folder)
        said = without_places(said, folder)
    timeout = code is None
    status = "timeout" if timeout else "ok" if code in (0, 1, 3, 7) and document else "failed"
    seconds = round(time.monotonic() - begun, 1)
    return Outcome(
        name,
        status,
        -1 if code is None else code,
        seconds,
        document,
        said if status != "ok" else "",
    )


def _run(command: Sequence[str], folder: str, limit_s: float) -> tuple[int | None, str]:
    """Exit code (None: it took too long) and last words."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    late = False
    try:
        said, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        late = True
        process.send_signal(signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=_TO_CLEAN_UP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
    return None if late else process.returncode, said[-2000:]


def brief(value: Any) -> Any:
    """The document without sources, losses and times of single steps."""
    if isinstance(value, dict):
        return {key: brief(each) for key, each in value.items() if key not in _BULKY}
    return [brief(each) for each in value] if isinstance(value, list) else value


def without_places(value: Any, folder: str) -> Any:
    """The same with no path of this machine in any of its texts."""
    if isinstance(value, dict):
        return {key: without_places(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [without_places(each, folder) for each in value]
    if not isinstance(value, str):
        return value
    for place in (os.path.realpath(folder), folder):
        value = value.replace(place + os.sep, "").replace(place, ".")
    return re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "…/", value)
