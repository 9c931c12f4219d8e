"""What a process of a run does around the script."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import RunProbe, Write
    from tests.warm_start import Start


@pytest.fixture
def start_python(warm_start: Start) -> Start:
    """Unless a test asks for a fresh process."""
    return warm_start


def test_the_first_message_is_a_hello_with_torch_imported(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": ""})
    hello = run_probe("train.py", fresh=True).messages[0]
    assert (hello["type"], hello["role"], hello["rank"], hello["world"]) == ("hello", "main", 0, 1)
    assert (hello["torch"], hello["python"]) == (torch.__version__, sys.version.split()[0])


DRAW = """
    import random, torch
    import numpy
    print(random.random(), torch.rand(1).item(), numpy.random.rand())
"""


def test_a_seed_makes_the_numbers_of_two_runs_equal(run_probe: RunProbe, write: Write) -> None:
    pytest.importorskip("numpy")
    write({"train.py": DRAW})
    seeded = [run_probe("train.py", seed=seed).lines for seed in (3, 3, 4)]
    assert seeded[0] == seeded[1]
    assert not set(seeded[0][0].split()) & set(seeded[2][0].split())


def test_no_seed_leaves_the_numbers_to_chance(run_probe: RunProbe, write: Write) -> None:
    write({"train.py": "import random; print(random.random())"})
    one, other = (run_probe("train.py", seed=None, fresh=True).lines for _ in range(2))
    assert one != other


def test_threads_are_set_before_the_script_and_for_its_workers(
    run_probe: RunProbe, write: Write
) -> None:
    write(
        {
            "train.py": """
                import multiprocessing, torch
                def work(_): return torch.get_num_threads()
                if __name__ == "__main__":
                    with multiprocessing.get_context("spawn").Pool(1) as pool:
                        print(torch.get_num_threads(), pool.map(work, [0]))
            """
        }
    )
    assert run_probe("train.py", threads=3, fresh=True).lines == ["3 [3]"]


def test_a_run_on_the_cpu_sees_no_accelerator(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import os, subprocess, sys
                show = "import os; print([os.environ[f'{x}_VISIBLE_DEVICES'] for x in ('CUDA', 'HIP')])"
                print(subprocess.check_output([sys.executable, "-c", show], text=True), end="")
            """
        }
    )
    env = {"CUDA_VISIBLE_DEVICES": "0", "HIP_VISIBLE_DEVICES": "0"}
    how = {"env": env, "fresh": True}
    assert run_probe("train.py", device="cpu", **how).lines == ["['', '']"]
    assert run_probe("train.py", device="auto", **how).lines == ["['0', '0']"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_that_the_script_starts_and_that_trains_introduces_itself(
    run_probe: RunProbe, write: Write, method: str
) -> None:
    write(
        {
            "train.py": f"""
                import multiprocessing, os
                def train():
                    import torch
                    torch.set_num_threads(1)
                    model = torch.nn.Linear(4, 1)
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                    for _ in range(5):
                        optimizer.zero_grad()
                        model(torch.rand(2, 4)).sum().backward()
                        optimizer.step()
                    print(os.getpid())
                if __name__ == "__main__":
                    child = multiprocessing.get_context({method!r}).Process(target=train)
                    child.start()
                    child.join()
            """
        }
    )
    out = run_probe("train.py", mode="survey", until=("ended",))
    hellos = [(hello["role"], hello["pid"]) for hello in out.of("hello")]
    assert hellos[1:] == [("child", int(out.lines[0]))]
    assert sorted(message["steps"] for message in out.of("survey")) == [0, 5]
