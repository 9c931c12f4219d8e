"""What is remembered of files: only what they said, and only while nothing has changed."""

from __future__ import annotations

import os
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine import map_file as mapping
from torchlint.engine import map_project as mapper
from torchlint.engine.check import Report, check
from torchlint.finding import (
    Applicability,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Position,
    Related,
    Results,
    Tier,
)
from torchlint.memory.cache import Cache
from torchlint.memory.report_codec import decode_names, decode_report, encode_report
from torchlint.memory.result_codec import decode_folder, decode_join, decode_result, encode
from torchlint.memory.store import Store
from torchlint.project.map_result import Depth
from torchlint.project.target import Known, Target, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GENERATION = "0123456789abcdef"
FILES = {
    "train.py": dedent(
        """\
        import torch
        from utils import accuracy
        device = torch.device("cuda")
        for x, y in loader:
            output = model(x.to(device))
            loss = output.sum()
            loss.backward()
            optimizer.step()
            accuracy(output, y)
        """
    ),
    "utils.py": "def accuracy(output, target):\n    return output.eq(target).sum().item()\n",
    "pkg/lonely.py": "import torch\nx = torch.ones(2)\n",
    "pkg/plain.py": "import os\n",
}
FOUND = ["utils.py:2 TL201"]


class Project:
    """Files on disk, checked with a cache; says which were parsed."""

    def __init__(self, root: Path, parsed: list[str]) -> None:
        self.root = root
        self.cache = root / "cache"
        self._parsed = parsed
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def store(self, generation: str = GENERATION) -> Store:
        return Store(lambda: Cache(str(self.cache), generation))

    def check(self, generation: str = GENERATION, **changes: object) -> Report:
        self._parsed.clear()
        targets = [
            Target(path, Selection(), (2, 13))._replace(**changes)  # type: ignore[arg-type]
            for path in FILES
            if (self.root / path).exists()
        ]
        return check(targets, store=self.store(generation))

    @property
    def parsed(self) -> list[str]:
        return sorted(self._parsed)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    parsed: list[str] = []
    parse = mapping.parse
    monkeypatch.setattr(
        mapping, "parse", lambda source: [parsed.append(source.path), parse(source)][1]
    )
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, parsed)


def places(report: Report) -> list[str]:
    return [f"{each.path}:{each.start.row} {each.code}" for each in report.findings]


def test_nothing_is_parsed_twice(project: Project) -> None:
    first = project.check()
    assert places(first) == FOUND
    assert "train.py" in project.parsed
    assert project.check() == first
    assert project.parsed == []


def test_one_edited_file_is_parsed_and_the_whole_project_joined(project: Project) -> None:
    project.check()
    project.write("train.py", FILES["train.py"].replace("accuracy(output, y)", "pass"))
    assert places(project.check()) == []
    assert project.parsed == ["train.py"]
    project.write("train.py", FILES["train.py"])
    assert places(project.check()) == FOUND


def test_an_edit_of_a_file_without_torch_counts(project: Project) -> None:
    project.check()
    project.write("utils.py", FILES["utils.py"].replace(".item()", ""))
    assert places(project.check()) == []
    assert project.parsed == ["utils.py"]


def test_a_file_that_is_gone_is_forgotten(project: Project) -> None:
    project.check()
    (project.root / "utils.py").unlink()
    assert places(project.check()) == []
    project.write("train.py", FILES["train.py"] + "\n")
    project.check()
    blobs = [path.read_bytes()[28:] for path in project.cache.glob("*/files/*")]
    names = {name for blob in blobs for name in decode_folder(blob) or {}}
    assert "train.py" in names
    assert "utils.py" not in names


@pytest.mark.parametrize(
    "changes",
    [
        {"selection": Selection(("TL201",))},
        {"selection": Selection(require_reason=True)},
        {"torch": (1, 13)},
    ],
    ids=["selection", "reasons", "torch"],
)
def test_other_settings_are_another_check(project: Project, changes: dict[str, object]) -> None:
    project.check()
    project.check(**changes)
    assert "train.py" in project.parsed
    project.check()
    assert project.parsed == []


def test_another_generation_knows_nothing(project: Project) -> None:
    project.check()
    project.check("fedcba9876543210")
    assert "train.py" in project.parsed


def test_another_working_directory_has_other_names(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.check()
    monkeypatch.chdir(project.root / "pkg")
    report = check([Target("../train.py", Selection(), (2, 13))], store=project.store())
    assert {each.path for each in report.findings} <= {"../train.py"}
    monkeypatch.chdir(project.root)
    project.check()
    assert project.parsed == []


@pytest.mark.parametrize("kind", ["files", "reports"])
@pytest.mark.parametrize(
    "blob",
    [b"", b"\x00", b"\xc1" * 50, b"\x93\x01\x02\x03", b"\x81\xa8train.py\x93\xc4\x01x\x80\x80"],
    ids=["empty", "a number", "no msgpack", "other types", "another digest"],
)
def test_a_foreign_blob_is_as_good_as_none(project: Project, kind: str, blob: bytes) -> None:
    first = project.check()
    cache = Cache(str(project.cache), GENERATION)
    for other in ("files", "reports"):
        for path in (project.cache / GENERATION / other).iterdir():
            if other == kind:
                cache.put(kind, path.name, blob)
            elif kind == "files":
                path.unlink()
    assert project.check() == first
    assert project.check() == first
    assert project.parsed == []


def test_a_report_for_other_contents_is_not_used(project: Project) -> None:
    project.check()
    (path,) = (project.cache / GENERATION / "reports").iterdir()
    kept = path.read_bytes()
    project.write("utils.py", "\n" + FILES["utils.py"])
    assert places(project.check()) == ["utils.py:3 TL201"]
    path.write_bytes(kept)
    assert places(project.check()) == ["utils.py:3 TL201"]


def test_a_file_that_changes_during_the_check_is_looked_at_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mapper.map_files

    def map_late(targets: list[Target], depth: Depth) -> object:
        project.write("train.py", FILES["train.py"] + "# later\n")
        return real(targets, depth)

    monkeypatch.setattr(mapper, "map_files", map_late)
    project.check()
    monkeypatch.setattr(mapper, "map_files", real)
    project.write("train.py", FILES["train.py"])
    project.check()
    assert "train.py" in project.parsed


@pytest.mark.parametrize("kind", ["rule", "worker", "unreadable"])
def test_what_may_not_happen_again_is_not_remembered(project: Project, kind: str) -> None:
    known = Known(Target("train.py", Selection(), (2, 13)), b"digest", 1, relevant=True)
    diagnostic = mapping.Diagnostic("train.py", "Oh.", kind=kind)
    store = project.store()
    store.keep(known, Depth.RULES, mapping.MapResult("train.py", diagnostics=(diagnostic,)))
    store.keep_report([known], Results((), (diagnostic,)), None)
    store.save()
    assert project.store().result(known, Depth.RULES) is None
    assert project.store().report([known]) is None


def test_two_runs_at_once_keep_what_both_found(project: Project) -> None:
    one, two = project.store(), project.store()
    known = {
        path: Known(
            Target(path, Selection(), (2, 13)), digest_of(text.encode()), len(text), relevant=True
        )
        for path, text in FILES.items()
    }
    for store, path in ((one, "train.py"), (two, "utils.py")):
        assert store.result(known[path], Depth.RULES) is None
        store.keep(known[path], Depth.RULES, mapping.MapResult(path))
    one.save()
    two.save()
    later = project.store()
    assert later.result(known["train.py"], Depth.RULES) is not None
    assert later.result(known["utils.py"], Depth.RULES) is not None


def test_text_that_is_not_on_disk_leaves_no_trace_of_the_file(project: Project) -> None:
    target = Target("train.py", Selection(), (2, 13), b"import torch\nx = 1\n")
    check([target], store=project.store())
    project.check()
    assert "train.py" in project.parsed


def test_names_that_are_no_unicode_are_checked_and_not_remembered(project: Project) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        imported = "from utils import accuracy\n"
        (project.root / name).write_text(FILES["train.py"].replace(imported, FILES["utils.py"]))
    except OSError:
        pytest.skip("this file system has no such names")
    target = Target(name, Selection(), (2, 13))
    first = check([target], store=project.store())
    assert first.findings
    assert check([target], store=project.store()) == first


def test_everything_a_file_can_say_survives(project: Project) -> None:
    targets = [Target(path, Selection(), (2, 13)) for path in FILES]
    for depth in Depth:
        for _, result in mapping.map_files(targets, depth):
            assert decode_result(encode(result) or b"") == result


def test_every_report_survives() -> None:
    start, end = Position(1, 2), Position(3, 4)
    fix = Fix(Applicability.SAFE, "Mends.", (Edit(start, end, "\r\n\udcff"),))
    related = (Related("\udcff.py", end, "here"),)
    finding = Finding(
        "TL201", "name", Tier.HINT, 'Say "\x1b".', "\udcff.py", start, end, fix, "No.", related, "1"
    )
    bare = Finding("TL1", "", Tier.DEFAULT, "", "", start, end)
    wrong = (Diagnostic("a.py", "Oh."), Diagnostic("b.py", "Oh.", start, "syntax"))
    said = Results((finding, bare), wrong, stepless=True)
    assert decode_report(encode_report("key", said), "key") == said
    assert decode_report(encode_report("key", said), "another") is None


@pytest.mark.parametrize(
    "decode",
    [
        decode_result,
        decode_folder,
        decode_names,
        lambda data: decode_join(data, b""),
        lambda data: decode_report(data, ""),
    ],
)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80",
        b"\x90" * 9,
        b"\x81\xa4path\x01",
        b"\xdd" + b"\xff" * 9,
        b"[" * 100_000,
        b"{}}",
        b'["", [[]], []]',
        b'["", [], {}]',
        b'["", [], [["a.py", 1, null, "error"]]]',
        b'["", [], [["a.py", "Oh.", [1, "2"], "error"]]]',
        b'["", [["TL1", "", "no tier", "", "", [1, 1], [1, 1], null, null, [], null]], []]',
        b'["", [["TL1", "", "hint", "", "", [1, 1], [true, 1], null, null, [], null]], []]',
    ],
)
def test_bytes_that_are_no_such_data_decode_to_nothing(
    decode: Callable[[bytes], object], data: bytes
) -> None:
    assert not decode(data)
