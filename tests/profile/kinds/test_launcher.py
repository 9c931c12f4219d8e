"""TR602: how processes share the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.profile.kinds.conftest import evidence, facts, findings
from torchlint.profile.kinds import launcher
from torchlint.runtime.probe.instrument_messages import LaunchSeen, ModelCopies

if TYPE_CHECKING:
    from torchlint.profile.evidence import Evidence
    from torchlint.profile.kind import Observed


def rank(**more: Any) -> LaunchSeen:
    values = {"threads": 1, "chosen": False, "processors": [0, 1]}
    return LaunchSeen(**{**values, "gpus": ["a", "b"], "used_gpus": ["a"], **more})


def ranks(*seen: LaunchSeen, device: str = "cpu") -> Evidence:
    return evidence(dict(enumerate(seen)), device=device)


def judged(seen: Evidence) -> list[Observed]:
    return findings(launcher.kind, seen)


def told(seen: Evidence) -> list[str]:
    return facts(launcher.kind, seen)


def test_ranks_are_told_with_their_threads_and_processors() -> None:
    seen = ranks(rank(processors=[0]), rank(processors=[1]))
    assert told(seen) == ["2 ranks, 1 thread each, 2 processors"]
    seen = ranks(rank(threads=2, processors=[0]), rank(threads=4, processors=[0]))
    assert told(seen) == ["2 ranks, 2 to 4 threads each, 1 processor"]


def test_a_limit_of_the_container_counts() -> None:
    assert told(ranks(rank(quota=1.5), rank(quota=1.5))) == [
        "2 ranks, 1 thread each, 1.5 processors"
    ]
    assert told(ranks(rank(quota=8.0), rank())) == ["2 ranks, 1 thread each, 2 processors"]


def test_threads_that_torchlint_has_set_are_called_so() -> None:
    (text,) = told(ranks(rank(chosen=True), rank(chosen=True)))
    assert text.endswith("(torchlint has set the threads)")


def test_one_process_is_nothing_to_tell() -> None:
    assert told(ranks(rank())) == []


def copied(calls: int, gpus: int = 2) -> list[ModelCopies]:
    return [ModelCopies(("/train.py", 8), gpus, calls)]


def test_one_process_that_drives_several_gpus_is_a_finding() -> None:
    (found,) = judged(ranks(rank(copied=copied(100)), device="cuda"))
    assert (found.place, found.share, found.rules) == (("/train.py", 8), None, ("TL601",))
    assert found.fact == (
        "one process drives 2 GPUs and copies the model to them 100 times in 100 steps"
    )


def test_a_copy_now_and_then_or_to_one_gpu_is_not_a_finding() -> None:
    assert judged(ranks(rank(copied=copied(20)), device="cuda")) == []
    assert judged(ranks(rank(copied=copied(100, gpus=1)), device="cuda")) == []
    assert judged(ranks(rank(copied=copied(100)))) == []


def test_ranks_on_one_gpu_next_to_an_idle_one_are_a_finding() -> None:
    (found,) = judged(ranks(rank(), rank(), device="cuda"))
    assert found.fact == "2 ranks work on one GPU, and 1 of 2 GPUs are idle"


def test_gpus_that_are_shared_out_or_not_known_are_not_a_finding() -> None:
    apart = rank(used_gpus=["b"])
    alone = rank(gpus=["a"])
    unknown = rank(gpus=None, used_gpus=None)
    both = rank(used_gpus=["a", "b"])
    for found in ([rank()], [rank(), apart], [alone, alone], [rank(), unknown], [both, both]):
        assert judged(ranks(*found, device="cuda")) == []
