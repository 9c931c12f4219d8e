from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]
PYPROJECT = """\
[project]
dependencies = [
    "torch >= 2.1",
]

[tool.other]
ignore = "theirs"

[tool.torchlint]
ignore = [
    "TL201",
]
extend-exclude = ["third_party"]

[tool.torchlint.per-file-ignores]
"examples/*" = ["TL1"]
"""


@pytest.fixture
def project(here: Path, rules: None) -> Path:
    (here / "pyproject.toml").write_text(PYPROJECT)
    for name in ("train.py", "examples/a.py", "third_party/a.py"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).touch()
    return here


def said(torchlint: Run, *words: str) -> Any:
    return json.loads(torchlint("config", "--output-format", "json", *words).out)


def test_each_value_comes_with_its_place(torchlint: Run, project: Path) -> None:
    found = said(torchlint, "train.py")
    assert found["source"] == "pyproject.toml"
    settings = found["settings"]
    assert settings["select"] == {"value": ["ALL"], "from": "default"}
    assert settings["ignore"] == {"value": ["TL201"], "from": "pyproject.toml:10"}
    assert settings["per-file-ignores"]["from"] == "pyproject.toml:15"
    assert settings["exclude"]["from"] == "default, extend-exclude in pyproject.toml:13"
    assert settings["exclude"]["value"][-1] == "third_party"
    assert settings["target-torch"] == {"value": "2.1", "from": "torch in pyproject.toml:3"}


def test_a_key_that_settings_get_shows_by_itself(torchlint: Run, project: Path) -> None:
    from torchlint.config.settings import Settings

    keys = {field.replace("_", "-") for field in Settings._fields} - {"root", "source"}
    assert keys == set(said(torchlint)["settings"])


def test_the_command_line_goes_first(torchlint: Run, project: Path) -> None:
    settings = said(torchlint, "--ignore", "TL101", "--target-torch", "2.4")["settings"]
    assert settings["ignore"]["value"] == ["TL201", "TL101"]
    assert settings["ignore"]["from"] == "pyproject.toml:10, --ignore"
    assert settings["target-torch"] == {"value": "2.4", "from": "--target-torch"}
    settings = said(torchlint, "--select", "TL2")["settings"]
    assert settings["select"] == {"value": ["TL2"], "from": "--select"}
    assert settings["ignore"]["value"] == []


def test_each_rule_says_which_word_decides(torchlint: Run, project: Path) -> None:
    def states(*words: str) -> dict[str, tuple[bool, str]]:
        return {
            each["code"]: (each["on"], each["why"]) for each in said(torchlint, *words)["rules"]
        }

    assert states("train.py") == {
        "TL101": (True, "select ALL, default"),
        "TL201": (False, "ignore TL201, pyproject.toml:10"),
    }
    assert states("examples/a.py")["TL101"] == (False, "per-file-ignores TL1, pyproject.toml:15")
    assert states("--select", "TL2")["TL101"] == (False, "not in select, --select")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("third_party/x/a.py", "exclude names `third_party`"),
        ("venv/a.py", "exclude names `venv`"),
        ("src/made_pb2.py", ".gitignore names it"),
        ("src/out/a.py", "src/.gitignore names it"),
        ("src/out/keep.py", None),
        ("src/kept_pb2.py", None),
        ("src/a.py", None),
        (".", None),
    ],
)
def test_what_a_search_passes_over_says_why(
    torchlint: Run, project: Path, path: str, why: str | None
) -> None:
    if path != ".":
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).touch()
    (project / "src").mkdir(exist_ok=True)
    (project / ".gitignore").write_text("*_pb2.py\n")
    (project / "src" / ".gitignore").write_text("out/*\n!out/keep.py\n!kept_pb2.py\n")
    assert said(torchlint, path)["left_out"] == why


def test_without_a_file_it_says_so_and_what_to_write(torchlint: Run, rules: None) -> None:
    outcome = torchlint("config")
    assert outcome.code == 0
    assert outcome.text.startswith(".: no configuration file\n")
    assert "To change this, write into pyproject.toml, for instance:\n  [tool." in outcome.text
    assert "the newest: no requirements say otherwise" in outcome.text


def test_torchlint_toml_needs_no_table(torchlint: Run, here: Path, rules: None) -> None:
    (here / "torchlint.toml").write_text('# settings\nselect = ["TL2"]\n[per-file-ignores]\n')
    settings = said(torchlint)["settings"]
    assert settings["select"]["from"] == "torchlint.toml:2"
    assert settings["per-file-ignores"]["from"] == "torchlint.toml:3"
    assert "[tool.torchlint]" not in torchlint("config").text


def test_text_for_people_has_the_same(torchlint: Run, project: Path) -> None:
    text = torchlint("config", "third_party/a.py").text
    assert text.startswith(
        "third_party/a.py: settings from pyproject.toml\n"
        "  exclude names `third_party`: it is checked only if it is named itself\n"
        "\n"
        "select            ALL  (default)\n"
        "ignore            TL201  (pyproject.toml:10)\n"
        "per-file-ignores  examples/*: TL1  (pyproject.toml:15)\n"
    )
    assert "On:\n  TL101 dataloader-no-workers  (select ALL, default)\nOff:\n" in text


def test_a_hostile_file_cannot_steer_the_terminal(torchlint: Run, here: Path, rules: None) -> None:
    (here / "torchlint.toml").write_text(
        'exclude = ["\\u001b[31m"]\nper-file-ignores."\\u001b" = ["TL2"]\n'
    )
    (here / "a\x1b.py").touch()
    outcome = torchlint("config", "a\x1b.py")
    assert outcome.code == 0
    assert b"\x1b" not in outcome.out
