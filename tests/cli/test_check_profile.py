"""`torchlint check --profile`: what a step gains at most, by an existing profile."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from tests.profile.results import confirmed, profile, read_at, written
from tests.report.profile.sample_profiles import rehearsal, rehearsed
from torchlint.experiment.figures import TIMES
from torchlint.finding import Tier
from torchlint.profile.profile_result import RehearsedLine
from torchlint.report.profile.profile_json import render

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Linter, Run
    from tests.conftest import MakeFinding

SAID = f" At most {TIMES}1.11 by a profile of 2026-07-01."


@pytest.fixture(autouse=True)
def file(here: Path) -> Path:
    (here / "train.py").write_text("x = 1\n" * 20)
    (here / "profile.json").write_bytes(written(profile(read_at(share=0.1, static=confirmed(9)))))
    return here / "profile.json"


def test_a_confirmed_finding_says_what_it_costs_at_most(
    torchlint: Run, linter: Linter, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding("train.py", 9), make_finding("train.py", 10)]
    done = torchlint("check", "--profile", "profile.json", "--output-format", "json")
    messages = [each["message"] for each in json.loads(done.text)]
    assert [each["effect"] for each in json.loads(done.text)] == ["large", "small"]
    assert [each.endswith(SAID) for each in messages] == [True, False]
    assert done.code == 1
    assert torchlint("check").text.count("At most") == 0
    agent = torchlint("check", "--profile", "profile.json", "--output-format", "agent").text
    assert [line.endswith(SAID) for line in agent.splitlines()[1:3]] == [True, False]


def test_another_file_rule_or_row_is_another_finding(
    torchlint: Run, linter: Linter, make_finding: MakeFinding, here: Path
) -> None:
    (here / "other.py").write_text("x = 1\n" * 20)
    linter.findings = [
        make_finding("other.py", 9),
        make_finding("train.py", 8),
        make_finding("train.py", 9, code="TL101"),
    ]
    done = torchlint("check", "--profile", "profile.json")
    assert (done.code, "At most" in done.text) == (1, False)


def test_it_shows_where_the_text_folds_findings_of_one_loop(
    torchlint: Run, linter: Linter, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding("train.py", row, group="train.py:5") for row in (8, 9, 10)]
    done = torchlint("check", "--profile", "profile.json")
    assert "train.py:9:5: TL201" in done.text
    assert "also at 10:5" in done.text
    assert done.text.count("At most") == 1


def test_a_hint_that_the_run_confirmed_is_a_finding(
    torchlint: Run, linter: Linter, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding("train.py", row, tier=Tier.HINT) for row in (8, 9)]
    assert torchlint("check").code == 0
    done = torchlint("check", "--profile", "profile.json")
    assert done.code == 1
    assert "train.py:9:5: TL201" in done.text
    assert "train.py:8:5: TL201" not in done.text
    assert "1 hint" in done.text
    both = torchlint("check", "--hints", "--profile", "profile.json")
    assert "train.py:8:5: TL201" in both.text


def test_a_file_is_the_same_by_any_name(
    torchlint: Run, linter: Linter, make_finding: MakeFinding, file: Path, here: Path
) -> None:
    static = confirmed(9, path=str(here / "train.py"))
    file.write_bytes(written(profile(read_at(share=0.1, static=static)), date=""))
    linter.findings = [make_finding("train.py", 9, tier=Tier.HINT)]
    done = torchlint("check", "--hints", "--profile", "profile.json")
    assert f"At most {TIMES}1.11 by a profile." in " ".join(done.text.split())


def test_a_count_without_a_ceiling_says_nothing(
    torchlint: Run, linter: Linter, make_finding: MakeFinding, file: Path
) -> None:
    file.write_bytes(written(profile(read_at(static=confirmed(9)))))
    linter.findings = [make_finding("train.py", 9)]
    assert "At most" not in torchlint("check", "--profile", "profile.json").text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no.json", "no.json: There is no such file"),
        ("train.py", "train.py: This is not a profile; write one with"),
    ],
)
def test_what_is_not_a_profile_is_an_error(
    torchlint: Run, linter: Linter, name: str, said: str
) -> None:
    done = torchlint("check", "--profile", name)
    assert (done.code, said in done.err, linter.targets) == (2, True, ())


SLOW = """\
import torch

def train(model, loader, optimizer):
    model.cuda()
    for images in loader:
        loss = model(images.cuda()).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


def test_a_profile_changes_nothing_in_the_cache(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text(SLOW)
    words = ("check", "--output-format", "concise", "--cache-dir", str(here / "cache"))
    plain = torchlint(*words)
    told = torchlint(*words, "--profile", "profile.json")
    assert "TL201" in plain.text
    assert told.text == plain.text.replace("every few steps.\n", f"every few steps.{SAID}\n")
    assert told.text != plain.text
    assert torchlint(*words) == plain


def test_a_profile_of_another_folder_is_said_to_match_nothing(
    torchlint: Run, linter: Linter, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "warning" not in torchlint("check", "--profile", "profile.json").err
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    done = torchlint("check", "--profile", "../profile.json")
    assert done.code == 0
    assert (
        "warning: ../profile.json matches nothing here: there is no train.py in this folder; run "
        "check in the folder where the profile was made."
    ) in done.err


# after a rehearsal -----------------------------------------------------------------------------


@pytest.fixture
def seen(here: Path) -> Path:
    """A rehearsal in which rows 5 to 12 of `train.py` ran, row 9 read a value as `check` says, and
    row 11 read another one."""
    digest = sha256((here / "train.py").read_bytes()).hexdigest()
    found = rehearsed(
        findings=(
            read_at(row=9, census=False, static=confirmed(9)),
            read_at(row=11, census=False, rules=("TL201", "TL202")),
        ),
        rehearsal=rehearsal(
            ran={"train.py": tuple(range(5, 13))},
            files={"train.py": digest},
            lines=tuple(RehearsedLine("train.py", row, 1.0, 1.0, 0.0, 0.0, 0.0) for row in (9, 11)),
        ),
    )
    (here / "rehearsal.json").write_text(render(found))
    return here / "train.py"


def said_of(torchlint: Run, *words: str) -> dict[tuple[int, str], str]:
    """Messages by row and code."""
    words = ("check", "--profile", "rehearsal.json", "--output-format", "json", *words)
    found = json.loads(torchlint(*words).text)
    return {(each["location"]["row"], each["code"]): each["message"] for each in found}


@pytest.mark.usefixtures("seen")
def test_what_was_counted_is_a_finding_and_what_was_not_is_none(
    torchlint: Run, linter: Linter, make_finding: MakeFinding
) -> None:
    linter.findings = [
        make_finding("train.py", 7),  # ran, and waited for nothing
        make_finding("train.py", 8, code="TL304"),  # a rehearsal cannot tell
        make_finding("train.py", 9, tier=Tier.HINT),
        make_finding("train.py", 14),  # did not run
    ]
    found = said_of(torchlint)
    assert sorted(found) == [(8, "TL304"), (9, "TL201"), (11, "TR201"), (14, "TL201")]
    assert found[9, "TL201"].endswith("A rehearsal of 2026-07-01 counted 1 reads a step.")
    assert found[11, "TR201"].startswith("1 reads a step; keep it there.")
    assert (11, "TR201") not in said_of(torchlint, "--select", "TL3")
    assert (11, "TR201") in said_of(torchlint, "--select", "TL2")


def test_of_a_file_that_has_changed_a_rehearsal_says_nothing(
    torchlint: Run, linter: Linter, make_finding: MakeFinding, seen: Path
) -> None:
    linter.findings = [make_finding("train.py", 7)]
    seen.write_text("x = 2\n" * 20)
    assert sorted(said_of(torchlint)) == [(7, "TL201")]


def test_why_says_what_a_rehearsal_has_counted_and_what_it_contradicts(
    torchlint: Run, seen: Path, here: Path
) -> None:
    loop = (
        "import torch\nmodel, loader = torch.nn.Linear(2, 2).cuda(), []\n"
        "optimizer = torch.optim.SGD(model.parameters())\nfor x in loader:\n"
        "    loss = model(x.cuda()).sum()\n    loss.backward()\n    optimizer.step()\n"
        "    print(loss.item())\n"
    )
    seen.write_text(loop)
    values = json.loads((here / "rehearsal.json").read_text())
    values["rehearsal"]["files"]["train.py"] = sha256(seen.read_bytes()).hexdigest()
    (here / "rehearsal.json").write_text(json.dumps(values))
    assert "TL201 item-in-step-loop: reported" in torchlint("why", "train.py:8").text
    said = torchlint("why", "train.py:8", "TL201", "--profile", "rehearsal.json").text
    assert "TL201 item-in-step-loop: not reported" in said
    assert "In a rehearsal of 2026-07-01 this line ran in a step" in said
    values["findings"][0]["static"][0]["row"] = 8
    (here / "rehearsal.json").write_text(json.dumps(values))
    said = torchlint("why", "train.py:8", "TL201", "--profile", "rehearsal.json").text
    assert "TL201 item-in-step-loop: reported" in said
    assert f"A rehearsal of 2026-07-01 counted {values['findings'][0]['fact']}." in said
