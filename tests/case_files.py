"""Reads case files: small programs with the findings that a rule must make as comments.

`tests/rules/cases/<rule_name>.py` holds the cases of one rule. A new case is a title and a few lines:

    # case: a loss in an f-string
    print(f"{loss.item():.3f}")  # TL201

A case says all that the rule finds: a finding without a comment fails, and so does a comment
without a finding. Everything is written in comments, so that a case file is Python.

Sections, each on a line of its own:

    # every program:             what all programs of the file begin with, such as imports
    # head: a training loop      what the cases below begin with, until the next head
    # head: none                 the cases below have no head
    # case: the behaviour [torch=1.10, path=tests/test_x.py]
    # file: helpers.py           a further file of this case, or of each case below the head

A head may end inside a block, such as a loop; its cases are then indented and go on in it.

Options, in brackets behind the title of a case or a head:

    path=model.py                what the program is called; `train.py` by default, and
                                 `train.ipynb` makes it a notebook of one cell
    torch=1.10                   the oldest torch that it must run with; 2.13 by default
    select=TL101 TL105           the rules that are on; by default the rule of the file
    require-reason               suppressions must give a reason
    bare                         the program, or the head, begins with nothing
    unread                       its words show already that it is not worth parsing

A finding is written at the end of the line that it starts on, and several of one line one after the
other. Its code and tier are always checked, and what else it says:

    # TL201 hint                 its tier, if it is not the default one: `hint`, `pedantic`
    # TL201 safe                 who may apply its fix: `safe`, `unsafe`, `suggest`
    # TL201 | no fix             it has no fix
    # TL201 | no fix: it grows   it has no fix, and these words are in the reason
    # TL201 | says: a sum … GPU  these words are in the message, others between them
    # TL201 | fix says: no bias  these words are in the message of the fix
    # TL201 | marks: f(x)        the text that it is on
    # TL201 | see: for x in y    the text that the first related place starts with
    # TL201 | see                it has no related place
    # TL201 | group: first       findings with the same word are one group, others are not

What the fix does to a line is written below that line. Where one line of a case says so, all of its
lines are checked, and a line without it must stay as it is:

    total += loss.item()  # TL201 unsafe
    # becomes: total += loss.detach()
    # added: total = float(total)
    # removed

Without these lines the fix is still made. In every case it must parse, remove its finding, need no
other fix after it, and change nothing when it is made again; `fix` without `--unsafe` must make the
safe fixes alone; and a finding without a fix must give a reason if its rule has fixes.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TIERS: Final = ("default", "hint", "pedantic")
APPLICABILITIES: Final = ("safe", "unsafe", "suggest")
DETAILS: Final = ("no fix", "says", "fix says", "marks", "see", "group")
OPTIONS: Final = ("path", "torch", "select", "require-reason", "bare", "unread")
_MARKER = re.compile(r"(\s*)# (every program|case|head|file|becomes|added|removed)(?:: ?(.*))?")
_FINDING = re.compile(r"\s*# (?=TL\d{3}\b)")
_OPTIONS = re.compile(r"(.*\S) \[(.*)\]")


class MalformedCaseError(Exception):
    """A case file does not say what to expect; the message starts with the file and line."""


class Expected(NamedTuple):
    """A finding that a case must have, as its comment describes it."""

    code: str
    tier: str
    applicability: str | None
    details: Mapping[str, str]


@dataclass(slots=True)
class Line:
    """A line of a program: its place in the case file, and what is expected of it."""

    where: str
    text: str
    expected: tuple[Expected, ...] = ()
    fixed: list[str] | None = None
    """What the fix leaves of the line and adds below it, if the case says so."""


Files = dict[str, list[Line]]
"""The lines of each file of a program by its path; the main file has no name yet."""
MAIN: Final = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One program, maybe of several files, and what a rule must say about it."""

    title: str
    where: str
    options: Mapping[str, str] = field(default_factory=dict)
    files: Files = field(default_factory=dict)

    def texts(self) -> dict[str, str]:
        return {path: _text(line.text for line in lines) for path, lines in self.files.items()}

    def expects(self) -> int:
        """How many findings."""
        return sum(len(line.expected) for lines in self.files.values() for line in lines)

    def fixed(self) -> dict[str, str] | None:
        """The files once they are fixed, if the case says what the fix does."""
        if all(line.fixed is None for lines in self.files.values() for line in lines):
            return None
        return {
            path: _text(
                text
                for line in lines
                for text in ([line.text] if line.fixed is None else line.fixed)
            )
            for path, lines in self.files.items()
        }


def read_cases(path: Path) -> list[Case]:
    """
    Raises:
        MalformedCaseError: the file is not Python, or a comment in it cannot be understood.
    """
    return parse_cases(path.read_text(encoding="utf-8"), path.name)


def parse_cases(text: str, name: str) -> list[Case]:
    """The cases of a file with this text.

    Raises:
        MalformedCaseError: the file is not Python, or a comment in it cannot be understood.
    """
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise MalformedCaseError(f"{name}:{error.lineno}: {error.msg}") from None
    parser = _Parser(name)
    for number, line in enumerate(text.splitlines(), start=1):
        parser.read(number, line)
    cases = parser.finished()
    titles: dict[str, Case] = {}
    for case in cases:
        if case.title in titles:
            first = titles[case.title].where
            raise MalformedCaseError(f"{case.where}: {first} has the same title")
        titles[case.title] = case
    return cases


class _Parser:
    """Puts each line of a case file where it belongs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._where = name
        self._every = Case("", "")
        self._head = Case("", "")
        self._cases: list[Case] = []
        self._open: Case | None = None
        self._file = MAIN

    def read(self, number: int, text: str) -> None:
        self._where = f"{self._name}:{number}"
        marker = _MARKER.fullmatch(text)
        if marker is None:
            self._add_line(text)
        elif marker[2] in ("becomes", "added", "removed"):
            self._add_fix(marker[2], marker[1] + (marker[3] or ""))
        else:
            self._start(marker[2], (marker[3] or "").strip())

    def finished(self) -> list[Case]:
        for case in self._cases:
            if not any(line.text.strip() for lines in case.files.values() for line in lines):
                raise MalformedCaseError(f"{case.where}: there is no program below the title")
        return [self._whole(case) for case in self._cases]

    def _whole(self, case: Case) -> Case:
        """The case with the head that it has taken along, and its main file under its name."""
        path = case.options.get("path", "train.py")
        return replace(case, files={each or path: case.files[each] for each in case.files})

    def _wrong(self, problem: str) -> MalformedCaseError:
        return MalformedCaseError(f"{self._where}: {problem}")

    def _start(self, kind: str, title: str) -> None:
        self._file = MAIN
        if kind == "file":
            if self._open is None or not title:
                raise self._wrong("a further file needs a case and a path")
            self._file = title
            self._open.files.setdefault(title, [])
        elif kind == "every program":
            self._every = self._open = Case("every program", self._where)
        elif kind == "head":
            title, options = self._options(title)
            self._head = Case(title, self._where, options)
            self._open = None if title == "none" else self._head
        else:
            if not title:
                raise self._wrong("a case needs a title that says what it holds")
            title, own = self._options(title)
            options = {**self._head.options, **own}
            files: Files = {}
            for part in () if "bare" in own else (self._every, self._head)["bare" in options :]:
                for path, lines in part.files.items():
                    files[path] = files.get(path, []) + [replace(each) for each in _stripped(lines)]
            self._open = Case(title, self._where, options, files)
            self._cases.append(self._open)

    def _options(self, title: str) -> tuple[str, dict[str, str]]:
        match = _OPTIONS.fullmatch(title)
        if match is None:
            return title, {}
        pairs = [each.strip().partition("=") for each in match[2].split(",")]
        for key, _, _ in pairs:
            if key not in OPTIONS:
                raise self._wrong(f"`{key}` is not an option: {', '.join(OPTIONS)}")
        return match[1], {key: value for key, _, value in pairs}

    def _add_line(self, text: str) -> None:
        if self._open is None:
            if text.strip() and not text.startswith("#"):
                raise self._wrong("code needs a `# case:`, `# head:` or `# every program:` above")
            return
        code, *comments = _FINDING.split(text)
        if comments and not code.strip():
            raise self._wrong("an expected finding is written at the end of its line")
        expected = tuple(self._expected(comment) for comment in comments)
        self._open.files.setdefault(self._file, []).append(Line(self._where, code, expected))

    def _expected(self, comment: str) -> Expected:
        first, *rest = (part.strip() for part in comment.split(" | "))
        code, *words = first.split()
        details: dict[str, str] = {}
        for part in rest:
            key, _, value = part.partition(": ")
            if key not in DETAILS or not (value or key in ("no fix", "see")):
                raise self._wrong(f"`{part}` is not one of {', '.join(DETAILS)} with its words")
            details[key] = value
        tiers = [word for word in words if word in TIERS]
        fixes = [word for word in words if word in APPLICABILITIES]
        if len(tiers) > 1 or len(fixes) > 1 or len(words) > len(tiers) + len(fixes):
            raise self._wrong(f"`{first}` is not a code, a tier and who may apply the fix")
        return Expected(code, *(tiers or TIERS[:1]), *(fixes or [None]), details)

    def _add_fix(self, kind: str, text: str) -> None:
        lines = self._open.files.get(self._file) if self._open else None
        if not lines:
            raise self._wrong(f"`{kind}` needs a line of the program above it")
        line = lines[-1]
        if kind == "added":
            line.fixed = [*([line.text] if line.fixed is None else line.fixed), text]
        elif line.fixed is not None:
            raise self._wrong("the line above already changes")
        else:
            line.fixed = [text] if kind == "becomes" else []


def _stripped(lines: list[Line]) -> list[Line]:
    """The lines without blank ones at their ends."""
    full = [index for index, line in enumerate(lines) if line.text.strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def _text(lines: Iterator[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"
