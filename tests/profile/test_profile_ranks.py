"""What two real ranks show of each other, with the truth planted in their script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import survey, timing
from tests.profile.kinds.conftest import facts, findings
from torchlint.profile.evidence import Evidence
from torchlint.profile.kinds import communication, input_wait, launcher, unchanged_buffers
from torchlint.profile.ranks import ranks_of
from torchlint.profile.watch import watch
from torchlint.runtime.launchers.torchrun import Torchrun
from torchlint.runtime.probe.instrument_messages import ExchangesSeen
from torchlint.runtime.probe.run_settings import WINDOW, Anchor, RunSettings
from torchlint.runtime.run import Job
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

SCRIPTS = Path(__file__).with_name("scripts")
STEPS = 40


def watched(name: str, *argv: str) -> Evidence:
    """The evidence of a window of steps of a script with two ranks."""
    settings = RunSettings(
        main=str(SCRIPTS / name),
        project=str(SCRIPTS),
        mode=WINDOW,
        argv=argv,
        device="cpu",
        anchor=Anchor("optimizer"),
        instruments=("exchanges", "launch", "input"),
        skip=5,
        steps=STEPS,
        threads=1,
    )
    with Workspace() as workspace:
        job = Job(settings=settings, launcher=Torchrun(2), environment={}, cwd=str(SCRIPTS))
        windows = watch(job, workspace, timeout_s=600.0)
    assert len(windows["launch"].others) == 1
    return Evidence(survey(processes=2), timing(), windows, {"replay": 0.9}, processors=2, ranks=2)


def row(name: str, words: str) -> int:
    (found,) = (
        number
        for number, line in enumerate((SCRIPTS / name).read_text().splitlines(), 1)
        if words in line
    )
    return found


def values(found: Observed) -> Any:
    return found.values


def test_gradients_that_are_exchanged_only_to_be_added_to_are_found_at_their_line() -> None:
    seen = watched("ranks_accumulate.py")
    (found,) = [each for each in findings(communication.kind, seen) if each.rules == ("TL603",)]
    place = row("ranks_accumulate.py", "(loss / 4).backward()")
    assert found.place == (str(SCRIPTS / "ranks_accumulate.py"), place)
    assert (values(found)["exchanges"], values(found)["superfluous"]) == (4 * STEPS, 3 * STEPS)
    assert found.share is not None
    assert 0 < found.share < 1


@pytest.mark.runs
def test_sums_that_are_exchanged_once_are_no_finding() -> None:
    """What `no_sync` leaves out is seen in test_communication_seen."""
    seen = watched("ranks_accumulate.py", "no_sync")
    (line,) = seen.window(ExchangesSeen).seen.exchanges
    assert (line.calls, line.again) == (STEPS, 0)
    assert [each for each in findings(communication.kind, seen) if each.place] == []


def test_buffers_that_never_change_are_found_where_the_model_is_called() -> None:
    (found,) = findings(unchanged_buffers.kind, watched("ranks_buffers.py"))
    assert found.place == (str(SCRIPTS / "ranks_buffers.py"), row("ranks_buffers.py", "# planted"))
    assert (values(found)["broadcasts"], values(found)["bytes"]) == (STEPS, STEPS * 2**22)
    assert found.share is not None
    assert 0 < found.share < 1


@pytest.mark.parametrize("option", ["norm", "off"])
def test_buffers_that_change_or_are_not_sent_are_no_finding(option: str) -> None:
    seen = watched("ranks_buffers.py", option)
    assert len(seen.window(ExchangesSeen).seen.buffers) == (option == "norm")
    assert findings(unchanged_buffers.kind, seen) == []


def test_the_rank_that_computes_more_is_named_and_the_other_waits() -> None:
    seen = watched("ranks_straggle.py")
    (found,) = findings(communication.kind, seen)
    assert (found.place, values(found)["rank"]) == (None, 1)
    assert found.share is not None
    assert found.share > 0.1
    waited, work = values(found)["waited_s"], values(found)["work_s"]
    assert waited[0] > waited[1]
    assert work[1] > work[0]


def test_the_rank_whose_loader_is_slow_is_named_as_one_that_waits_for_batches() -> None:
    seen = watched("ranks_straggle.py", "loader", "0")
    assert findings(communication.kind, seen) == []
    (found,) = findings(input_wait.kind, seen)
    assert ", on rank 0 (" in found.fact
    assert values(found)["rank"] == 0
    first, other = ranks_of(seen)
    assert (first.rank, other.rank) == (0, 1)
    assert first.input_s is not None
    assert other.input_s is not None
    assert first.input_s > max(0.02, 2 * other.input_s)


def test_a_line_that_sends_each_gradient_by_itself_is_found() -> None:
    seen = watched("ranks_average.py")
    (found,) = [each for each in findings(communication.kind, seen) if each.place]
    place = row("ranks_average.py", "all_reduce(parameter.grad)")
    assert found.place == (str(SCRIPTS / "ranks_average.py"), place)
    assert found.fact.startswith("all_reduce 18 times a step")


def test_equal_ranks_that_exchange_once_are_only_told() -> None:
    seen = watched("ranks_clean.py")
    assert [each for each in findings(communication.kind, seen) if each.place] == []
    assert findings(launcher.kind, seen) == []
    (launch,), (messages,) = facts(launcher.kind, seen), facts(communication.kind, seen)
    assert launch.startswith("2 ranks, 1 thread each, ")
    assert messages.startswith("messages block a rank for ")
