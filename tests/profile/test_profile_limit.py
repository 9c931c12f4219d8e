"""What a step waits for."""

from __future__ import annotations

from tests.profile.conftest import survey, timing
from torchlint.profile.evidence import Evidence
from torchlint.profile.limit import lanes_of, limit_of


def test_what_a_step_waits_for_is_one_sentence() -> None:
    plain = Evidence(survey(), timing())
    assert limit_of(plain, lanes_of(plain)).startswith("processor: 1 of 1 are busy (backward 50%")
    waiting = Evidence(survey(lanes={"data": (0.006,), "forward": (0.004,)}), timing())
    assert limit_of(waiting, lanes_of(waiting)).startswith("input: 60% of a step of 10 ms")
    gpu = survey(device="cuda")
    host = Evidence(gpu, timing(step_s=0.01, host_s=0.0095))
    device = Evidence(gpu, timing(step_s=0.01, host_s=0.004))
    assert limit_of(host, {}) == "host: the CPU needs 9.5 of 10 ms to queue a step"
    assert limit_of(device, {}) == "device: the CPU queues a step in 4 of 10 ms"
