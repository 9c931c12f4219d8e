"""Fixing to the end, the diff, and writing: with small rules of the tests' own."""

from __future__ import annotations

import codecs
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import Report
from torchlint.files.lines import LineIndex
from torchlint.files.reading import SourceError, decode, read_bytes
from torchlint.finding import Applicability, Diagnostic, Edit, Finding, Fix, Position, Tier
from torchlint.fixes import fixer
from torchlint.fixes.fixer import FixedFile, FixReport
from torchlint.project.target import Target, digest_of
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Change = tuple[int, int, str]
SAFE, UNSAFE, SUGGEST = Applicability.SAFE, Applicability.UNSAFE, Applicability.SUGGEST


class Word:
    """A rule that replaces what a pattern matches, or does what `edits` says for a match."""

    def __init__(
        self,
        pattern: str,
        content: str = "",
        *,
        edits: Callable[[re.Match[str]], Iterable[Change]] | None = None,
        applicability: Applicability | None = SAFE,
        tier: Tier = Tier.DEFAULT,
        code: str = "TL901",
    ) -> None:
        self.pattern = re.compile(pattern)
        self.edits = edits or (lambda match: [(match.start(), match.end(), match.expand(content))])
        self.applicability = applicability
        self.tier = tier
        self.code = code

    def findings(self, path: str, text: str) -> Iterable[Finding]:
        lines = LineIndex(text)
        for match in self.pattern.finditer(text):
            start, end = lines.position(match.start()), lines.position(match.end())
            edits = tuple(
                Edit(lines.position(i), lines.position(j), content)
                for i, j, content in self.edits(match)
            )
            fix = Fix(self.applicability, "Mend it", edits) if self.applicability else None
            reason = None if fix else "the test has no fix"
            yield Finding(
                self.code, "word", self.tier, "Wrong.", path, start, end, fix, withheld=reason
            )


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> list[Word]:
    """The rules that a check applies; each file is read as the real engine reads it."""
    found: list[Word] = []

    def check(
        targets: Sequence[Target], *, pool: object, progress: object, store: object
    ) -> Report:
        findings: list[Finding] = []
        diagnostics: list[Diagnostic] = []
        digests: dict[str, bytes] = {}
        for target in targets:
            try:
                data = read_bytes(target.path) if target.data is None else target.data
                text = decode(target.path, data).text
                digests[target.path] = digest_of(data)
            except SourceError as error:
                diagnostics.append(error.diagnostic)
                continue
            for rule in found:
                findings += rule.findings(target.path, text)
        findings.sort(key=lambda finding: finding.sort_key)
        return Report(tuple(findings), tuple(diagnostics), len(targets), digests)

    monkeypatch.setattr(fixer, "check", check)
    return found


def fixed(*data: bytes | str, unsafe: bool = False, wanted: Wanted | None = None) -> FixReport:
    """What fixing these files comes to; they are called 0.py, 1.py, …"""
    targets = [
        Target(
            f"{number}.py",
            Selection(),
            (2, 13),
            each.encode() if isinstance(each, str) else each,
        )
        for number, each in enumerate(data)
    ]
    return fixer.fix_targets(targets, unsafe=unsafe, wanted=wanted)


def only(report: FixReport) -> bytes:
    (file,) = report.files
    return file.after


# rounds --------------------------------------------------------------------------------------


def test_a_fix_changes_its_place_and_nothing_else(rules: list[Word]) -> None:
    rules.append(Word("old", "new"))
    data = (
        codecs.BOM_UTF8
        + "# coding: utf-8\r\n\tx = 'é\u2028'\n\x0cold\r\n  \nif old:\n\told".encode()
    ).replace(b"\tx", b"x")
    report = fixed(data)
    assert only(report) == data.replace(b"old", b"new")
    assert report.diagnostics == ()
    assert report.remaining == ()


def test_the_encoding_of_the_file_is_kept(rules: list[Word]) -> None:
    rules.append(Word("old", "n\u00fc"))
    data = b"# coding: latin-1\nx = '\xe9'\nold\n"
    assert only(fixed(data)) == data.replace(b"old", b"n\xfc")


def test_files_without_fixes_are_not_reported(rules: list[Word]) -> None:
    rules.append(Word("old", "new"))
    report = fixed("a\n", "old\n", "b\n")
    assert [file.path for file in report.files] == ["1.py"]


def test_a_fix_that_makes_room_for_another_is_followed_by_it(rules: list[Word]) -> None:
    rules += [Word(r"\bone\b", "two"), Word(r"\btwo\b", "three"), Word(r"\bthree\b", "four")]
    report = fixed("one\n")
    assert only(report) == b"four\n"
    assert len(report.files[0].applied) == 3


def test_nested_fixes_all_land(rules: list[Word]) -> None:
    rules += [Word(r"outer\((.*)\)", r"wide(\1)"), Word("inner", "narrow", code="TL902")]
    report = fixed("outer(inner(x))\n")
    assert only(report) == b"wide(narrow(x))\n"
    assert len(report.files[0].applied) == 2


def test_an_import_that_two_fixes_add_is_added_once(rules: list[Word]) -> None:
    rules.append(
        Word(
            r"\bold\b",
            edits=lambda match: [(0, 0, "import new\n"), (match.start(), match.end(), "new")],
        )
    )
    report = fixed("old(old)\n")
    assert only(report) == b"import new\nnew(new)\n"
    assert len(report.files[0].applied) == 2


def test_a_replacement_that_two_fixes_share_is_made_for_both(rules: list[Word]) -> None:
    rules += [Word("old", "new"), Word("old", "new", code="TL902")]
    report = fixed("old\n")
    assert only(report) == b"new\n"
    assert [each.code for each in report.files[0].applied] == ["TL901", "TL902"]


def test_lines_that_two_fixes_insert_at_one_place_both_stay(rules: list[Word]) -> None:
    rules += [
        Word("^old", edits=lambda m: [(0, 0, "import a\n"), (m.start(), m.end(), "new")]),
        Word(
            r"\bbad",
            edits=lambda m: [(0, 0, "import b\n"), (m.start(), m.end(), "good")],
            code="TL902",
        ),
    ]
    assert only(fixed("old(bad)\n")) == b"import a\nimport b\nnew(good)\n"


def test_arguments_that_two_fixes_add_do_not_run_into_each_other(rules: list[Word]) -> None:
    def adds(name: str) -> Callable[[re.Match[str]], list[Change]]:
        # Like `add_argument`: without a comma where there is no argument yet.
        return lambda m: [
            (m.end() - 1, m.end() - 1, name if m.group().endswith("()") else f", {name}")
        ]

    rules += [
        Word(r"f\((?!.*a=1).*\)", edits=adds("a=1")),
        Word(r"f\((?!.*b=2).*\)", edits=adds("b=2"), code="TL902"),
    ]
    report = fixed("f()\n")
    assert only(report) == b"f(a=1, b=2)\n"
    assert report.diagnostics == ()


def test_unsafe_fixes_need_the_word_and_suggestions_are_never_made(rules: list[Word]) -> None:
    rules += [
        Word("one", "two", applicability=UNSAFE),
        Word("old", "new", applicability=SUGGEST, code="TL902"),
    ]
    careful = fixed("one\nold\n")
    assert careful.files == ()
    assert [finding.code for finding in careful.remaining] == ["TL901", "TL902"]
    assert [(each.code, each.withheld) for each in careful.withheld] == [
        ("TL902", "only a suggestion: Mend it")
    ]
    assert only(fixed("one\nold\n", unsafe=True)) == b"two\nold\n"


def test_findings_without_a_fix_are_reported_with_their_reason(rules: list[Word]) -> None:
    rules += [Word("old", "new"), Word("bad", applicability=None, code="TL902")]
    report = fixed("old\nbad\n")
    assert [(each.code, each.start.row) for each in report.withheld] == [("TL902", 2)]


def test_hints_are_fixed_only_when_they_are_wanted(rules: list[Word]) -> None:
    rules.append(Word("old", "new", tier=Tier.HINT))
    assert fixed("old\n").files == ()
    assert only(fixed("old\n", wanted=Wanted(hints=True))) == b"new\n"


def test_fixing_ends_even_if_a_fix_never_does(rules: list[Word]) -> None:
    rules.append(Word("^x", "xx"))
    report = fixed("x\n", "y\n")
    assert only(report) == b"x" * 21 + b"\n"
    (diagnostic,) = report.diagnostics
    assert (diagnostic.path, diagnostic.kind) == ("0.py", "fix")
    assert "20 rounds" in diagnostic.message


def test_twenty_rounds_that_suffice_are_no_failure(rules: list[Word]) -> None:
    rules.append(Word("^x(?!x{20})", "xx"))
    report = fixed("x\n")
    assert only(report) == b"x" * 21 + b"\n"
    assert report.diagnostics == ()


def test_files_that_cannot_be_read_do_not_hide_the_others(
    rules: list[Word], tmp_path: Path
) -> None:
    rules.append(Word("old", "new"))
    file = tmp_path / "torch_model.py"
    file.write_bytes(b"old  # torch\n")
    names = [str(tmp_path / "gone.py"), str(file)]
    report = fixer.fix_targets([Target(name, Selection(), (2, 13)) for name in names], unsafe=False)
    assert only(report) == b"new  # torch\n"
    assert [each.kind for each in report.diagnostics] == ["unreadable"]


# fixes that cannot be ------------------------------------------------------------------------


def test_a_result_that_does_not_parse_is_dropped_and_its_rule_named(rules: list[Word]) -> None:
    rules += [Word("old", "new"), Word("bad", "x = (", code="TL902"), Word("one", "two")]
    report = fixed("old\nbad\none\nold\n")
    assert only(report) == b"new\nbad\ntwo\nnew\n"
    assert [each.code for each in report.files[0].applied] == ["TL901"] * 3
    (diagnostic,) = report.diagnostics
    assert (diagnostic.kind, diagnostic.position) == ("fix", Position(2, 1))
    assert "TL902" in diagnostic.message
    (left,) = report.withheld
    assert (left.code, left.fix) == ("TL902", None)
    assert "does not parse" in str(left.withheld)


def test_a_dropped_fix_is_not_tried_again_when_its_place_moves(rules: list[Word]) -> None:
    rules += [Word("bad", "x = (", code="TL902"), Word("^x", "y\nz")]
    report = fixed("x\nbad\n")
    assert only(report) == b"y\nz\nbad\n"
    assert len(report.diagnostics) == 1


def test_fixes_that_fail_only_together_take_turns(rules: list[Word]) -> None:
    # Each may empty the block as long as the other statement is there.
    rules.append(
        Word(r"(?m)^    (a|b)\n", edits=lambda m: [(m.start(), m.end(), "")], code="TL902")
    )
    rules.append(Word(r"(?<=if x:\n)    (a|b)\n(?!    )", "    pass\n"))
    report = fixed("if x:\n    a\n    b\n")
    assert only(report) == b"if x:\n    pass\n"


@pytest.mark.parametrize(
    "changes",
    [
        [(0, 3, "new"), (2, 3, "x")],
        [(0, 0, "a"), (0, 0, "b")],
        [(3, 0, "new")],
    ],
    ids=["overlapping", "two insertions", "backwards"],
)
def test_edits_that_contradict_themselves_are_dropped(
    rules: list[Word], changes: list[Change]
) -> None:
    rules += [Word("old", edits=lambda _: changes, code="TL902"), Word("one", "two")]
    report = fixed("old\none\n")
    assert only(report) == b"old\ntwo\n"
    assert [each.kind for each in report.diagnostics] == ["fix"]


def test_a_fix_that_changes_nothing_is_dropped(rules: list[Word]) -> None:
    rules.append(Word("old", "old"))
    report = fixed("old\n")
    assert report.files == ()
    assert "changes nothing" in report.diagnostics[0].message


def test_a_fix_that_the_encoding_cannot_hold_is_dropped(rules: list[Word]) -> None:
    rules.append(Word("old", "'\u20ac'"))
    report = fixed(b"# coding: latin-1\nold\n")
    assert report.files == ()
    assert "iso8859-1" in report.diagnostics[0].message


def test_a_fix_that_changes_the_encoding_is_dropped(rules: list[Word]) -> None:
    rules.append(Word("latin-1", "utf-8"))
    report = fixed(b"# coding: latin-1\n")
    assert report.files == ()
    assert len(report.diagnostics) == 1


def test_an_encoding_that_does_not_come_back_the_same_is_left_alone(rules: list[Word]) -> None:
    rules.append(Word("old", "new"))
    report = fixed(b"# coding: utf-7\nold = '+AGE-'\n")
    assert report.files == ()
    assert "utf-7" in report.diagnostics[0].message


# writing -------------------------------------------------------------------------------------


def a_file(path: Path, before: bytes = b"old\n", after: bytes = b"new\n") -> FixedFile:
    return FixedFile(str(path), before, after, ())


def test_files_are_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"old\n")
    assert fixer.apply([a_file(tmp_path / "a.py")]) == ()
    assert (tmp_path / "a.py").read_bytes() == b"new\n"


def test_writing_removes_the_draft_of_a_run_that_was_killed(tmp_path: Path) -> None:
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    for folder in (tmp_path / "here", tmp_path / "elsewhere"):
        folder.mkdir()
        (folder / f".torchlint-{killed.pid}-a1_b2c3d.draft").write_bytes(b"half")
    (tmp_path / "here" / "a.py").write_bytes(b"old\n")
    assert fixer.apply([a_file(tmp_path / "here" / "a.py")]) == ()
    assert [each.name for each in (tmp_path / "here").iterdir()] == ["a.py"]
    assert len([*(tmp_path / "elsewhere").iterdir()]) == 1


def test_files_that_cannot_be_written_do_not_keep_the_others_back(tmp_path: Path) -> None:
    names = ["changed.py", "read_only.py", "written.py"]
    for name in names:
        (tmp_path / name).write_bytes(b"old\n")
    (tmp_path / "changed.py").write_bytes(b"somebody else's\n")
    (tmp_path / "read_only.py").chmod(0o400)
    gone = tmp_path / "gone" / "a.py"
    files = [a_file(tmp_path / name) for name in names[:2]]
    failed = fixer.apply([*files, a_file(gone), a_file(tmp_path / "written.py")])
    assert [(Path(each.path).name, each.kind) for each in failed] == [
        ("changed.py", "write"),
        ("read_only.py", "write"),
        ("a.py", "write"),
    ]
    assert (tmp_path / "changed.py").read_bytes() == b"somebody else's\n"
    assert (tmp_path / "read_only.py").read_bytes() == b"old\n"
    assert (tmp_path / "written.py").read_bytes() == b"new\n"


def test_a_file_with_two_names_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"old\n")
    (tmp_path / "b.py").symlink_to("a.py")
    assert fixer.apply([a_file(tmp_path / "a.py"), a_file(tmp_path / "b.py")]) == ()
    assert (tmp_path / "b.py").is_symlink()


# the diff ------------------------------------------------------------------------------------


def git(folder: Path, *words: str, text: bytes = b"") -> None:
    command = ["git", "-c", "core.autocrlf=false", *words]
    subprocess.run(command, cwd=folder, input=text, check=True, capture_output=True)


def assert_git_applies(folder: Path, files: Iterable[FixedFile]) -> None:
    diff = b""
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.before)
        diff += fixer.unified_diff(file)
    git(folder, "init", "-q", ".")
    git(folder, "apply", "--check", text=diff)
    git(folder, "apply", text=diff)
    for file in files:
        assert (folder / file.path).read_bytes() == file.after, file


def test_a_diff_is_made_to_the_files_of_the_folder_where_git_runs(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_bytes(b"old\n")
    diff = fixer.unified_diff(FixedFile("a.py", b"old\n", b"new\n", ()))
    git(tmp_path / "sub", "apply", text=diff)
    assert (tmp_path / "sub" / "a.py").read_bytes() == b"new\n"


CONTENTS = {
    "one line": (b"old\n", b"new\n"),
    "carriage returns and newlines": (b"a\r\nold\r\nb\r\n", b"a\r\nnew\r\nb\r\n"),
    "only carriage returns": (b"a\rold\rb\r", b"a\rnew\rb\r"),
    "no final newline before": (b"a\nold", b"a\nnew\n"),
    "no final newline after": (b"a\nold\n", b"a\nnew"),
    "no final newline at all": (b"a\nb\nold\nc", b"a\nb\nnew\nc"),
    "from nothing": (b"", b"new\n"),
    "to nothing": (b"old\n", b""),
    "bytes of any encoding": (b"\xe9\xff\nold\x0c\xe9\n", b"\xe9\xff\nnew\x0c\xe9\n"),
    "lines that git does not see": (
        "a\u2028b\x0bc\nold\n".encode(),
        "a\u2028b\x0bc\nnew\n".encode(),
    ),
    "a line that looks like a diff": (b"-- a\n++ b\nold\n", b"-- a\n++ b\n++ c\n"),
    "two hunks": (b"old\n" + b"x\n" * 7 + b"old\n", b"new\n" + b"x\n" * 7 + b"new\n"),
    "one hunk": (b"old\n" + b"x\n" * 6 + b"old\n", b"new\n" + b"x\n" * 6 + b"new\n"),
}


@pytest.mark.parametrize(("before", "after"), CONTENTS.values(), ids=CONTENTS)
def test_git_applies_the_diff(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert_git_applies(tmp_path, [FixedFile("src/a.py", before, after, ())])


def test_git_applies_the_diff_of_files_with_odd_names(tmp_path: Path) -> None:
    names = [
        "a b.py",
        ' "q".py',
        "new\nline.py",
        "tab\t.py",
        "é.py",
        "back\\slash.py",
        "b/ c/d .py",
        "[x].py",
        "\x1b[31m.py",
    ]
    assert_git_applies(tmp_path, [FixedFile(name, b"old\n", b"new\n", ()) for name in names])


def test_git_applies_the_diff_of_any_change(tmp_path: Path) -> None:
    chance = random.Random(0)

    def lines() -> list[bytes]:
        return [
            chance.choice([b"a\n", b"b\n", b"c\r\n", b"\n"]) for _ in range(chance.randrange(40))
        ]

    files = []
    for number in range(200):
        before = lines()
        after = list(before)
        for _ in range(chance.randrange(1, 4)):
            here = chance.randrange(len(after) + 1)
            after[here : here + chance.randrange(3)] = lines()[: chance.randrange(4)]
        old, new = b"".join(before), b"".join(after)
        cut = chance.choice([0, 0, 1])
        old, new = old[: len(old) - cut], new[: len(new) - chance.choice([cut, 0])]
        if old != new:
            files.append(FixedFile(f"{number}.py", old, new, ()))
    assert len(files) > 100
    assert_git_applies(tmp_path, files)


def test_the_diff_has_three_lines_around_a_change() -> None:
    before = b"".join(b"%d\n" % number for number in range(1, 21))
    file = FixedFile("./src/a.py", before, before.replace(b"10\n", b"ten\n"), ())
    assert fixer.unified_diff(file).decode() == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("one hunk", ["@@ -1,8 +1,8 @@"]),
        ("two hunks", ["@@ -1,4 +1,4 @@", "@@ -6,4 +6,4 @@"]),
        ("from nothing", ["@@ -0,0 +1 @@"]),
        ("to nothing", ["@@ -1 +0,0 @@"]),
    ],
)
def test_changes_share_a_hunk_if_their_surroundings_meet(name: str, headers: list[str]) -> None:
    diff = fixer.unified_diff(FixedFile("a.py", *CONTENTS[name], ())).decode()
    assert re.findall("(?m)^@@.*", diff) == headers


def test_a_file_that_is_the_same_has_no_diff() -> None:
    assert fixer.unified_diff(FixedFile("a.py", b"a\n", b"a\n", ())) == b""


def test_names_are_quoted_as_git_quotes_them() -> None:
    diff = fixer.unified_diff(FixedFile('é"\n.py', b"", b"a\n", ()))
    assert diff.split(b"\n")[0] == rb'--- "a/\303\251\"\n.py"'
    spaced = fixer.unified_diff(FixedFile(os.path.join("a b", "c.py"), b"", b"a\n", ()))
    assert spaced.split(b"\n")[0] == b"--- a/a b/c.py\t"
