from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.finding import Applicability, Diagnostic, Finding
from torchlint.fixes import fixer
from torchlint.fixes.fixer import FixedFile, FixReport

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.project.target import Target
    from torchlint.silence.tiers import Wanted

MakeFinding = Callable[..., Finding]
Run = Callable[..., Any]
DIFF = b"--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old \xe9\r\n+new\n"


@dataclass
class Fixer:
    """Stands in for the fixer: set its report, read what it was asked."""

    report: FixReport
    targets: tuple[Target, ...] = ()
    unsafe: bool = False
    wanted: Wanted | None = None
    written: bool = False
    trouble: tuple[Diagnostic, ...] = ()

    def fix_targets(
        self,
        targets: Sequence[Target],
        *,
        unsafe: bool,
        pool: object,
        wanted: Wanted,
        progress: object,
    ) -> FixReport:
        self.targets, self.unsafe, self.wanted = tuple(targets), unsafe, wanted
        return self.report

    def apply(self, files: Sequence[FixedFile]) -> tuple[Diagnostic, ...]:
        self.written = files is self.report.files
        return self.trouble


@pytest.fixture
def fixes(monkeypatch: pytest.MonkeyPatch, make_finding: MakeFinding, here: Path) -> Fixer:
    (here / "train.py").write_bytes(b"old \xe9\r\n")
    file = FixedFile("train.py", b"old \xe9\r\n", b"new\n", (make_finding(),))
    left = make_finding(row=9, withheld="the value is compared")
    unsafe = make_finding(row=8, fix=Applicability.UNSAFE)
    fake = Fixer(FixReport((file,), (left, unsafe), ()))
    monkeypatch.setattr(fixer, "fix_targets", fake.fix_targets)
    monkeypatch.setattr(fixer, "unified_diff", lambda file: DIFF)
    monkeypatch.setattr(fixer, "apply", fake.apply)
    return fake


@pytest.fixture
def nothing(fixes: Fixer) -> Fixer:
    fixes.report = FixReport((), (), ())
    return fixes


def test_a_diff_is_printed_byte_for_byte_and_is_1(torchlint: Run, fixes: Fixer) -> None:
    outcome = torchlint("fix", "train.py")
    assert (outcome.code, outcome.out, fixes.written) == (1, DIFF, False)
    assert outcome.err == (
        "train.py:9:5: TL201 item-in-step-loop: no fix: the value is compared\n"
        "Would fix 1 problem in 1 file (1 more with `--unsafe`); 1 file checked. "
        "Write with `--apply`.\n"
    )


def test_apply_writes_prints_nothing_and_is_0(torchlint: Run, fixes: Fixer) -> None:
    outcome = torchlint("fix", "--apply")
    assert (outcome.code, outcome.out, fixes.written) == (0, b"", True)
    assert "Fixed 1 problem in 1 file" in outcome.err


def test_a_file_that_cannot_be_written_is_2_and_not_counted(torchlint: Run, fixes: Fixer) -> None:
    fixes.trouble = (Diagnostic("train.py", "Read-only.", kind="write"),)
    outcome = torchlint("fix", "--apply")
    assert outcome.code == 2
    assert "train.py: error: Read-only.\n" in outcome.err
    assert "Nothing fixed (1 fixable with `--unsafe`); 1 file checked, 1 error." in outcome.err


def test_what_a_preview_leaves_alone_stays_where_it_is(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text(
        "import torch\n"
        "hits = 0\n"
        "for x in loader:\n"
        "    loss = net(x.cuda())\n"
        "    loss.backward()\n"
        "    hits += (loss > 0).sum().item()\n"
        "print(hits)\n"
        "for x in loader:\n"
        "    loss = net(x.cuda())\n"
        "    loss.backward()\n"
        "    print(loss.item())\n"
    )
    preview = torchlint("fix", "--select", "TL201")
    assert "+hits = " in preview.text
    assert "train.py:11:" in preview.err
    applied = torchlint("fix", "--select", "TL201", "--apply")
    assert "train.py:12:" in applied.err


def test_nothing_to_fix_is_0(torchlint: Run, nothing: Fixer) -> None:
    outcome = torchlint("fix")
    assert (outcome.code, outcome.out) == (0, b"")
    assert outcome.err == "Nothing to fix; 1 file checked.\n"


def test_trouble_is_2_and_does_not_hide_the_diff(torchlint: Run, fixes: Fixer) -> None:
    outcome = torchlint("fix", "train.py", "nope.py")
    assert (outcome.code, outcome.out) == (2, DIFF)
    assert "nope.py: error: " in outcome.err


def test_the_words_reach_the_fixer(torchlint: Run, fixes: Fixer, rules: None) -> None:
    torchlint("fix", "--unsafe", "--hints", "--pedantic", "--select", "TL2", "--ignore", "TL201")
    assert fixes.unsafe
    assert fixes.wanted is not None
    assert (fixes.wanted.hints, fixes.wanted.pedantic) == (True, True)
    assert fixes.targets[0].selection.select == ("TL2",)
    assert fixes.targets[0].selection.ignore == ("TL201",)


def test_standard_input_becomes_a_diff(torchlint: Run, fixes: Fixer) -> None:
    outcome = torchlint("fix", "-", "--stdin-filename", "train.py", stdin=b"old")
    assert (outcome.code, outcome.out) == (1, DIFF)
    assert fixes.targets[0].data == b"old"


def test_standard_input_becomes_the_fixed_text(torchlint: Run, fixes: Fixer) -> None:
    outcome = torchlint("fix", "-", "--stdin-filename", "train.py", "--apply", stdin=b"old")
    assert (outcome.code, outcome.out, fixes.written) == (0, b"new\n", False)


def test_standard_input_without_a_fix_comes_back_unchanged(torchlint: Run, nothing: Fixer) -> None:
    data = b"old \xe9\r\n\x1b"
    outcome = torchlint("fix", "-", "--apply", stdin=data)
    assert (outcome.code, outcome.out) == (0, data)


def test_a_terminal_gets_a_harmless_diff(
    torchlint: Run, fixes: Fixer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"-old \\xe9\n" in torchlint("fix").out


def test_what_was_fixed_is_listed_on_request(torchlint: Run, fixes: Fixer) -> None:
    listed = "- train.py:\n    1 x TL201 (item-in-step-loop)\n\n"
    assert torchlint("fix", "--show-fixes", "--apply").err.startswith(f"Fixed:\n{listed}")
    would = torchlint("fix", "--show-fixes")
    assert (would.out, would.err[: len(listed) + 11]) == (DIFF, f"Would fix:\n{listed}")
    assert listed not in torchlint("fix").err


def test_what_could_not_be_written_is_not_listed(torchlint: Run, fixes: Fixer) -> None:
    fixes.trouble = (Diagnostic("train.py", "Read-only.", kind="write"),)
    assert "TL201 (" not in torchlint("fix", "--show-fixes", "--apply").err


def test_a_piped_diff_stays_a_patch_unless_colour_is_asked_for(
    torchlint: Run, fixes: Fixer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert torchlint("fix").out == DIFF
    assert b"\x1b[32m+new\x1b[0m" in torchlint("fix", "--color", "always").out
