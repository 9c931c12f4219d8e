"""`check --watch` in a process of its own; each test waits for what that process prints."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from torchlint import library
from torchlint.files import watching
from torchlint.report.check_summary import STEPLESS

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]
WAITS = "; Ctrl-C ends.\n"
SLOW = "import torch\nmodel = torch.nn.DataParallel(model)\n"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="interrupts by a signal")


class Watch:
    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "torchlint", "check", "--watch", "--hints", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def said(self) -> str:
        """All that it prints until it waits for the next change."""
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            if line.endswith(WAITS):
                break
            lines.append(line)
        return "".join(lines)

    def interrupted(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate()
        return self.process.returncode, out


@pytest.fixture
def watch(here: Path) -> Iterator[Callable[..., Watch]]:
    started: list[Watch] = []
    # Whoever runs the tests in the background may ignore it, and a child would do so as well.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(*words: str) -> Watch:
        started.append(Watch("--output-format", "concise", *words))
        return started[-1]

    yield start
    signal.signal(signal.SIGINT, before)
    for each in started:
        with each.process as process:
            process.kill()


def test_changed_new_and_deleted_files_are_checked(watch: Callable[..., Watch], here: Path) -> None:
    (here / "a.py").write_text("import torch\n")
    (here / "loop").symlink_to(here)
    watching = watch()
    assert watching.said() == f"{STEPLESS}\n"
    (here / "a.py").write_text(SLOW)
    assert watching.said().startswith("a.py changed.\na.py:2:9: TL601 ")
    (here / "new").mkdir()
    (here / "new" / "b.py").write_text(SLOW)
    said = watching.said()
    assert "new/b.py:2:9: TL601" in said
    assert "loop" not in said
    (here / "new" / "b.py").write_text(SLOW.replace("model = ", "\nmodel = "))
    assert "new/b.py:3:9: TL601" in watching.said()
    (here / "a.py").unlink()
    said = watching.said()
    assert said.startswith("a.py changed.\n")
    assert "\na.py:" not in said
    assert "new/b.py:3:9: TL601" in said
    assert watching.interrupted() == (130, "Stopped watching.\n")


def test_a_configuration_counts_even_while_it_is_broken(
    watch: Callable[..., Watch], here: Path
) -> None:
    (here / "a.py").write_text(SLOW)
    (here / "lint.toml").write_text("")
    watching = watch("--config", "lint.toml", "--no-cache")
    assert "TL601" in watching.said()
    (here / "lint.toml").write_text("ignore = [")
    assert "lint.toml: This is not valid TOML" in watching.said()
    (here / "lint.toml").write_text('ignore = ["TL601"]')
    assert watching.said() == f"lint.toml changed.\n{STEPLESS}\n"


def test_what_is_excluded_wakes_nobody(watch: Callable[..., Watch], here: Path) -> None:
    (here / ".gitignore").write_text("*_pb2.py\n")
    (here / "a.py").write_text("import torch\n")
    watching = watch()
    assert watching.said() == f"{STEPLESS}\n"
    (here / "x_pb2.py").write_text(SLOW)
    (here / "train.log").write_text("epoch 1\n")
    (here / "a.py").write_text(SLOW)
    assert watching.said().startswith("a.py changed.\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-",), "--watch needs files or folders"),
        (("--backend", "dask"), "drop --backend"),
        (("--select", "TL999"), "Unknown rule `TL999`"),
    ],
)
def test_words_that_cannot_be_watched_end_it_at_once(
    torchlint: Run, words: tuple[str, ...], said: str
) -> None:
    outcome = torchlint("check", "--watch", *words)
    assert outcome.code == 2
    assert said in outcome.err


def test_without_the_package_it_says_what_to_install(
    torchlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    outcome = torchlint("check", "--watch")
    assert outcome.code == 2
    assert "run `pip install watchfiles`" in outcome.err


def test_all_checks_share_what_files_said(
    torchlint: Run, linter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores: list[object] = []
    check = library.check

    def noted(*words: Any, store: object, **options: Any) -> Any:
        stores.append(store)
        return check(*words, store=store, **options)

    monkeypatch.setattr(library, "check", noted)
    monkeypatch.setattr(watching, "changes", lambda look: iter([[], ["a.py"]]))
    assert torchlint("check", "--watch", "--no-cache").code == 130
    assert len(stores) == 2
    assert stores[0] is stores[1]
