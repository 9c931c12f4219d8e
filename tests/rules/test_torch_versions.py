"""Rules and fixes that depend on torch say what is right for each version that a project supports."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from torchlint.library import check_source, fix_source
from torchlint.ruleapi.registry import all_rules

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
VERSIONS: Final = ((1, 13), (2, 0), (2, 4), (2, 6), (2, 9), (2, 13))
FOUND: Final = {
    "dataloader-no-persistent-workers": (1, 1, 1, 1, 1, 1),
    "manual-attention": (0, 1, 1, 1, 1, 1),
    "attention-weights-discarded": (0, 2, 2, 2, 2, 2),
    "causal-mask-tensor": (0, 1, 1, 1, 1, 1),
    "zero-grad-keeps-tensors": (2, 2, 2, 2, 2, 2),
    "optimizer-slow-path": (0, 1, 2, 2, 2, 2),
    "manual-rms-norm": (0, 0, 0, 0, 0, 1),
    "amp-missing": (1, 1, 1, 1, 1, 1),
    "tf32-not-enabled": (1, 1, 1, 1, 1, 1),
    "deprecated-amp-api": (0, 0, 5, 5, 5, 5),
    "mixed-tf32-apis": (0, 0, 0, 0, 1, 1),
    "compile-in-loop": (0, 1, 1, 1, 1, 1),
    "graph-break-in-compiled": (0, 2, 2, 2, 2, 2),
    "checkpoint-use-reentrant": (2, 2, 2, 2, 2, 2),
    "compile-result-unused": (0, 2, 2, 2, 2, 2),
    "compiled-optimizer-float-lr": (0, 0, 1, 1, 1, 1),
    "legacy-api": (2, 2, 2, 2, 3, 3),
}
"""How many findings the bad program of a rule has if the project supports torch from a version on."""

WRITTEN: Final = {
    "optimizer-slow-path": (None, "AdamW(shallow.parameters(), lr=1e-3)", *("fused=True",) * 4),
    "gloo-backend-for-gpu": ('"nccl"', *('"cpu:gloo,cuda:nccl"',) * 5),
    "zero-grad-keeps-tensors": ("set_to_none=True", *("zero_grad()",) * 5),
    "manual-grad-zeroing": ("set_to_none=True", *("zero_grad()",) * 5),
}
"""What the fix of the bad program writes; None if there is nothing to fix."""


def bad(name: str) -> str:
    return (FIXTURES / name / "bad.py").read_text(encoding="utf-8")


def cases(table: dict[str, tuple[object, ...]]) -> list[tuple[str, tuple[int, int], object]]:
    return [
        (name, torch, expected)
        for name, row in table.items()
        for torch, expected in zip(VERSIONS, row, strict=True)
    ]


@pytest.mark.parametrize(("name", "torch", "count"), cases(dict(FOUND)))
def test_a_rule_speaks_from_its_version_on(name: str, torch: tuple[int, int], count: int) -> None:
    result = check_source(
        bad(name), select=[name], target_torch=torch, isolated=True, hints=True, pedantic=True
    )
    assert len(result.findings) == count


@pytest.mark.parametrize(("name", "torch", "text"), cases(dict(WRITTEN)))
def test_a_fix_writes_what_its_version_knows(
    name: str, torch: tuple[int, int], text: str | None
) -> None:
    before = bad(name)
    result = fix_source(
        before, unsafe=True, select=[name], target_torch=torch, isolated=True, hints=True
    )
    added = set(result.source.splitlines()) - set(before.splitlines())
    assert (not added) if text is None else any(text in line for line in added)


def test_every_rule_with_a_version_is_in_the_table() -> None:
    dependent = {
        rule.name
        for rule in all_rules().values()
        if any(each.since or each.until for each in (rule, *rule.finds))
    }
    assert dependent <= FOUND.keys()
