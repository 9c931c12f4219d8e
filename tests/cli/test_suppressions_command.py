"""`torchlint suppressions` with the real engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.notebook_files import notebook

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]

TRAIN = """\
import torch
from torch import nn


def train(model: nn.Module, loader, optimizer):
    model.cuda()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        print(loss.item())  # torchlint: ignore[TL201] until=2020-01-31 -- the old log
        x = labels.cpu()  # torchlint: ignore[TL202, TL201] until=2999-12-31
        optimizer.zero_grad()  # torchlint: ignore[TL401] until=soon
        y = 1  # torchlint: ignore[TL201]
        z = labels.tolist()  # noqa: E501, TL202
"""
CONFIG = """\
baseline = "known.json"

[per-file-ignores]
"tests/*" = ["TL2"]
'train.py' = ["TL101"]
"""
OLD = "import torch\nfor x in loader:\n    loss = model(x.cuda())\n    loss.backward()\n    "


@pytest.fixture(autouse=True)
def repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "train.py").write_text(TRAIN)
    monkeypatch.setattr("torchlint.silence.until.today", lambda: datetime(2026, 5, 1).date())
    (here / "torchlint.toml").write_text(CONFIG)


@pytest.fixture
def baseline(torchlint: Run, here: Path) -> None:
    (here / "known.json").write_text('{"version": 1, "entries": []}')
    (here / "old.py").write_text(OLD + "loss.item()\n")
    written = torchlint("baseline", "write", "old.py", "--until", "2999-12-31",
                        "--owner", "data", "--reason", "later")  # fmt: skip
    assert written.code == 0


@pytest.mark.usefixtures("baseline")
def test_everything_that_silences_is_listed_with_its_state(torchlint: Run, here: Path) -> None:
    outcome = torchlint("suppressions")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text == (
        "known.json:4: baseline[TL201] old.py (1 finding), owner data, until 2999-12-31: "
        "later\n"
        "torchlint.toml:4: per-file-ignores[TL2] tests/*, unused\n"
        "torchlint.toml:5: per-file-ignores[TL101] train.py\n"
        "train.py:12: ignore[TL201], ended on 2020-01-31: the old log\n"
        "train.py:13: ignore[TL202, TL201], until 2999-12-31, unused: TL201\n"
        "train.py:14: ignore[TL401], invalid\n"
        "train.py:15: ignore[TL201], unused\n"
        "train.py:16: noqa[TL202]\n"
        "\n"
        "5 comments, 2 settings, 1 baseline entry; 1 has ended, 1 is invalid, 2 are unused.\n"
    )


@pytest.mark.usefixtures("baseline")
def test_json_has_the_same(torchlint: Run, here: Path) -> None:
    (here / "old.py").write_text(OLD + "pass\n")
    found = json.loads(torchlint("suppressions", "--output-format", "json").text)["suppressions"]
    assert [(each["kind"], each["row"], each["used"]) for each in found] == [
        ("baseline", 4, False),
        ("per-file-ignores", 4, False),
        ("per-file-ignores", 5, None),
        ("ignore", 12, None),
        ("ignore", 13, None),
        ("ignore", 14, False),
        ("ignore", 15, False),
        ("noqa", 16, None),
    ]
    assert found[3] == {
        "kind": "ignore",
        "filename": "train.py",
        "row": 12,
        "cell": None,
        "rules": ["TL201"],
        "covers": None,
        "count": None,
        "reason": "the old log",
        "owner": None,
        "until": "2020-01-31",
        "ended": True,
        "invalid": False,
        "used": None,
        "unused_rules": [],
    }


def test_a_pattern_is_unused_only_if_the_whole_project_was_asked_about(
    torchlint: Run, here: Path
) -> None:
    (here / "torchlint.toml").write_text(CONFIG.partition("\n")[2])
    (here / "other.py").write_text("")
    said = torchlint("suppressions", "other.py").text
    assert said.startswith("torchlint.toml:3: per-file-ignores[TL2] tests/*\n")


def test_in_a_notebook_rows_count_by_cell(torchlint: Run, here: Path) -> None:
    (here / "torchlint.toml").unlink()
    (here / "train.py").unlink()
    cells = ("%pip list", "import torch\n# torchlint: ignore-file[TL201]")
    (here / "a.ipynb").write_bytes(notebook(*cells))
    assert torchlint("suppressions").text.startswith(
        "a.ipynb:cell 2:2: ignore-file[TL201], unused\n"
    )


def test_without_any_it_says_so(torchlint: Run, here: Path) -> None:
    (here / "torchlint.toml").unlink()
    (here / "train.py").write_text("x = 1\n")
    assert torchlint("suppressions").text == "Nothing is silenced here.\n"


def test_a_file_that_cannot_be_checked_is_2(torchlint: Run, here: Path) -> None:
    (here / "torchlint.toml").unlink()
    (here / "broken.py").write_text("import torch\nloss.backward(  # torchlint: ignore\n")
    outcome = torchlint("suppressions")
    assert outcome.code == 2
    assert "broken.py:2: ignore" in outcome.text
    assert "broken.py" in outcome.err


def test_standard_input_is_refused(torchlint: Run) -> None:
    assert torchlint("suppressions", "-").code == 2
