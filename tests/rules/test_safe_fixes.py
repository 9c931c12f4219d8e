"""A safe fix keeps every value: the script of each rule trains with the same losses, to the bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from torchlint.config.settings import Selection
from torchlint.finding import Applicability
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Wanted

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDER = Path(__file__).with_name("loss_bits.py")
EVERYTHING = Wanted(hints=True, pedantic=True)
STEPS = 8
RULES = [
    rule
    for rule in all_rules().values()
    if Applicability.SAFE in rule.promises and not rule.about_comments
]


def test_scripts_train_to_the_same_bits_after_their_safe_fixes(tmp_path: Path) -> None:
    pairs = {}
    for rule in RULES:
        text = (FIXTURES / rule.name / "train.py").read_bytes()
        target = Target("train.py", Selection((rule.code,)), (2, 13), text)
        fixed = fix_targets([target], unsafe=False, wanted=EVERYTHING).files
        assert fixed, f"{rule.name}: its script shows no safe fix"
        for name, content in (("before", text), ("after", fixed[0].after)):
            (tmp_path / f"{rule.name}-{name}.py").write_bytes(content)
        pairs[rule.name] = [
            str(tmp_path / f"{rule.name}-{name}.py") for name in ("before", "after")
        ]
    scripts = [each for pair in pairs.values() for each in pair]
    command = [sys.executable, str(RECORDER), str(STEPS), *scripts]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    losses = dict(map(json.loads, ran.stdout.splitlines()))
    assert losses.keys() == set(scripts), ran.stderr
    for name, (before, after) in pairs.items():
        assert len(losses[before]) == STEPS, name
        assert losses[before] == losses[after], name
