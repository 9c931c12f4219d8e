"""The server for coding assistants, through the client of the SDK: over standard input and output,
in a folder that means no good."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import ClientSession, StdioServerParameters, stdio_client

from torchlint.mcp.tools import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from anyio.from_thread import BlockingPortal
    from mcp_types import CallToolResult, ListToolsResult

SLOW = """\
import torch

def train(model, loader, optimizer):
    model.cuda()
    total = 0.0
    for images in loader:
        loss = model(images.cuda()).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    # note
    return total
"""
ROOT = Path(__file__).parents[2]
TRAPS = (
    "anyio", "click", "joblib", "json", "libcst", "mcp", "mcp_types", "msgspec", "planted", "pydantic",
    "rich", "sitecustomize", "starlette", "tomllib", "torch", "torchlint", "usercustomize",
)  # fmt: skip
SECRET = "hunter2"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the one that is served, and files beside it."""
    here = tmp_path_factory.mktemp("place")
    root = here / "root"
    (root / "broken").mkdir(parents=True)
    (root / "train.py").write_text(SLOW)
    (root / "broken" / "bad.py").write_text("x = = 1\n" + SLOW)
    (root / "huge.py").write_bytes(b"import torch\n" + b"#" * (5 << 20))
    (root / "-x.py").write_text(SLOW)
    (root / os.fsdecode(b"caf\xe9.py")).write_text(SLOW)
    (root / "seven.py").write_bytes((ROOT / "fixtures" / "seven" / "train.py").read_bytes())
    note = SLOW.replace("# note", "# caf\u00e9")
    (root / "latin.py").write_bytes(b"# coding: latin-1\n" + note.encode("latin-1"))
    (root / "control.py").write_text(SLOW.replace("# note", "# \x1b[2J"))
    (here / "outside").mkdir()
    (here / "outside" / "train.py").write_text(SLOW)
    (here / "outside" / "secret.toml").write_text(f"{SECRET} = 1\n")
    _links(root, here)
    _traps(root, here)
    _configurations(root, here)
    for folder in ("many", "parts"):  # in a folder that is excluded, so only by their names
        (root / "build" / folder).mkdir()
    for number in range(5):
        (root / "build" / "many" / f"{number}.py").write_text(_many(number))
    text = "import torch\nloss.backward()\nx = '''" + f"{'a' * 79}\n" * 5_000 + "'''\n"
    for number in range(4):  # enough for several processes
        (root / "build" / "parts" / f"{number}.py").write_text(text)
    return here


def _many(number: int) -> str:
    """A file with long findings, which differ."""
    body = SLOW.partition("\n\n")[2]
    names = [f"train_{each}" for each in range(25)]
    return "import torch\n" + "".join(
        body.replace("train", name).replace("total", f"total_{number}_{'x' * 400}")
        for name in names
    )


def _links(root: Path, here: Path) -> None:
    (root / "link.py").symlink_to(here / "outside" / "train.py")
    (root / "linked").symlink_to(here / "outside")
    (root / "near.py").symlink_to("train.py")
    (root / "loop.py").symlink_to("loop.py")
    (root / "nowhere.py").symlink_to("gone.py")
    (root / "zero.py").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.py")


def _traps(root: Path, here: Path) -> None:
    """Modules that leave a note, and a plugin that names one."""
    for name in TRAPS:
        note = here / f"imported {name}"
        (root / f"{name}.py").write_text(f"open({str(note)!r}, 'w').close()\n")
    information = root / "planted-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[torchlint.rules]\nplanted = planted\n")


def _configurations(root: Path, here: Path) -> None:
    for name, text in {
        "plugins": 'plugins = ["planted"]',
        "extend": 'extend = "../../outside/secret.toml"',
        "baseline": 'baseline = "../../outside/secret.toml"',
        "only": 'select = ["TL1"]',
        "known": 'baseline = "known.json"',
        "build/none": 'baseline = "none.json"',
    }.items():
        (root / name).mkdir(parents=True)
        (root / name / "pyproject.toml").write_text(f"[tool.torchlint]\n{text}\n")
        (root / name / "train.py").write_text(SLOW)
    (root / "leaks").mkdir()
    (root / "leaks" / "train.py").write_text(SLOW)
    (root / "leaks" / "torchlint.toml").symlink_to(here / "outside" / "secret.toml")


class Assistant:
    """Asks the server."""

    def __init__(self, portal: BlockingPortal, session: ClientSession, cache: Path) -> None:
        self._portal = portal
        self._session = session
        self.cache = cache

    def tools(self) -> ListToolsResult:
        return self._portal.call(self._session.list_tools)

    def ask(self, tool: str, **arguments: object) -> CallToolResult:
        return self._portal.call(partial(self._session.call_tool, tool, arguments))

    def told(self, tool: str, **arguments: object) -> str:
        """The text of an answer."""
        answer = self.ask(tool, **arguments)
        assert not answer.is_error, answer
        return text_of(answer)

    def refused(self, tool: str, **arguments: object) -> str:
        """Why there is none."""
        answer = self.ask(tool, **arguments)
        assert answer.is_error
        return text_of(answer)


def text_of(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert content.type == "text"
    return content.text


@asynccontextmanager
async def connected(server: StdioServerParameters, log: Any) -> AsyncGenerator[ClientSession, None]:
    async with stdio_client(server, errlog=log) as streams, ClientSession(*streams) as session:
        started = await session.initialize()
        assert started.server_info.name == "torchlint"
        yield session


@pytest.fixture(scope="module")
def assistant(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """A session; when it is over, nothing of the folder was run or changed."""
    script = place / "script.py"  # as installed: `python -m` looks into the folder itself
    script.write_text("from torchlint.__main__ import main\nmain()\n")
    words = [sys.executable, str(script), "baseline", "write", "known"]
    subprocess.run(words, cwd=place / "root", check=True, capture_output=True)
    cache = tmp_path_factory.mktemp("cache")
    server = StdioServerParameters(
        command=sys.executable,
        args=[str(script), "mcp"],
        cwd=place / "root",
        env={"TORCHLINT_CACHE_DIR": str(cache)},
    )
    before = snapshot(place)
    with (place.parent / "log").open("w+") as log:
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(connected(server, log)) as session,
        ):
            yield Assistant(portal, session, cache)
        log.seek(0)
        assert log.read() == ""
    assert snapshot(place) == before


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if not path.is_symlink()
    }


def test_there_are_four_tools_that_only_read(assistant: Assistant) -> None:
    tools = assistant.tools().tools
    assert [tool.name for tool in tools] == ["check", "why", "rule", "fix_preview"]
    for tool in tools:
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint


def test_check_gives_the_report_for_assistants(assistant: Assistant) -> None:
    text = assistant.told("check", paths=["seven.py"])
    assert any(assistant.cache.iterdir())  # its results are kept where the environment says
    assert text.startswith("seven.py:\n32 TL105 `torch.tensor` copies the whole array;")
    assert "\nunsafe fix:\n66: `loss.item()` -> `loss.detach().float()`\n@@ -67,0 +68 @@\n" in text
    assert text.endswith("; 1 file checked. At least 1 hint not shown.")


def test_hints_are_shown_on_request(assistant: Assistant, place: Path) -> None:
    named = [str(place / "root" / "seven.py")]
    assert "hint: " not in assistant.told("check", paths=named)
    assert "\n90 TL102 hint: " in assistant.told("check", paths=named, hints=True)


def test_what_the_baseline_of_the_project_covers_is_not_shown(assistant: Assistant) -> None:
    text = assistant.told("check", paths=["known"])
    assert "TL201" not in text
    assert text.startswith("1 known finding is in known/known.json.")
    assert text.endswith("\nNo problems found; 1 file checked.")


def test_why_explains_a_line(assistant: Assistant) -> None:
    text = assistant.told("why", place="train.py:10")
    assert text.startswith("train.py:10  total += loss.item()\n\nTL201 item-in-step-loop: reported")
    one = assistant.told("why", place="train.py:10", rule="TL101")
    assert "TL201" not in one
    assert "not reported\n  it is switched off" in assistant.told(
        "why", place="only/train.py:10", rule="TL201"
    )


def test_rule_gives_the_page_by_code_or_name(assistant: Assistant) -> None:
    page = assistant.told("rule", code="TL201")
    assert page.startswith("# item-in-step-loop (TL201)\n")
    assert assistant.told("rule", code="item-in-step-loop") == page
    assert assistant.told("rule", code="TR101").startswith("Have the next batch ready")


def test_a_preview_is_a_patch_and_writes_nothing(assistant: Assistant, place: Path) -> None:
    text = assistant.told("fix_preview", paths=["train.py"], unsafe=True)
    assert "`torchlint fix --apply --unsafe` would write them." in text.split("\n")[0]
    subprocess.run(
        ["git", "apply", "--check", "-"],
        input=f"{text}\n",
        text=True,
        cwd=place / "root",
        check=True,
    )
    assert "+++ b/" not in assistant.told("fix_preview", paths=["train.py"])


def test_a_diff_that_cannot_be_shown_exactly_is_not_shown(assistant: Assistant) -> None:
    text = assistant.told("fix_preview", paths=["latin.py", "control.py"], unsafe=True)
    assert text.split("\n")[1:] == [
        "control.py: The diff cannot be shown exactly; `torchlint fix` has it.",
        "latin.py: The diff cannot be shown exactly; `torchlint fix` has it.",
    ]


def test_links_in_the_folder_and_names_like_options_are_names(assistant: Assistant) -> None:
    assert assistant.told("check", paths=["near.py"]).startswith("near.py:\n10 TL201")
    assert assistant.told("check", paths=["-x.py"]).startswith("-x.py:\n10 TL201")
    assert assistant.told("check", paths=["broken/../train.py"]).startswith("train.py:\n10 ")


OUTSIDE = "is outside of"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/etc/passwd", OUTSIDE),
        ("/", OUTSIDE),
        ("..", OUTSIDE),
        ("../outside/train.py", OUTSIDE),
        ("broken/../../outside/train.py", OUTSIDE),
        ("link.py", OUTSIDE),
        ("linked", OUTSIDE),
        ("linked/train.py", OUTSIDE),
        ("../root-beside/train.py", OUTSIDE),
        ("/dev/zero", OUTSIDE),
        ("zero.py", OUTSIDE),
        ("/no/such/file", OUTSIDE),
        ("pipe.py", "`pipe.py` is neither a file nor a folder; name one."),
        ("a\0.py", "cannot be the name of a file; check the path."),
        ("a" * 300, "cannot be read: File name too long; check the path."),
        ("a/" * 5_000, "cannot be the name of a file; check the path."),
        ("gone.py", "There is no file or folder `gone.py`; check the path."),
        ("nowhere.py", "There is no file or folder `nowhere.py`; check the path."),
        ("loop.py", "cannot be read: Too many levels of symbolic links; check the path."),
        ("-", "There is no file or folder `-`; check the path."),
        ("--output-file=x", "There is no file or folder `--output-file=x`; check the path."),
        ("~/x.py", "There is no file or folder `~/x.py`; check the path."),
    ],
)
def test_a_path_is_refused_in_one_sentence(assistant: Assistant, path: str, sentence: str) -> None:
    said = assistant.refused("check", paths=["train.py", path])
    assert sentence in said
    assert len(said.split("\n")) == 1
    assert len(said) < 500
    assert assistant.refused("fix_preview", paths=[path]) == said
    assert assistant.refused("why", place=f"{path}:1") == said


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("huge.py", "huge.py: error: The file is over 4 MiB, too large to check; exclude it."),
        ("broken", "broken/bad.py:1:5: error: "),
        ("plugins", "plugins/pyproject.toml: error: Unknown key `plugins`"),
        ("extend", "extend/pyproject.toml: error: Unknown key `extend`"),
        ("baseline", "baseline/pyproject.toml: error: `baseline` must name a file in the folder"),
        ("build/none", "build/none/none.json: There is no such file; make it with"),
        ("leaks", "leaks/torchlint.toml: error: This file is outside of the folder"),
    ],
)
def test_what_cannot_be_checked_is_said(assistant: Assistant, path: str, sentence: str) -> None:
    said = assistant.refused("check", paths=[path])
    assert said.startswith(sentence)
    assert len(said.split("\n")) == 1
    assert SECRET not in said


def test_what_cannot_be_checked_hides_nothing_else(assistant: Assistant) -> None:
    text = assistant.told("check", paths=["broken", "train.py", "plugins"])
    assert "\n10 TL201 " in text
    assert "\nbroken/bad.py:1:5: error: " in text
    assert "\nplugins/pyproject.toml: error: Unknown key" in text
    assert text.endswith("2 files checked, 2 errors.")


def test_the_whole_folder_is_checked_and_nothing_of_it_imported(
    assistant: Assistant, place: Path
) -> None:
    text = assistant.told("check", paths=["."])
    assert "outside/train.py" not in text
    assert "zero.py" not in text
    assert "caf\\xe9.py:\n10 TL201" in text
    assert "b/caf\\351.py" in assistant.told("fix_preview", paths=["."], unsafe=True)
    assert "4 files checked" in assistant.told("check", paths=["build/parts"])
    assert [path.name for path in place.glob("imported *")] == []


def test_an_answer_has_an_end(assistant: Assistant) -> None:
    text = assistant.told("check", paths=["build/many"])
    assert MOST_BYTES // 2 < len(text.encode()) < MOST_BYTES + 2_000
    *_, left, summary = text.split("\n")
    assert left.endswith(" findings more did not fit; check fewer paths.")
    rows = [line.partition(" TL201 ")[0] for line in text.split("\n") if " TL201 " in line]
    count = int(left.split()[0]) + sum(len(each.split(", ")) for each in rows)
    assert summary.startswith(f"Found {count} problems in 5 files")
    diffs = assistant.told("fix_preview", paths=["build/many"], unsafe=True)
    assert MOST_BYTES // 2 < len(diffs.encode()) < MOST_BYTES + 2_000
    assert " did not fit; name fewer paths.\n--- a/" in diffs


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("check", {}, "Argument `paths` of check: Field required."),
        ("check", {"paths": "train.py"}, "Argument `paths` of check: Input should be a valid list."),
        ("check", {"paths": [1] * 50_000}, "Argument `paths.0` of check: Input should be"),
        ("check", {"paths": ["train.py"] * 1_001}, "Argument `paths` of check: List should have"),
        ("check", {"paths": ["."], "apply": True}, "check has no argument `apply`; it has paths, hints."),
        ("why", {"place": "train.py"}, "`train.py` is not a place; write a file and a line"),
        ("why", {"place": f"train.py:{'9' * 5_000}"}, "is not a place"),
        ("why", {"place": "train.py:99"}, "train.py: "),
        ("why", {"place": "broken/bad.py:1"}, "broken/bad.py:1:5: "),
        ("why", {"place": "broken:1"}, "This is a folder; name a file and a line in it."),
        ("why", {"place": "train.py:10", "rule": "TL999"}, "There is no rule `TL999`"),
        ("rule", {"code": "TL999"}, "There is no rule `TL999`"),
        ("rule", {"code": "x\n" * 5_000}, "There is no rule `x"),
        ("rule", {"code": ""}, "There is no rule ``"),
        ("run", {"code": ""}, "Unknown tool: run"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_refused_in_one_sentence(
    assistant: Assistant, tool: str, arguments: dict[str, object], sentence: str
) -> None:
    said = assistant.refused(tool, **arguments)
    assert sentence in said
    assert len(said.split("\n")) == 1
    assert len(said) < 500
