"""`torchlint check --add-ignore` and `--require-reason`, with the rules that are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

SLOW = """\
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    print(loss.item())
"""
SILENT = SLOW.replace("item())", "item())  # torchlint: ignore[TL201]")


@pytest.fixture
def train(here: Path) -> Path:
    path = here / "train.py"
    path.write_text(SLOW, encoding="utf-8")
    return path


def test_what_is_found_is_silenced_once(torchlint: Run, train: Path) -> None:
    done = torchlint("check", "--add-ignore")
    assert (done.code, done.err) == (0, "")
    assert done.text == "Silenced 1 problem by comments in 1 file; 1 file checked.\n"
    assert train.read_text(encoding="utf-8") == SILENT
    assert torchlint("check").code == 0
    assert torchlint("check", "--add-ignore").text == "Nothing to silence; 1 file checked.\n"
    assert train.read_text(encoding="utf-8") == SILENT


def test_only_what_is_selected_is_silenced(torchlint: Run, train: Path) -> None:
    assert torchlint("check", "--add-ignore", "--select", "TL1").code == 0
    assert train.read_text(encoding="utf-8") == SLOW


def test_a_reason_is_written_along(torchlint: Run, train: Path) -> None:
    assert torchlint("check", "--add-ignore", "--reason", " see #12 ").code == 0
    assert train.read_text(encoding="utf-8").endswith("# torchlint: ignore[TL201] -- see #12\n")
    assert torchlint("check", "--require-reason").code == 0


@pytest.mark.parametrize("how", ["--require-reason", "torchlint.toml"])
def test_reasons_are_required_on_request(torchlint: Run, train: Path, how: str) -> None:
    train.write_text(SILENT, encoding="utf-8")
    assert torchlint("check").code == 0
    words = ["--require-reason"] if how.startswith("--") else []
    if not words:
        train.with_name(how).write_text("require-reason = true\n", encoding="utf-8")
    done = torchlint("check", *words)
    assert done.code == 1
    assert "TL002" in done.text
    without = torchlint("check", "--add-ignore", *words)
    assert without.code == 2
    assert "--reason TEXT" in without.err
    assert torchlint("check", "--add-ignore", "--reason", "the log", *words).code == 0
    assert torchlint("check", *words).code == 0
    assert train.read_text(encoding="utf-8") == SILENT[:-1] + " -- the log\n"


def test_comments_may_have_an_end(torchlint: Run, train: Path) -> None:
    assert torchlint("check", "--add-ignore", "--until", "2999-12-31").code == 0
    assert train.read_text(encoding="utf-8") == SILENT[:-1] + " until=2999-12-31\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--add-ignore", "-"), "name some instead of `-`"),
        (("--add-ignore", "--reason", "two\nlines"), "one plain line"),
        (("--reason", "why"), "--reason needs --add-ignore"),
        (("--until", "2999-12-31"), "--until needs --add-ignore"),
        (("--add-ignore", "--until", "2020-01-31"), "--until needs a day in the future"),
        (("--add-ignore", "--until", "soon"), "--until needs a day in the future"),
        (("--add-ignore", "--watch"), "drop --watch, --baseline and --since"),
        (("--add-ignore", "--baseline", "known.json"), "drop --watch, --baseline"),
        (("--add-ignore", "--since", "HEAD"), "drop --watch, --baseline"),
    ],
)
def test_words_that_do_not_fit_are_explained(
    torchlint: Run, train: Path, words: tuple[str, ...], says: str
) -> None:
    done = torchlint("check", *words)
    assert done.code == 2
    assert says in done.err
    assert train.read_text(encoding="utf-8") == SLOW


def test_what_a_baseline_hides_is_silenced_only_on_request(torchlint: Run, train: Path) -> None:
    train.with_name("torchlint.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    done = torchlint("check", "--add-ignore")
    assert done.code == 2
    assert "--no-baseline" in done.err
    assert train.read_text(encoding="utf-8") == SLOW
    assert torchlint("check", "--add-ignore", "--no-baseline").code == 0
    assert train.read_text(encoding="utf-8") == SILENT


def test_a_file_that_cannot_be_written_is_named(torchlint: Run, train: Path) -> None:
    train.chmod(0o444)
    done = torchlint("check", "--add-ignore")
    assert done.code == 2
    assert "read-only" in done.err
    assert done.text == "Nothing to silence; 1 file checked.\n"


def test_unused_comments_are_fixed_away(torchlint: Run, train: Path) -> None:
    train.write_text(SLOW.replace("item()", "shape") + "# torchlint: ignore-file[TL201]\n")
    assert torchlint("check").code == 1
    assert torchlint("fix", "--apply").code == 0
    assert train.read_text(encoding="utf-8") == SLOW.replace("item()", "shape")
