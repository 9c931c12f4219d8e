"""Text from checked files as it may stand in XML and HTML."""

from __future__ import annotations

from xml.sax.saxutils import escape

from torchlint.report.terminal.safe_text import visible


def markup(text: str) -> str:
    """One line for an element or an attribute in double quotes: escaped, what is hidden or not
    allowed in XML written out, and in ASCII, whatever encoding standard output has."""
    escaped = escape(visible(text), {'"': "&quot;"})
    return escaped.encode("ascii", "xmlcharrefreplace").decode("ascii")
