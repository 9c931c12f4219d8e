"""What holds for every file whatsoever when it is checked and when it is fixed.

Each case is plain data: `files` are what it puts into a folder, and `hold` raises where something
does not hold.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from tests.fuzz.contents import contents
from torchlint.__main__ import run
from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.files.reading import SourceError, decode
from torchlint.finding import Applicability
from torchlint.fixes.fixer import apply, fix_targets
from torchlint.project.target import Target
from torchlint.silence.tiers import Wanted
from torchlint.source.deep_stack import with_deep_stack
from torchlint.source.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from torchlint.finding import Diagnostic, Edit, Finding, Position
    from torchlint.fixes.fixer import FixedFile, FixReport

_FILE: Final = "train.py"
_CRASHED: Final = frozenset({"rule", "fix", "worker", "write"})
_OF_ITS_ENCODING: Final = "Text in "
"""The only thing that may keep a fix from a file, if its encoding does not give it back."""
_FORMATS: Final = ("text", "concise", "json", "github")
_VERSIONS: Final = ((1, 0), (1, 13), (2, 1), (2, 13))


@dataclass(frozen=True)
class Checked:
    """A file that is checked."""

    data: bytes
    output_format: str
    named: bool
    torch: tuple[int, int]

    @property
    def files(self) -> Mapping[str, bytes]:
        return {_FILE: self.data}

    def hold(self, folder: Path) -> None:
        path = str(folder / _FILE)
        target = Target(path, Selection(), self.torch, self.data, named=self.named)
        report = check([target])
        assert_nothing_crashed(report.diagnostics)
        assert list(report.findings) == sorted(report.findings, key=lambda each: each.sort_key)
        for finding in report.findings:
            assert_inside(finding, self.data)
        assert check([target]) == report, "another check says something else"
        words = ["check", "--isolated", "--no-cache", "--jobs", "1", "--hints", "--pedantic"]
        words += ["--target-torch", "{}.{}".format(*self.torch)]
        code, _ = said([*words, "--output-format", self.output_format, path])
        assert code in (0, 1, 2)
        if not report.diagnostics and self.named:
            assert code == (1 if problems(report.findings) else 0)


@dataclass(frozen=True)
class Fixed:
    """A file that is fixed."""

    data: bytes
    unsafe: bool

    @property
    def files(self) -> Mapping[str, bytes]:
        return {_FILE: self.data}

    def hold(self, folder: Path) -> None:
        path = folder / _FILE
        target = Target(str(path), Selection(), (2, 13))
        report = self._fix(target)
        assert apply(report.files) == ()
        if not report.files:
            assert path.read_bytes() == self.data
            return
        (file,) = report.files
        assert parses(self.data), "a file that does not parse was changed"
        assert file.before == self.data
        assert path.read_bytes() == file.after == by_hand(target, file)
        assert self.unsafe or all(_is_safe(finding) for finding in file.applied)
        assert parses(file.after), "the result does not parse"
        assert compiles(file.after) or not compiles(self.data), "the result does not compile"
        assert not self._fix(target).files, "another fix changes it again"

    def _fix(self, target: Target) -> FixReport:
        report = fix_targets([target], unsafe=self.unsafe, wanted=Wanted(hints=True, pedantic=True))
        assert_nothing_crashed(
            each
            for each in report.diagnostics
            if not each.message.startswith(_OF_ITS_ENCODING) or comes_back(self.data)
        )
        return report


def checked(texts: Sequence[str]) -> st.SearchStrategy[Checked]:
    return st.builds(
        Checked,
        contents(texts),
        st.sampled_from(_FORMATS),
        st.booleans(),
        st.sampled_from(_VERSIONS),
    )


def fixed(texts: Sequence[str]) -> st.SearchStrategy[Fixed]:
    return st.builds(Fixed, contents(texts), st.booleans())


# what has to hold ----------------------------------------------------------------------------


def assert_nothing_crashed(diagnostics: Iterable[Diagnostic]) -> None:
    crashed = [each for each in diagnostics if each.kind in _CRASHED]
    assert not crashed, crashed


def assert_inside(finding: Finding, data: bytes) -> None:
    text, _ = text_of(data)
    edits = finding.fix.edits if finding.fix else ()
    for start, end in ((finding.start, finding.end), *((edit.start, edit.end) for edit in edits)):
        assert offset(text, start) <= offset(text, end), finding
    for related in finding.related:
        offset(text, related.position)


def problems(findings: Iterable[Finding]) -> int:
    return sum(finding.tier.value != "hint" for finding in findings)


def parses(data: bytes) -> bool:
    try:
        source = decode(_FILE, data)
        with_deep_stack(lambda: parse(source))
    except SourceError:
        return False
    return True


def compiles(data: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with_deep_stack(lambda: compile(data, _FILE, "exec", dont_inherit=True))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True


def said(words: list[str]) -> tuple[int, str]:
    """What a command line exits with and says; an exception that it does not expect leaves."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    with redirect_stdout(stream), redirect_stderr(stream):
        code = run([*words, "--debug"])
        sys.stdout.flush()
    stream.seek(0)
    text = stream.read()
    assert "torchlint failed" not in text, text
    assert "Traceback" not in text, text
    return code, text


def _is_safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


# fixes by hand -------------------------------------------------------------------------------


def by_hand(target: Target, file: FixedFile) -> bytes:
    """The file with the same fixes, made here round by round and in another way."""
    data, left = file.before, list(file.applied)
    while left:
        known = set(check([target._replace(data=data)]).findings)
        now = 0
        while now < len(left) and left[now] in known and _apart(_edits(left[: now + 1])):
            now += 1
        assert now, f"no check asks for this fix: {left[0]}"
        data = _edited(data, _edits(left[:now]))
        left = left[now:]
    return data


def _edits(findings: Iterable[Finding]) -> list[Edit]:
    """The edits of all their fixes from the top of the file down, shared ones once."""
    edits = {edit: None for finding in findings if finding.fix for edit in finding.fix.edits}
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def _apart(edits: Sequence[Edit]) -> bool:
    """Whether they can be made together; what is inserted at one place must be whole lines."""
    return all(
        one.end <= other.start and (one.start < other.end or _are_lines(one, other))
        for one, other in pairwise(edits)
    )


def _are_lines(*edits: Edit) -> bool:
    return all(edit.content.endswith(("\n", "\r")) for edit in edits)


def _edited(data: bytes, edits: Sequence[Edit]) -> bytes:
    text, encoding = text_of(data)
    for edit in reversed(edits):
        text = text[: offset(text, edit.start)] + edit.content + text[offset(text, edit.end) :]
    return text.encode(encoding)


def text_of(data: bytes) -> tuple[str, str]:
    """The text as Python reads it, with its own line ends, and the encoding."""
    lines = iter(data.splitlines(keepends=True))
    encoding, _ = tokenize.detect_encoding(lambda: next(lines, b""))
    return data.decode(encoding), encoding


def comes_back(data: bytes) -> bool:
    """Whether the text is the same bytes again in the encoding of the file."""
    text, encoding = text_of(data)
    return text.encode(encoding) == data


def offset(text: str, position: Position) -> int:
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    assert 1 <= position.row <= len(lines), position
    assert 1 <= position.column <= len(lines[position.row - 1].rstrip("\r\n")) + 1, position
    return sum(map(len, lines[: position.row - 1])) + position.column - 1
