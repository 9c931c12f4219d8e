"""The pages of the documentation say what is so: their commands are run, their code is read."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

import torchlint
import torchlint.rule
from tests.markdown_blocks import Block, Shell, agrees, blocks, commands, reader, replay
from torchlint.config.keys import KEYS, from_table
from torchlint.config.settings import ConfigError, Settings
from torchlint.ruleapi.contexts import Context

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
SHELLS = {"bash", "sh", "shell", "zsh", "fish"}
MOST_LEFT_OUT = 25


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def console_pages() -> list[str]:
    return [
        name for name in PAGES if any(each.language == "console" for each in blocks(page(name)))
    ]


@pytest.mark.parametrize("name", console_pages())
def test_commands_print_what_a_page_shows(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    shutil.copytree(ROOT / "fixtures", folder / "fixtures")
    wrong = [
        f"{name}:{block.row}: $ {command.words}\n" + "\n".join(actual)
        for block, command, actual in replay(page(name), folder, reader(folder))
    ]
    assert wrong == [], "\n\n".join(wrong)


def test_what_is_not_run_says_why_and_stays_little(capsys: pytest.CaptureFixture[str]) -> None:
    left_out = [
        f"not run: {name}:{block.row}: {block.reason}"
        for name in PAGES
        for block in blocks(page(name))
        if block.reason is not None and block.language in {"console", *SHELLS}
    ]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(left_out) + "\n")
    assert not [line for line in left_out if line.endswith(": ")]
    assert len(left_out) <= MOST_LEFT_OUT


@pytest.mark.parametrize("name", PAGES)
def test_commands_are_in_console_blocks(name: str) -> None:
    for block in blocks(page(name)):
        if block.language == "console":
            assert commands(block)
        assert block.language not in SHELLS or block.reason is not None, f"{name}:{block.row}"


@pytest.mark.parametrize("name", PAGES)
def test_code_can_be_read(name: str) -> None:
    for block in blocks(page(name)):
        try:
            _read(block)
        except (ValueError, SyntaxError, yaml.YAMLError) as error:
            pytest.fail(f"{name}:{block.row}: {error}")


def _read(block: Block) -> None:
    if block.language == "python":
        compile(block.text, "block", "exec", dont_inherit=True)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language in ("yaml", "yml"):
        list(yaml.safe_load_all(block.text))
    elif block.language == "json":
        json.loads(block.text)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_to_files_of_the_checkout(name: str) -> None:
    links = re.findall(r"\]\(([^)\s#:]+)[#)\s]", page(name))
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


# configuration -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_each_key_is_documented_with_an_example_that_holds(key: str) -> None:
    kind, meaning, example = KEYS[key]
    assert kind
    assert meaning.endswith(".")
    table = tomllib.loads(example)
    assert list(table) == [key]
    plain = Settings(root="/")
    assert from_table(table, plain) != plain


@pytest.mark.parametrize("key", KEYS)
def test_each_documented_key_is_read(key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        from_table({key: 1}, Settings(root="/"))


def test_no_setting_lacks_a_key() -> None:
    settings = set(Settings._fields) - {"root", "source"}
    assert settings - {key.replace("-", "_") for key in KEYS} == set()


# the library and the rule API --------------------------------------------------------------


@pytest.mark.parametrize("module", [torchlint, torchlint.rule], ids=lambda each: each.__name__)
def test_each_public_name_is_on_the_page_of_the_library(module: ModuleType) -> None:
    starts = re.findall(r"^(?:\| )?((?:`[\w.]+`(?:, )?)+)", page("docs/library.md"), re.MULTILINE)
    named = set(re.findall(r"\w+(?=`)", "".join(starts)))
    assert set(module.__all__) - named - set(signatures(library_blocks())) == set()


def test_the_signatures_on_the_page_of_the_library_are_those_of_the_code() -> None:
    shown = signatures(library_blocks())
    code = signatures(page("torchlint/finding.py")) | signatures(page("torchlint/library.py"))
    assert {"Finding", "CheckResult", "check_source", "check_paths", "fix_source"} <= set(shown)
    assert shown == {name: code[name] for name in shown}


def library_blocks() -> str:
    """The code on the page of the library, without its programs."""
    found = blocks(page("docs/library.md"))
    return "\n".join(
        each.text for each in found if each.language == "python" and each.title is None
    )


def signatures(text: str) -> dict[str, list[str]]:
    """The parameters of each function, and the fields of each class, by its name."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            assert node.returns is not None
            found[node.name] = [ast.unparse(node.args), ast.unparse(node.returns)]
        elif isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))]
            found[node.name] = [ast.unparse(each) for each in fields]
    return found


def test_each_context_has_its_row() -> None:
    rows = re.findall(r"^\| `Context\.(\w+)` \|", page("docs/contexts.md"), re.MULTILINE)
    assert rows == [each.name for each in Context]


# the pieces of this test -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "actual", "same"),
    [
        (["a", "b"], ["a", "b", ""], True),
        (["a", "..."], ["a"], True),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["took ... s"], ["took 0.25 s"], True),
        (["took ... s"], ["took", "0.25 s"], False),
        (["a"], ["a", "b"], False),
        ([], ["a"], False),
        (["a*"], ["aa"], False),
    ],
)
def test_dots_replace_what_is_left_out(printed: list[str], actual: list[str], same: bool) -> None:
    assert agrees(printed, actual) is same


def test_a_session_keeps_its_folder_and_its_last_exit_code(tmp_path: Path) -> None:
    session = Shell(tmp_path, {})
    assert session.run("mkdir inner && cd inner && false") == []
    assert session.run("echo $? $(basename $PWD)") == ["1 inner"]


def test_a_page_that_tells_something_else_is_caught(tmp_path: Path) -> None:
    text = (
        '```text title="a.txt"\none\n```\n\n'
        "```console\n$ cat a.txt\none\n$ cat \\\n> a.txt\ntwo\n```\n\n"
        "<!-- not run: it never ends -->\n```console\n$ sleep inf\n```\n"
    )
    ((block, command, actual),) = replay(text, tmp_path, Shell(tmp_path, {}))
    assert (block.row, command.words, actual) == (5, "cat \\\na.txt", ["one"])
