"""Which assignments a use of a name can see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst
import pytest

from torchlint.analysis.flow import Flow
from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Tier
from torchlint.project.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module
    from torchlint.analysis.names import Binding

SEEN = {
    "the last of several": ("x = 1\nx = 2\nprobe(x)", ["2"]),
    "not one that comes later": ("x = 1\nprobe(x)\nx = 2", ["1"]),
    "not the one whose right side it is part of": ("x = 1\nx = probe(x)", ["1"]),
    "one in an `if` beside the one before": ("x = 1\nif c:\n  x = 2\nprobe(x)", ["1", "2"]),
    "the one in its own arm": ("x = 1\nif c:\n  x = 2\n  probe(x)", ["2"]),
    "not the one in the other arm": ("x = 1\nif c:\n  x = 2\nelse:\n  probe(x)", ["1"]),
    "not the one in the arm before an `elif`": (
        "x = 1\nif c:\n  x = 2\nelif d:\n  probe(x)",
        ["1"],
    ),
    "both arms, not what was before": (
        "x = 1\nif c:\n  x = 2\nelse:\n  x = 3\nprobe(x)",
        ["2", "3"],
    ),
    "all arms of a chain, of an `if` in an arm, and in a `with`": (
        "x = 1\nif c:\n  x = 2\nelif d:\n  with e:\n    x = 3\nelse:\n"
        "  if f: x = 4\n  else: x = 5\nprobe(x)",
        ["2", "3", "4", "5"],
    ),
    "the arm that does not leave": (
        "x = 1\nif c:\n  raise E\nelse:\n  x = 2\nprobe(x)",
        ["2"],
    ),
    "a `try` and its handlers": (
        "x = 1\ntry:\n  x = 2\nexcept E:\n  x = 3\nprobe(x)",
        ["2", "3"],
    ),
    "a `try` with a handler that leaves": (
        "x = 1\ntry:\n  x = 2\nexcept E:\n  raise\nprobe(x)",
        ["2"],
    ),
    "what was before a `try` with a handler that sets nothing": (
        "x = 1\ntry:\n  x = 2\nexcept E:\n  pass\nprobe(x)",
        ["1", "2"],
    ),
    "what was before a `try`, in its handler": (
        "x = 1\ntry:\n  x = 2\nexcept E:\n  probe(x)\n  x = 3",
        ["1", "2"],
    ),
    "what was before a chain without `else`": (
        "x = 1\nif c:\n  x = 2\nelif d:\n  x = 3\nprobe(x)",
        ["1", "2", "3"],
    ),
    "what was before an arm that sets it only sometimes": (
        "x = 1\nif c:\n  x = 2\nelse:\n  for i in r: x = 3\nprobe(x)",
        ["1", "2", "3"],
    ),
    "what was before, in an arm": (
        "x = 1\nif c:\n  probe(x)\n  x = 2\nelse:\n  x = 3",
        ["1"],
    ),
    "what was before an `if` that a loop runs": (
        "x = 1\nfor i in r:\n  if c: x = 2\n  else: x = 3\nprobe(x)",
        ["1", "2", "3"],
    ),
    "what both arms set, also in a later round": (
        "x = 1\nfor i in r:\n  if c: x = 2\n  else: x = 3\n  probe(x)\n  x = 4",
        ["2", "3"],
    ),
    "what was before an update in both arms": (
        "x = 1\nif c: x += 2\nelse: x += 3\nprobe(x)",
        ["1", "2", "3"],
    ),
    "not one whose arm returns": ("x = 1\nif c:\n  x = 2\n  return\nprobe(x)", ["1"]),
    "not one whose arm raises": ("x = 1\nif c: pass\nelse:\n  x = 2\n  raise E\nprobe(x)", ["1"]),
    "one in the arm that returns": ("x = 1\nif c:\n  x = 2\n  probe(x)\n  return", ["2"]),
    "not one in a nested arm that returns": (
        "x = 1\nif c:\n  if d:\n    x = 2\n    return\nprobe(x)",
        ["1"],
    ),
    "one in an arm inside an arm that returns": (
        "x = 1\nif c:\n  if d:\n    x = 2\n  probe(x)\n  return",
        ["1", "2"],
    ),
    "not one in a round that goes on": (
        "for i in r:\n  x = 1\n  if c:\n    x = 2\n    continue\n  probe(x)",
        ["1"],
    ),
    "one in an earlier round that went on": (
        "x = 1\nfor i in r:\n  if c:\n    x = 2\n    continue\n  probe(x)",
        ["1", "2"],
    ),
    "one in the round that ended the loop": (
        "x = 1\nfor i in r:\n  if c:\n    x = 2\n    break\nprobe(x)",
        ["1", "2"],
    ),
    "one in a one-line suite": ("x = 1\nif c: x = 2; probe(x)", ["2"]),
    "both of try and except": ("try:\n  x = 1\nexcept E:\n  x = 2\nprobe(x)", ["1", "2"]),
    "one inside a `with` hides the one before": ("x = 1\nwith c:\n  x = 2\nprobe(x)", ["2"]),
    "one inside two `with`s": ("x = 1\nwith c:\n  with d:\n    x = 2\nprobe(x)", ["2"]),
    "one inside a `with` inside an `if`": (
        "x = 1\nif c:\n  with d:\n    x = 2\nprobe(x)",
        ["1", "2"],
    ),
    "an earlier round of the loop": ("x = 1\nfor i in r:\n  probe(x)\n  x = 2", ["1", "2"]),
    "an earlier round of `while`": ("x = 1\nwhile c:\n  probe(x)\n  x = 2", ["1", "2"]),
    "an earlier round of the outer loop": (
        "for i in r:\n  for j in s:\n    probe(x)\n  x = 2\nx = 3",
        ["2"],
    ),
    "not an earlier round, once the loop sets it first": (
        "x = 1\nfor i in r:\n  x = 2\n  probe(x)\n  x = 3",
        ["2"],
    ),
    "an earlier round, if the loop sets it only sometimes": (
        "x = 1\nfor i in r:\n  if c:\n    x = 2\n  probe(x)\n  x = 3",
        ["1", "2", "3"],
    ),
    "an update beside what it updates": ("x = 1\nx += 2\nprobe(x)", ["1", "2"]),
    "an item beside what it goes into": ("x = 1\nx[0] = 2\nprobe(x)", ["1", "2"]),
    "not an update that a new start hides": ("x = 1\nx += 2\nx = 3\nprobe(x)", ["3"]),
    "the loop's own target": ("x = 1\nfor x in r:\n  probe(x)", ["r"]),
    "the loop's target after it, if it ever ran": (
        "x = 1\nfor x in r:\n  pass\nprobe(x)",
        ["1", "r"],
    ),
    "not the target in the loop's own iterable": ("x = 1\nfor x in probe(x):\n  pass", ["1"]),
    "the name of the `with` around": ("x = 1\nwith c as x:\n  probe(x)", ["c"]),
    "a walrus in the condition": ("x = 1\nif (x := 2):\n  probe(x)", ["2"]),
    "a parameter": ("def f(x=1):\n  probe(x)", ["1"]),
    "not a parameter that is set again": ("def f(x=1):\n  x = 2\n  probe(x)", ["2"]),
    "a parameter that is sometimes set again": (
        "def f(x=1):\n  if c:\n    x = 2\n  probe(x)",
        ["1", "2"],
    ),
    "everything that a nested function may see": (
        "x = 1\ndef f():\n  probe(x)\nx = 2",
        ["1", "2"],
    ),
    "the target of its comprehension": ("x = 1\n[probe(x) for x in r]", ["r"]),
    "one of another function: not at all": (
        "def f():\n  x = 1\ndef g():\n  x = 2\n  probe(x)",
        ["2"],
    ),
    "nothing, if it is bound nowhere": ("probe(x)", []),
}


@pytest.mark.parametrize(("text", "values"), SEEN.values(), ids=list(SEEN))
def test_a_use_sees(probed: Callable[..., Any], text: str, values: list[str]) -> None:
    asked = probed(text)
    name = asked.asked
    assert isinstance(name, cst.Name)
    found = asked.module.flow.reaching(name)
    assert [asked.module.source(binding.value) for binding in found] == values


READ = {
    "an argument": ("x = 1\nf(x)", [2]),
    "the owner of an attribute": ("x = 1\nx.sum()", [2]),
    "in a function inside": ("def f():\n  x = 1\n  def g():\n    return x", [4]),
    "not a keyword of that name": ("x = 1\nf(x=2)", []),
    "not an attribute of that name": ("x = 1\ny.x", []),
    "not a question about its shape": ("x = 1\nx.shape", []),
    "not where it is set again": ("x = 1\nx, y = 2, 3", []),
    "not what another assignment set": ("x = 1\nx = 2\nf(x)", []),
}


@pytest.mark.parametrize(("text", "rows"), READ.values(), ids=list(READ))
def test_reads_of_an_assignment(
    module_of: Callable[..., Module], text: str, rows: list[int]
) -> None:
    module = module_of(text)
    reads = module.reads(module.nodes(cst.Assign)[0], "x")
    assert [module.span(each)[0].row for each in reads] == rows


def test_a_name_that_is_set_again_and_again_is_followed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[cst.Name] = []
    reaching = Flow.reaching
    monkeypatch.setattr(
        Flow, "reaching", lambda *known: [looked.append(known[1]), reaching(*known)][1]
    )
    sets = "".join(f"    a = loss[{index}].item()\n    b{index} = a\n" for index in range(30))
    head = "import torch\nfor x, y in loader:\n    loss = model(x.cuda())\n    loss.backward()\n"
    text = head + "    optimizer.step()\n" + sets
    report = check([Target("a.py", Selection(), (2, 13), text.encode())])
    assert len(report.findings) == 30
    assert len(looked) < 12 * 30


@pytest.mark.parametrize("sets", [20, 50])
def test_a_name_that_is_set_too_often_can_be_anything(
    sets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    reaching = Flow.reaching

    def counted(flow: Flow, use: cst.Name) -> list[Binding]:
        found = reaching(flow, use)
        seen.append(len(found))
        return found

    monkeypatch.setattr(Flow, "reaching", counted)
    head = "import torch\nfor x, y in loader:\n    loss = model(x.cuda())\n    loss.backward()\n"
    branches = "    out = x.cuda()\n" + "    if c: out = out + 1\n" * sets
    text = head + "    optimizer.step()\n" + branches + "    total = out.item()\n"
    report = check([Target("a.py", Selection(), (2, 13), text.encode())])
    certain = [each for each in report.findings if each.tier is Tier.DEFAULT]
    assert len(certain) == (sets < 32)
    assert max(seen) <= 32
