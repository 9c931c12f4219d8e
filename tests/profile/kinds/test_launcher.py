"""TR602: how processes share the machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torchlint.profile.kinds import launcher
from torchlint.runtime.decoding import Message

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence
    from torchlint.profile.evidence import Evidence


def rank(**more: Any) -> dict[str, Any]:
    values = {"threads": 1, "chosen": False, "processors": [0, 1], "quota": None}
    return {**values, "gpus": ["a", "b"], "used_gpus": ["a"], "copied": [], **more}


def ranks(evidence: MakeEvidence, *found: dict[str, Any], device: str = "cpu") -> Evidence:
    seen = evidence({"launch": found[0]}, device=device)
    window = seen.windows["launch"]
    others = tuple(replace(window, found=Message("launch", each)) for each in found[1:])
    return replace(seen, windows={"launch": replace(window, others=others)})


def judged(seen: Evidence) -> Any:
    assert launcher.kind.judge is not None
    return list(launcher.kind.judge(seen))


def told(seen: Evidence) -> list[str]:
    assert launcher.kind.teller is not None
    return [each.text for each in launcher.kind.teller(seen)]


def test_ranks_are_told_with_their_threads_and_processors(evidence: MakeEvidence) -> None:
    seen = ranks(evidence, rank(processors=[0]), rank(processors=[1]))
    assert told(seen) == ["2 ranks, 1 thread each, 2 processors"]
    seen = ranks(evidence, rank(threads=2, processors=[0]), rank(threads=4, processors=[0]))
    assert told(seen) == ["2 ranks, 2 to 4 threads each, 1 processor"]


def test_a_limit_of_the_container_counts(evidence: MakeEvidence) -> None:
    assert told(ranks(evidence, rank(quota=1.5), rank(quota=1.5))) == [
        "2 ranks, 1 thread each, 1.5 processors"
    ]
    assert told(ranks(evidence, rank(quota=8.0), rank())) == [
        "2 ranks, 1 thread each, 2 processors"
    ]


def test_threads_that_torchlint_has_set_are_called_so(evidence: MakeEvidence) -> None:
    (text,) = told(ranks(evidence, rank(chosen=True), rank(chosen=True)))
    assert text.endswith("(torchlint has set the threads)")


def test_one_process_is_nothing_to_tell(evidence: MakeEvidence) -> None:
    assert told(ranks(evidence, rank())) == []


def copied(calls: int, gpus: int = 2) -> list[dict[str, Any]]:
    return [{"place": ["/train.py", 8], "gpus": gpus, "calls": calls}]


def test_one_process_that_drives_several_gpus_is_a_finding(evidence: MakeEvidence) -> None:
    (found,) = judged(ranks(evidence, rank(copied=copied(100)), device="cuda"))
    assert (found.place, found.share, found.rules) == (("/train.py", 8), None, ("TL601",))
    assert found.fact == (
        "one process drives 2 GPUs and copies the model to them 100 times in 100 steps"
    )


def test_a_copy_now_and_then_or_to_one_gpu_is_none(evidence: MakeEvidence) -> None:
    assert judged(ranks(evidence, rank(copied=copied(20)), device="cuda")) == []
    assert judged(ranks(evidence, rank(copied=copied(100, gpus=1)), device="cuda")) == []
    assert judged(ranks(evidence, rank(copied=copied(100)))) == []


def test_ranks_on_one_gpu_beside_an_idle_one_are_a_finding(evidence: MakeEvidence) -> None:
    (found,) = judged(ranks(evidence, rank(), rank(), device="cuda"))
    assert found.fact == "2 ranks work on one GPU, and 1 of 2 GPUs are idle"


def test_gpus_that_are_shared_out_or_not_known_are_none(evidence: MakeEvidence) -> None:
    apart = rank(used_gpus=["b"])
    alone = rank(gpus=["a"])
    unknown = rank(gpus=None, used_gpus=None)
    both = rank(used_gpus=["a", "b"])
    for found in ([rank()], [rank(), apart], [alone, alone], [rank(), unknown], [both, both]):
        assert judged(ranks(evidence, *found, device="cuda")) == []
