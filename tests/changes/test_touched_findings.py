from __future__ import annotations

from collections.abc import Callable

from torchlint.changes.changed_lines import ChangedLines, compared
from torchlint.changes.touched_findings import files_of, is_touched
from torchlint.finding import Applicability, Finding, Position, Related

MakeFinding = Callable[..., Finding]
NOTHING = ChangedLines()


def rows(*numbers: int) -> ChangedLines:
    return ChangedLines(rows=frozenset(numbers))


def test_any_row_of_the_finding_counts(make_finding: MakeFinding) -> None:
    finding = make_finding(row=3, end=(5, 2))
    touched = [row for row in range(1, 8) if is_touched(finding, {"train.py": rows(row)})]
    assert touched == [3, 4, 5]


def test_a_line_that_a_fix_would_edit_does_not_count(make_finding: MakeFinding) -> None:
    finding = make_finding(row=3, fix=Applicability.SAFE)
    edit = finding.fix.edits[0]._replace(start=Position(1, 1), end=Position(1, 1))
    finding = finding._replace(fix=finding.fix._replace(edits=(edit,)))
    assert not is_touched(finding, {"train.py": rows(1)})


LOOP = b"""\
for batch in loader:
    loss = step(batch)
    print(trainer.accuracy(loss))
print("done")
"""


def helper(make_finding: MakeFinding, scope: str = "accuracy") -> Finding:
    loop = Related("train.py", Position(1, 1), "this loop runs it on each step")
    return make_finding(path="helper.py", row=8, related=(loop,), scope=scope)


def test_the_line_that_explains_a_finding_counts(make_finding: MakeFinding) -> None:
    finding = helper(make_finding)
    assert files_of([finding]) == {"train.py", "helper.py"}
    assert is_touched(finding, {"helper.py": NOTHING, "train.py": rows(1)})
    assert not is_touched(finding, {"helper.py": NOTHING, "train.py": rows(8)})


def test_a_new_call_in_an_old_loop_counts(make_finding: MakeFinding) -> None:
    def touched(before: bytes, scope: str) -> bool:
        changed = {"helper.py": NOTHING, "train.py": compared(before, LOOP)}
        return is_touched(helper(make_finding, scope), changed)

    without_call = LOOP.replace(b"    print(trainer.accuracy(loss))\n", b"")
    assert touched(without_call, "accuracy")
    assert touched(without_call, "Trainer.accuracy")
    assert not touched(without_call, "accur")
    assert not touched(without_call, "curacy")
    assert not touched(without_call, "")
    assert not touched(LOOP.replace(b"step(batch)", b"old(batch)"), "accuracy")
    assert not touched(LOOP.replace(b'"done"', b'"accuracy"'), "done")
