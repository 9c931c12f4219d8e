"""Rules made for a test, in place of the installed ones."""

from __future__ import annotations

from textwrap import dedent
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine import map_file, project_findings
from torchlint.engine.check import check
from torchlint.project.target import Target
from torchlint.rule import Rule, Tier

if TYPE_CHECKING:
    from collections.abc import Callable

    Found = Callable[..., list[str]]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Found:
    """What a declared rule finds in files, as `train.py:3`, hints with a `?` behind, or who may
    apply its fixes."""

    def finds(
        files: str | dict[str, str],
        torch: tuple[int, int] = (2, 13),
        show: str = "place",
        **declared: object,
    ) -> list[str]:
        declared = {"message": "Bad.", **declared}
        rule = Rule(code="TL999", name="a-rule", family="test", summary="it finds", **declared)  # type: ignore[arg-type]
        rules = MappingProxyType({"TL999": rule})
        for module in (map_file, project_findings):
            monkeypatch.setattr(module, "all_rules", lambda: rules)
        named = {"train.py": files} if isinstance(files, str) else files
        targets = [
            Target(path, Selection(), torch, dedent(text).encode()) for path, text in named.items()
        ]
        report = check(targets)
        assert report.diagnostics == ()
        if show == "message":
            return [each.message for each in report.findings]
        if show == "fix":
            return [each.fix.applicability.value for each in report.findings if each.fix]
        return [
            f"{each.path}:{each.start.row}{'?' * (each.tier is Tier.HINT)}"
            for each in report.findings
        ]

    return finds
