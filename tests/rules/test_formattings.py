"""A fix is the same in each layout of a program, loses no comment, and its result runs as before."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.formattings import ALL, COMMENT, SAME_LINES, UNSEEN
from torchlint.config.settings import Selection
from torchlint.engine import map_file
from torchlint.finding import Applicability
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torchlint.ruleapi.rule_definition import Rule

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
RECORDER: Final = Path(__file__).with_name("loss_bits.py")
EVERYTHING: Final = Wanted(hints=True, pedantic=True)
APPLIED: Final = (Applicability.SAFE, Applicability.UNSAFE)
RULES: Final = {each.name: each for each in all_rules().values() if each.fix in APPLIED}
PROGRAMS: Final = sorted(
    path
    for name, rule in RULES.items()
    for path in (FIXTURES / name).glob("*.py")
    if path.name in ("bad.py", "train.py") and not rule.about_comments
)
_ON_PURPOSE: Final = "a comment at a slow option may say why it was chosen, so it is not reported"
_IN_THE_TEXT: Final = "whether the program has such code is asked of its text"
_ALONE: Final = "there is other code on the line of the statement"
EXPECTED: Final[Mapping[tuple[str, str], str]] = {
    **{
        (each, f"optimizer-slow-path/{file}"): _ON_PURPOSE
        for each in ALL
        if each.startswith("comments")
        for file in ("bad.py", "train.py")
    },
    ("statements joined", "target-without-no-grad/bad.py"): _ALONE,
    ("statements joined", "target-without-no-grad/train.py"): _ALONE,
    ("blocks on one line", "target-without-no-grad/train.py"): _ALONE,
    ("statements joined", "compile-result-unused/train.py"): (
        "a word behind a string in its line may be prose"
    ),
    ("strings in pieces", "unsafe-nonblocking-d2h/bad.py"): _IN_THE_TEXT,
    ("strings in pieces", "unsafe-nonblocking-d2h/train.py"): _IN_THE_TEXT,
    ("strings in pieces", "gradscaler-with-bf16/bad.py"): _IN_THE_TEXT,
    ("parentheses", "gradscaler-with-bf16/bad.py"): _IN_THE_TEXT,
    ("parentheses", "gradscaler-with-bf16/train.py"): _IN_THE_TEXT,
    ("five parentheses", "gradscaler-with-bf16/bad.py"): _IN_THE_TEXT,
    ("five parentheses", "gradscaler-with-bf16/train.py"): _IN_THE_TEXT,
    ("comments in parentheses", "gradscaler-with-bf16/bad.py"): _IN_THE_TEXT,
    ("comments in parentheses", "gradscaler-with-bf16/train.py"): _IN_THE_TEXT,
    ("comments in parentheses", "conv-bias-before-norm/bad.py"): _IN_THE_TEXT,
    ("comments at dots", "log-of-softmax/bad.py"): _IN_THE_TEXT,
}
"""Where fewer findings are fixed than in the usual layout, and why, apart from fixes that say that a
comment would be lost."""


class Fixed(NamedTuple):
    """The text of a program after all its fixes, how many there were, and what went wrong."""

    text: str
    number: int
    problems: tuple[str, ...]
    withheld: tuple[str, ...]


def fixed(rule: Rule, text: str) -> Fixed:
    selection = Selection(("ALL",) if rule.about_comments else (rule.code,), require_reason=True)
    target = Target(f"{rule.name}/train.py", selection, (2, 13), text.encode())
    report = fix_targets([target], unsafe=True, wanted=EVERYTHING)
    after = report.files[0].after.decode() if report.files else text
    return Fixed(
        after,
        sum(len(file.applied) for file in report.files),
        tuple(each.message for each in report.diagnostics),
        tuple(each.withheld for each in report.remaining if each.withheld),
    )


@cache
def plain(path: Path) -> Fixed:
    """The program in its usual layout, fixed."""
    return fixed(RULES[path.parent.name], path.read_text(encoding="utf-8"))


def tree(text: str) -> str:
    return ast.dump(ast.parse(text.removeprefix("\ufeff")))


def comments(text: str) -> Counter[str]:
    return Counter(COMMENT.findall(text))


def problems_of(formatting: str, path: Path) -> Iterator[str]:
    """What is not as in the usual layout."""
    source = path.read_text(encoding="utf-8")
    text, usual = ALL[formatting](source), plain(path)
    assert tree(text) == tree(source), "the layout changes the program"
    found = fixed(RULES[path.parent.name], text)
    yield from found.problems
    if comments(found.text) != comments(text):
        yield "comments are lost, or there twice"
    ours = sum("comment" in each for each in found.withheld)
    if found.number == usual.number:
        if tree(found.text) != tree(usual.text):
            yield f"the fixes make\n{found.text}"
    elif found.number + ours != usual.number and formatting not in UNSEEN:
        yield f"{found.number} of {usual.number} fixes are made"


SHORT: Final = [each for each in PROGRAMS if each.name == "bad.py"]
WHOLE: Final = [each for each in PROGRAMS if each not in SHORT]


@pytest.mark.parametrize("formatting", ALL)
def test_fixes_are_the_same_in_each_layout(
    formatting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every other short program, and of some whole scripts; `runs` has all."""
    number = list(ALL).index(formatting)
    compare([*SHORT[number % 2 :: 2], *WHOLE[number % 6 :: 6]], formatting, monkeypatch)


@pytest.mark.runs
@pytest.mark.parametrize("formatting", ALL)
def test_fixes_of_all_programs_are_the_same_in_each_layout(
    formatting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(PROGRAMS, formatting, monkeypatch)


def compare(programs: list[Path], formatting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a program's fixes are not as in the usual layout, unless that is expected."""
    if formatting in UNSEEN:
        monkeypatch.setattr(map_file, "wanted_by", lambda _, rules, **__: [r.code for r in rules])
    wrong = {}
    for path in programs:
        name = f"{path.parent.name}/{path.name}"
        found = list(problems_of(formatting, path))
        if bool(found) is not ((formatting, name) in EXPECTED):
            wrong[name] = found or "as in the usual layout, against what is expected"
    assert wrong == {}


def test_each_difference_that_is_expected_is_of_a_program() -> None:
    programs = {f"{path.parent.name}/{path.name}" for path in PROGRAMS}
    assert {name for _, name in EXPECTED} <= programs
    assert {formatting for formatting, _ in EXPECTED} <= ALL.keys()


@pytest.mark.parametrize("formatting", SAME_LINES)
@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_line_ends_and_what_is_above_change_nothing(rule: Rule, formatting: str) -> None:
    path = FIXTURES / rule.name / "bad.py"
    found = fixed(rule, ALL[formatting](path.read_text(encoding="utf-8")))
    assert found.problems == ()
    assert found.text == ALL[formatting](plain(path).text)


# running -------------------------------------------------------------------------------------

STEPS: Final = 2
GROUPS: Final = 4
NEEDS_NCCL: Final = "gloo-backend-for-gpu"
"""The rule whose fix asks for what torch has on machines with a GPU alone."""
SCRIPTS: Final = [
    path for path in PROGRAMS if path.name == "train.py" and path.parent.name != NEEDS_NCCL
]
COMPILES: Final = [each for each in SCRIPTS if "torch.compile" in each.read_text(encoding="utf-8")]
QUICK: Final = [each for each in SCRIPTS if each not in COMPILES]


def run_fixed(scripts: Iterable[Path], layouts: Mapping[Path, Iterable[str]], folder: Path) -> None:
    """Run the fixed scripts in these layouts for a few steps; where the same fixes are made, their
    losses must be the same."""
    usual, others = {}, {}
    for number, path in enumerate(scripts):
        usual[path] = folder / f"{number}.py"
        usual[path].write_text(plain(path).text, encoding="utf-8")
        for name in layouts[path]:
            found = fixed(RULES[path.parent.name], ALL[name](path.read_text(encoding="utf-8")))
            if found.number != plain(path).number:
                continue
            other = folder / f"{number}-{name.replace(' ', '-')}.py"
            other.write_bytes(found.text.encode())
            others[path, name] = other
    files = [*usual.values(), *others.values()]
    command = [sys.executable, str(RECORDER), str(STEPS), *map(str, files)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    losses = dict(map(json.loads, ran.stdout.splitlines()))
    assert losses.keys() == set(map(str, files)), ran.stderr
    for (path, name), other in others.items():
        expected = losses[str(usual[path])]
        assert expected, path
        assert losses[str(other)] == expected, (path, name)


@pytest.mark.parametrize("group", range(GROUPS))
def test_fixed_scripts_run_in_some_layouts(group: int, tmp_path: Path) -> None:
    """Each layout of some script, each script in some layouts; `runs` has all."""
    scripts = QUICK[group::GROUPS]
    names = list(ALL)
    layouts = {path: names[QUICK.index(path) % 18 :: 18] for path in scripts}
    run_fixed(scripts, layouts, tmp_path)


@pytest.mark.runs
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.parent.name)
def test_a_fixed_script_runs_in_all_layouts(path: Path, tmp_path: Path) -> None:
    run_fixed([path], {path: ALL}, tmp_path)
