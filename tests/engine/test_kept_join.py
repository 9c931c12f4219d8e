"""After an edit, a check with a memory says exactly what one without says."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from torchlint.analysis.frameworks.runners import Device
from torchlint.analysis.summary import FunctionSummary, LoopSummary, Summary
from torchlint.config.settings import Selection
from torchlint.engine import large_trees as run
from torchlint.engine.check import Report, check
from torchlint.finding import Applicability, Finding, Fix, Position, Related, Tier
from torchlint.memory.cache import Cache
from torchlint.memory.kept_join import NotPortableError, applied, join_input, moved, outcome
from torchlint.memory.store import Store
from torchlint.project.map_result import MapResult
from torchlint.project.sys_path import Root
from torchlint.project.target import Target
from torchlint.reported import Fact, Waiting

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "train.py": dedent(
        """\
        import torch
        import config
        from utils import accuracy
        from data import Photos
        from torch.utils.data import DataLoader

        loader = DataLoader(Photos("photos"), batch_size=32)
        for x, y in loader:
            output = model(x.to(config.WHERE))
            loss = output.sum()
            loss.backward()
            optimizer.step()
            accuracy(output, y)
        """
    ),
    "utils.py": "def accuracy(output, target):\n    return output.eq(target).sum().item()\n",
    "data.py": dedent(
        """\
        import torch
        from PIL import Image

        class Photos(torch.utils.data.Dataset):
            def __init__(self, folder):
                self.files = sorted(folder)
            def __len__(self):
                return len(self.files)
            def __getitem__(self, index):
                return Image.open(self.files[index]).convert("RGB")
        """
    ),
    "config.py": 'WHERE = "cuda"\n',
    "plain.py": "import os\n",
    "alone.py": "import torch\noptimizer = torch.optim.SGD(p, 1)\noptimizer.zero_grad(set_to_none=False)\n",
}
FOUND = [
    "alone.py:3 TL401",
    "data.py:10 TL114",
    "train.py:7 TL101",
    "train.py:7 TL102",
    "utils.py:2 TL201",
]
GENERATION = "0123456789abcdef"


class Project:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.texts = dict(FILES)
        self.joins = 0

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text
        (self._root / path).write_text(text)

    @property
    def cache(self) -> Cache:
        return Cache(str(self._root / "cache"), GENERATION)

    def check(
        self, *paths: str, remembering: bool = True, selection: Selection | None = None
    ) -> Report:
        targets = [Target(path, selection or Selection(), (2, 13)) for path in paths or self.texts]
        return check(targets, store=Store((lambda: self.cache) if remembering else None))

    def join(self) -> list[Any]:
        """What is remembered of the last join, as plain lists."""
        (path,) = (self._root / "cache" / GENERATION / "joins").iterdir()
        return msgspec.msgpack.decode(self.cache.get("joins", path.name) or b"")

    def replace_join(self, blob: bytes) -> None:
        (path,) = (self._root / "cache" / GENERATION / "joins").iterdir()
        self.cache.put("joins", path.name, blob)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    for path, text in FILES.items():
        project.write(path, text)
    real = run.findings_of

    def counted(mapper: object) -> object:
        project.joins += 1
        return real(mapper)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "findings_of", counted)
    assert places(project.check()) == FOUND
    assert project.joins == 1
    return project


def places(report: Report) -> list[str]:
    return [f"{each.path}:{each.start.row} {each.code}" for each in report.findings]


Edit = tuple[str, str, str]
UNNOTICED: dict[str, tuple[Edit, ...]] = {
    "a comment above the loop": (("train.py", "loader =", "# Loads.\nloader ="),),
    "a comment above what waits": (("utils.py", "def", "# Counts.\ndef"),),
    "a comment above a dataset": (("data.py", "class", "# Photos.\nclass"),),
    "a comment in both": (("train.py", "for", "#\nfor"), ("utils.py", "def", "#\n#\ndef")),
    "a comment in a file that is not parsed": (("config.py", "WHERE", "# Where.\nWHERE"),),
    "a value in a file that is not parsed": (("plain.py", "os\n", "os\nx = 1\n"),),
    "an import of the standard library": (("data.py", "import torch", "import os\nimport torch"),),
    "one that is not called": (("utils.py", "def", "from os import path\ndef"),),
    "an expression": (("train.py", "output.sum()", "(output * 2).sum()"),),
    "one column more": (("utils.py", "    return", "     return"),),
}
NOTICED: dict[str, tuple[Edit, ...]] = {
    "an import that a file hides": (("train.py", "import torch", "import plain, torch"),),
    "the call": (("train.py", "accuracy(output, y)", "pass"),),
    "the step": (("train.py", "    loss.backward()\n    optimizer.step()\n", ""),),
    "the device of a file that is not parsed": (("config.py", '"cuda"', '"cpu"'),),
    "an import": (("train.py", "import config\n", ""),),
    "what is imported": (("train.py", "from utils import", "from plain import"),),
    "the cost of a sample": (("data.py", 'Image.open(self.files[index]).convert("RGB")', "index"),),
    "what waits": (("utils.py", ".item()", ""),),
    "a word that rules look for": (("utils.py", "def", "# torch\ndef"),),
    "a suppression": (("utils.py", ".item()", ".item()  # torchlint: ignore[TL201]"),),
    "a star": (("plain.py", "import os", "from utils import *"),),
    "a folder on the path": (("plain.py", "import os", "sys.path.append('..')"),),
    "all code": (("train.py", FILES["train.py"], ""),),
    "a syntax error": (("train.py", "for x, y", "for x y"),),
    "a second loop": (("train.py", "loader =", "for _ in range(3):\n    g()\nloader ="),),
}


def edited(project: Project, edits: tuple[Edit, ...]) -> None:
    for path, old, new in edits:
        assert old in project.texts[path]
        project.write(path, project.texts[path].replace(old, new, 1))


@pytest.mark.parametrize("edits", UNNOTICED.values(), ids=UNNOTICED)
def test_an_edit_that_no_other_file_notices_joins_nothing(
    project: Project, edits: tuple[Edit, ...]
) -> None:
    edited(project, edits)
    report = project.check()
    assert project.joins == 1
    assert report == project.check(remembering=False)
    assert len(report.findings) == len(FOUND)


@pytest.mark.parametrize("edits", NOTICED.values(), ids=NOTICED)
def test_an_edit_that_others_notice_joins_again(project: Project, edits: tuple[Edit, ...]) -> None:
    edited(project, edits)
    report = project.check()
    assert report == project.check(remembering=False)
    for path, text in FILES.items():
        project.write(path, text)
    assert places(project.check()) == FOUND


def test_edits_add_up(project: Project) -> None:
    for edits in UNNOTICED.values():
        edited(project, edits)
        assert project.check() == project.check(remembering=False)
    edited(project, NOTICED["the device of a file that is not parsed"])
    assert [each.code for each in project.check().findings] == ["TL401", "TL114", "TL101"]


def test_a_finding_that_an_edit_adds_is_seen(project: Project) -> None:
    edited(project, (("train.py", "loss.backward()", "loss.backward()\n    loss.item()"),))
    assert "train.py:12 TL201" in places(project.check())


COMMON = "import torch\nfrom torch.utils.data import DataLoader\n"
STARRED = FILES["train.py"].replace(
    "from torch.utils.data import DataLoader", "from common import *"
)


def test_what_a_star_binds_is_noticed(project: Project) -> None:
    project.write("common.py", COMMON)
    project.write("train.py", STARRED)
    assert places(project.check()) == FOUND
    joins = project.joins
    for text in (
        f"# All.\n{COMMON}",
        f"{COMMON}x = 1\n",
        COMMON.replace("import Data", "import Data"),
    ):
        project.write("common.py", text)
        assert places(project.check()) == FOUND
    project.write("common.py", f"{COMMON}class DataLoader: pass\n")
    assert places(project.check()) == [*FOUND[:2], FOUND[4]]
    assert project.check() == project.check(remembering=False)
    project.write("common.py", f"{COMMON}__all__ = ['os']\n")
    assert places(project.check()) == [*FOUND[:2], FOUND[4]]
    assert joins < project.joins


def test_a_syntax_error_in_a_file_that_tells_nobody_anything(project: Project) -> None:
    project.write("alone.py", FILES["alone.py"].replace("False)", "False"))
    report = project.check()
    assert [each.path for each in report.diagnostics] == ["alone.py"]
    assert report == project.check(remembering=False)


def test_a_finding_of_its_own_moves_with_the_file(project: Project) -> None:
    project.write("alone.py", "\n" + FILES["alone.py"])
    assert places(project.check()) == ["alone.py:4 TL401", *FOUND[1:]]
    assert project.joins == 1


def test_a_join_of_other_settings_is_not_used(project: Project) -> None:
    assert places(project.check(selection=Selection(("TL401",)))) == FOUND[:1]
    project.write("alone.py", "\n" + FILES["alone.py"])
    assert project.check() == project.check(remembering=False)


def test_a_file_that_was_different_meanwhile_is_joined_again(project: Project) -> None:
    edited(project, UNNOTICED["a comment above what waits"])
    project.check("utils.py")
    assert project.check() == project.check(remembering=False)


def test_the_text_of_a_search_in_many_files_is_stored_once(project: Project) -> None:
    _, _, joined = project.join()
    assert sum(map(bool, joined["asked"])) > 2
    assert len(joined["questions"]) == len(set(joined["questions"]))


@pytest.mark.parametrize("blob", [b"", b"\xc1", b"\x93\xc4\x00\xc4\x00\x95\x90\x90\x90\x90\x80"])
def test_a_foreign_join_is_as_good_as_none(project: Project, blob: bytes) -> None:
    project.replace_join(blob)
    edited(project, UNNOTICED["a comment above the loop"])
    assert project.check() == project.check(remembering=False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"digests": []},
        {"asked": []},
        {"asked": [99] * len(FILES)},
        {"asked": [-1] * len(FILES)},
        {"sets": []},
        {"sets": [b"\0"] * 9},
        {"questions": []},
        {"outcomes": {}},
        {"outcomes": {path: [None] for path in ("train.py", "utils.py")}, "digests": [b""]},
    ],
    ids=" and ".join,
)
def test_a_join_that_does_not_fit_is_as_good_as_none(
    project: Project, wrong: dict[str, object]
) -> None:
    settings, key, joined = project.join()
    project.replace_join(msgspec.msgpack.encode([settings, key, {**joined, **wrong}]))
    edited(project, UNNOTICED["a comment in both"])
    assert project.check() == project.check(remembering=False)


def test_a_join_that_names_a_place_that_is_not_there(project: Project) -> None:
    settings, key, joined = project.join()
    joined["outcomes"]["utils.py"][0]["related"][0]["rank"] = 99
    project.replace_join(msgspec.msgpack.encode([settings, key, joined]))
    edited(project, UNNOTICED["a comment in both"])
    assert project.check() == project.check(remembering=False)


# what a file says to the others ----------------------------------------------------------------

WAITS = Finding("TL201", "name", Tier.DEFAULT, "It waits.", "a.py", Position(3, 1), Position(3, 5))
SAID = MapResult(
    "a.py",
    imports=("b",),
    waiting=(Waiting(WAITS, needs={"function": "f"}),),
    facts=(Fact("cudnn", "a.py", "on"),),
    summary=Summary(
        path="a.py",
        exports=(),
        stars=(),
        functions=(
            FunctionSummary("", Position(1, 1), (), False, False, False, False, False, ()),
            FunctionSummary("f", Position(2, 1), (), True, False, False, False, False, ()),
        ),
        classes=(),
        loops={0: LoopSummary(Position(4, 1), True), 1: LoopSummary(Position(6, 1), True)},
        device=Device.ACCELERATOR,
        trains=True,
        is_entry=False,
        starts=(Position(8, 1),),
    ),
)


def never(name: str) -> bool:
    return False


def with_loops(*rows: int, steps: bool = True) -> MapResult:
    loops = {index: LoopSummary(Position(row, 1), steps) for index, row in enumerate(rows)}
    assert SAID.summary is not None
    return replace(SAID, summary=replace(SAID.summary, loops=loops))


def with_function(row: int) -> MapResult:
    assert SAID.summary is not None
    first, second = SAID.summary.functions
    functions = (first, replace(second, position=Position(row, 1)))
    return replace(SAID, summary=replace(SAID.summary, functions=functions))


def waiting(finding: Finding = WAITS, **needs: str) -> MapResult:
    return replace(SAID, waiting=(Waiting(finding, needs=needs or SAID.waiting[0].needs),))


@pytest.mark.parametrize(
    "result",
    {
        "loops lower": with_loops(5, 9),
        "a function lower": with_function(3),
        "what waits lower": waiting(WAITS._replace(start=Position(9, 1), end=Position(9, 5))),
        "a finding of its own": replace(SAID, findings=(WAITS,)),
    }.values(),
)
def test_a_file_says_the_same_to_others(result: MapResult) -> None:
    assert join_input(result, never) == join_input(SAID, never)


@pytest.mark.parametrize(
    "result",
    {
        "another import": replace(SAID, imports=("c",)),
        "a folder on its path": replace(SAID, roots=(Root("core", anchored=True, first=True),)),
        "nothing waits": replace(SAID, waiting=()),
        "other needs": waiting(function="g"),
        "another tier": waiting(WAITS._replace(tier=Tier.HINT)),
        "another message": waiting(WAITS._replace(message="It still waits.")),
        "no fix": waiting(WAITS._replace(withheld="Too hard.")),
        "another fact": replace(SAID, facts=(Fact("cudnn", "a.py", "off"),)),
        "no summary": replace(SAID, summary=None),
        "loops that do nothing": with_loops(4, 6, steps=False),
        "loops in another order": with_loops(6, 4),
        "a loop less": with_loops(4),
        "a function below a loop": with_function(5),
    }.values(),
)
def test_a_file_says_something_else_to_others(result: MapResult) -> None:
    assert join_input(result, never) != join_input(SAID, never)


# what settling did -----------------------------------------------------------------------------

PLACES = {"a.py": (Position(1, 1), Position(4, 2)), "b.py": (Position(7, 1),)}
LATER = {"a.py": (Position(2, 1), Position(9, 2)), "b.py": (Position(7, 1),)}
WAITS = Finding("TL201", "name", Tier.DEFAULT, "It waits.", "a.py", Position(3, 1), Position(3, 5))
FIX = Fix(Applicability.SAFE, "Mends.", ())


@pytest.mark.parametrize(
    ("waited", "said", "again"),
    {
        "nothing": (WAITS, WAITS, None),
        "dropped": (WAITS, None, None),
        "a tier": (WAITS, WAITS._replace(tier=Tier.HINT), None),
        "a message": (WAITS, WAITS._replace(message="It holds."), None),
        "a fix that stays": (WAITS._replace(fix=FIX), WAITS._replace(fix=FIX), None),
        "a fix that goes": (WAITS._replace(fix=FIX), WAITS._replace(withheld="No."), None),
        "a place that moves": (
            WAITS,
            WAITS._replace(related=(Related("a.py", Position(4, 2), "here"),)),
            WAITS._replace(related=(Related("a.py", Position(9, 2), "here"),)),
        ),
    }.values(),
)
def test_what_settling_did_is_done_again(
    waited: Finding, said: Finding | None, again: Finding | None
) -> None:
    found = outcome(waited, said, PLACES.__getitem__)
    assert (found and applied(found, waited, LATER.__getitem__)) == (again or said)


@pytest.mark.parametrize(
    "said",
    [
        WAITS._replace(message="The loop in line 4 runs it."),
        WAITS._replace(related=(Related("a.py", Position(5, 1), "no place of the summary"),)),
        WAITS._replace(fix=FIX),
        WAITS._replace(start=Position(2, 1)),
    ],
    ids=["a row in the message", "an unknown place", "another fix", "another start"],
)
def test_what_depends_on_places_is_not_remembered(said: Finding) -> None:
    with pytest.raises(NotPortableError):
        outcome(WAITS, said, PLACES.__getitem__)


def test_a_place_that_is_not_found_again_is_not_moved() -> None:
    finding = WAITS._replace(related=(Related("b.py", Position(8, 1), "here"),))
    with pytest.raises(NotPortableError):
        moved(finding, PLACES, LATER)
    with pytest.raises(NotPortableError):
        moved(
            finding._replace(related=(Related("b.py", Position(7, 1), ""),)), PLACES, {"b.py": ()}
        )
