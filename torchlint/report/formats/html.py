"""Findings as one page for people: no network, no script, for phones and desktops.

All text from checked files goes through `markup`.
"""

from __future__ import annotations

import re
from difflib import unified_diff
from itertools import groupby
from typing import TYPE_CHECKING, Final

from torchlint.finding import Position, Tier
from torchlint.report.formats import statistics
from torchlint.report.formats.text import fix_tag, fold, hidden_hints
from torchlint.report.markup import markup
from torchlint.report.terminal.excerpt import parts
from torchlint.report.terminal.hunks import hunks
from torchlint.report.terminal.safe_text import plural, visible_path
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from torchlint.finding import Diagnostic, Finding
    from torchlint.report.terminal.excerpt import Excerpts
    from torchlint.silence.tiers import Shown

_AROUND: Final = 2
"""Lines of the file before and after that of the finding."""
_WIDTH: Final = 160
"""Characters of the line of a finding, cut around the place."""
_WIDEST: Final = 500
"""Characters of other lines: a file can be one line of megabytes, with a finding at every word."""
_FEW: Final = 12
"""The list of more files than this starts folded."""
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def render(
    shown: Shown, diagnostics: Sequence[Diagnostic], excerpts: Excerpts, sentence: str
) -> Iterator[str]:
    """The lines of the page, in ASCII.

    Args:
        sentence: what happened.
    """
    files = {
        path: list(findings)
        for path, findings in groupby(shown.findings, key=lambda finding: finding.path)
    }
    yield from _head()
    yield f'<header class="top">\n<h1>torchlint check</h1>\n<p class="said">{_prose(sentence)}</p>'
    yield from _errors(diagnostics)
    yield "</header>\n<main>"
    if files:
        yield from _rules(shown.findings)
        yield from _contents(files)
    for number, (path, findings) in enumerate(files.items(), start=1):
        yield f'<section id="file-{number}">\n<h2>{markup(visible_path(path))}</h2>'
        for first, others in fold(findings):
            yield from _finding(first, others, excerpts)
        yield "</section>"
    for line in hidden_hints(shown):
        yield f'<p class="soft">{markup(line)}</p>' if line else ""
    yield f"</main>\n<footer><p>torchlint {__version__}</p></footer>\n</body>\n</html>"


def _head() -> Iterator[str]:
    from importlib.resources import files

    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="referrer" content="no-referrer">'
    yield "<title>torchlint check</title>\n<style>"
    report = files("torchlint.report")
    for sheet in ("templates/look.css", "formats/page.css"):
        yield report.joinpath(sheet).read_text("ascii").rstrip()
    yield "</style>\n</head>\n<body>"


def _errors(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    if not diagnostics:
        return
    yield f'<div class="banner"><p><strong>{plural(len(diagnostics), "error")}</strong></p><ul>'
    for each in diagnostics:
        position = "" if each.position is None else f":{each.position}"
        place = markup(visible_path(each.path) + position)
        yield f"<li><code>{place}</code> {_prose(each.message)}</li>"
    yield "</ul></div>"


def _rules(findings: Sequence[Finding]) -> Iterator[str]:
    pages = {finding.code: _page(finding) for finding in findings}
    yield '<section>\n<h2>Rules</h2>\n<div class="scroll"><table>'
    yield "<thead><tr><th>Code</th><th>Rule</th><th>Findings</th><th>With a fix</th></tr></thead>"
    yield "<tbody>"
    for entry in statistics.counts(findings):
        code = str(entry["code"])
        yield (
            f'<tr><td class="code">{markup(code)}</td>'
            f"<td>{pages[code]}</td>"
            f'<td class="number">{entry["count"]}</td>'
            f'<td class="number">{entry["fixable"]}</td></tr>'
        )
    yield "</tbody></table></div>\n</section>"


def _page(finding: Finding) -> str:
    """The name of its rule, with where its page is."""
    name = markup(finding.name)
    if finding.url is None:
        return f'<span title="{markup(finding.help)}">{name}</span>'
    return f'<a href="{markup(finding.url)}">{name}</a>'


def _contents(files: Mapping[str, Sequence[Finding]]) -> Iterator[str]:
    if len(files) == 1:
        return
    state = " open" if len(files) <= _FEW else ""
    yield f'<details{state}>\n<summary>{plural(len(files), "file")}</summary>\n<ul class="files">'
    for number, (path, findings) in enumerate(files.items(), start=1):
        name = markup(visible_path(path))
        yield f'<li><a href="#file-{number}">{name}</a> <span>{len(findings)}</span></li>'
    yield "</ul>\n</details>"


def _finding(first: Finding, others: Sequence[Finding], excerpts: Excerpts) -> Iterator[str]:
    tier = "" if first.tier is Tier.DEFAULT else f'<span class="chip">{first.tier.value}</span>'
    tag = fix_tag(first).strip("[]")
    fix = f'<span class="chip fix">{tag}</span>' if tag else ""
    scope = (
        f' <span class="soft">in <code>{markup(first.scope)}</code></span>' if first.scope else ""
    )
    yield (
        f'<article>\n<h3><span class="place">{first.start}</span> {markup(first.code)} '
        f"{_page(first)}{scope} {tier}{fix}</h3>"
    )
    yield f"<p>{_prose(first.message)}</p>"
    yield from _excerpt(first, excerpts)
    for related in first.related:
        place = markup(f"{visible_path(related.path)}:{related.position}")
        yield f'<p class="soft">see <code>{place}</code>: {_prose(related.message)}</p>'
    yield from _fix(first, excerpts)
    if others:
        also = ", ".join(str(other.start) for other in others)
        yield f'<p class="soft">also at {also}</p>'
    yield "</article>"


def _excerpt(finding: Finding, excerpts: Excerpts) -> Iterator[str]:
    start, end = finding.start, finding.end
    around = range(start.row - _AROUND, start.row + _AROUND + 1)
    found = {row: excerpts.line(finding.path, row, start.cell) for row in around}
    lines = {row: line for row, line in found.items() if line is not None}
    if start.row not in lines:
        return
    said = [row for row, line in lines.items() if line.strip() or row == start.row]
    lines = {row: lines[row] for row in range(said[0], said[-1] + 1)}
    indent = min(_indent(lines.values()), start.column - 1)
    moved = [Position(each.row, max(1, each.column - indent)) for each in (start, end)]
    width = len(str(max(lines)))
    yield (
        '<pre class="source" tabindex="0"><code>'
        + "\n".join(
            f'<span class="row">{row:>{width}}</span>  '
            + (_marked(line[indent:], *moved) if row == start.row else _plain(line[indent:]))
            for row, line in lines.items()
        )
        + "</code></pre>"
    )


def _indent(lines: Iterable[str]) -> int:
    """How many blanks all lines begin with."""
    leads = {line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()}
    shortest = min(leads, key=len, default="")
    return len(shortest) if all(lead.startswith(shortest) for lead in leads) else 0


def _plain(line: str) -> str:
    line = line.rstrip()
    cut = line[:_WIDEST] + ("…" if len(line) > _WIDEST else "")
    return markup(cut.replace("\t", "    "))


def _marked(line: str, start: Position, end: Position) -> str:
    before, place, after = map(markup, parts(line, start, end, _WIDTH))
    return f"{before}<mark>{place}</mark>{after}"


def _fix(finding: Finding, excerpts: Excerpts) -> Iterator[str]:
    if finding.fix is None:
        if finding.withheld:
            yield f'<p class="soft">no fix: {_prose(finding.withheld)}</p>'
        return
    yield f"<p>{fix_tag(finding).strip('[]').capitalize()}: {_prose(finding.fix.message)}</p>"
    lines: list[str] = []
    changed = hunks(finding, excerpts)
    indent = _indent(line for hunk in changed for line in (*hunk.before, *hunk.after))
    for hunk in changed:
        before, after = ([line[indent:] for line in each] for each in (hunk.before, hunk.after))
        changes = list(unified_diff(before, after, n=1, lineterm=""))[2:]
        lines += (f'<span class="{_KINDS[each[0]]}">{_plain(each)}</span>' for each in changes)
    if lines:
        yield f'<pre class="diff" tabindex="0"><code>{"".join(lines)}</code></pre>'


_KINDS: Final = {"+": "added", "-": "removed", "@": "hunk", " ": "same"}


def _prose(text: str) -> str:
    """Markup of a sentence; text between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", markup(text))
