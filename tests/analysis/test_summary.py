"""What a file tells the project: functions, whom they call with what, classes, loops."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.frameworks.runners import Device
from torchlint.analysis.summary import CallSite, FunctionSummary, Summary, summarize

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

HEADER = "import torch\nnet = torch.nn.Linear(1, 1).cuda()\nt = net(x)\n"


@pytest.fixture
def summary_of(module_of: Callable[..., Module]) -> Callable[[str], Summary]:
    return lambda text: summarize(module_of(HEADER + text))


def function(summary: Summary, name: str) -> FunctionSummary:
    return next(each for each in summary.functions if each.name == name)


def calls(summary: Summary, name: str = "") -> list[tuple[str, str]]:
    return [(site.target, site.method) for site in function(summary, name).calls]


def only_call(summary: Summary, name: str = "") -> CallSite:
    (site,) = function(summary, name).calls
    return site


def test_it_travels_between_processes(summary_of: Callable[[str], Summary]) -> None:
    summary = summary_of("def f(a):\n  for x in y:\n    g(a)\n    loss.backward()\nclass A: pass")
    assert pickle.loads(pickle.dumps(summary)) == summary


class TestFunctions:
    def test_include_the_module_itself_and_methods(
        self, summary_of: Callable[[str], Summary]
    ) -> None:
        summary = summary_of("def f():\n  def g(): pass\nclass A:\n  def h(self): pass")
        assert [each.name for each in summary.functions] == ["", "f", "f.g", "A.h"]

    @pytest.mark.parametrize(
        ("text", "parameters"),
        [
            ("def f(a, /, b=1, *c, d, **e): pass", ("a", "b", "d", "**e")),
            ("class A:\n  def f(self, a): pass", ("a",)),
            ("class A:\n  @classmethod\n  def f(cls, a): pass", ("a",)),
            ("def f(): pass", ()),
        ],
    )
    def test_name_their_parameters(
        self, summary_of: Callable[[str], Summary], text: str, parameters: tuple[str, ...]
    ) -> None:
        assert summary_of(text).functions[-1].parameters == parameters

    def test_say_whether_they_step(self, summary_of: Callable[[str], Summary]) -> None:
        summary = summary_of(
            "def both():\n  loss.backward()\n  optimizer.step()\n"
            "def one():\n  loss.backward()\ndef none(): pass\n"
            "def training_step(): pass\nclass M:\n  def training_step(self): pass\n"
            "def validate(): pass"
        )
        assert [
            (each.name, each.steps, each.whole_step, each.hook, each.evaluation)
            for each in summary.functions[1:]
        ] == [
            ("both", True, True, False, False),
            ("one", True, False, False, False),
            ("none", False, False, False, False),
            ("training_step", False, False, False, False),
            ("M.training_step", False, False, True, False),
            ("validate", False, False, False, True),
        ]

    def test_that_step_have_a_place(self, summary_of: Callable[[str], Summary]) -> None:
        summary = summary_of("\ndef f():\n  loss.backward()")
        assert function(summary, "f").position.row == 5


CALLS = {
    "an own function": ("def f(): pass\nf(t)", [(":f", "")]),
    "an imported function": ("from utils import f\nf(t)", [("utils.f", "")]),
    "a function of an imported module": ("import utils\nutils.f(t)", [("utils.f", "")]),
    "either of two": (
        "try:\n  from a import f\nexcept E:\n  from b import f\nf(t)",
        [("a.f", ""), ("b.f", "")],
    ),
    "a method of an own object": (
        "class A:\n  def f(self): pass\na = A()\na.f(t)",
        [(":A", ""), (":A()", "f")],
    ),
    "a method of an imported object": (
        "from utils import A\na = A()\na.f(t)",
        [("utils.A", ""), ("utils.A()", "f")],
    ),
    "a method of a moved object": (
        "from utils import A\na = A().to(d)\na.f(t)",
        [("utils.A()", "to"), ("utils.A", ""), ("utils.A()", "f")],
    ),
    "a wrapped object": (
        "from utils import A\na = torch.nn.DataParallel(A())\na(t)",
        [("utils.A", ""), ("utils.A()", "()")],
    ),
    "a prepared object": (
        "from utils import A\na, b = accelerator.prepare(A(), o)\na(t)",
        [("utils.A", ""), ("utils.A()", "()")],
    ),
    "nothing of torch": ("torch.exp(t)", []),
    "nothing of numpy": ("import numpy as np\nnp.exp(t)", []),
    "no builtin": ("print(t)", []),
    "nothing unknown": ("mystery(t)", []),
}


class TestCalls:
    @pytest.mark.parametrize(("text", "found"), CALLS.values(), ids=list(CALLS))
    def test_lead_to(
        self, summary_of: Callable[[str], Summary], text: str, found: list[tuple[str, str]]
    ) -> None:
        assert calls(summary_of(text)) == found

    @pytest.mark.parametrize(
        ("body", "found"),
        [
            ("self.g(t)", [("self", "g")]),
            ("self(t)", [("self", "forward")]),
            ("self.held(t)", [("self", "held"), ("self.held", "()")]),
            ("self.held.g(t)", [("self.held", "g")]),
            ("a.g(t)", [("$a", "g")]),
            ("a(t)", [("$a", "()")]),
        ],
    )
    def test_of_a_method_lead_to(
        self,
        summary_of: Callable[[str], Summary],
        body: str,
        found: list[tuple[str, str]],
    ) -> None:
        summary = summary_of(
            f"class A:\n  def __init__(self, h):\n    self.held = h\n  def f(self, a):\n    {body}"
        )
        assert calls(summary, "A.f") == found

    @pytest.mark.parametrize(
        ("arguments", "passed"),
        [
            ("t", [("#0", True, False)]),
            ("3, key=t", [("#0", False, True), ("key", True, False)]),
            ("mystery", [("#0", False, False)]),
            ("[t]", [("#0", True, False)]),
            ("*t, **u", [("*", True, False), ("**", False, False)]),
            ("t.item(), t.cpu(), t.shape", [(f"#{i}", False, True) for i in range(3)]),
            ("net", [("#0", False, False)]),
        ],
    )
    def test_say_where_their_arguments_lie(
        self,
        summary_of: Callable[[str], Summary],
        arguments: str,
        passed: list[tuple[str, bool, bool]],
    ) -> None:
        site = only_call(summary_of(f"from utils import f\nf({arguments})"))
        assert [(each.name, each.device, each.host) for each in site.arguments] == passed

    def test_say_which_parameters_they_hand_on(self, summary_of: Callable[[str], Summary]) -> None:
        summary = summary_of("from utils import f\ndef g(a, b): f(a.mean() + b.mean(), b, 3)")
        site = next(each for each in function(summary, "g").calls if each.target == "utils.f")
        assert [each.parameters for each in site.arguments] == [("a", "b"), ("b",), ()]

    def test_say_which_objects_they_hand_on(self, summary_of: Callable[[str], Summary]) -> None:
        summary = summary_of("from utils import f, A\ndef g(b):\n  a = A()\n  f(a, b, A())")
        site = next(each for each in function(summary, "g").calls if each.target == "utils.f")
        assert [each.objects for each in site.arguments] == [
            (("", "utils.A()"),),
            (("", "$b"),),
            (("", "utils.A()"),),
        ]

    @pytest.mark.parametrize(
        ("text", "quiet"),
        [
            ("for i in r:\n  loss.backward()\n  f(t)", False),
            ("for i in r:\n  loss.backward()\n  if i % 9 == 0: f(t)", True),
            ("for i in r:\n  if i % 9 == 0: f(t)", True),
            ("if i % 9 == 0: f(t)", True),
            ("if i % 9 == 0:\n  for x in y: f(t)", False),
            ("for i in r:\n  loss.backward()\n  net.eval()\n  f(t)", True),
            ("for i in r:\n  loss.backward()\n  if rank == 0: f(t)", False),
        ],
    )
    def test_are_quiet_when_guarded_or_evaluating(
        self, summary_of: Callable[[str], Summary], text: str, quiet: bool
    ) -> None:
        assert only_call(summary_of(f"from utils import f\n{text}")).quiet is quiet

    @pytest.mark.parametrize(
        ("text", "rare"),
        [
            ("if i % 9 == 0:\n  for x in y: f(t)", True),
            ("if i % 9 == 0:\n  for x in y:\n    for z in x: f(t)", True),
            ("for x in y:\n  if i % 9 == 0:\n    for z in x: f(t)", False),
            ("if i % 9 == 0:\n  for x in y:\n    loss.backward()\n    f(t)", False),
            ("if i % 9 == 0: f(t)", False),
        ],
    )
    def test_are_rare_when_the_outermost_loop_is_guarded(
        self, summary_of: Callable[[str], Summary], text: str, rare: bool
    ) -> None:
        assert only_call(summary_of(f"from utils import f\n{text}")).rare is rare

    def test_name_the_loops_around_innermost_first(
        self, summary_of: Callable[[str], Summary]
    ) -> None:
        summary = summary_of(
            "from utils import f\nfor e in r:\n  for x in y:\n    loss.backward()\n    f(t)"
        )
        rows = [summary.loops[index] for index in only_call(summary).loops]
        assert [(loop.position.row, loop.steps) for loop in rows] == [(6, True), (5, False)]


class TestClasses:
    @pytest.mark.parametrize(
        ("value", "targets"),
        [
            ("Meter()", ["utils.Meter()"]),
            ("Meter().to(d)", ["utils.Meter()"]),
            ("torch.nn.DataParallel(Meter())", ["utils.Meter()"]),
            ("given", ["$given"]),
            ("3", []),
            ("torch.nn.Linear(1, 1)", []),
            ("make_meter()", ["utils.make_meter()"]),
        ],
    )
    def test_say_what_self_holds(
        self, summary_of: Callable[[str], Summary], value: str, targets: list[str]
    ) -> None:
        (class_,) = summary_of(
            "from utils import Meter, make_meter\n"
            f"class A:\n  def __init__(self, given):\n    self.held = {value}"
        ).classes
        held = dict(class_.attributes).get("held", ())
        assert held == tuple(("", target) for target in targets)

    def test_name_their_bases(self, summary_of: Callable[[str], Summary]) -> None:
        classes = summary_of("from utils import B\nclass A(B, torch.nn.Module): pass").classes
        assert classes[0].bases == ("utils.B", "torch.nn.Module")


def test_imported_names_and_stars_are_exported(summary_of: Callable[[str], Summary]) -> None:
    summary = summary_of("from .a import f as g\nfrom .b import *\ndef h():\n  from .c import k")
    assert summary.exports == (("torch", "torch"), ("g", ".a.f"))
    assert summary.stars == (".b",)


def test_facts_of_the_program_are_told(module_of: Callable[..., Module]) -> None:
    on = summarize(module_of("x.cuda().backward()\nif __name__ == '__main__': pass"))
    off = summarize(module_of("x = 1"))
    assert (on.device, on.trains, on.is_entry) == (Device.ACCELERATOR, True, True)
    assert (off.device, off.trains, off.is_entry) == (Device.UNSAID, False, False)


def test_a_command_line_calls_what_it_is_given(summary_of: Callable[[str], Summary]) -> None:
    summary = summary_of(
        "import fire\nfrom jobs import test\nclass Job:\n  def run(self): pass\n"
        "fire.Fire({'job': Job, 'test': test})"
    )
    calls = [(site.target, site.method) for site in summary.functions[0].calls]
    assert calls[1:] == [(":Job", ""), (":Job", "run"), ("jobs.test", "")]
