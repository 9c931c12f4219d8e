"""README.md says what is so: its output was really printed, its rules are the rules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.config.keys import from_table
from torchlint.config.settings import DEFAULT_EXCLUDE, Settings, tool_table
from torchlint.ruleapi.registry import all_rules

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def torchlint(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *words],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def test_recorded_parts_equal_a_fresh_recording() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/record_readme.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_recorded_output_has_all_seven_patterns() -> None:
    (output,) = blocks("text")
    found = set(re.findall(r"^fixtures/seven/train\.py:\d+:\d+: (TL\d+)", output, re.MULTILINE))
    assert found >= {"TL101", "TL105", "TL201", "TL301", "TL304", "TL401", "TL601"}


def test_the_table_lists_exactly_the_rules() -> None:
    rows = re.findall(r"^\| (TL\d+) \| \[([a-z0-9-]+)\]\((\S+)\) \|", README, re.MULTILINE)
    assert [row[:2] for row in rows] == [(code, rule.name) for code, rule in all_rules().items()]


def test_there_are_two_command_blocks_and_each_makes_its_own_environment() -> None:
    run, test = blocks("bash")
    for block in (run, test):
        assert block.startswith("python3 -m venv .venv\n. .venv/bin/activate\npip install ")
    assert run.endswith("\ntorchlint check fixtures/seven/train.py\n")
    assert test.endswith("\npytest -n auto\n")


def options(*commands: str) -> set[str]:
    """The options that `--help` of these commands lists."""
    helped = "".join(torchlint(command, "--help") for command in commands)
    return set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", helped, re.MULTILINE))


def test_every_option_that_is_named_exists() -> None:
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    assert named
    assert named - options("check", "fix", "rule", "verify") == set()


def test_every_option_of_check_is_named() -> None:
    listed = options("check") - {"--help", "--debug"}
    assert {option for option in listed if f"`{option}" not in README} == set()


def test_the_configuration_that_is_shown_is_valid() -> None:
    tomllib = pytest.importorskip("tomllib")
    (shown,) = blocks("toml")
    table = tool_table(tomllib.loads(shown), "README.md")
    assert table is not None
    settings = from_table(table, Settings(root="."))
    assert settings.target_torch == (2, 1)
    assert settings.exclude == (*DEFAULT_EXCLUDE, "third_party")
    assert set(settings.selectors) <= {"ALL", *all_rules()}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    assert links
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert missing == []


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals to record")
def test_pictures_equal_a_fresh_recording() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/record_pictures.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_pictures_load_nothing() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.svg"))
    assert [picture.stem for picture in pictures] == ["check", "fix", "verify"]
    for picture in pictures:
        text = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text
