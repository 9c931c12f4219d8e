"""The files of a program with any choice of candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.tune.test_experiments import ATTENTION, SCRIPT, bench, source
from torchlint.experiment.subject import Variant
from torchlint.finding import Applicability, Edit, Finding, Fix, Position, Tier
from torchlint.ruleapi.registry import all_experiments
from torchlint.runtime import program
from torchlint.tune.workbench import UnfitError, Workbench
from torchlint.verify.compared.measured_fixes import Fixes, MeasuredFix

if TYPE_CHECKING:
    from pathlib import Path

WORKERS = "worker-number/2:train.py"
FUSED = "fused-update:train.py"
COMPILED = "compile-model/default:train.py"


def fix(code: str, row: int, old: str, new: str, tier: Tier = Tier.DEFAULT) -> MeasuredFix:
    """A fix that puts one text in the place of another in a line of the script."""
    column = SCRIPT.splitlines()[row - 1].index(old) + 1
    start, end = Position(row, column), Position(row, column + len(old))
    edit = Edit(start, end, new)
    found = Finding(
        code, "name", tier, "It is slow.", "train.py", start, end,
        Fix(Applicability.SAFE, "Do it.", (edit,)),
    )  # fmt: skip
    return MeasuredFix(f"{code}:train.py", code, "name", "train.py", (found,), "", needs_gpu=False)


def workbench(folder: Path, *fixes: MeasuredFix) -> Workbench:
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    text = source(SCRIPT)
    return Workbench(
        program.script(str(folder / "train.py"), ()),
        Fixes(fixes, {"train.py": text}),
        {"train.py": text},
        {"TL401": "optimizer", "TL403": "optimizer", "TL115": "data"},
        all_experiments(),
        bench(),
    )


def after(work: Workbench, *ids: str) -> str:
    ((_, data),) = work.files(ids).values()
    return data.decode()


def test_candidates_are_made_one_after_the_other(tmp_path: Path) -> None:
    work = workbench(tmp_path, fix("TL401", 13, "zero_grad()", "zero_grad(True)"))
    text = after(work, "TL401:train.py", WORKERS, FUSED, COMPILED)
    assert "zero_grad(True)" in text
    assert "num_workers=2, persistent_workers=True" in text
    assert text.index("torch.compile(model)") < text.index("lr=1e-3, fused=True")
    assert after(work, COMPILED).count("\n") == SCRIPT.count("\n") + 1
    both = after(work, COMPILED, "compiled-update:train.py")
    assert "torch.compile(model)" in both
    assert "torch.compile(optimizer.step)" in both


def test_the_diff_is_that_of_the_choice(tmp_path: Path) -> None:
    work = workbench(tmp_path)
    diff = work.diff((FUSED,))
    assert diff.startswith("--- a/train.py\n+++ b/train.py\n")
    assert [line for line in diff.splitlines() if line.startswith("+    ")] == [
        "+    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)"
    ]
    assert work.diff(()) == ""


def test_a_variant_is_served_by_its_real_path(tmp_path: Path) -> None:
    work = workbench(tmp_path)
    (served,) = work.served(Variant("with it", (FUSED,))).items()
    assert served[0].endswith("/train.py")
    assert b"fused=True" in served[1]
    assert work.served(Variant("original")) == {}


def test_a_fix_is_left_out_where_an_experiment_does_the_same(tmp_path: Path) -> None:
    same = fix("TL403", 9, "lr=1e-3", "lr=1e-3, fused=True")
    work = workbench(tmp_path, same)
    assert "TL403:train.py" not in work.by_id
    assert FUSED in work.by_id
    without = replace(work, experiments=())
    assert list(without.by_id) == ["TL403:train.py"]


def test_what_cannot_be_made_together_says_so(tmp_path: Path) -> None:
    """The fix takes away what the experiment would change."""
    work = workbench(tmp_path, fix("TL115", 10, "DataLoader(Images(), batch_size=64)", "batches()"))
    with pytest.raises(UnfitError, match="worker-number has no place left"):
        after(work, "TL115:train.py", WORKERS)


def test_without_a_machine_there_are_no_experiments(tmp_path: Path) -> None:
    work = replace(workbench(tmp_path), bench=None)
    assert work.candidates == ()
    assert work.on(bench()).candidates


def test_a_file_that_does_not_parse_has_none(tmp_path: Path) -> None:
    work = workbench(tmp_path)
    broken = replace(work, sources={"train.py": source("import torch\ndef f(:\n")})
    assert broken.candidates == ()


def test_fixes_of_loading_are_about_data(tmp_path: Path) -> None:
    work = workbench(tmp_path, fix("TL115", 10, "64", "32"), fix("TL401", 13, "()", "(True)"))
    assert work.by_id["TL115:train.py"].speeds == ("data", "other")
    assert "backward" in work.by_id["TL401:train.py"].speeds


def test_a_proposal_may_change_more_than_its_experiment_says(tmp_path: Path) -> None:
    """An attention with dropout draws other random numbers, and one without must not differ."""
    plain = ATTENTION.replace("        weights = self.drop(weights)\n", "")
    work = replace(workbench(tmp_path), sources={"a.py": source(ATTENTION), "b.py": source(plain)})
    drawing, exact = (work.by_id[f"fused-attention:{each}.py"].fix.may_change for each in "ab")
    assert drawing == f"{exact}; the dropout of an attention draws other random numbers"
    assert exact == "an attention is rounded in another order"


def test_what_may_change_is_said_once(tmp_path: Path) -> None:
    work = workbench(tmp_path)
    said = work.may_change((WORKERS, FUSED, COMPILED))
    assert said.count(";") == 2
    assert "random numbers" in said


def test_a_candidate_is_named_at_its_first_edit(tmp_path: Path) -> None:
    work = workbench(tmp_path)
    row = 1 + SCRIPT.splitlines().index("    loader = DataLoader(Images(), batch_size=64)")
    for option in ("1", "1 with threads 1"):
        assert work.by_id[f"worker-number/{option}:train.py"].finding.start.row == row


def test_a_finding_is_covered_where_an_experiment_has_a_place(tmp_path: Path) -> None:
    work = workbench(tmp_path)
    assert work.covers("TL403", "train.py")
    assert not work.covers("TL403", "other.py")
    assert not work.covers("TL306", "train.py")  # no attention


def test_what_seldom_helps_is_known(tmp_path: Path) -> None:
    """An experiment says so, a pedantic finding is small or rare, a larger batch is not applied."""
    rare = fix("TL401", 1, "import", "import", Tier.PEDANTIC)
    usual = fix("TL115", 1, "import", "import")
    work = workbench(tmp_path, rare, usual)
    names = {each.name for each in work.candidates if each.seldom}
    assert {"TL401 name", "flush-subnormals", "torch-threads", "larger-batch"} <= names
    assert not {"TL115 name", "worker-number", "autocast-bfloat16", "fused-update"} & names
