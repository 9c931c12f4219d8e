"""Notebooks as an editor sends them: cells as documents, checked as one module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.editor_client import Client, applied

if TYPE_CHECKING:
    from pathlib import Path

SETUP = "%matplotlib inline\nimport torch\n!pip install torch\n"
LOOP = """\
total = 0.0
for images, labels in loader:
    optimizer.zero_grad()
    x = "🔥"; loss = model(images.to("cuda")).sum()
    loss.backward()
    optimizer.step()
    total += loss.item()"""


class Notebook:
    """An open notebook on the side of the editor."""

    def __init__(self, client: Client, uri: str, cells: list[str]) -> None:
        self.client = client
        self.uri = uri
        self.version = 1
        items = [self.item(f"{uri}#{number}", text) for number, text in enumerate(cells)]
        notebook = {
            "uri": uri,
            "notebookType": "jupyter-notebook",
            "version": 1,
            "cells": [{"kind": 2, "document": item["uri"]} for item in items],
        }
        client.notify(
            "notebookDocument/didOpen", notebookDocument=notebook, cellTextDocuments=items
        )

    def item(self, uri: str, text: str, language: str = "python") -> dict[str, Any]:
        return {"uri": uri, "languageId": language, "version": 1, "text": text}

    def cell(self, number: int) -> str:
        return f"{self.uri}#{number}"

    def change(self, **cells: object) -> None:
        self.version += 1
        named = {"uri": self.uri, "version": self.version}
        self.client.notify(
            "notebookDocument/didChange", notebookDocument=named, change={"cells": cells}
        )

    def type(self, number: int, version: int, *changes: object) -> None:
        named = {"uri": self.cell(number), "version": version}
        self.change(textContent=[{"document": named, "changes": list(changes)}])

    def found(self, number: int, version: int = 1) -> list[str]:
        """`TL201:7` for each finding in a version of a cell, once it is published."""
        note = self.client.wait(
            lambda note: (
                note["method"] == "textDocument/publishDiagnostics"
                and note["params"]["uri"] == self.cell(number)
                and note["params"].get("version") in (version, None)
            )
        )
        self.last = note["params"]["diagnostics"]
        return [f"{each['code']}:{each['range']['start']['line'] + 1}" for each in self.last]


def test_a_finding_is_shown_and_mended_in_its_cell(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    notebook = Notebook(client, (tmp_path / "a b.ipynb").as_uri(), [SETUP, LOOP, "print(total)"])
    assert notebook.found(0) == []
    assert notebook.found(1) == ["TL201:7"]
    (found,) = notebook.last
    assert notebook.found(2) == []
    cell = notebook.cell(1)
    action, ignore = client.actions(cell, found["range"], "quickfix")
    silenced = applied(LOOP, ignore["edit"]["changes"][cell])
    assert silenced == LOOP + "  # torchlint: ignore[TL201]"
    mended = applied(LOOP, action["edit"]["changes"][cell])
    compile(mended, "cell", "exec")
    notebook.type(1, 2, {"text": mended})
    assert notebook.found(1, 2) == []
    hover = {"textDocument": {"uri": cell}, "position": {"line": 6, "character": 14}}
    assert client.answer("textDocument/hover", **hover) is None
    client.notify(
        "notebookDocument/didClose",
        notebookDocument={"uri": notebook.uri},
        cellTextDocuments=[{"uri": notebook.cell(number)} for number in range(3)],
    )
    assert client.end() == 0


def test_cells_come_go_and_change_in_part(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    notebook = Notebook(client, (tmp_path / "a.ipynb").as_uri(), [SETUP, LOOP])
    assert notebook.found(1) == ["TL201:7"]
    # Columns count in UTF-16, behind an emoji, too.
    place = {"line": 3, "character": 14}
    notebook.type(1, 2, {"range": {"start": place, "end": place}, "text": "y = 1\n    "})
    assert notebook.found(1, 2) == ["TL201:8"]
    array = {"start": 0, "deleteCount": 0, "cells": [{"kind": 2, "document": notebook.cell(7)}]}
    new = notebook.item(notebook.cell(7), "epochs = 3\n")
    notebook.change(structure={"array": array, "didOpen": [new]})
    assert notebook.found(7) == []
    assert notebook.found(1, 2) == ["TL201:8"]
    gone = {"array": {"start": 2, "deleteCount": 1}, "didClose": [{"uri": notebook.cell(1)}]}
    notebook.change(structure=gone)
    assert notebook.found(1, 2) == []


def test_a_notebook_without_a_name_is_checked_and_other_languages_are_left_alone(
    client: Client,
) -> None:
    client.begin()
    notebook = Notebook(client, "untitled:Untitled-1", [SETUP, LOOP])
    assert notebook.found(1) == ["TL201:7"]
    markdown = {"kind": 1, "document": notebook.cell(1)}
    notebook.change(data=[markdown])
    assert notebook.found(1) == []
