"""Random numbers: the same in every run, and from level to level less dependent on the others'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.run_settings import RECORD, Anchor

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import RunProbe, Write

STEP = Anchor("optimizer")

DRAWS = """
    import random, sys
    import torch
    print(random.random(), torch.rand(()).item())
    assert "numpy.random" not in sys.modules
    import numpy as np
    print(np.random.rand())
"""


def record(run_probe: RunProbe, level: int, **how: Any) -> list[str]:
    """What a script prints that is realigned while it is recorded."""
    how = {"main": "train.py", "mode": RECORD, "anchor": STEP, "threads": 1, **how}
    return run_probe(how.pop("main"), level=level, until=("ended",), **how).lines


def test_the_generators_are_seeded_also_one_that_is_imported_later(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": DRAWS})
    first, again, other = (run_probe("train.py", seed=seed, fresh=True).lines for seed in (3, 3, 4))
    assert first == again
    assert not set(" ".join(first).split()) & set(" ".join(other).split())


STEPS = """
    import random, sys
    import numpy as np
    import torch
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loader = torch.utils.data.DataLoader([0, 1])
    def draw():
        print(random.random(), np.random.rand(), torch.rand(()).item())
    for _ in range(int(sys.argv[1])):
        random.random(), np.random.rand(), torch.rand(1)
    print("before")
    draw()
    print("stepped")
    for _ in range(2):
        weight.sum().backward()
        optimizer.step()
        draw()
        for _ in range(int(sys.argv[1])):
            random.random(), np.random.rand(), torch.rand(1)
    for _ in loader:
        draw()
"""


@pytest.mark.parametrize("level", [0, 1])
def test_what_was_drawn_before_a_step_or_an_epoch_matters_only_at_level_0(
    run_probe: RunProbe, write: Write, level: int
) -> None:
    write({"train.py": STEPS})
    few, many = (record(run_probe, level, argv=[count], steps=9) for count in ("0", "5"))
    here = few.index("stepped")
    assert few[1] != many[1]
    assert (few[here:] == many[here:]) == (level > 0)
    assert len(set(few)) == len(few), "every step and every epoch has numbers of its own"


MODELS = """
    import sys
    import torch
    from torch import nn
    nn.Linear(4, 4)
    if sys.argv[1] == "more":
        nn.Conv2d(3, 3, 3)
        nn.MultiheadAttention(8, 2)  # has imported its initialization before anybody came
        nn.init.orthogonal_(torch.empty(3, 3))
        nn.Embedding(3, 3)
    print(torch.rand(()).item())
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    print(a.weight.tolist() != b.weight.tolist())
    print(nn.init.zeros_(torch.ones(2)).tolist())
"""


@pytest.mark.parametrize("level", [1, 2])
def test_building_more_layers_moves_no_later_draw_from_level_2_on(
    run_probe: RunProbe, write: Write, level: int
) -> None:
    write({"train.py": MODELS})
    fewer, more = (record(run_probe, level, argv=[word]) for word in ("fewer", "more"))
    assert (fewer[0] == more[0]) == (level == 2)
    assert fewer[1:] == more[1:] == ["True", "[0.0, 0.0]"]


SAMPLES = """
    import random, sys
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset, Sampler, Subset

    class Noise(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return index, random.random(), np.random.rand(), torch.rand(())

    class Whims(Sampler):
        def __iter__(self):
            for _ in range(6):
                yield random.randrange(8)

    def collate(samples):
        return [*map(list, samples), random.random(), np.random.rand()]

    def main():
        how = eval(sys.argv[1])
        data = Subset(Noise(), [5, 1, 2, 7]) if how.pop("subset", False) else Noise()
        if how.pop("whims", False):
            how["sampler"] = Whims()
        elif how.get("batch_size", 0) is not None or "shuffle" in how:
            how["shuffle"] = True
        loader, other = DataLoader(data, **how), DataLoader([1, 2, 3], shuffle=True)
        seen = []
        for _ in range(2):
            for batch, _ in zip(loader, other):
                seen += torch.as_tensor(batch[1]).flatten().tolist()
                print(batch)
                print("main", random.random(), np.random.rand(), torch.rand(()).item())
        print("distinct", len(seen) == len(set(seen)))

    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize(
    "how",
    [
        {"batch_size": 3},
        {"batch_size": None},
        {"batch_size": 2, "subset": True},
        {"batch_size": 2, "whims": True},
    ],
    ids=["batches", "single", "subset", "sampler"],
)
def test_samples_draw_the_same_wherever_they_are_loaded(
    run_probe: RunProbe, write: Write, how: dict[str, Any]
) -> None:
    write({"train.py": SAMPLES})
    workers: list[dict[str, Any]] = [
        {},
        {"num_workers": 1},
        {"num_workers": 2, "persistent_workers": True},
        {
            # Each spawned worker imports torch; several are started for one kind of loader.
            "num_workers": 2 if how == {"batch_size": 3} else 1,
            "multiprocessing_context": "spawn",
            "persistent_workers": how != {"batch_size": 3},
        },
    ]
    here, *elsewhere = (record(run_probe, 3, argv=[repr({**how, **each})]) for each in workers)
    for lines in elsewhere:
        assert lines == here
    assert len(set(here)) == len(here), "no epoch repeats the numbers of another"
    assert here[-1] == f"distinct {not how.get('whims')}", "nor a sample those of another"


def test_below_level_3_samples_depend_on_where_they_are_loaded(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": SAMPLES})
    here, there = (
        record(run_probe, 2, argv=[repr({"batch_size": 3, "num_workers": count})])
        for count in (0, 1)
    )
    assert here != there


STREAM = """
    import random, sys
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Stream(IterableDataset):
        def __iter__(self):
            for index in range(5):
                yield index, random.random(), torch.rand(())

    for _ in range(2):
        for batch in DataLoader(Stream(), batch_size=2, num_workers=int(sys.argv[1])):
            print(batch)
            print("main", random.random(), torch.rand(()).item())
"""


def test_a_stream_of_one_worker_draws_like_the_main_process(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": STREAM})
    here, there = (record(run_probe, 3, argv=[count]) for count in ("0", "1"))
    assert here == there
    assert len(set(here)) == len(here)
    assert len(here) == 12, "the end of a stream is still its end"
