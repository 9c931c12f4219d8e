"""What is about a text that is gone is never shown."""

from __future__ import annotations

from functools import partial
from threading import Semaphore
from typing import TYPE_CHECKING

import pytest

from torchlint.engine.large_trees import results_of
from torchlint.engine.map_project import Mapper
from torchlint.engine.targets import Wishes
from torchlint.server.buffers import Buffer, Outcome
from torchlint.server.editor_settings import ClientSettings
from torchlint.server.files import Files
from torchlint.server.open_project import OpenProject
from torchlint.server.server import Document, Server
from torchlint.server.server_store import Interrupted, ServerStore
from torchlint.server.worker import Worker
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from pathlib import Path

SLOW = "import torch\nmodel = torch.nn.DataParallel(model)\n"
READS = "DataParallel(model)\n"
STEP = """\
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
"""


class Listener:
    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.arrived = Semaphore(0)
        self.sentences: list[str] = []

    def found(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.arrived.release()

    def warn(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def looked(self, done: int, of: int) -> None:
        pass


def test_the_outcome_of_an_older_text_is_dropped() -> None:
    server = Server(Wishes(), None)
    old = Buffer("untitled:1", None, 1, SLOW)
    server.documents[old.uri] = document = Document(old._replace(version=2, text="x = 1\n"))
    server._take(Outcome(old, ()))
    assert document.shown is None
    assert not document.current.is_set()


def test_a_check_gives_way_to_what_is_more_urgent() -> None:
    urgent = False
    settings = ClientSettings()
    store = ServerStore(urgent=lambda: urgent)
    project = OpenProject(None, store, settings.wishes(Wishes()), settings.wanted, print)
    buffer = Buffer("untitled:1", None, 1, SLOW)
    assert [outcome.buffer for outcome in project.check_buffer(buffer)] == [buffer]
    urgent = True
    with pytest.raises(Interrupted):
        project.check_buffer(buffer._replace(version=2, text=SLOW + "\n"))


def test_only_the_last_of_many_edits_is_looked_at() -> None:
    listener = Listener()
    worker = Worker(listener, Wishes(isolated=True), None)
    worker.set_up([], ClientSettings())
    for version in range(1, 50):
        worker.edit(Buffer("untitled:1", None, version, SLOW + "\n" * version))
    worker._next()()  # takes the setup
    worker._next()()  # and the buffer
    assert worker._next() is None
    assert [outcome.buffer.version for outcome in listener.outcomes] == [49]


def test_results_of_old_texts_are_forgotten() -> None:
    settings = ClientSettings()
    store = ServerStore()
    project = OpenProject(None, store, settings.wishes(Wishes()), settings.wanted, print)
    for version in range(100):
        project.check_buffer(Buffer("untitled:1", None, version, SLOW + "\n" * version))
    assert sum(map(len, store._by_path.values())) < 20
    assert len(store._answers) < 20
    project.close("untitled:1")
    assert not store._by_path


def test_a_file_is_mapped_again_when_its_star_import_binds_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        STEP.replace("torch\n", "torch\nfrom common import *\n") + READS
    )
    store = ServerStore()
    files = Files(str(tmp_path), store, Wishes(isolated=True), print)
    for common, codes in (("from torch.nn import DataParallel\n", ["TL601"]), ("x = 1\n", [])):
        (tmp_path / "common.py").write_text(common)
        assert files.refresh()
        known = list(files.on_disk())
        mapper = partial(Mapper, known, pool=Pool(), progress=None, store=store)
        results, _ = results_of(mapper)
        assert [each.code for each in results.findings] == codes
        assert not files.refresh()


def test_a_crash_is_told_once_and_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*words: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(OpenProject, "check_buffer", crash)
    listener = Listener()
    worker = Worker(listener, Wishes(isolated=True), None)
    worker.set_up([], ClientSettings())
    worker.start()
    buffer = Buffer("untitled:1", None, 1, SLOW)
    worker.edit(buffer)
    worker.edit(buffer._replace(uri="untitled:2"))
    assert all(listener.arrived.acquire(timeout=600) for _ in range(2))
    worker.stop()
    assert [outcome.findings for outcome in listener.outcomes] == [(), ()]
    (sentence,) = listener.sentences
    assert "ZeroDivisionError: by zero" in sentence


def test_a_suppression_that_has_ended_hides_nothing() -> None:
    settings = ClientSettings()
    project = OpenProject(None, ServerStore(), settings.wishes(Wishes()), settings.wanted, print)
    for version, (day, found) in enumerate((("2020-01-31", 1), ("2999-12-31", 0))):
        text = f"{STEP}    print(loss.item())  # torchlint: ignore[TL201] until={day}\n"
        (outcome,) = project.check_buffer(Buffer("untitled:1", None, version, text))
        assert [each.code for each in outcome.findings] == ["TL201"] * found
