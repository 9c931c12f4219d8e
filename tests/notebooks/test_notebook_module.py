"""Notebooks checked and fixed as one module."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.notebook_files import notebook
from torchlint.config.settings import Selection
from torchlint.engine.check import Report, check
from torchlint.fixes.fixer import apply, fix_targets
from torchlint.memory.store import Store
from torchlint.notebooks.notebook_module import diagnosed_in_cells, in_cells
from torchlint.project.target import Target

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.finding import Finding

TRAIN = (
    "%matplotlib inline\nimport torch\nfrom torch import nn",
    "model = nn.Linear(3, 1).cuda()\noptimizer = torch.optim.SGD(model.parameters(), 0.1)",
    """\
    %%time
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total)""",
)


STEP = """\
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()"""


def target(data: bytes | None, path: str = "a.ipynb", **rest: Any) -> Target:
    return Target(path, Selection(select=("TL201", "TL401")), (2, 13), data, **rest)


def located(report: Report) -> list[Finding]:
    return [in_cells(finding, report.borders) for finding in report.findings]


@pytest.mark.parametrize(("last", "tier"), [("show(list(loader))", "hint"), (STEP, "default")])
def test_a_loader_of_a_notebook_that_does_not_train_is_a_hint(last: str, tier: str) -> None:
    images = """\
        import torch
        from PIL import Image
        from torch.utils.data import DataLoader, Dataset
        class Images(Dataset):
            def __getitem__(self, index):
                return torch.as_tensor(Image.open(self.paths[index]))
        loader = DataLoader(Images(), num_workers=0)"""
    asked = Target("a.ipynb", Selection(select=("TL101",)), (2, 13), notebook(images, last))
    assert [each.tier.value for each in check([asked]).findings] == [tier]


def test_cells_are_one_module_and_findings_name_the_cell() -> None:
    report = check([target(notebook(*TRAIN))])
    assert [f"{each.code} {each.start}" for each in located(report)] == [
        "TL401 cell 3:4:5",
        "TL201 cell 3:8:14",
    ]


def test_edits_are_in_the_places_of_the_cell() -> None:
    report = check([target(notebook(*TRAIN))])
    (edit,) = located(report)[0].fix.edits  # type: ignore[union-attr]
    assert edit.start.cell == edit.end.cell == 3


def test_a_helper_in_a_module_is_hot_in_a_notebook() -> None:
    helper = b"def accuracy(out):\n    return out.sum().item()\n"
    step = "for x, y in loader:\n  model(x).mean().backward()\n  optimizer.step()\n  accuracy(model(x))"
    files = [
        target(
            notebook(
                "import torch\nfrom helpers import accuracy\nmodel = torch.nn.Linear(1, 1).cuda()",
                step,
            )
        ),
        target(helper, "helpers.py"),
    ]
    (finding,) = located(check(files))
    assert (finding.path, str(finding.related[0].position)) == ("helpers.py", "cell 2:1:1")


def test_a_fix_writes_the_cells_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(notebook(*TRAIN))
    report = fix_targets([target(None, str(path))], unsafe=True)
    assert apply(report.files) == ()
    fixed = (
        notebook(*TRAIN)
        .replace(b"zero_grad(set_to_none=False)", b"zero_grad()")
        .replace(b"total += loss.item()", b"total += loss.detach().float()")
        .replace(b'    "print(total)"', b'    "total = float(total)\\n",\n    "print(total)"')
    )
    assert path.read_bytes() == fixed
    assert fix_targets([target(None, str(path))], unsafe=True).files == ()


def test_a_notebook_that_has_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(notebook(*TRAIN))
    report = fix_targets([target(None, str(path))], unsafe=True)
    path.write_bytes(notebook(*TRAIN, "x = 1"))
    (failed,) = apply(report.files)
    assert "has changed" in failed.message
    assert path.read_bytes() == notebook(*TRAIN, "x = 1")


def test_cells_that_are_no_python_are_said_and_the_others_are_checked() -> None:
    report = check([target(notebook(TRAIN[0], "x = (\n", "print 'hi'", *TRAIN[1:]))])
    assert len(report.findings) == 2
    said = sorted(
        (diagnosed_in_cells(each, report.borders) for each in report.diagnostics),
        key=lambda each: each.sort_key,
    )
    assert [str(each.position) for each in said] == ["cell 2:1:5", "cell 3:1:1"]
    assert all("skipped" in each.message for each in said)


def test_what_is_left_is_told_in_cells_too() -> None:
    data = notebook(
        *TRAIN[:2], TRAIN[2].replace("total += loss.item()", "seen.append(loss.item())"), "x = ("
    )
    report = fix_targets([target(data)], unsafe=True)
    places = {each.start.cell for each in (*report.remaining, *report.withheld)}
    assert places == {3}
    assert [str(each.position) for each in report.diagnostics] == ["cell 4:1:5"]


def test_a_cell_that_jupyter_unindents_is_left_out_in_silence() -> None:
    report = check([target(notebook(*TRAIN, "    x = 1\n    y = 2"), named=True)])
    assert (len(report.findings), report.diagnostics) == (2, ())


def test_await_outside_of_functions_is_python_here() -> None:
    report = check([target(notebook(*TRAIN, "await f()\nasync with g() as x: pass"), named=True)])
    assert (len(report.findings), report.diagnostics) == (2, ())


@pytest.mark.parametrize("cell", ["x = '\0'", "x = '\ud800'", "# \ud800", "(" * 300, "\ufeffx"])
def test_a_cell_with_what_no_file_can_hold_is_left_out(cell: str) -> None:
    report = check([target(notebook(*TRAIN, cell))])
    assert len(report.findings) == 2
    assert len(report.diagnostics) <= 1


def test_a_comment_silences_a_line_of_a_cell() -> None:
    silent = TRAIN[2].replace("item()", "item()  # torchlint: ignore[TL201]")
    report = check([target(notebook(*TRAIN[:2], silent))])
    assert [each.code for each in report.findings] == ["TL401"]


@pytest.mark.parametrize("data", [b"not json", b'{"worksheets": []}', b"[" * 9999])
def test_what_is_not_a_notebook_is_an_error_if_it_matters(data: bytes) -> None:
    assert check([target(data)]).diagnostics == ()
    assert len(check([target(data, named=True)]).diagnostics) == 1
    assert len(check([target(data + b"torch")]).diagnostics) == 1


def test_a_notebook_is_not_a_module_that_others_import() -> None:
    user = b"import torch\nfrom a import f\nfor x in y:\n    f(x).backward()\n    o.step()\n"
    other = notebook("import torch\ndef f(x):\n    return x.cuda().item()")
    assert check([target(user, "user.py"), target(other)]).findings == ()


def test_other_outputs_are_the_same_program(tmp_path: Path) -> None:
    asked = []

    class Asked(Store):
        def keep(self, known: Any, depth: Any, result: Any) -> None:
            asked.append(known.target.path)
            super().keep(known, depth, result)

    store = Asked()
    content = json.loads(notebook(*TRAIN))
    check([target(json.dumps(content).encode())], store=store)
    first = len(asked)
    content["cells"][0]["outputs"] = [{"text": "new"}]
    check([target(json.dumps(content).encode())], store=store)
    assert first == len(asked) > 0
