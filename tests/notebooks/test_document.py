"""Notebooks as bytes: other code in a cell, and every byte around it kept."""

from __future__ import annotations

import codecs
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.notebooks import document as notebook
from torchlint.notebooks.document import Notebook, NotebookError


def book(*cells: Any, **rest: Any) -> dict[str, Any]:
    codes = [
        {"cell_type": "code", "outputs": [{"text": ['"source": [\n', "]}"]}], "source": cell}
        for cell in cells
    ]
    return {"cells": codes, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **rest}


def as_bytes(content: object, **how: Any) -> bytes:
    return json.dumps(content, **{"indent": 1, "ensure_ascii": False, **how}).encode()


def changed(data: bytes, *sources: str) -> bytes:
    return Notebook("a.ipynb", data).with_sources(sources)


@pytest.mark.parametrize(
    "how",
    [{"indent": 1}, {"indent": None}, {"indent": "\t"}, {"indent": None, "separators": (",", ":")}],
)
@pytest.mark.parametrize("sources", [["a\n", "b = 1"], "a\nb = 1"], ids=["list", "string"])
def test_one_line_changes_and_no_other_byte(how: dict[str, Any], sources: Any) -> None:
    data = as_bytes(book("x", sources, "y"), **how)
    assert changed(data, "x", "a\nb = 2", "y") == data.replace(b"b = 1", b"b = 2")


def test_markdown_and_outputs_are_not_code() -> None:
    content = book("x")
    content["cells"].insert(0, {"cell_type": "markdown", "source": ["x"]})
    content["cells"].append({"cell_type": "raw", "source": "x"})
    assert [cell.source for cell in Notebook("a.ipynb", as_bytes(content)).cells] == ["x"]


def test_new_lines_are_laid_out_like_the_others() -> None:
    data = as_bytes(book(["a\n", "b"]))
    new = changed(data, "a\nnew\nb")
    assert new == as_bytes(book(["a\n", "new\n", "b"]))


def test_the_first_line_of_a_list_of_one() -> None:
    assert changed(as_bytes(book(["b"])), "a\nb") == as_bytes(book(["a\n", "b"]))


def test_an_empty_cell_may_get_code() -> None:
    for empty in ([], "", [""]):
        new = json.loads(changed(as_bytes(book(empty)), "a\nb"))
        assert "".join(new["cells"][0]["source"]) == "a\nb"


def test_all_code_may_go() -> None:
    new = json.loads(changed(as_bytes(book(["a\n", "b"])), ""))
    assert new["cells"][0]["source"] == []


@pytest.mark.parametrize("listed", [True, False])
def test_characters_stay_spelled_as_they_were(listed: bool) -> None:
    spelled = rb'"x = 1 # caf\u00e9 \/ \ud83d\ude42 \u2028"'
    data = as_bytes(book("@")).replace(b'"@"', b"[" + spelled + b"]" if listed else spelled)
    new = changed(data, "x = 2 # café / 🙂 \u2028")
    assert new == data.replace(b"x = 1", b"x = 2")


def test_new_characters_are_spelled_as_the_file_spells_them() -> None:
    assert "é".encode() in changed(as_bytes(book("x # ü")), "x # é")
    assert rb"\u00e9" in changed(as_bytes(book("x")), "x # é")


def test_a_byte_order_mark_stays() -> None:
    data = codecs.BOM_UTF8 + as_bytes(book("x = 1"))
    assert changed(data, "x = 2") == data.replace(b"x = 1", b"x = 2")


def test_another_language_has_no_python() -> None:
    for about in ({"kernelspec": {"language": "R"}}, {"language_info": {"name": "julia"}}):
        assert Notebook("a.ipynb", as_bytes(book("x", metadata=about))).cells == ()
    about = {"kernelspec": {"language": "python"}, "language_info": 3}
    assert len(Notebook("a.ipynb", as_bytes(book("x", metadata=about))).cells) == 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not valid JSON"),
        (b"[]", "no list of cells"),
        (b"{}", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"cells": [3]}', "no list of cells"),
        (b'{"worksheets": []}', "older than version 4"),
        (b'{"cells": [{"cell_type": "code"}]}', "Cell 1 of this notebook has no source"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "no source"),
        (b'{"cells": [{"cell_type": "code", "source": "", "source": ""}]}', "no source"),
        (b'{"cells": [{"cell_type": "raw", "cell_type": "code", "source": ""}]}', "two types"),
        (b'{"cells": [], "cells": [{"cell_type": "code", "source": ""}]}', "two lists"),
        (b'{"cells": []}\xff', "not UTF-8"),
        (b'{"cells": [], "x": ' + b"1" * 5000 + b"}", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"a":' * 100_000, "cannot be read"),
        (b"<<<<<<< HEAD\n{}", "not valid JSON"),
    ],
)
def test_what_is_not_a_notebook_is_a_clear_error(data: bytes, says: str) -> None:
    with pytest.raises(NotebookError) as caught:
        Notebook("a.ipynb", data)
    if says != "cannot be read" or b"1111" not in data:
        assert says in caught.value.message


def test_a_bomb_of_values_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "MOST_VALUES", 10)
    monkeypatch.setattr(notebook.json, "loads", None)
    with pytest.raises(NotebookError, match="too many"):
        Notebook("a.ipynb", b'{"cells": [' + b"[]," * 10)


def test_too_many_lines_are_refused_and_as_many_as_are_allowed_are_not() -> None:
    few = "\n" * (notebook.MOST_LINES // 2)
    assert len(Notebook("a.ipynb", as_bytes(book(few, few))).cells) == 2
    with pytest.raises(NotebookError, match="more than 50,000 lines"):
        Notebook("a.ipynb", as_bytes(book(few, few, "\n")))


CODE = st.text(alphabet='ab"\\/\n\r\t\x0c\x0b\x85\u2028é🙂{}[]:,', max_size=20)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.lists(st.tuples(CODE, CODE, st.booleans(), JSON_VALUE), max_size=4),
    st.sampled_from([None, 0, 1, "\t", "\r\n"]),
    st.booleans(),
)
def test_any_code_goes_into_any_notebook(
    cells: list[tuple[str, str, bool, object]], indent: Any, ascii_only: bool
) -> None:
    content = book(
        *[before.splitlines(True) if listed else before for before, _, listed, _ in cells]
    )
    for cell, (_, _, _, extra) in zip(content["cells"], cells, strict=True):
        cell["metadata"] = extra
    if indent == "\r\n":
        data = as_bytes(content, ensure_ascii=ascii_only).replace(b"\n", b"\r\n")
    else:
        data = as_bytes(content, indent=indent, ensure_ascii=ascii_only)
    read = Notebook("a.ipynb", data)
    assert [cell.source for cell in read.cells] == [before for before, *_ in cells]
    assert read.with_sources([before for before, *_ in cells]) == data
    after = json.loads(read.with_sources([new for _, new, *_ in cells]))
    for cell, (_, new, listed, _) in zip(after["cells"], cells, strict=True):
        assert isinstance(cell["source"], list) is listed
        assert "".join(cell["source"]) == new
        cell["source"] = None
    for cell in content["cells"]:
        cell["source"] = None
    assert after == content
