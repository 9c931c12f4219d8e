"""Reads the pages of reports strictly."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from enum import Enum
from html.parser import HTMLParser
from typing import Any

HOSTILE = (
    "</script></style></title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e\x1b"
)
VOID = {"meta", "br", "line", "rect", "circle", "polyline", "polygon", "path"}
TAGS = VOID | set(
    """a article b body caption circle code dd details div dl dt figcaption figure footer g h1 h2 h3
    head header html li main ol p pre script section small span strong style summary svg table tbody
    td text th thead title tr ul""".split()
)


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in its turn."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[str, str]] = []
        self.markup = markup
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} repeats an attribute"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append((self.open[-1] if self.open else "", data))

    def text(self) -> str:
        shown = (data for tag, data in self.words if tag not in ("script", "style"))
        return " ".join(" ".join(shown).split())

    def data(self) -> Any:
        (text,) = (data for tag, data in self.words if tag == "script")
        assert not re.search("[<>&]", text)
        return json.loads(text)

    def loads_nothing(self) -> None:
        """Nothing comes from anywhere else, and a policy says so."""
        style = "".join(data for tag, data in self.words if tag == "style")
        assert not re.search(r"url\(|@import|@font-face|expression\(", style)
        sources = "src srcset action formaction data poster background xlink:href"
        for name in sources.split():
            assert self.values(name) == []
        assert all(link.startswith("#") for link in self.values("href"))
        assert not any("url(" in value for value in self.values("style"))
        assert "http:" not in self.markup
        assert "https:" not in self.markup
        assert self.values("http-equiv") == ["Content-Security-Policy"]
        assert any(each.startswith("default-src 'none'") for each in self.values("content"))

    def values(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.elements if name in attrs]


def poisoned(value: Any) -> Any:
    """The value with hostile text in place of every text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return dataclasses.replace(
            value, **{f.name: poisoned(getattr(value, f.name)) for f in fields}
        )
    if isinstance(value, tuple):
        return tuple(poisoned(each) for each in value)
    if isinstance(value, Mapping):
        return {HOSTILE + key: poisoned(each) for key, each in value.items()}
    return HOSTILE if isinstance(value, str) and not isinstance(value, Enum) else value
