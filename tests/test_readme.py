"""README.md says what is so, and so do the pages that its tables live on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from torchlint.ruleapi.registry import all_rules

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RULES = (ROOT / "rules" / "README.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
PAGES = ("README.md", "CONTRIBUTING.md", "benchmarks/README.md", "rules/README.md")
SEVEN = {"TL101", "TL105", "TL201", "TL301", "TL304", "TL401", "TL601"}
MOST_LINES = 120
"""Two screens."""


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


def test_the_readme_fits_on_two_screens() -> None:
    assert README.count("\n") <= MOST_LINES


def test_each_command_block_is_one_line_that_starts_from_a_bare_clone() -> None:
    run, test = blocks("bash")
    for block in (run, test):
        assert block.count("\n") == 1
        assert block.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert run.endswith(" && .venv/bin/torchlint check fixtures/seven/train.py\n")
    assert test.endswith(" && .venv/bin/pytest -n auto\n")


def test_the_first_command_finds_all_seven_patterns() -> None:
    run, _ = blocks("bash")
    _, _, words = run.strip().rpartition("/torchlint ")
    found = re.findall(r"^\S+:\d+:\d+: (TL\d+)", torchlint(*words.split()), re.MULTILINE)
    assert set(found) >= SEVEN


def test_the_table_lists_exactly_the_rules() -> None:
    rows = re.findall(r"^\| (TL\d+) \| \[([a-z0-9-]+)\]\((\S+)\) \|", RULES, re.MULTILINE)
    assert [row[:2] for row in rows] == [(code, rule.name) for code, rule in all_rules().items()]
    assert f"[{len(rows)} rules](rules/README.md)" in README


def test_the_rooms_of_contributing_are_the_layers_of_the_code() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    declared = next(each["layers"] for each in contracts if each["type"] == "layers")
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| room | what it knows |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [set(re.findall(r"`(\w+)", row.split("|")[1])) for row in table.split("\n")]
    layers = [set(re.findall(r"torchlint\.(\w+)", layer)) for layer in declared]
    assert rows == [layer for layer in layers if layer != {"__main__"}]


def options(*commands: str) -> set[str]:
    """The options that `--help` of these commands lists."""
    helped = "".join(torchlint(command, "--help") for command in commands)
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", helped, re.MULTILINE))


@pytest.mark.parametrize("page", [README, COMMAND_LINE], ids=["README.md", "command-line.md"])
def test_every_option_that_is_named_exists(page: str) -> None:
    text = re.sub(r"^```(?!console).*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r" -- \S.*", "", text)  # the arguments of a script
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    assert named
    known = options("check", "fix", "rule", "verify", "profile", "server")
    assert named - known == set()


def test_every_option_of_check_and_fix_is_named() -> None:
    listed = options("check", "fix") - {"--help"}
    assert {option for option in listed if f"`{option}" not in COMMAND_LINE} == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    assert links
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert missing == []


def test_nothing_is_installed_from_an_index_by_its_name() -> None:
    """torchlint is on none: `pip install torchlint` would install somebody else's package."""
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    texts += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "editors").glob("*/*.md")]
    wrong = re.compile(
        r"""pip install (?:[^\s"'<]+ )*["']?torchlint(?![\w/-])(?!(?:\[[a-z,]+\])? @)"""
    )
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in texts
        for match in wrong.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


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
