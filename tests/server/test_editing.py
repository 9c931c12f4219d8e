"""A whole session with a server in a process of its own, as an editor has it."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.editor_client import TRAIN, Client, applied

if TYPE_CHECKING:
    from collections.abc import Callable

SAFE = """\
import numpy as np
import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, index):
        image = np.load(self.files[index])
        return torch.tensor(image.astype(np.float32)), 0
"""
HELPER = """\
def accuracy(output, target):
    return (output.argmax(1) == target).float().mean().item()
"""
USES_HELPER = """\
import torch
from metrics import accuracy


def train(model, loader, optimizer, device):
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        output = model(images)
        output.sum().backward()
        optimizer.step()
        accuracy(output, labels)
"""


def test_a_quick_fix_mends_what_is_found_in_an_unsaved_buffer(
    client: Client, tmp_path: Path
) -> None:
    client.capabilities = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
    client.begin(tmp_path)
    (tmp_path / "train.py").write_text("")
    uri = client.open(tmp_path / "train.py", "import torch\n")
    assert client.found(uri) == []
    client.change(uri, TRAIN)
    (found,) = client.found(uri)
    assert found["code"] == "TL201"
    assert found["severity"] == 2
    assert found["range"]["start"] == {"line": 10, "character": 17}
    assert found["range"]["end"] == {"line": 10, "character": 28}
    assert "codeDescription" not in found
    action, ignore = client.actions(uri, found["range"], "quickfix")
    assert ignore["title"] == "Ignore TL201 here"
    assert action["title"].endswith("(TL201) (unsafe)")
    assert action["kind"] == "quickfix"
    assert not action["isPreferred"]
    assert action["diagnostics"] == [found]
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": 2}
    mended = applied(TRAIN, change["edits"])
    compile(mended, "train.py", "exec")
    client.change(uri, mended)
    assert client.found(uri) == []
    client.close(uri)
    note = client.wait(lambda note: note["method"] == "textDocument/publishDiagnostics")
    assert note["params"] == {"uri": uri, "diagnostics": []}
    assert client.end() == 0


def test_fix_all_makes_the_safe_fixes_alone(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    text = SAFE + TRAIN.replace("import torch\n", "")
    uri = client.open(tmp_path / "data.py", text)
    assert [code.partition(":")[0] for code in client.codes(uri)] == ["TL105", "TL201"]
    top = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    (action,) = client.actions(uri, top, "source.fixAll")
    assert action["kind"] == "source.fixAll.torchlint"
    mended = applied(text, action["edit"]["changes"][uri])
    assert mended == text.replace("torch.tensor(", "torch.from_numpy(") or "as_tensor" in mended
    client.change(uri, mended)
    assert [code.partition(":")[0] for code in client.codes(uri)] == ["TL201"]
    assert client.actions(uri, top, "source.fixAll.torchlint") == []
    assert client.actions(uri, top, "source.organizeImports") == []


def test_a_comment_silences_a_finding(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    (found,) = client.found(uri)
    _, action = client.actions(uri, found["range"], "quickfix")
    assert not action["isPreferred"]
    silenced = applied(TRAIN, action["edit"]["changes"][uri])
    assert silenced == TRAIN.replace("loss.item()", "loss.item()  # torchlint: ignore[TL201]")
    client.change(uri, silenced)
    assert client.found(uri) == []


def test_hovering_shows_the_page_of_the_rule(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    client.until(uri, ["TL201:11"])
    where: dict[str, Any] = {"textDocument": {"uri": uri}}
    shown = client.answer("textDocument/hover", position={"line": 10, "character": 20}, **where)
    assert shown["contents"]["kind"] == "markdown"
    assert "# item-in-step-loop (TL201)" in shown["contents"]["value"]
    assert "## Why it is slow" in shown["contents"]["value"]
    assert (
        client.answer("textDocument/hover", position={"line": 3, "character": 0}, **where) is None
    )


def test_hovering_waits_for_the_newest_text(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", "import torch\n")
    client.change(uri, TRAIN)
    where: dict[str, Any] = {
        "textDocument": {"uri": uri},
        "position": {"line": 10, "character": 20},
    }
    assert "TL201" in client.answer("textDocument/hover", **where)["contents"]["value"]


def test_a_helper_is_found_slow_when_another_buffer_makes_it_hot(
    client: Client, tmp_path: Path
) -> None:
    (tmp_path / "metrics.py").write_text(HELPER)
    (tmp_path / "train.py").write_text(USES_HELPER.replace("        accuracy(", "        zip("))
    client.begin(tmp_path)
    helper = client.open(tmp_path / "metrics.py", HELPER)
    assert client.found(helper) == []
    train = client.open(tmp_path / "train.py", (tmp_path / "train.py").read_text())
    assert client.found(train) == []
    client.change(train, USES_HELPER)
    (found,) = client.found(helper)
    assert found["code"] == "TL201"
    loop, call = found["relatedInformation"]
    assert loop["location"]["uri"] == call["location"]["uri"] == train
    assert loop["location"]["range"]["start"]["line"] == 5
    client.close(train)  # on disk nobody calls it
    client.until(helper, [])


def test_a_helper_is_hot_through_a_file_that_is_not_open(client: Client, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(USES_HELPER)
    client.begin(tmp_path)
    helper = client.open(tmp_path / "metrics.py", HELPER)
    client.until(helper, ["TL201:2"])
    (tmp_path / "train.py").unlink()
    changes = [{"uri": (tmp_path / "train.py").as_uri(), "type": 3}]
    client.notify("workspace/didChangeWatchedFiles", changes=changes)
    client.until(helper, [])


def test_half_typed_code_keeps_the_findings_of_the_lines_that_are_left(
    client: Client, tmp_path: Path
) -> None:
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    client.until(uri, ["TL201:11"])
    half = TRAIN.replace("import torch\n", "import torch\nprint(\n")
    client.change(uri, half)
    (found,) = client.found(uri)
    assert (found["code"], found["range"]["start"]["line"]) == ("TL201", 11)
    assert client.actions(uri, found["range"]) == []  # who knows what they would do to it
    client.change(uri, half.replace("loss.item()", "loss.ite"))
    assert client.found(uri) == []
    client.change(uri, half.replace("print(\n", "print()\n"))
    assert client.codes(uri) == ["TL201:12"]


@pytest.mark.parametrize(
    ("encodings", "agreed", "column"),
    [(None, "utf-16", 25), (["utf-8", "utf-16"], "utf-8", 27), (["utf-32"], "utf-32", 24)],
)
def test_columns_count_as_was_agreed(
    client: Client, tmp_path: Path, encodings: list[str] | None, agreed: str, column: int
) -> None:
    if encodings is not None:
        client.capabilities = {"general": {"positionEncodings": encodings}}
    can = client.begin(tmp_path)
    assert can["positionEncoding"] == agreed
    text = TRAIN.replace("total += loss", 'x="🔥"; total += loss')
    uri = client.open(tmp_path / "train.py", text)
    (found,) = client.found(uri)
    assert found["range"]["start"] == {"line": 10, "character": column}


def test_the_fix_behind_an_emoji_lands_where_it_belongs(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    text = SAFE.replace("return torch", 'x = "🔥𝒳é"; return torch')
    uri = client.open(tmp_path / "data.py", text)
    (found,) = client.found(uri)
    action, _ = client.actions(uri, found["range"], "quickfix")
    assert action["isPreferred"]
    mended = applied(text, action["edit"]["changes"][uri])
    compile(mended, "data.py", "exec")
    client.change(uri, mended)
    assert client.found(uri) == []


def test_lines_may_end_in_any_way_and_hold_signs_that_look_like_ends(
    client: Client, tmp_path: Path
) -> None:
    client.begin(tmp_path)
    text = TRAIN.replace("import torch\n", 'import torch\nx = "\u2028\x85\x1c"\n\x0c')
    uri = client.open(tmp_path / "train.py", "import torch\n")
    for newline in ("\r\n", "\r", "\n"):
        client.change(uri, text.replace("\n", newline))
        assert client.codes(uri) == ["TL201:12"]


def test_settings_choose_the_rules(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path, ignore=["TL201"])
    uri = client.open(tmp_path / "train.py", TRAIN)
    assert client.found(uri) == []
    client.notify("workspace/didChangeConfiguration", settings={"torchlint": {"ignore": []}})
    client.until(uri, ["TL201:11"])
    client.notify("workspace/didChangeConfiguration", settings={"torchlint": {"enable": False}})
    client.until(uri, [])
    client.notify("workspace/didChangeConfiguration", settings={"ignore": []})
    client.until(uri, ["TL201:11"])  # what is left out is as it was at the start
    client.notify("workspace/didChangeConfiguration", settings={"torchlint": {"hints": True}})
    client.until(uri, [])


def test_settings_are_asked_for_where_the_editor_can_be_asked(
    client: Client, tmp_path: Path
) -> None:
    client.capabilities = {"workspace": {"configuration": True}}
    client.settings = {"select": ["TL1"]}
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    client.until(uri, [])
    client.settings = None
    client.notify("workspace/didChangeConfiguration", settings=None)
    client.until(uri, ["TL201:11"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"select": ["TL999"]}, "Unknown rule `TL999`"),
        ({"select": "TL201"}, "torchlint.select must be a list"),
        ({"hints": "yes"}, "torchlint.hints must be true or false"),
        ({"targetTorch": "new\x1b"}, 'torchlint.targetTorch is "new\\x1b"'),
    ],
)
def test_a_setting_that_cannot_be_used_is_told(
    client: Client, tmp_path: Path, options: dict[str, object], said: str
) -> None:
    client.begin(tmp_path, **options)
    client.open(tmp_path / "train.py", TRAIN)
    note = client.wait(lambda note: note["method"] == "window/showMessage")
    assert said in note["params"]["message"]
    assert client.end() == 0


def test_the_configuration_file_holds_and_is_read_again(client: Client, tmp_path: Path) -> None:
    config = tmp_path / "pyproject.toml"
    config.write_text('[tool.torchlint]\nignore = ["TL201"]\n')
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    assert client.found(uri) == []
    config.write_text("[tool.torchlint]\nignore = []\n")
    changes = [{"uri": config.as_uri(), "type": 2}]
    client.notify("workspace/didChangeWatchedFiles", changes=changes)
    client.until(uri, ["TL201:11"])
    config.write_text("[tool.torchlint]\nignoring = []\n")
    client.notify("textDocument/didSave", textDocument={"uri": config.as_uri()})
    note = client.wait(lambda note: note["method"] == "window/showMessage")
    assert note["params"]["message"].startswith("pyproject.toml: Unknown key `ignoring`")


def test_files_are_watched_where_the_editor_can(client: Client, tmp_path: Path) -> None:
    client.capabilities = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    client.until(uri, ["TL201:11"])
    (request,) = client.requests
    assert request["method"] == "client/registerCapability"
    (registration,) = request["params"]["registrations"]
    assert registration["method"] == "workspace/didChangeWatchedFiles"


def test_excluded_files_are_left_alone(client: Client, tmp_path: Path) -> None:
    excluded = tmp_path / "venv" / "train.py"
    excluded.parent.mkdir()
    excluded.write_text(TRAIN)
    client.begin(tmp_path)
    assert client.found(client.open(excluded, TRAIN)) == []


def test_each_folder_of_a_workspace_has_its_own_settings(client: Client, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "train.py").write_text(TRAIN)
    (two / "torchlint.toml").write_text('ignore = ["TL201"]\n')
    client.begin(one, two)
    assert client.found(client.open(two / "train.py", TRAIN)) == []
    uri = client.open(one / "train.py", TRAIN)
    client.until(uri, ["TL201:11"])
    removed = [{"uri": two.as_uri(), "name": "two"}]
    client.notify("workspace/didChangeWorkspaceFolders", event={"added": [], "removed": removed})
    client.change(uri, TRAIN + "\n")
    client.until(uri, ["TL201:11"])


def test_any_name_of_a_file_comes_back_as_the_editor_wrote_it(
    client: Client, tmp_path: Path
) -> None:
    client.begin(tmp_path)
    for name in ("a b/trän%20 #1?/train.py", "日本/🔥.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(TRAIN)
        client.notify("workspace/didChangeWatchedFiles", changes=[])
        client.until(client.open(path, TRAIN), ["TL201:11"])


def test_documents_that_are_no_files_are_checked_by_themselves(client: Client) -> None:
    client.begin()
    for uri in ("untitled:Untitled-1", "git:/a/train.py?HEAD", "x", "file:///a%00.py"):
        assert client.codes(client.open(uri, TRAIN)) == ["TL201:11"]
    assert client.end() == 0


def test_a_file_outside_of_all_folders_is_checked_by_itself(client: Client, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    client.begin(inside)
    assert client.codes(client.open(tmp_path / "train.py", TRAIN)) == ["TL201:11"]


def test_other_languages_are_not_looked_at(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    client.open(tmp_path / "train.txt", TRAIN, language="plaintext")
    uri = client.open(tmp_path / "train.py", TRAIN)
    client.until(uri, ["TL201:11"])
    assert client.notes == []


def test_messages_that_make_no_sense_are_answered_and_survived(
    client: Client, tmp_path: Path
) -> None:
    client.begin(tmp_path)
    client.write(b"{nonsense")
    client.write(b"[]")
    client.notify("textDocument/didOpen", textDocument=7)
    client.notify("textDocument/didChange", textDocument={"uri": "file:///never", "version": 1})
    client.notify("no/suchThing")
    assert client.ask("no/suchRequest")["error"]["code"] == -32601
    assert client.ask("textDocument/hover", position="here")["error"]["code"] == -32602
    client.open("file://[/train.py", TRAIN)
    assert client.actions("file:///never", _range(10**9, 10**9)) == []
    uri = client.open(tmp_path / "train.py", TRAIN)
    client.until(uri, ["TL201:11"])
    assert client.actions(uri, _range(10**9, 2**31 - 1)) == []
    assert client.end() == 0


def _range(line: int, character: int) -> dict[str, object]:
    place = {"line": line, "character": character}
    return {"start": place, "end": place}


def test_text_that_nobody_can_check_is_survived(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", "\ud800 = 1\n" + TRAIN)
    latin = "# coding: latin-1\nx = 'é🔥'\n"
    for start in (latin, "# coding: nothing\n", "\0", "(" * 9_999, "# coding: hex\n"):
        client.change(uri, start + TRAIN)
        client.found(uri)
    client.change(uri, TRAIN)
    assert client.codes(uri) == ["TL201:11"]


def test_text_that_its_coding_line_cannot_hold_has_no_findings(
    client: Client, tmp_path: Path
) -> None:
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", "# coding: latin-1\n# 中\n" + TRAIN)
    assert client.found(uri) == []
    client.change(uri, "# coding: latin-1\n# é\n" + TRAIN)
    assert client.codes(uri) == ["TL201:13"]


def test_columns_are_right_under_a_coding_line(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    text = "# coding: latin-1\n" + TRAIN.replace("total += loss", 'x="é"; total += loss')
    uri = client.open(tmp_path / "train.py", text)
    (found,) = client.found(uri)
    assert found["range"]["start"] == {"line": 11, "character": 24}


def test_the_server_ends_with_1_if_the_editor_is_gone(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    client.found(client.open(tmp_path / "train.py", TRAIN))
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(120) == 1
    assert client.process.stderr is not None
    assert client.process.stderr.read() == b""


def test_the_server_ends_with_1_without_a_goodbye(client: Client, tmp_path: Path) -> None:
    client.begin(tmp_path)
    client.notify("exit")
    assert client.process.wait(120) == 1


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"Content-Length: 99999999999\r\n\r\n{}", b"a message of 99,999,999,999 bytes; 256 MiB"),
        (b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}", b"A header of the editor's message"),
        (b"no header" * 1_000_000, b"A header of the editor's message"),
    ],
)
def test_what_no_message_can_be_ends_the_server_with_a_sentence(
    client: Client, tmp_path: Path, sent: bytes, says: bytes
) -> None:
    client.begin(tmp_path)
    assert client.process.stdin is not None
    with suppress(BrokenPipeError):
        client.process.stdin.write(sent)
        client.process.stdin.flush()
    assert client.process.wait(120) == 1
    assert client.process.stderr is not None
    said = client.process.stderr.read()
    assert says in said
    assert said.count(b"\n") == 1


def test_a_large_project_shows_how_far_it_is(client: Client, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"file{number}.py").write_text(SAFE * 20)
    client.capabilities = {"window": {"workDoneProgress": True}}
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", TRAIN)
    note = client.wait(
        lambda note: note["method"] == "$/progress" and note["params"]["value"]["kind"] == "begin"
    )
    token = note["params"]["token"]
    assert [each["params"]["token"] for each in client.requests] == [token]
    values: list[Any] = []
    while not values or values[-1] != {"kind": "end"}:
        note = client.wait(lambda note: note["method"] == "$/progress")
        assert note["params"]["token"] == token
        values.append(note["params"]["value"])
    assert {"kind": "report", "message": "30 of 31 files", "percentage": 96} in values
    client.change(uri, TRAIN + "\n")
    client.until(uri, ["TL201:11"])


def test_nothing_of_the_folder_is_imported(
    start: Callable[..., Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("libcst", "pygls", "joblib", "json", "torch", "metrics"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w')\n")
    monkeypatch.chdir(tmp_path)
    client = start("--no-cache")
    client.begin(tmp_path)
    uri = client.open(tmp_path / "train.py", USES_HELPER + "\n" + TRAIN)
    client.until(uri, ["TL201:24"])
    assert client.end() == 0
    assert not (tmp_path / "executed").exists()


def test_what_is_found_is_remembered_on_disk_as_check_does(
    start: Callable[..., Client], tmp_path: Path
) -> None:
    project, cache = tmp_path / "project", tmp_path / "cache"
    project.mkdir()
    (project / "train.py").write_text(TRAIN)
    for _ in range(2):
        client = start("--cache-dir", str(cache))
        client.begin(project)
        client.until(client.open(project / "train.py", TRAIN), ["TL201:11"])
        assert client.end() == 0
    assert json.dumps([*map(str, cache.rglob("*"))]) != "[]"


def test_the_recorded_session_ends_with_the_finding_gone(tmp_path: Path) -> None:
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "editor_session.py"
    out = tmp_path / "session.txt"
    command = [sys.executable, str(script), "--out", str(out)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("The server ended with 0; the finding is gone.\n")
    steps = [line for line in out.read_text().splitlines() if line.startswith("#")]
    assert [step.partition(":")[0] for step in steps] == [
        "# open",
        "# edit",
        "# quick-fix",
        "# close",
    ]
