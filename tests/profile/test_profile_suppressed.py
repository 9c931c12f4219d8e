"""One comment silences what check says of a line and what a run shows there."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.results import read_at
from torchlint.profile import functions
from torchlint.profile.profile_result import Line
from torchlint.profile.suppressed import Comments

if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2026, 5, 1)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def silenced(text: str, row: int = 1, **more: Any) -> bool:
    with open("train.py", "w", encoding="utf-8") as file:
        file.write(text)
    return Comments(TODAY).of(read_at(row=row, **{"rules": ("TL201",), **more})) is None


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("x.item()  # torchlint: ignore[TR201] -- the log needs it", 1),
        ("x.item()  # torchlint: ignore[host-read]", 1),
        ("x.item()  # torchlint: ignore[TL201]", 1),
        ("x.item()  # torchlint: ignore[item-in-step-loop]", 1),
        ("x.item()  # torchlint: ignore", 1),
        ("x.item()  # noqa: TL201", 1),
        ("# torchlint: ignore[TR201]\nx.item()", 2),
        ("f(\n    x.item(),\n    1,\n)  # torchlint: ignore[TR201]", 2),
        ("f(  # torchlint: ignore[TR201]\n    1,\n    x.item(),\n)", 3),
        ("if x.any():  # torchlint: ignore[TR201]\n    f()", 1),
        ("# torchlint: disable[TL201]\ny\nx.item()\n# torchlint: enable[TL201]", 3),
        ("x.item()\n# torchlint: ignore-file[TR201]", 1),
    ],
)
def test_a_comment_silences_a_run(text: str, row: int) -> None:
    assert silenced(text, row)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("x.item()", 1),
        ("x.item()  # torchlint: ignore[TR202]", 1),
        ("x.item()  # torchlint: ignore[TL202]", 1),
        ("y.item()  # torchlint: ignore[TR201]\nx.item()", 2),
        ("if y:  # torchlint: ignore[TR201]\n    x.item()", 2),
        ("'# torchlint: ignore[TR201]'; x.item()", 1),
        ("x.item(  # torchlint: ignore[TR201]", 1),
        ("x.item()  # torchlint: ignore[TR201]\n(", 1),
    ],
)
def test_another_comment_does_not(text: str, row: int) -> None:
    assert not silenced(text, row)


def test_a_comment_where_the_loader_was_made_silences_the_loop_that_waits_for_it() -> None:
    text = "loader = make()  # torchlint: ignore[TL101]\nfor batch in loader:\n    pass"
    more: Any = {"rules": ("TL101",)}
    assert silenced(text, 2, made=Line("train.py", 1), **more)
    assert not silenced(text, 2, made=Line("train.py", 3), **more)
    assert not silenced(text, 2, **more)


def test_a_comment_for_a_rule_about_something_else_does_not() -> None:
    assert not silenced("x.item()  # torchlint: ignore[TL201]", rules=("TL202",))
    assert not silenced("x.item()  # torchlint: ignore[TL201]", rules=())


def test_a_file_that_is_not_there_silences_nothing() -> None:
    comments = Comments(TODAY)
    assert comments.of(read_at(path="gone.py"))
    assert comments.of(read_at(path="", row=0))


def test_each_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("train.py", "w", encoding="utf-8") as file:
        file.write("x.item()  # torchlint: ignore[TR201]\n")
    read: list[str] = []
    plain = functions.read_bytes
    monkeypatch.setattr(functions, "read_bytes", lambda path: read.append(path) or plain(path))
    comments = Comments(TODAY)
    assert [comments.of(read_at(row=row)) is None for row in (1, 2)] == [True, False]
    assert read == ["train.py"]


def test_a_comment_with_an_end_silences_through_that_day() -> None:
    assert silenced("x.item()  # torchlint: ignore[TR201] until=2026-05-01 -- the log needs it")
    assert not silenced("x.item()  # torchlint: ignore[TR201] until=2026-04-30")
    assert silenced("x.item()  # torchlint: ignore[TR201] until=2026-04-30  # noqa: TL201")
    with open("train.py", "w", encoding="utf-8") as file:
        file.write("x.item()  # torchlint: ignore[TR201] until=2026-04-30")
    told = Comments(TODAY).of(read_at(row=1))
    assert told is not None
    assert told.action.endswith(" A comment silenced it until 2026-04-30.")
