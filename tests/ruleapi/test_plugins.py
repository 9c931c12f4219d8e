"""What is wrong with a plugin is named with its name, ends with 2, and changes nothing else."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.ruleapi.plugins import PluginError, contained

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

LOOP = """\
import torch
for x in loader:
    loss = model(x.cuda())
    loss.backward()
    print(loss.item())
"""
RULE = """\
import libcst as cst
from torchlint.rule import Rule, Finding, Position, Tier, Triggers
rule = Rule(code="HOUSE1", name="of-the-house", family="house", summary="s", triggers=("torch",))
"""
CALL = f"{RULE}@rule.on(cst.Call)\ndef check(call, module):\n    "
LOADED = {
    "it ends the process": ("import sys\nsys.exit(0)", "tried to end torchlint with exit code 0"),
    "it ends it at once": ("import os\nos._exit(0)", "tried to end torchlint with exit code 0"),
    "it fails": ("1 / 0", "failed (ZeroDivisionError: division by zero)"),
    "it fails in an odd way": (
        "class Odd(BaseException): pass\nraise Odd('\\x1b[2J')",
        "failed (Odd: \\x1b[2J)",
    ),
    "it prints": ("print('\\x1b[2J hello')", "printed `\\x1b[2J hello` while it was loaded"),
    "a code that is taken": (
        RULE.replace("HOUSE1", "TL201"),
        "has a rule TL201 of-the-house, and there is TL201 item-in-step-loop already",
    ),
    "a name that is taken": (
        RULE.replace("of-the-house", "item-in-step-loop"),
        "has a rule HOUSE1 item-in-step-loop, and there is TL201 item-in-step-loop already",
    ),
    "a code that is not one": (RULE.replace("HOUSE1", "a\\nb"), "has a rule 'a\\nb'"),
    "a trigger that is not a pattern": (
        RULE.replace('torch",', '(",'),
        "has a rule HOUSE1 whose triggers are not patterns",
    ),
}
CHECKED = {
    "it ends the process": (f"{CALL}import sys; sys.exit(0)", "tried to end torchlint"),
    "it ends it at once": (f"{CALL}import os; os._exit(0)", "tried to end torchlint"),
    "it fails": (f"{CALL}1 / 0", "failed (ZeroDivisionError: division by zero)"),
    "it prints": (f"{CALL}print('hello'); return ()", "printed `hello"),
    "a finding of wrong types": (
        f"{CALL}return [Finding('HOUSE1', 'x', Tier.DEFAULT, 3, module.path, *module.span(call))]",
        "reports what is not a finding in this file",
    ),
    "a finding outside of the file": (
        f"{CALL}at = Position(999, 1); "
        "return [Finding('HOUSE1', 'x', Tier.DEFAULT, '', module.path, at, at)]",
        "reports what is not a finding in this file",
    ),
    "a finding in another file": (
        f"{CALL}return [rule.finding(module, call, '')._replace(path='/etc/passwd')]",
        "reports what is not a finding in this file",
    ),
    "a candidate that fails": (
        CALL.replace('("torch",)', 'Triggers(("torch",), check=lambda data: 1 / 0)') + "return ()",
        "failed (ZeroDivisionError: division by zero); it is left out here",
    ),
    "settling fails": (
        f"{RULE}from typing import NamedTuple\nclass Needs(NamedTuple):\n    name: str\n"
        "@rule.on(cst.Call)\ndef check(call, module):\n"
        "    return rule.report(module, call, 'm', needs=Needs('a'))\n"
        "@rule.settle(Needs)\ndef settle(finding, needs, project):\n    raise SystemExit(0)",
        "tried to end torchlint with exit code 0 while joining files",
    ),
}


@pytest.fixture
def with_plugin(tmp_path: Path) -> Callable[[str], Run]:
    """Runs torchlint in an environment with a plugin of this text."""

    def install(text: str) -> Run:
        (tmp_path / "site" / "house").mkdir(parents=True)
        (tmp_path / "site" / "house" / "__init__.py").write_text(f'"""Ours."""\n{text}\n')
        info = tmp_path / "site" / "house_rules-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[torchlint.rules]\nhere = house\n")
        (tmp_path / "train.py").write_text(LOOP)

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "torchlint", *words],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "NO_COLOR": "1"},
                capture_output=True,
                text=True,
                check=False,
            )

        return run

    return install


@pytest.mark.parametrize(("text", "said"), LOADED.values(), ids=list(LOADED))
def test_a_plugin_that_cannot_be_loaded_is_named_and_the_rest_is_checked(
    with_plugin: Callable[[str], Run], text: str, said: str
) -> None:
    done = with_plugin(text)("check", "--no-cache", "--output-format", "json", "train.py")
    assert done.returncode == 2
    assert [finding["code"] for finding in json.loads(done.stdout)] == ["TL201"]
    (line,) = done.stderr.splitlines()
    assert f"/house/__init__.py: error: The plugin `house-rules` {said}" in line


@pytest.mark.parametrize(("text", "said"), CHECKED.values(), ids=list(CHECKED))
def test_a_rule_of_a_plugin_that_goes_wrong_is_named_and_the_rest_is_reported(
    with_plugin: Callable[[str], Run], text: str, said: str
) -> None:
    done = with_plugin(text)("check", "--no-cache", "--output-format", "json", "train.py")
    assert done.returncode == 2
    assert [finding["code"] for finding in json.loads(done.stdout)] == ["TL201"]
    (line,) = set(done.stderr.splitlines())
    assert line.startswith(f"train.py: error: HOUSE1 of the plugin `house-rules` {said}")


def test_every_command_that_loads_rules_says_it_once(with_plugin: Callable[[str], Run]) -> None:
    run = with_plugin("raise SystemExit(0)")
    for words in ("rule", "rule TL201", "config train.py", "why train.py:5 TL201", "fix train.py"):
        done = run(*words.split())
        assert done.returncode == 2, words
        assert done.stderr.count("The plugin `house-rules` tried to end torchlint") == 1, words
    assert "TL201" in run("rule").stdout


def test_a_plugin_whose_experiments_fail_is_named_by_what_asks_for_them(
    with_plugin: Callable[[str], Run], tmp_path: Path
) -> None:
    run = with_plugin("")
    folder = tmp_path / "site" / "house" / "experiments"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "bad.py").write_text("1 / 0")
    assert run("check", "--no-cache", "train.py").stderr == ""
    said = "(ZeroDivisionError: division by zero), so its experiments are left out"
    assert said in run("tune", "--yes", "train.py").stderr


def test_a_plugin_without_its_module_is_named(
    with_plugin: Callable[[str], Run], tmp_path: Path
) -> None:
    run = with_plugin("")
    (tmp_path / "site" / "house" / "__init__.py").unlink()
    (tmp_path / "site" / "house").rmdir()
    done = run("check", "--no-cache", "train.py")
    assert done.returncode == 2
    assert "names the module `house`, and there is none; install it again." in done.stderr


def test_a_sound_plugin_is_as_good_as_ours(with_plugin: Callable[[str], Run]) -> None:
    text = f"{CALL}return rule.report(module, call, 'Found.')"
    done = with_plugin(text)("check", "--no-cache", "--select", "HOUSE1", "train.py", "-q")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("HOUSE1 of-the-house") == 5


def test_a_rule_without_triggers_reads_every_file_that_mentions_torch(
    with_plugin: Callable[[str], Run], tmp_path: Path
) -> None:
    text = (
        CALL.replace(', triggers=("torch",)', "") + "return [rule.finding(module, call, 'a call')]"
    )
    run = with_plugin(text)
    (tmp_path / "plain.py").write_text("import torch\nprint(torch)\n")
    done = run(
        "check", "--no-cache", "--select", "HOUSE1", "--output-format", "concise", "plain.py"
    )
    assert done.stdout.startswith("plain.py:2:1: HOUSE1 a call")


def test_what_is_written_past_python_goes_to_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def writes() -> int:
        os.write(1, b"in C\n")
        subprocess.run(["echo", "by another program"], check=True)
        return 3

    sys.stdout.write("before\n")
    assert contained("It", writes) == (3, "")
    sys.stdout.write("after\n")
    sys.stdout.flush()
    assert capfd.readouterr() == ("before\nafter\n", "in C\nby another program\n")


def test_only_so_much_of_what_is_printed_is_kept() -> None:
    def floods() -> int:
        for _ in range(10_000):
            sys.stdout.write("word " * 100)
        return 3

    found, printed = contained("It", floods)
    assert found == 3
    assert len(printed) <= 200


def test_an_interrupt_of_the_user_is_not_one_of_the_plugin() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        contained("It", interrupted)


def test_streams_are_as_before_after_a_failure() -> None:
    before = (sys.stdout, sys.stderr, os._exit)

    def fails() -> None:
        sys.stdout = io.StringIO()
        raise ValueError

    with pytest.raises(PluginError, match=r"^It failed \(ValueError: \)$"):
        contained("It", fails)
    assert (sys.stdout, sys.stderr, os._exit) == before
