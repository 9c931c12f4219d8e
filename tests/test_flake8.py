"""The plugin in a real flake8, in a project of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.warm_start import started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.warm_start import Start

pytest.importorskip("flake8", minversion="6")

STEP = """\
import torch
from torch import nn


def train(model: nn.Module, loader, optimizer, device):
    total = 0
    for images, labels in loader:
        loss = model(images.to(device)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        total += loss.item()
    return total, torch
"""
FOUND = ["train.py:11:9: TL401", "train.py:12:18: TL201"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(STEP)
    return tmp_path


Flake8 = Callable[..., list[str]]
IMPORTED = ("flake8.main.application", "torchlint.flake8", "torchlint.engine.check")


@pytest.fixture(scope="module")
def warm_flake8() -> Iterator[Start]:
    """Starts a flake8 whose imports are done."""
    yield from started(*IMPORTED)


@pytest.fixture
def flake8(warm_flake8: Start) -> Flake8:
    """Place and code of what flake8 reports."""
    return partial(reported, warm_flake8)


def reported(start: Start, *words: str, stdin: bytes = b"") -> list[str]:
    child = start(
        [sys.executable, "-m", "flake8", "--max-line-length=100", "--jobs=1", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = child.communicate(stdin)
    assert (err, child.returncode in (0, 1)) == (b"", True)
    lines = out.decode().splitlines()
    return [" ".join(line.split(" ", 2)[:2]).removeprefix("./") for line in lines]


def test_the_codes_are_on_where_the_plugin_is_installed(flake8: Flake8, here: Path) -> None:
    assert flake8() == FOUND


def test_a_suppression_that_has_ended_hides_nothing(flake8: Flake8, here: Path) -> None:
    for day, found in (("2020-01-31", FOUND), ("2999-12-31", FOUND[:1])):
        comment = f"  # torchlint: ignore[TL201] until={day}"
        (here / "train.py").write_text(STEP.replace("loss.item()", "loss.item()" + comment))
        assert flake8() == found


def test_the_message_comes_after_the_code(here: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--select=TL201", "train.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("train.py:12:18: TL201 `.item()` makes the host wait")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--select=TL201"], FOUND[1:]),
        (["--select=TL4"], FOUND[:1]),
        (["--select=E,F,W"], []),
        (["--select=E", "--extend-select=TL"], FOUND),
        (["--ignore=TL201"], FOUND[:1]),
        (["--extend-ignore=TL"], []),
        (["--per-file-ignores=train.py:TL4"], FOUND[1:]),
    ],
)
def test_options_of_flake8_hold(
    flake8: Flake8, here: Path, words: list[str], found: list[str]
) -> None:
    assert flake8(*words) == found


def test_settings_of_torchlint_hold(flake8: Flake8, here: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.torchlint]\nignore = ["TL401"]\n')
    assert flake8() == FOUND[1:]
    (here / "pyproject.toml").write_text(
        '[tool.torchlint.per-file-ignores]\n"train.py" = ["TL201"]\n'
    )
    assert flake8() == FOUND[:1]


@pytest.mark.parametrize(
    "toml", ["[tool.torchlint]\nselect = 3\n", '[tool.torchlint]\nselect = ["TL999"]\n']
)
def test_settings_that_cannot_be_used_are_said(flake8: Flake8, here: Path, toml: str) -> None:
    (here / "pyproject.toml").write_text(toml)
    assert flake8() == ["train.py:1:1: TL000"]


@pytest.mark.parametrize("comment", ["# noqa: TL201", "# noqa", "# torchlint: ignore[TL201]"])
def test_comments_silence(flake8: Flake8, here: Path, comment: str) -> None:
    (here / "train.py").write_text(STEP.replace("loss.item()", f"loss.item()  {comment}"))
    assert flake8() == FOUND[:1]


def test_text_from_standard_input_is_checked_under_its_name(flake8: Flake8, here: Path) -> None:
    (here / "pyproject.toml").write_text(
        '[tool.torchlint.per-file-ignores]\n"named.py" = ["TL201"]\n'
    )
    assert flake8("-", stdin=STEP.encode()) == [each.replace("train.py", "stdin") for each in FOUND]
    found = flake8("--stdin-display-name", "named.py", "-", stdin=STEP.encode())
    assert found == ["named.py:11:9: TL401"]


@pytest.mark.parametrize(
    "data",
    [
        STEP.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + STEP.encode(),
        STEP.replace("import torch\n", "import torch  # größe\n", 1).encode(),
        STEP.replace("import torch\n", "import torch  # -*- coding: latin-1 -*- größe\n", 1).encode("latin-1"),
    ],
)  # fmt: skip
def test_files_are_read_as_python_reads_them(flake8: Flake8, here: Path, data: bytes) -> None:
    (here / "train.py").write_bytes(data)
    assert [each for each in flake8() if " TL" in each] == FOUND


def test_columns_count_characters(flake8: Flake8, here: Path) -> None:
    coding = "# -*- coding: latin-1 -*-\n"
    text = coding + STEP.replace("total += loss", "größe = 1; total += loss")
    (here / "train.py").write_bytes(text.encode("latin-1"))
    assert flake8("--select=TL201") == ["train.py:13:29: TL201"]


def test_several_files_and_processes(flake8: Flake8, here: Path) -> None:
    for number in range(4):
        (here / f"part{number}.py").write_text(STEP)
    (here / "train.py").unlink()
    expected = [each.replace("train", f"part{number}") for number in range(4) for each in FOUND]
    assert flake8("--jobs=2") == expected


def test_a_file_that_is_not_python_is_left_to_flake8(flake8: Flake8, here: Path) -> None:
    (here / "train.py").write_text("import torch\nloss.backward(\n")
    codes = {each.rpartition(" ")[2] for each in flake8()}
    assert codes
    assert not any(code.startswith("TL") for code in codes)


def test_a_file_without_torch_costs_no_import(here: Path) -> None:
    program = (
        "import sys, torchlint.flake8 as bridge\n"
        "assert list(bridge.Checker(None, ['import os\\n'], 'a.py').run()) == []\n"
        "heavy = {'libcst', 'click', 'msgspec', 'joblib', 'torchlint.engine.check'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
