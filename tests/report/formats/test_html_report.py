from __future__ import annotations

import html as stdlib_html
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

from tests.notebook_files import notebook
from torchlint.finding import (
    Applicability,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Position,
    Related,
    Tier,
)
from torchlint.report.formats import html
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.report.terminal.safe_text import visible
from torchlint.silence.tiers import Shown

MakeFinding = Callable[..., Finding]
SOURCE = "import torch\n\nfor x in y:\n    loss.item()\n    z = 1\n\nb = 2\n" + "\n" * 9 + "c = 3\n"
VOID = {"meta"}
KNOWN = set(
    "html head meta title style body header main footer section article details summary "
    "h1 h2 h3 p strong ul li div table thead tbody tr th td a span code pre mark".split()
)


class Page(HTMLParser):
    """The page as a browser reads it, in the little HTML that it is written in."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        assert text.isascii()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.source = text
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        assert tag in KNOWN
        found = dict(attrs)
        assert not any(name.startswith("on") or name in ("src", "style") for name in found)
        self.links += [found["href"] or ""] if "href" in found else []
        self.ids += [found["id"] or ""] if "id" in found else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[str]:
        return [text for where, text in self.texts if where == tag]

    @property
    def text(self) -> str:
        return "".join(text for where, text in self.texts if where != "style")


def page(
    *findings: Finding,
    diagnostics: Sequence[Diagnostic] = (),
    hidden: tuple[tuple[str, int], ...] = (),
    source: str = SOURCE,
) -> Page:
    texts = {finding.path: source.encode() for finding in findings}
    shown = Shown(findings, hidden)
    return Page("\n".join(html.render(shown, diagnostics, Excerpts(texts), "Found `it`.")))


def fixed(finding: Finding, *edits: tuple[int, int, int, int, str]) -> Finding:
    made = tuple(
        Edit(Position(row, column), Position(last, end), content)
        for row, column, last, end, content in edits
    )
    return finding._replace(fix=Fix(Applicability.UNSAFE, "Read it `after`", made))


def test_a_page_loads_nothing_and_runs_nothing(make_finding: MakeFinding) -> None:
    found = page(make_finding(row=4, fix=Applicability.SAFE))
    assert "script" not in found.source
    assert "url(" not in found.source
    assert "default-src 'none'" in found.source
    assert not any("://" in link for link in found.links)


def test_a_page_fits_a_telephone_and_the_dark() -> None:
    source = page().source
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in source
    assert "@media (prefers-color-scheme: dark)" in source


def test_a_finding_has_its_source_with_the_place_marked(make_finding: MakeFinding) -> None:
    found = page(
        make_finding(
            row=4,
            end=(4, 16),
            message="`.item()` waits.",
            scope="Trainer.step",
            withheld="it is `compared`",
            related=(Related("main.py", Position(40, 9), "the loop"),),
        )
    )
    assert found.all("mark") == ["loss.item()"]
    # The blank line above stays out, and so does the indentation that all lines have.
    assert "3  for x in y:\n4      loss.item()\n5      z = 1" in found.text
    assert "4:5 TL201 item-in-step-loop in Trainer.step" in found.text
    assert '<span class="row">2</span>' not in found.source
    assert ".item()" in found.all("code")
    assert "see main.py:40:9: the loop" in found.text
    assert "no fix: it is compared" in found.text


def test_lines_of_megabytes_are_cut(make_finding: MakeFinding) -> None:
    long = "x" * 1_000_000
    found = page(make_finding(row=2, column=1, end=(2, 5)), source=f"{long}\nloss{long}\n{long}\n")
    assert found.all("mark") == ["loss"]
    assert len(found.source) < 20_000


def test_lines_are_shown_without_the_indentation_that_all_have(make_finding: MakeFinding) -> None:
    source = "\tif x:\n\t\tloss.item()\n\ty = 1\n"
    found = page(make_finding(row=2, column=3, end=(2, 14)), source=source)
    assert "1  if x:\n2      loss.item()\n3  y = 1" in found.text
    assert found.all("mark") == ["loss.item()"]
    # Tabs and blanks have nothing in common.
    found = page(
        make_finding(row=2, column=9, end=(2, 20)), source=" x\n\t\t\t\t\t\t\t\tloss.item()\n"
    )
    assert "1   x\n" in found.text


def test_a_fix_is_a_diff(make_finding: MakeFinding) -> None:
    found = page(
        fixed(make_finding(row=4), (4, 5, 4, 16, "loss"), (17, 1, 17, 6, "c = <4>\r\nd = 5"))
    )
    diff = found.source[found.source.index('<pre class="diff"') :]
    lines = re.findall(r'<span class="(\w+)">(.*?)</span>', diff)
    assert [(kind, stdlib_html.unescape(text)) for kind, text in lines if kind != "hunk"] == [
        ("removed", "-    loss.item()"),
        ("added", "+    loss"),
        ("removed", "-c = 3"),
        ("added", "+c = <4>"),
        ("added", "+d = 5"),
    ]
    assert "Unsafe fix: Read it after" in found.text


def test_a_fix_of_another_file_than_this_one_has_no_diff(make_finding: MakeFinding) -> None:
    found = page(fixed(make_finding(row=4), (99, 1, 99, 2, "x")))
    assert '<pre class="diff"' not in found.source
    assert "Unsafe fix: Read it after" in found.text


def test_rules_are_counted_and_files_linked(make_finding: MakeFinding) -> None:
    found = page(
        make_finding(path="a.py"),
        make_finding(path="b.py", fix=Applicability.SAFE),
        make_finding(path="b.py", code="TL101", name="dataloader-no-workers", tier=Tier.HINT),
        hidden=(("c.py", 2),),
    )
    assert found.all("td") == ["TL201", "2", "1", "TL101", "1", "0"]
    assert [link for link in found.links if link.startswith("#")] == ["#file-1", "#file-2"]
    assert found.ids == ["file-1", "file-2"]
    assert "at least 2 hints in 1 file (--hints shows all)" in found.text


def test_findings_of_one_loop_are_folded(make_finding: MakeFinding) -> None:
    found = page(*(make_finding(row=row, group="a") for row in (3, 4, 5)))
    assert found.source.count("<article>") == 1
    assert "also at 4:5, 5:5" in found.text


def test_errors_come_first() -> None:
    found = page(diagnostics=[Diagnostic("bad.py", "Not Python.", Position(2, 7))])
    assert "1 error" in found.all("strong")
    assert "bad.py:2:7 Not Python." in found.text
    assert "Found it." in found.text


def test_a_place_in_a_notebook_is_one_in_a_cell(make_finding: MakeFinding) -> None:
    source = notebook("import torch", "for x in y:\n    loss.item()").decode()
    start, end = Position(2, 5, 2), Position(2, 16, 2)
    first = Edit(Position(1, 1, 1), Position(1, 1, 1), "import os\n")
    fix = Fix(Applicability.SAFE, "Mend", (Edit(start, end, "loss"), first))
    finding = make_finding(path="a.ipynb")._replace(start=start, end=end, fix=fix)
    found = page(finding, source=source)
    assert "cell 2:2:5" in found.text
    assert "1  for x in y:\n2      loss.item()" in found.text
    assert found.all("mark") == ["loss.item()"]
    for line in ("+import os", "-    loss.item()", "+    loss"):
        assert f">{line}</span>" in found.source


def test_hostile_text_stays_text(make_finding: MakeFinding, hostile: str) -> None:
    finding = make_finding(
        path=hostile,
        row=1,
        column=1,
        message=hostile.replace("`", ""),
        scope=hostile,
        withheld=hostile,
        related=(Related(hostile, Position(1, 1), hostile),),
    )
    source = re.sub("[\x00\ud800-\udfff]", "", hostile) + "\n"
    mended = fixed(finding, (1, 1, 1, 2, hostile))
    diagnostics = [Diagnostic(hostile, hostile)]
    found = page(finding, mended, diagnostics=diagnostics, source=source)
    assert visible(hostile.replace("`", "")) in found.all("p")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066\ud800-\udfff]", found.text)
    assert len(found.source) < 400_000
