"""A whole check: what one file cannot spoil for the others, and what never changes the report."""

from __future__ import annotations

import random
from textwrap import dedent
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst
import pytest

from torchlint.config.settings import Selection
from torchlint.engine import map_file as mapping
from torchlint.engine import project_findings as run
from torchlint.engine.check import check
from torchlint.files import reading as source
from torchlint.finding import Diagnostic, Finding, Tier
from torchlint.memory.store import Store
from torchlint.project.target import Target
from torchlint.reported import Fact, Waiting
from torchlint.ruleapi.registry import all_rules
from torchlint.ruleapi.rule_definition import Rule
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from torchlint.analysis.module import Module
    from torchlint.engine.check import Report
    from torchlint.project.project import Project

LOOP = """\
import torch
from utils import accuracy
for x, y in loader:
    output = model(x).cuda()
    loss = output.sum()
    loss.backward()
    accuracy(output, y)
    print(loss.item())
"""
HELPER = "def accuracy(output, target):\n    return output.eq(target).sum().item()\n"
PROJECT = {"train.py": LOOP, "utils.py": HELPER, "other/train.py": LOOP, "other/utils.py": HELPER}


def says(rule: Rule, message: str = "Found.") -> Rule:
    """The rule, once it reports every name `bad`."""

    @rule.on(cst.Name)
    def reported(name: cst.Name, module: Module) -> Iterator[Finding]:
        if name.value == "bad":
            yield rule.finding(module, name, message)

    return rule


def rule(code: str, **rest: object) -> Rule:
    rest.setdefault("triggers", ("torch",))
    return Rule(code=code, name=f"rule-{code.lower()}", family="test", summary="", **rest)  # type: ignore[arg-type]


class Named(NamedTuple):
    """What a rule's settler goes by."""

    name: str


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replaces the installed rules."""

    def install(*given: Rule) -> None:
        known = MappingProxyType({each.code: each for each in given})
        monkeypatch.setattr(mapping, "all_rules", lambda: known)
        monkeypatch.setattr(run, "all_rules", lambda: known)

    return install


def checked(files: dict[str, str | bytes], **options: object) -> Report:
    targets = [
        Target(path, Selection(), (2, 13), text.encode() if isinstance(text, str) else text)
        for path, text in files.items()
    ]
    return check(targets, **options)  # type: ignore[arg-type]


def places(report: Report) -> list[str]:
    return [f"{each.path}:{each.start.row} {each.code}" for each in report.findings]


# bad files and bad rules -------------------------------------------------------------------


class TestABadFile:
    @pytest.mark.parametrize(
        ("data", "kind", "row"),
        [
            (b"import torch\ndef f(:\n", "syntax", 2),
            (b"import torch\nprint 1\n", "syntax", 2),
            (b"import torch\nx = '\xff'\n", "undecodable", 2),
            (b"import torch\nx = 1\0\n", "undecodable", 2),
        ],
        ids=["that does not parse", "of Python 2", "that does not decode", "with NUL bytes"],
    )
    def test_becomes_a_diagnostic_and_the_others_keep_their_findings(
        self, rules: Callable[..., None], data: bytes, kind: str, row: int
    ) -> None:
        rules(says(rule("TL901")))
        good = "import torch\nbad\n"
        report = checked({"a.py": good, "bad.py": data, "z.py": good})
        assert places(report) == ["a.py:2 TL901", "z.py:2 TL901"]
        (diagnostic,) = report.diagnostics
        assert (diagnostic.path, diagnostic.kind) == ("bad.py", kind)
        assert diagnostic.position is not None
        assert diagnostic.position.row == row

    def test_that_cannot_be_read_is_a_diagnostic_too(
        self, rules: Callable[..., None], tmp_path: Path
    ) -> None:
        rules(says(rule("TL901")))
        (tmp_path / "a.py").write_text("import torch\nbad\n")
        (tmp_path / "folder.py").mkdir()
        names = ("a.py", "folder.py", "missing.py")
        report = check([Target(str(tmp_path / each), Selection(), (2, 13)) for each in names])
        assert [each.path for each in report.findings] == [str(tmp_path / "a.py")]
        assert {each.path for each in report.diagnostics} == {
            str(tmp_path / "folder.py"),
            str(tmp_path / "missing.py"),
        }
        assert report.files == 3

    def test_is_not_even_parsed_if_no_rule_wants_it(self, rules: Callable[..., None]) -> None:
        rules(says(rule("TL901", triggers=("DataLoader",))))
        assert checked({"a.py": b"import torch\ndef f(:\n"}).diagnostics == ()
        assert checked({"a.py": b"def f(: DataLoader\n"}).diagnostics == ()


class TestACrashingRule:
    @staticmethod
    def crashes(**rest: object) -> Rule:
        crashing = rule("TL902", **rest)

        @crashing.on(cst.Name)
        def crash(name: cst.Name, module: Module) -> Iterable[Finding]:
            raise RuntimeError("oh no")

        return crashing

    def test_becomes_a_diagnostic_that_names_it_once_per_file(
        self, rules: Callable[..., None]
    ) -> None:
        rules(says(rule("TL901")), self.crashes())
        report = checked({"a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n"})
        assert places(report) == ["a.py:2 TL901", "b.py:2 TL901"]
        assert [(each.path, each.kind) for each in report.diagnostics] == [
            ("a.py", "rule"),
            ("b.py", "rule"),
        ]
        assert all("TL902" in each.message for each in report.diagnostics)
        assert all("oh no" in each.message for each in report.diagnostics)

    def test_loses_only_the_findings_of_the_nodes_it_crashed_on(
        self, rules: Callable[..., None]
    ) -> None:
        flaky = rule("TL901")

        @flaky.on(cst.Name)
        def sometimes(name: cst.Name, module: Module) -> Iterator[Finding]:
            if name.value == "crash":
                raise RuntimeError("oh no")
            if name.value == "bad":
                yield flaky.finding(module, name, "Found.")

        rules(flaky)
        report = checked({"a.py": "import torch\ncrash\nbad\n"})
        assert places(report) == ["a.py:3 TL901"]
        assert len(report.diagnostics) == 1

    def test_in_its_look_at_the_whole_file_counts_too(self, rules: Callable[..., None]) -> None:
        whole = says(rule("TL901"))

        @whole.on_module
        def crash(module: Module) -> Iterable[Finding]:
            raise RuntimeError("oh no")

        rules(whole)
        report = checked({"a.py": "import torch\nbad\n"})
        assert places(report) == ["a.py:2 TL901"]
        assert "TL901" in report.diagnostics[0].message

    def test_while_settling_loses_that_finding_only(self, rules: Callable[..., None]) -> None:
        waits = rule("TL902")

        @waits.on(cst.Name)
        def wait(name: cst.Name, module: Module) -> Iterator[Waiting]:
            if name.value in ("bad", "worse"):
                yield from waits.report(module, name, "Found.", needs=Named(name.value))

        @waits.settle(Named)
        def settle(finding: Finding, needs: Named, project: Project) -> Finding:
            if needs.name == "worse":
                raise RuntimeError("oh no")
            return finding

        rules(says(rule("TL901")), waits)
        report = checked({"a.py": "import torch\nbad\nworse\n"})
        assert places(report) == ["a.py:2 TL901", "a.py:2 TL902"]
        (diagnostic,) = report.diagnostics
        assert (diagnostic.path, diagnostic.kind) == ("a.py", "rule")
        assert "TL902" in diagnostic.message

    def test_shows_its_traceback_when_asked_to(
        self, rules: Callable[..., None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TORCHLINT_DEBUG", "1")
        rules(self.crashes())
        with pytest.raises(RuntimeError, match="oh no"):
            checked({"a.py": "import torch\nbad\n"})


# what rules are asked ----------------------------------------------------------------------


class TestRulesSee:
    def test_only_files_that_their_triggers_are_found_in(self, rules: Callable[..., None]) -> None:
        rules(says(rule("TL901", triggers=("DataLoader",))), says(rule("TL902")))
        report = checked({"a.py": "import torch\nbad\n", "b.py": "torch.DataLoader\nbad\n"})
        assert places(report) == ["a.py:2 TL902", "b.py:2 TL901", "b.py:2 TL902"]

    def test_no_files_for_which_they_are_off(self, rules: Callable[..., None]) -> None:
        rules(says(rule("TL901")), says(rule("TL902")))
        data = b"import torch\nbad\n"
        targets = [
            Target("a.py", Selection(("TL901",)), (2, 13), data),
            Target("b.py", Selection(("ALL",), ("rule-tl901",)), (2, 13), data),
        ]
        assert places(check(targets)) == ["a.py:2 TL901", "b.py:2 TL902"]

    def test_no_tests_unless_they_ask_for_them(self, rules: Callable[..., None]) -> None:
        rules(says(rule("TL901")), says(rule("TL902", in_tests=True)))
        report = checked({"tests/a.py": "import torch\nbad\n", "a.py": "import torch\nbad\n"})
        assert places(report) == ["a.py:2 TL901", "a.py:2 TL902", "tests/a.py:2 TL902"]

    def test_the_torch_that_the_target_names(self, rules: Callable[..., None]) -> None:
        old = rule("TL901")

        @old.on(cst.Name)
        def below_two(name: cst.Name, module: Module) -> Iterator[Finding]:
            if name.value == "bad" and module.torch < (2, 0):
                yield old.finding(module, name, "Found.")

        rules(old)
        data = b"import torch\nbad\n"
        targets = [Target(f"{minor}.py", Selection(), (minor, 0), data) for minor in (1, 2)]
        assert places(check(targets)) == ["1.py:2 TL901"]

    def test_that_a_check_gives_a_list(self, rules: Callable[..., None]) -> None:
        single = rule("TL901")

        @single.on(cst.Name)
        def find(name: cst.Name, module: Module) -> Finding:
            return single.finding(module, name, "Found.")

        rules(single)
        report = checked({"a.py": "import torch\nbad\n"})
        assert report.findings == ()
        assert "TL901 crashed (TypeError" in report.diagnostics[0].message

    def test_facts_and_clues_of_other_files_when_they_settle(
        self, rules: Callable[..., None]
    ) -> None:
        asks = rule("TL901", clues={"flag": "set_flag"})

        @asks.on(cst.Name)
        def wait(name: cst.Name, module: Module) -> Iterator[Waiting | Fact]:
            if name.value == "bad":
                yield from asks.report(module, name, "Found.", needs=Named(name.value))
            if name.value == "told":
                yield Fact("told", module.path, "yes")

        @asks.settle(Named)
        def settle(finding: Finding, needs: Named, project: Project) -> Finding | None:
            files = project.programs(finding.path)
            if project.has_clue("flag", files):
                return None
            told = "".join(f" {each.path}:{each.value}" for each in project.facts("told", files))
            return finding._replace(message=finding.message + told)

        rules(asks)
        silent = {"a.py": "import torch\nimport b\nbad\n", "b.py": "set_flag()\n"}
        assert places(checked(silent)) == []
        assert places(checked({**silent, "b.py": "nothing()\n"})) == ["a.py:3 TL901"]
        unrelated = {"a.py": "import torch\nbad\n", "b.py": "set_flag()\n"}
        assert places(checked(unrelated)) == ["a.py:2 TL901"]
        told = {"a.py": "import torch\nimport b\nbad\n", "b.py": "import torch\n\ntold\n"}
        assert [each.message for each in checked(told).findings] == ["Found. b.py:yes"]
        untold = {**told, "a.py": "import torch\nbad\n"}
        assert [each.message for each in checked(untold).findings] == ["Found."]


# what never changes the report ---------------------------------------------------------------


def test_findings_and_diagnostics_are_sorted_by_place(rules: Callable[..., None]) -> None:
    rules(says(rule("TL902")), says(rule("TL901")))
    files = {
        "b.py": "import torch\nbad\nx; bad; bad\n",
        "a.py": "import torch\nbad\n",
        "z.py": "import torch\n(\n",
        "c.py": "import torch\n(\n",
    }
    report = checked(files)
    assert places(report) == [
        "a.py:2 TL901",
        "a.py:2 TL902",
        "b.py:2 TL901",
        "b.py:2 TL902",
        "b.py:3 TL901",
        "b.py:3 TL902",
        "b.py:3 TL901",
        "b.py:3 TL902",
    ]
    assert [each.path for each in report.diagnostics] == ["c.py", "z.py"]


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_targets_does_not_matter(seed: int) -> None:
    files = list(PROJECT.items())
    random.Random(seed).shuffle(files)
    assert checked(dict(files)) == checked(PROJECT)


def test_several_processes_report_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.workers.pool._WORTH_PROCESSES", 0)
    files = {**PROJECT, "broken.py": LOOP + "(\n"}
    one, two = checked(files, pool=Pool(1)), checked(files, pool=Pool(2))
    assert places(one) == [
        "other/train.py:8 TL201",
        "other/utils.py:2 TL201",
        "train.py:8 TL201",
        "utils.py:2 TL201",
    ]
    assert len(one.diagnostics) == 1
    assert one == two


def test_files_that_never_say_torch_are_loaded_for_hot_code() -> None:
    assert "torch" not in HELPER
    assert places(checked({"utils.py": HELPER})) == []
    assert "utils.py:2 TL201" in places(checked({"train.py": LOOP, "utils.py": HELPER}))


def test_scripts_that_never_say_torch_hand_their_objects_on() -> None:
    main = "from engine import run\nfrom meters import Meter\nrun(Meter())\n"
    engine = LOOP.replace("from utils import accuracy", "def run(meter):").replace(
        "accuracy(output, y)", "meter.update(loss)"
    )
    head, _, body = engine.partition("def run(meter):\n")
    engine = head + "def run(meter):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    meters = "class Meter:\n    def update(self, x):\n        self.x = x.item()\n"
    report = checked({"main.py": main, "engine.py": engine, "meters.py": meters})
    assert "meters.py:3 TL201" in places(report)


def test_a_file_loaded_on_demand_that_does_not_parse_is_a_diagnostic() -> None:
    report = checked({"train.py": LOOP, "utils.py": HELPER + "(\n"})
    assert places(report) == ["train.py:8 TL201"]
    assert [(each.path, each.kind) for each in report.diagnostics] == [("utils.py", "syntax")]


class TestAStore:
    @pytest.fixture
    def parsed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The files that are parsed, one after the other."""
        names: list[str] = []
        parse = mapping.parse
        monkeypatch.setattr(
            mapping, "parse", lambda source: [names.append(source.path), parse(source)][1]
        )
        return names

    def test_keeps_files_from_being_parsed_again(self, parsed: list[str]) -> None:
        store = Store()
        first = checked(PROJECT, store=store)
        assert set(parsed) == set(PROJECT)
        parsed.clear()
        assert checked(PROJECT, store=store) == first
        assert parsed == []

    def test_parses_only_what_changed(self, parsed: list[str]) -> None:
        store = Store()
        checked(PROJECT, store=store)
        parsed.clear()
        changed = {**PROJECT, "train.py": "\n" + LOOP}
        assert places(checked(changed, store=store))[2] == "train.py:9 TL201"
        assert parsed == ["train.py"]

    def test_does_not_keep_a_helper_hot_that_nobody_calls_any_more(self) -> None:
        store = Store()
        checked(PROJECT, store=store)
        changed = {**PROJECT, "train.py": LOOP.replace("accuracy(output, y)", "pass")}
        assert "utils.py:2 TL201" not in places(checked(changed, store=store))

    @pytest.mark.parametrize(
        "other",
        [
            Target("train.py", Selection(("TL202",)), (2, 13), LOOP.encode()),
            Target("train.py", Selection(), (1, 13), LOOP.encode()),
        ],
        ids=["selection", "torch"],
    )
    def test_does_not_mix_up_settings(self, parsed: list[str], other: Target) -> None:
        store = Store()
        check([Target("train.py", Selection(), (2, 13), LOOP.encode())], store=store)
        parsed.clear()
        fresh = check([other])
        assert check([other], store=store) == fresh
        assert parsed == ["train.py", "train.py"]


def test_progress_ends_at_the_number_of_files() -> None:
    seen: list[tuple[int, int]] = []
    checked(
        {**PROJECT, "plain.py": "x = 1\n"}, progress=lambda done, files: seen.append((done, files))
    )
    assert {files for _, files in seen} == {5}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (5, 5)


def test_nothing_to_check_is_an_empty_report() -> None:
    report = check([])
    assert (report.findings, report.diagnostics, report.files) == ((), (), 0)


def test_a_file_of_blank_lines_has_no_findings() -> None:
    assert checked({"a.py": "", "b.py": "\n\n", "c.py": dedent("\t\n\f\n")}).findings == ()


def test_a_diagnostic_without_place_sorts_before_those_with_one() -> None:
    first = Diagnostic("a.py", "x")
    assert first.sort_key < Diagnostic("b.py", "a").sort_key


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("broken.py", b"x = (\n", "was never closed"),
        ("two.py", b"print 'hello'\n", "Python 2"),
        ("binary.py", b"\x7fELF\x00\x00", "NUL"),
        ("latin.py", b"x = '\xe9'\n", "utf-8"),
        ("notes.ipynb", b"{}", "no list of cells"),
    ],
)
def test_a_named_file_that_is_not_python_is_an_error_though_no_rule_wants_it(
    tmp_path: Path, name: str, text: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text)
    found = Target(str(path), Selection(), (2, 13))
    (diagnostic,) = check([found._replace(named=True)]).diagnostics
    assert says.lower() in diagnostic.message.lower()
    assert check([found]).diagnostics == ()


@pytest.mark.parametrize(
    ("text", "named", "reported"),
    [(b"import torch\n", False, 1), (b"x = 1\n" * 9, True, 1), (b"x = 1\n" * 9, False, 0)],
    ids=["mentions torch", "named", "another"],
)
def test_a_file_that_is_too_large_is_reported_if_it_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, named: bool, reported: int
) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 12)
    path = tmp_path / "giant.py"
    path.write_bytes(text)
    report = check([Target(str(path), Selection(), (2, 13), named=named)])
    assert [each.kind for each in report.diagnostics] == ["unreadable"] * reported


def test_a_named_file_may_use_any_grammar_that_some_python_reads(tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text("type Pair[T] = tuple[T, T]\n", encoding="utf-8")
    assert check([Target(str(path), Selection(), (2, 13), named=True)]).diagnostics == ()


@pytest.mark.parametrize("hints", [False, True])
def test_a_step_is_missed_only_by_rules_whose_findings_are_asked_for(hints: bool) -> None:
    rules = all_rules().values()
    others = [each.code for each in rules if each.tiers != {Tier.HINT} or not each.about_hot_code]
    selection = Selection(off=tuple(others), hints=hints)
    target = Target("train.py", selection, (2, 13), b"import torch\nloss.backward()\n")
    assert check([target]).stepless is hints


@pytest.mark.parametrize(
    ("text", "select", "stepless"),
    [
        ("import torch\nloss.backward()\n", "ALL", True),
        (LOOP, "ALL", False),
        ("import torch\nloss.backward()\n", "TL304", False),
        ("import os\n", "ALL", False),
        ("import lightning as L\nL.Trainer().fit(net)\n", "ALL", False),
        ("import torch\nloss.backward(\n", "ALL", False),
    ],
    ids=[
        "no step",
        "a step",
        "no rule asks for steps",
        "no torch",
        "the steps of a framework",
        "nothing could be parsed",
    ],
)
def test_it_is_told_that_no_training_step_was_seen(text: str, select: str, stepless: bool) -> None:
    target = Target("train.py", Selection((select,)), (2, 13), text.encode())
    assert check([target]).stepless is stepless
