"""What a finding is recognized by after the lines around it have moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.ruleapi.rule_definition import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module
    from torchlint.engine.check import Report

TRAIN = """\
import torch

class Trainer:
    def epoch(self, loader, model, optimizer):
        for x, y in loader:
            optimizer.zero_grad(set_to_none=False)
            model(x).sum().backward()
            optimizer.step()
"""
SCRIPT = """\
import torch

optimizer = torch.optim.SGD(model.parameters())
for x, y in loader:
    optimizer.zero_grad(set_to_none=False)
    model(x).sum().backward()
    optimizer.step()
"""


@pytest.fixture
def identity(check_text: Callable[..., Report]) -> Callable[[str], tuple[str, str]]:
    """Scope and fingerprint of the only finding in a text."""

    def of(text: str) -> tuple[str, str]:
        (finding,) = check_text(text, ["TL401"]).findings
        return finding.scope, finding.fingerprint

    return of


def test_the_scope_names_class_and_function(identity: Callable[[str], tuple[str, str]]) -> None:
    assert identity(TRAIN)[0] == "Trainer.epoch"


def test_code_of_the_module_has_no_scope(identity: Callable[[str], tuple[str, str]]) -> None:
    assert identity(SCRIPT)[0] == ""


@pytest.mark.parametrize(
    "laid_out",
    [
        TRAIN.replace("import torch", "import os\nimport torch"),
        TRAIN.replace("(set_to_none=False)", "(\n  set_to_none = False,  # old\n)"),
        TRAIN.replace("            ", "                "),
    ],
    ids=["moved", "formatted", "indented"],
)
def test_layout_changes_neither(identity: Callable[[str], tuple[str, str]], laid_out: str) -> None:
    assert identity(laid_out) == identity(TRAIN)


def test_quotes_do_not_change_the_fingerprint(module_of: Callable[[str], Module]) -> None:
    rule = Rule(code="TL999", name="found", family="family", summary="Found.")
    prints = set()
    for text in ("read('a')\n", 'read("a")\n'):
        module = module_of(text)
        (call,) = module.nodes(cst.Call)
        prints.add(rule.finding(module, call, "Found.").fingerprint)
    assert len(prints) == 1


def test_other_code_has_another_fingerprint(identity: Callable[[str], tuple[str, str]]) -> None:
    other = TRAIN.replace("optimizer.zero", "self.optimizer.zero")
    assert identity(other)[1] != identity(TRAIN)[1]


def test_only_the_header_of_a_loop_counts(module_of: Callable[[str], Module]) -> None:
    rule = Rule(code="TL999", name="found", family="family", summary="Found.")
    prints = []
    for text in ("for x in y:\n    a()\n", "for x in y:\n    b()\n", "for x in z:\n    a()\n"):
        module = module_of(text)
        (loop,) = module.nodes(cst.For)
        prints.append(rule.finding(module, loop, "Found.").fingerprint)
    assert prints[0] == prints[1] != prints[2]
