"""Which fixes are measured, and what each form of the program looks like."""

from __future__ import annotations

import os
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.engine.targets import Wishes, plan
from torchlint.finding import Applicability
from torchlint.project.target import Target, digest_of
from torchlint.ruleapi.registry import all_rules
from torchlint.runtime.probe.run_settings import FixLines
from torchlint.silence.tiers import Wanted
from torchlint.verify.compared import measured_fixes as fixes_module
from torchlint.verify.compared.fix_lines import places_after, places_before, places_of_pair
from torchlint.verify.compared.measured_fixes import Fixes, find_fixes

TRAIN = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import CenterCrop
import numpy as np


class Files(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return CenterCrop(32)(np.load(f"{index}.npy"))


def main():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3),
        nn.BatchNorm2d(8),
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Files(), batch_size=8):
        optimizer.zero_grad(set_to_none=False)
        model(batch.cuda()).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def fixes_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def find(text: str = TRAIN, *, unsafe: bool = True, select=("ALL",)) -> Fixes:
        (tmp_path / "train.py").write_text(dedent(text))
        wishes = Wishes(select=select, isolated=True)
        targets = plan(["."], wishes).targets
        return find_fixes(targets, all_rules(), unsafe=unsafe, wanted=Wanted())

    return find


def test_what_one_rule_changes_in_one_file_is_one_fix(fixes_in):
    fixes = fixes_in()
    assert "TL304:train.py" in fixes.ids
    (bias,) = (fix for fix in fixes.fixes if fix.code == "TL304")
    assert [finding.start.row for finding in bias.findings] == [18, 18]
    assert bias.applicability is Applicability.UNSAFE
    assert bias.message == "Pass `bias=False`"


def test_a_fix_knows_what_its_rule_declares(fixes_in):
    by_code = {fix.code: fix for fix in fixes_in().fixes}
    assert by_code["TL301"].needs_gpu
    assert not by_code["TL101"].needs_gpu
    assert "random numbers" in by_code["TL101"].may_change


def test_each_fix_is_made_alone_and_all_together(fixes_in):
    fixes = fixes_in()
    served = os.path.realpath("train.py")
    alone = fixes.served({"TL401:train.py"})[served].decode()
    assert "optimizer.zero_grad()" in alone
    assert "bias=False" not in alone
    everything = fixes.served(fixes.ids)[served].decode()
    assert everything.count("bias=False") == 2
    assert "num_workers" in everything
    assert fixes.served(()) == {}


def test_the_diff_holds_only_the_chosen_fixes(fixes_in):
    diff = fixes_in().diff({"TL401:train.py"})
    assert diff.startswith("--- a/train.py\n+++ b/train.py\n")
    assert "-        optimizer.zero_grad(set_to_none=False)" in diff
    assert "num_workers" not in diff


def test_comments_that_do_nothing_are_nothing_to_measure(fixes_in):
    idle = "x = 1  # torchlint: ignore[TL202]\n"
    (finding,) = check([Target("a.py", Selection(), (2, 13), idle.encode())]).findings
    assert finding.fix is not None
    assert fixes_in(idle).ids == ()


def test_unsafe_fixes_are_left_out_on_request(fixes_in):
    assert fixes_in(unsafe=False).ids == ()


def test_a_file_that_cannot_be_written_back_is_left_out_with_a_reason(fixes_in, tmp_path):
    (tmp_path / "other.py").write_bytes(
        b"# coding: utf-7\nimport torch\nopt = torch.optim.SGD([], 0.1)\n"
        b"for x in y:\n    opt.zero_grad(set_to_none+AD0-False)\n    opt.step()\n"
    )
    fixes = fixes_in()
    assert all(fix.path == "train.py" for fix in fixes.fixes)


def test_what_is_written_names_only_the_chosen_fixes(fixes_in):
    (file,) = fixes_in().fixed_files({"TL401:train.py"})
    assert [finding.code for finding in file.applied] == ["TL401"]
    assert b"optimizer.zero_grad()" in file.after


@pytest.fixture
def collector_for(tmp_path, monkeypatch):
    """Gathers the fixes of a train.py with these bytes."""
    monkeypatch.chdir(tmp_path)

    def collector(data):
        (tmp_path / "train.py").write_bytes(data)
        target = Target("train.py", Selection(), (2, 13))
        return fixes_module._Collector([target], {"train.py": digest_of(data)}, all_rules())

    return collector


def test_a_file_that_changed_since_it_was_checked_is_left_out(
    collector_for, make_finding, tmp_path
):
    collector = collector_for(b"running += loss.item()\n")
    (tmp_path / "train.py").write_bytes(b"# new\nrunning += loss.item()\n")
    collector.add("train.py", [make_finding(row=1, fix=Applicability.SAFE)])
    assert collector.fixes == []
    assert collector.left_out == [
        "train.py: The file has changed since it was checked; run it again."
    ]


def test_an_overlapping_fix_is_left_out_with_a_reason(make_finding, collector_for):

    text = b"running += loss.item()\n"
    collector = collector_for(text)
    one = make_finding(row=1, column=12, end=(1, 16), fix=Applicability.SAFE)
    two = make_finding(
        row=1, column=13, end=(1, 16), code="TL202", name="x", fix=Applicability.SAFE
    )
    collector.add("train.py", [one, two])
    assert [fix.code for fix in collector.fixes] == ["TL201"]
    assert collector.left_out == [
        "The fix of TL202 at train.py:1 overlaps that of TL201 at train.py:1; apply that one first."
    ]


def test_a_fix_that_does_not_parse_is_left_out_with_a_reason(make_finding, collector_for):
    from torchlint.finding import Edit, Fix, Position

    broken = Fix(Applicability.SAFE, "", (Edit(Position(1, 1), Position(1, 1), "("),))
    finding = make_finding(row=1)
    finding = finding._replace(fix=broken)
    collector = collector_for(b"x = 1\n")
    collector.add("train.py", [finding])
    assert collector.fixes == []
    assert "does not parse" in collector.left_out[0]


def rows(watched, fix):
    return {(place.first, place.last) for places in watched.values() for place in places
            if place.id.startswith(fix)}  # fmt: skip


def test_the_statements_that_a_fix_changes_are_watched(fixes_in):
    fixes = fixes_in()
    before, after = places_before(fixes), places_after(fixes)
    assert set(before) == {os.path.realpath("train.py")}
    # A statement over several lines is watched from its first to its last.
    assert rows(before, "TL304") == {(17, 20)}
    assert rows(before, "TL401") == {(23, 23)}
    # TL301 puts a line at the top of main, and everything below moves.
    assert rows(after, "TL304") == {(18, 21)}
    # What a fix only takes away is in the original alone.
    assert rows(after, "TL401") == set()


def test_a_loop_is_watched_by_its_head(fixes_in):
    fixes = fixes_in()
    assert rows(places_before(fixes), "TL101") == {(22, 22)}


def test_an_inserted_line_is_watched_where_it_is(fixes_in):
    fixes = fixes_in()
    assert rows(places_before(fixes), "TL301") == set()
    assert rows(places_after(fixes), "TL301") == {(17, 17)}


def test_places_are_numbered_by_finding(fixes_in):
    fixes = fixes_in()
    ids = {place.id for places in places_after(fixes).values() for place in places}
    assert {"TL304:train.py:0", "TL304:train.py:1"} <= ids


def test_an_import_that_is_all_of_a_fix_is_watched(make_finding, collector_for):
    from torchlint.finding import Edit, Fix, Position

    top = Position(1, 1)
    finding = make_finding(row=3)
    edit = Edit(top, top, "import torch\n")
    finding = finding._replace(fix=Fix(Applicability.SAFE, "", (edit,)))
    collector = collector_for(b"import os\n\nos.x\n")
    collector.add("train.py", [finding])
    assert rows(places_after(Fixes(tuple(collector.fixes), collector.sources)), "TL201") == {(1, 1)}


def test_an_added_import_does_not_count_as_executed(make_finding, collector_for):
    from torchlint.finding import Edit, Fix, Position

    top, last = Position(1, 1), Position(3, 1)
    edits = (Edit(top, top, "import torch\n"), Edit(last, Position(3, 5), "pass"))
    finding = make_finding(row=3)
    finding = finding._replace(fix=Fix(Applicability.SAFE, "", edits))
    collector = collector_for(b"import os\n\nos.x\n")
    collector.add("train.py", [finding])
    fixes = Fixes(tuple(collector.fixes), collector.sources)
    assert rows(places_after(fixes), "TL201") == {(4, 4)}


# lines of a change that is not a fix ---------------------------------------------------------


def test_changed_statements_are_watched_where_they_are():
    before = b"a = 1\nb = 2\nc = 3\nd = 4\n"
    after = b"a = 1\nb = f(\n    2,\n)\nd = 4\ne = 5\n"
    removed, written = places_of_pair("t.py", before, after)
    assert removed == ()
    assert written == (FixLines("t.py:2", 2, 4), FixLines("t.py:6", 6, 6))


def test_what_is_only_removed_is_watched_in_the_original():
    removed, written = places_of_pair("t.py", b"a = 1\nb = 2\n", b"a = 1\n")
    assert removed == (FixLines("t.py:2 (removed)", 2, 2),)
    assert written == ()


@pytest.mark.parametrize("after", [b"def\n", b"\xff\n", b"a = 1\n# said\n\n", b"a = 1\n"])
def test_what_runs_nothing_is_not_watched(after):
    assert places_of_pair("t.py", b"a = 1\n", after) == ((), ())
