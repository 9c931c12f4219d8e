"""Files of the repository on the site: some as pages, others as listings if a page links to them.
A page may link to them as it would on a code host, relative to its own place."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

import generated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES: Final = {
    "README.md": "repository.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Pages outside docs/, and their place on the site."""
_ORIGINS: Final = {site: path for path, site in PAGES.items()}
_FENCED: Final = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ \t]*$", re.DOTALL | re.M)
_LINK: Final = re.compile(r"((?:\.py`?)?\]\()([^)\s#]+)(#[^)\s]*)?(?=[)\s])")
"""A link: its start, which tells whether its text names a Python file; its target; its anchor."""
_LANGUAGES: Final = {".py": "python", ".sh": "bash", ".json": "json", ".toml": "toml"}


def pages(root: Path) -> dict[str, str]:
    """The pages outside docs/, by their place on the site."""
    return {site: (root / path).read_text("utf-8") for path, site in PAGES.items()}


def linked_sources(root: Path, uri: str, text: str) -> dict[str, str]:
    """A listing of each file of the repository that a page links to and that is not a page itself.

    Args:
        uri: the page's place on the site.
        text: the page.
    """
    found = {}
    for part, fenced in _parts(text):
        for match in () if fenced else _LINK.finditer(part):
            path = _target(root, uri, match[2])
            if path is not None and (place := _on_site(path, match[1])).startswith("sources/"):
                found[place] = _listing(path, (root / path).read_text("utf-8"))
    return found


def with_site_links(root: Path, uri: str, text: str) -> str:
    """The page with its links pointing to the site's copies of their files."""

    def led(match: re.Match[str]) -> str:
        path = _target(root, uri, match[2])
        if path is None:
            return match[0]
        place = _on_site(path, match[1])
        # A listing has none of the headings of its file.
        anchor = "" if place.startswith("sources/") else match[3] or ""
        return match[1] + posixpath.relpath(place, posixpath.dirname(uri) or ".") + anchor

    return "".join(part if fenced else _LINK.sub(led, part) for part, fenced in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in order, and whether each part is a fenced block."""
    end = 0
    for match in _FENCED.finditer(text):
        yield text[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield text[end:], False


def _target(root: Path, uri: str, link: str) -> str | None:
    """The file of the repository that a link points to; None for pages and addresses."""
    if ":" in link:
        return None
    origin = _ORIGINS.get(uri, f"docs/{uri}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    if path.startswith("docs/") and origin.startswith("docs/"):
        return None
    return path if path in generated.origins() or (root / path).is_file() else None


def _on_site(path: str, start: str) -> str:
    """The place of a file on the site: its page, or its listing if the link asks for the code."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    page = PAGES.get(path) or (generated.origins().get(path) if start == "](" else None)
    return page or f"sources/{path}.md"


def _listing(path: str, text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    language = _LANGUAGES.get(posixpath.splitext(path)[1], "text")
    return (
        "---\nsearch:\n  exclude: true\n---\n"
        f"# `{path}`\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"
    )
