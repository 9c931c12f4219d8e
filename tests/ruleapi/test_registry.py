"""Where rules come from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("code", "name"), [("TL201", "something-new"), ("TL299", "item-in-step-loop")]
)
def test_a_code_or_name_that_is_taken_is_said_by_both_rules(
    code: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "plugin.py").write_text(
        "from torchlint.rule import Rule\n"
        f"rule = Rule(code={code!r}, name={name!r}, family='sync', summary='')\n"
    )
    info = tmp_path / "plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[torchlint.rules]\nhere = plugin\n")
    words = [sys.executable, "-m", "torchlint", "rule", "TL201"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"Error: plugin is {code} {name}, and there is TL201 item-in-step-loop already; "
        "take another code or name.\n"
    )
