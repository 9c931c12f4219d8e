"""Workers of torch's own: loaders and spawned ranks run what the overlay serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import RunProbe, Write
    from tests.warm_start import Start

METHODS = ("fork", "spawn", "forkserver")


@pytest.fixture
def start_python(warm_start: Start) -> Start:
    """Scripts run in a Python that has imported torch; their workers import it themselves."""
    return warm_start


def test_workers_import_torch_only_where_the_script_does(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import multiprocessing, sys
                def work(_):
                    return "torch" in sys.modules
                if __name__ == "__main__":
                    for method in ("spawn", "forkserver"):
                        with multiprocessing.get_context(method).Pool(1) as pool:
                            print(pool.map(work, [0]))
            """
        }
    )
    assert run_probe("train.py", fresh=True).lines == ["[False]", "[False]"]


@pytest.mark.parametrize("as_module", [False, True], ids=["script", "module"])
def test_loaders_of_every_start_method_load_what_is_served(
    run_probe: RunProbe, write: Write, as_module: bool
) -> None:
    root = write(
        {
            "train.py": f"""
                import torch, data
                from torch.utils.data import DataLoader, Dataset
                class Numbers(Dataset):
                    def __len__(self): return 2
                    def __getitem__(self, i): return torch.tensor([i, 1, data.WHO])
                if __name__ == "__main__":
                    for method in {METHODS}:
                        loader = DataLoader(
                            Numbers(), num_workers=1, multiprocessing_context=method
                        )
                        print([batch.tolist() for batch in loader])
            """,
            "data.py": "WHO = 1",
        }
    )
    text = (root / "train.py").read_text().replace("i, 1", "i, 2")
    out = run_probe(
        "train" if as_module else "train.py",
        as_module=as_module,
        overlay={"train.py": text, "data.py": "WHO = 2"},
    )
    assert out.lines == ["[[[0, 2, 2]], [[1, 2, 2]]]"] * 3
    assert set(out.listed("served")) == {str(root / "train.py"), str(root / "data.py")}


def test_spawned_ranks_run_what_is_served(run_probe: RunProbe, write: Write) -> None:
    root = write(
        {
            "train.py": """
                import torch.multiprocessing as mp
                def main(rank):
                    import data
                    print(rank, data.WHO, flush=True)
                if __name__ == "__main__":
                    mp.spawn(main, nprocs=1)
            """,
            "data.py": "WHO = 'disk'",
        }
    )
    out = run_probe("train.py", overlay={root / "data.py": "WHO = 'served'"})
    assert out.lines == ["0 served"]
