"""Reading and decoding files."""

from __future__ import annotations

import codecs
import os
import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.files import reading as source
from torchlint.files.lines import LineIndex
from torchlint.files.reading import (
    SourceError,
    TooLargeError,
    decode,
    encode,
    read_bytes,
)
from torchlint.finding import Position

if TYPE_CHECKING:
    from pathlib import Path

UNUSUAL = {
    "latin-1": b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
    "latin-1 on the second line": b"#!/usr/bin/python\n# vim: fileencoding=latin-1 :\nx = '\xe9'\n",
    "latin-1 after a lone carriage return": b"#!python\r# coding: latin-1\rx = '\xe9'\r",
    "cp1252": b"# coding: cp1252\nx = '\x80'\n",
    "byte order mark": codecs.BOM_UTF8 + b"x = 1\n",
    "byte order mark and coding line": codecs.BOM_UTF8 + b"# coding: utf8\nx = '\xc3\xa9'\n",
    "utf-8-sig without the mark": b"# coding: utf-8-sig\nx = 1\n",
    "carriage return and newline": b"if x:\r\n    y\r\n",
    "carriage returns": b"x = 1\ry = 2\r",
    "mixed line ends": b"a\nb\r\nc\rd",
    "tabs": b"if x:\n\ty\n",
    "form feeds": b"\x0cx = 1\n\x0c\ny = 2\n",
    "no final newline": b"x = 1",
    "empty": b"",
    "only a byte order mark": codecs.BOM_UTF8,
    "only newlines": b"\n\r\n\n",
    "other line separators in a string": "x = '\u2028\x0b\x85'\n".encode(),
}


@pytest.mark.parametrize("data", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_files_come_back_byte_for_byte(data: bytes) -> None:
    source = decode("x.py", data)
    assert encode(source, source.text) == data


def test_text_has_no_byte_order_mark_and_its_own_line_ends() -> None:
    source = decode("x.py", codecs.BOM_UTF8 + b"a\r\nb\r")
    assert (source.text, source.bom, source.encoding) == ("a\r\nb\r", True, "utf-8")


def test_a_coding_line_counts_only_at_the_top() -> None:
    assert decode("x.py", b"x = 1\n# coding: latin-1\n").encoding == "utf-8"
    assert decode("x.py", b"x = 1 # coding: latin-1\n").encoding == "utf-8"
    assert decode("x.py", b"\n\n# coding: latin-1\n").encoding == "utf-8"


REFUSED = {
    "not the declared encoding": (b"# coding: ascii\nx = '\xe9'\n", Position(2, 6), "0xe9"),
    "no encoding declared": (b"a\r\nx = '\xe9'\n", Position(2, 6), "not UTF-8"),
    "column counts characters": ("é = '".encode() + b"\xff'", Position(1, 6), "0xff"),
    "unknown codec": (b"#\n# coding: klingon\n", Position(2, 11), "'klingon'"),
    "codec for bytes": (b"# coding: hex\n", Position(1, 11), "'hex'"),
    "codec for transformed text": (b"# coding: rot13\n", Position(1, 11), "'rot13'"),
    "codec that always fails": (b"# coding: undefined\n", Position(1, 11), "'undefined'"),
    "mark against coding line": (
        codecs.BOM_UTF8 + b"# coding: latin-1\n",
        Position(1, 11),
        "byte order mark says UTF-8",
    ),
    "NUL": (b"x = 1\ry = '\0'\n", Position(2, 6), "NUL"),
    "UTF-16": ("x = 1\n".encode("utf-16"), Position(1, 1), "UTF-16"),
    "UTF-32": ("x = 1\n".encode("utf-32"), Position(1, 1), "UTF-32"),
    "binary without NUL": (b"\x89PNG\r\n\x1a\n\x01\x02", Position(1, 1), "not Python text"),
}


@pytest.mark.parametrize(("data", "position", "word"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_text_is_refused_with_the_place(
    data: bytes, position: Position, word: str
) -> None:
    with pytest.raises(SourceError, match=word) as caught:
        decode("x.py", data)
    assert (caught.value.kind, caught.value.position) == ("undecodable", position)


def test_a_text_that_an_encoding_refuses_without_a_place_is_refused() -> None:
    source = decode("a.py", b"# coding: idna\nx = 1\n")
    with pytest.raises(SourceError, match="idna, cannot hold it"):
        encode(source, "x" * 100)


def test_a_character_that_the_encoding_lacks_is_refused_with_the_place() -> None:
    source = decode("x.py", b"# coding: latin-1\n")
    with pytest.raises(SourceError, match="iso8859-1") as caught:
        encode(source, "# coding: latin-1\nx = '\u20ac'\n")
    assert caught.value.position == Position(2, 6)


def test_an_error_travels_between_processes() -> None:
    error = SourceError("x.py", "Wrong.", Position(1, 2), "syntax")
    again = pickle.loads(pickle.dumps(error))
    assert again.diagnostic == error.diagnostic
    assert str(again) == "x.py:1:2: Wrong."


# reading -------------------------------------------------------------------------------------


def refusal(path: str | Path) -> str:
    with pytest.raises(SourceError) as caught:
        read_bytes(str(path))
    assert caught.value.kind == "unreadable"
    return caught.value.message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "gone.py")


def test_a_folder_with_the_name_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.py").mkdir()
    assert "folder" in refusal(tmp_path / "x.py")


def test_a_dangling_symlink_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.py").symlink_to("gone.py")
    assert "leads to a file that does not exist" in refusal(tmp_path / "x.py")


def test_a_looping_symlink_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.py").symlink_to("y.py")
    (tmp_path / "y.py").symlink_to("x.py")
    assert "leads back to itself" in refusal(tmp_path / "x.py")


def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.py")
    assert "named pipe" in refusal(tmp_path / "x.py")


def test_a_device_is_refused() -> None:
    assert "device" in refusal("/dev/zero")


def test_a_pipe_that_takes_the_place_of_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "x.py"
    os.mkfifo(pipe)
    ends = [os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), os.open(pipe, os.O_WRONLY)]
    stat = os.stat
    monkeypatch.setattr(
        source.os, "stat", lambda path, **how: stat(__file__ if path == str(pipe) else path, **how)
    )
    try:
        assert "named pipe" in refusal(pipe)  # a read of it would give None: there is nothing yet
    finally:
        for end in ends:
            os.close(end)


def test_only_the_beginning_of_a_file_that_is_too_large_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 10)
    path = tmp_path / "x.py"
    path.write_bytes(b"0123456789")
    assert read_bytes(str(path)) == b"0123456789"
    path.write_bytes(b"0123456789ab")
    with pytest.raises(TooLargeError, match="too large") as caught:
        read_bytes(str(path))
    assert caught.value.head == b"0123456789a"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_name_that_no_file_can_have_is_refused() -> None:
    assert "name" in refusal("x\0.py")
    assert "Cannot read" in refusal("x" * 5_000 + ".py")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"")
    file.chmod(0)
    assert "permission" in refusal(file)


# rows and columns ----------------------------------------------------------------------------


@given(st.text(alphabet="ab\n\r\x0c\u2028é", max_size=30))
def test_places_and_offsets_are_the_same_thing(text: str) -> None:
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        assert lines.offset(lines.position(offset)) == offset


def test_lines_end_where_python_ends_them() -> None:
    lines = LineIndex("a\r\nb\rc\nd\x0ce\u2028f")
    assert [lines.position(offset).row for offset in (0, 3, 5, 7, 9, 11)] == [1, 2, 3, 4, 4, 4]
    assert LineIndex("a\n").position(2) == Position(2, 1)


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (3, 1), (1, 4), (2, 3)])
def test_a_place_outside_the_text_is_an_error(place: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no row"):
        LineIndex("a\nb").offset(Position(*place))
