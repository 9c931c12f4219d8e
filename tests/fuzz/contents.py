"""The bytes of a file for fuzzing: programs in every encoding, and bytes that are not a program."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from tests.fuzz.programs import grammatical, odd, piled_up, tampered, training

if TYPE_CHECKING:
    from collections.abc import Sequence

_CODECS: Final = (
    "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-7", "shift_jis", "gb18030",
    "euc-kr", "iso2022_jp", "big5", "koi8-r", "cp037", "ascii", "utf-8-sig", "unicode_escape",
    "raw_unicode_escape", "idna", "punycode",
)  # fmt: skip
_COOKIES: Final = (
    "# -*- coding: {} -*-",
    "#!/usr/bin/env python\n# vim: set fileencoding={} :",
    "\f# coding={}",
    "import os\n# coding: {}",
    "",
)
_NO_CODEC: Final = ("hex", "rot13", "undefined", "nothing", "utf-8-", "mbcs", "zip")
_ENDS: Final = ("\n", "\r\n", "\r")


def contents(texts: Sequence[str]) -> st.SearchStrategy[bytes]:
    """What a file may hold.

    Args:
        texts: real programs to tamper with.
    """
    programs = st.one_of(grammatical(), odd(), piled_up(), *[tampered(texts)] * 4)
    return st.one_of(
        programs.map(_in_utf_8),
        programs.map(_in_utf_8),
        programs.map(_in_utf_8),
        st.builds(encoded, programs, **_STYLES),
        st.one_of(st.binary(max_size=300), st.text(max_size=100).map(_in_utf_8)).flatmap(
            _somewhere
        ),
    )


def _in_utf_8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def encoded(
    text: str, codec: str, cookie: str, *, ends: Sequence[str], bom: bool, last: bool, nul: bool
) -> bytes:
    """A program in some encoding, which its cookie may or may not name.

    Args:
        ends: the line ends, in turn.
        bom: begin with the byte order mark of UTF-8.
        last: keep the last line end.
        nul: put a NUL byte behind it all.
    """
    lines = re.split(r"\r\n|\r|\n", f"{cookie.format(codec)}\n{text}" if cookie else text)
    pieces = [line + ends[number % len(ends)] for number, line in enumerate(lines)]
    whole = "".join(pieces) if last else "".join(pieces).rstrip("\r\n")
    try:
        data = whole.encode(codec, "replace")
    except (LookupError, ValueError):
        data = whole.encode("utf-8", "replace")
    return codecs.BOM_UTF8 * bom + data + b"\0" * nul


_STYLES: Final = {
    "codec": st.one_of(map(st.sampled_from, (["utf-8"], ["utf-8"], _CODECS, _NO_CODEC))),
    "cookie": st.sampled_from(_COOKIES),
    "ends": st.lists(st.sampled_from(_ENDS), min_size=1, max_size=3),
    "bom": st.integers(0, 3).map(lambda number: number == 3),
    "last": st.booleans(),
    "nul": st.integers(0, 9).map(lambda number: number == 9),
}


def _somewhere(data: bytes) -> st.SearchStrategy[bytes]:
    """Bytes alone, or within a training script."""
    script = training().encode()
    return st.integers(-1, len(script)).map(
        lambda place: data if place < 0 else script[:place] + data + script[place:]
    )
