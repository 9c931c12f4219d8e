"""Text from checked files, escaped for XML and HTML."""

from __future__ import annotations

from xml.sax.saxutils import escape

from torchlint.report.terminal.safe_text import visible


def markup(text: str) -> str:
    """One line for an element or an attribute in double quotes. It is escaped, with invisible and
    forbidden characters written out, and in ASCII, so that any encoding of the output will do."""
    escaped = escape(visible(text), {'"': "&quot;"})
    return escaped.encode("ascii", "xmlcharrefreplace").decode("ascii")
