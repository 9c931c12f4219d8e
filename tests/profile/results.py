"""Profiles for tests of what is built on them."""

from __future__ import annotations

import json
from typing import Any

from tests.profile.conftest import timing
from torchlint.experiment.machine import Environment
from torchlint.profile.profile_result import Profile, RunFinding, Static
from torchlint.report.profile.profile_json import render


def read_at(
    path: str = "train.py",
    row: int = 9,
    kind: str = "item",
    per_step: float = 1.0,
    share: float | None = None,
    **more: Any,
) -> RunFinding:
    """A read of the census, or with a share one of a GPU."""
    more = {"census": share is None, "values": {"kinds": {kind: per_step}}, **more}
    return RunFinding(
        "TR201", "host-read", path, row, f"{per_step:g} reads a step", "keep it there", share,
        **more,
    )  # fmt: skip


def confirmed(row: int, code: str = "TL201", path: str = "train.py") -> tuple[Static, ...]:
    return (Static(code, "item-in-step-loop", path, row, "default", "confirmed", has_fix=True),)


def profile(*findings: RunFinding, **more: Any) -> Profile:
    values: dict[str, Any] = {
        "argv": ("train.py",),
        "exit": 0,
        "summary": "",
        "seconds": 9.0,
        "environment": Environment("2.13.0", "3.11", "cpu", 1, 2, (0.1,), "redirect"),
        "timing": timing(),
        "findings": tuple(each for each in findings if not each.census),
        "census": tuple(each for each in findings if each.census),
        "cut": 0.03,
        "date": "2026-07-01",
        "watched": ("TR101", "TR201"),
        **more,
    }
    return Profile(**values)


def written(result: Profile, **more: Any) -> bytes:
    """The file of a profile, with other values at its top."""
    return json.dumps({**json.loads(render(result)), **more}).encode()
