"""Where rules come from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_checkout_that_is_not_installed_has_the_built_in_rules() -> None:
    # -S -E: no site-packages of an installed torchlint; what it needs is put back by hand.
    needed = repr([path for path in sys.path if path.endswith("-packages")])
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]; sys.path += {needed}; "
        "from torchlint.ruleapi.registry import all_rules; print(*all_rules())"
    )
    words = [sys.executable, "-S", "-E", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "TL201" in done.stdout.split()


def test_a_rule_is_named_after_its_file_and_folder_whoever_imports_it(tmp_path: Path) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text('"""Our rules."""\nfrom house.slow_thing import rule\n')
    (house / "slow_thing.py").write_text(
        '"""Do not."""\nfrom torchlint.rule import Rule\nrule = Rule(code="HOUSE1", summary="")\n'
    )
    code = "from house import rule; print(rule.name, rule.family, rule.page)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "slow-thing house Do not.\n"
