"""Tables of the documentation that list codes, exit codes, severities, options or commands agree with
the code."""

from __future__ import annotations

import json as stdlib_json
import re
import runpy
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import click
import pytest
import yaml

from torchlint.cli import torchlint
from torchlint.finding import Diagnostic, Tier
from torchlint.flake8 import TROUBLE
from torchlint.mcp.tools import Tools
from torchlint.profile.catalogue import all_kinds
from torchlint.report.formats import github, gitlab, junit, rdjson, sarif
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.ruleapi.registry import all_rules
from torchlint.verify.result import Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import MakeFinding
    from torchlint.finding import Finding

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
COMMANDS = {
    name: torchlint.get_command(click.Context(torchlint), name)
    for name in torchlint.list_commands(None)
}
Row = list[str]


def tables(page: Path) -> Iterator[list[Row]]:
    """The tables of a page as rows of cells, the first of them the heading."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in found[0].splitlines()
        ]
        yield [rows[0], *rows[2:]]


def table(page: str, first: str) -> list[Row]:
    """The rows of the one table of a page whose heading begins so."""
    (found,) = (each for each in tables(ROOT / "docs" / page) if each[0][0] == first)
    return found[1:]


def in_code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


# commands and options -----------------------------------------------------------------------


def test_the_table_of_commands_has_each_command() -> None:
    rows = table("command-line.md", "command")
    named = {
        words.split()[1]
        for row in rows
        for words in in_code(row[0])
        if words.startswith("torchlint ")
    }
    assert named == set(COMMANDS)


def options(*names: str) -> set[str]:
    return {
        word
        for name in names
        for param in COMMANDS[name].get_params(click.Context(COMMANDS[name]))
        for word in (*param.opts, *param.secondary_opts)
        if word.startswith("-")
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_options_in_a_table_exist(page: Path) -> None:
    known = options(*COMMANDS)
    named = {
        option
        for rows in tables(page)
        for row in rows
        for words in in_code(row[0])
        for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", words.partition(" -- ")[0])
        if words.startswith(("-", "torchlint "))
    }
    assert named - known == set()


# codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_codes_on_a_page_exist_and_lead_to_their_own_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    known = {code: rule.name for code, rule in all_rules().items()}
    known |= {code: kind.name for code, kind in all_kinds().items()} | {TROUBLE: ""}
    assert {code for code in re.findall(r"\bT[LR]\d{3}\b", text) if code not in known} == set()
    wrong = [
        f"{code}: {link}"
        for code, link in re.findall(r"\[(T[LR]\d{3})\]\(([^)#]+)", text)
        if not link.removesuffix("/__init__.py")
        .removesuffix(".py")
        .removesuffix(".md")
        .endswith((f"/{known[code]}", f"/{known[code].replace('-', '_')}"))
    ]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_table_calls_a_hint_is_one(page: Path) -> None:
    called = {
        code
        for rows in tables(page)
        for row in rows
        for cell in row
        for code in re.findall(r"\[(TL\d{3})\]\([^)]*\)[^,;.|\[]*\(a hint\)", cell)
    }
    rules = [all_rules()[code] for code in called]
    tiers = {rule.code: {rule.tier, *(each.tier for each in rule.finds)} for rule in rules}
    assert {code for code, some in tiers.items() if Tier.HINT not in some} == set()


# exit codes ----------------------------------------------------------------------------------


def helped(command: str) -> dict[str, str]:
    """The exit codes in the help of a command, with what they mean."""
    epilog = COMMANDS[command].epilog or ""
    text = epilog.partition("Exit codes:\n")[2].partition("\n\n")[0]
    rows = re.sub(r"\n {3,}", " ", text).strip("\n").split("\n")
    return {code: meaning.strip() for code, meaning in (row.split(None, 1) for row in rows)}


@pytest.mark.parametrize("command", ["check", "fix", "verify", "profile"])
def test_exit_codes_mean_what_the_help_says(command: str) -> None:
    rows = table("command-line.md", f"`{command}`")
    assert dict(rows) == helped(command)


@pytest.mark.parametrize(("page", "command"), [("ci.md", "check"), ("profile-ci.md", "profile")])
def test_exit_codes_for_ci_are_those_of_the_command(page: str, command: str) -> None:
    named = {code for row in table(page, "exit code") for code in re.findall(r"\d+", row[0])}
    assert named == set(helped(command)) - {"130"}


# severities and verdicts ---------------------------------------------------------------------


def severities(finding: Finding | None, diagnostics: list[Diagnostic]) -> list[str]:
    """The level of one finding or error, by format in the order of the table."""
    findings = [] if finding is None else [finding]
    excerpts = Excerpts({})
    log = read(sarif.render(findings, diagnostics, all_rules(), "/"))["runs"][0]
    (told,) = log["results"] or log["invocations"][0]["toolExecutionNotifications"]
    (line,) = github.render(findings, diagnostics)
    (entry,) = read(gitlab.render(findings, diagnostics, "/"))
    (comment,) = read(rdjson.render(findings, diagnostics, excerpts))["diagnostics"]
    case = ElementTree.fromstring("\n".join(junit.render(findings, diagnostics))).find(
        ".//testcase"
    )
    assert case is not None
    return [
        told["level"],
        line.partition(" ")[0].strip(":"),
        entry["severity"],
        comment["severity"],
        case[0].tag,
    ]


def read(lines: Iterator[str]) -> Any:
    return stdlib_json.loads("\n".join(lines))


def test_severities_are_those_of_the_formats(make_finding: MakeFinding) -> None:
    rows = {row[0]: row[1:] for row in table("output-formats.md", "tier")}
    found = {tier.value: severities(make_finding(tier=tier), []) for tier in Tier}
    found["(errors)"] = severities(None, [Diagnostic("a.py", "Cannot be read.")])
    assert rows == found


@pytest.mark.parametrize("page", ["verify-json.md", "how-verify-measures.md"])
def test_each_verdict_is_listed(page: str) -> None:
    listed = [
        {cell for row in rows[1:] for cell in (row[0].strip("`"),)}
        for rows in tables(ROOT / "docs" / page)
        if rows[0][0].strip("`") == "verdict"
    ]
    assert listed[0] == {verdict.value for verdict in Verdict}
    assert listed[1:] in ([], [{agreement.value for agreement in Agreement}])


# other programs ------------------------------------------------------------------------------


def test_the_inputs_of_the_action_are_listed_with_their_defaults() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    listed = {in_code(row[0])[0]: row[2] for row in table("ci.md", "input")}
    assert set(listed) == set(action["inputs"])
    for name, given in action["inputs"].items():
        if given["default"]:
            assert listed[name] == f"`{given['default']}`"


def test_the_tools_for_assistants_are_listed_with_their_arguments() -> None:
    listed = {in_code(row[0])[0]: in_code(row[1]) for row in table("assistants.md", "tool")}
    for name, arguments in listed.items():
        assert list(signature(getattr(Tools, name)).parameters)[1:] == arguments
    assert set(listed) == {name for name in vars(Tools) if not name.startswith("_")}


def test_the_page_of_the_configuration_has_all_keys() -> None:
    generated = runpy.run_path(str(ROOT / "docs" / "hooks" / "generated.py"))
    page = generated["PAGE"].read_text(encoding="utf-8")
    assert page == generated["filled_in"](page), "run `python docs/hooks/generated.py`"
