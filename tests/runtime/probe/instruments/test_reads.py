"""Reads are counted at the user's line, by what reads, and nothing is changed by that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.decoding import converted
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import ReadsSeen
from torchlint.runtime.probe.instruments import install_all, reads

ROOT = Path(__file__).resolve().parents[4]
# Torch's own compiler uses what torch has deprecated, and TorchScript is.
deprecates = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def watched(user: UserFile, steps: int = 2, name: str = "step") -> ReadsSeen:
    """What the instrument saw in some calls of the user's function."""
    return user.watched(reads, name, steps)


def rows(user: UserFile, found: ReadsSeen) -> dict[tuple[int, str], int]:
    """Calls by row and kind."""
    assert {each.place[0] for each in found.reads} <= {user.path}
    return {(each.place[1], each.kind): each.calls for each in found.reads}


CALLS = {
    "loss.item()": "item",
    "float(loss)": "float",
    "int(loss)": "int",
    "if loss > 1: pass": "bool",
    "loss.is_nonzero()": "bool",
    "torch.is_nonzero(loss)": "bool",
    "range(count)": "index",
    "f'{loss:.3f}'": "format",
    "f'{values}'": "format",
    "str(loss)": "format",
    "'%.2f' % loss": "float",
    "values.tolist()": "tolist",
    "values.numpy()": "numpy",
    "np.asarray(values)": "array",
    "loss.cpu()": "cpu",
    "loss.cpu().numpy()": "cpu",
    "values[mask]": "mask index",
    "values[mask, ...]": "mask index",
    "values[mask] = values[:1].expand(2)": "mask index",
    "values.nonzero()": "nonzero",
    "torch.nonzero(values)": "nonzero",
    "torch.argwhere(values)": "nonzero",
    "torch.where(mask)": "where",
    "values.unique()": "unique",
    "torch.unique(values, return_counts=True)": "unique",
    "torch.unique(grid, dim=0)": "unique",
    "torch.unique_consecutive(values)": "unique",
    "values.masked_select(mask)": "masked_select",
    "torch.masked_select(values, mask)": "masked_select",
    "values.repeat_interleave(counts)": "repeat_interleave",
    "torch.repeat_interleave(counts)": "repeat_interleave",
    "torch.equal(values, values)": "equal",
    "values.allclose(values)": "allclose",
}
NO_READS = (
    "values[0]",
    "values[0:2]",
    "values[counts]",
    "values[mask] = 0.0",
    "values[mask] = loss",
    "torch.where(mask, values, values)",
    "values.repeat_interleave(2)",
    "values.repeat_interleave(counts, output_size=4)",
    "values.shape",
    "values.to('cpu')",
    "values.sum()",
)
SETUP = """
import numpy as np
import torch

loss, count = torch.tensor(0.5), torch.tensor(3)
values, grid = torch.tensor([1.0, 0.0, 2.0]), torch.ones(2, 2)
mask, counts = torch.tensor([True, False, True]), torch.tensor([1, 2, 1])

def step():
    {}
"""
ROW = SETUP.splitlines().index("    {}") + 1


@pytest.mark.parametrize("call", CALLS)
def test_every_way_to_read_is_counted_once(tmp_path: Path, call: str) -> None:
    user = UserFile(tmp_path, SETUP.format(call))
    assert rows(user, watched(user)) == {(ROW, CALLS[call]): 2}


@pytest.mark.parametrize("call", NO_READS)
def test_what_reads_nothing_is_not_counted(tmp_path: Path, call: str) -> None:
    user = UserFile(tmp_path, SETUP.format(call))
    assert watched(user).reads == []


def test_reads_are_found_where_they_are(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 1)

            def forward(self, x):
                y = self.layer(x)
                if (y > 1e9).any():  # in forward
                    y = y * 0
                return y

        def log(loss):
            return loss.item()  # in a helper

        net = Net()
        optimizer = torch.optim.Adam(net.parameters())
        taken = 0

        def step():
            global taken
            taken += 1
            optimizer.zero_grad()
            loss = net(torch.ones(2, 4)).mean()
            loss.backward()
            optimizer.step()
            log(loss)
            a, b = loss.item(), loss.item()  # twice
            if taken % 5 == 1:
                str(loss)  # now and then
        """,
    )
    found = watched(user, steps=10)
    assert rows(user, found) == {
        (user.place("in forward")[1], "bool"): 10,
        (user.place("in a helper")[1], "item"): 10,
        (user.place("twice")[1], "item"): 20,
        (user.place("now and then")[1], "format"): 2,
    }
    by_kind = {(each.place[1], each.kind): each for each in found.reads}
    twice = by_kind[user.place("twice")[1], "item"]
    assert (twice.steps, twice.graph, twice.backward, twice.via) == (10, 20, 0, None)
    assert 0 < twice.seconds < 60
    assert by_kind[user.place("in forward")[1], "bool"].graph == 0
    assert by_kind[user.place("now and then")[1], "format"].steps == 2
    assert found.copies == []


def test_a_read_inside_a_backward_pass_says_so(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        weight = torch.ones(3, requires_grad=True)

        def check(gradient):
            if gradient.isnan().any():  # in a hook
                raise ValueError

        def step():
            product = weight * 2
            product.register_hook(check)
            product.sum().backward()
        """,
    )
    (read,) = watched(user).reads
    assert (read.place, read.kind) == (user.place("in a hook"), "bool")
    assert read.backward == read.calls == 2


def test_a_librarys_read_names_it_at_the_users_line(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        weight = torch.ones(3, requires_grad=True)
        weight.grad = torch.ones(3)

        def step():
            torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)  # clips
        """,
    )
    (read,) = watched(user).reads
    assert read.place == user.place("# clips")
    assert read.via.startswith("torch.nn.utils.clip_grad.")


def test_what_reads_of_the_host_anyway_is_left_out(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch
        from torch.utils.data import DataLoader

        class Data:
            labels = torch.arange(8)

            def __len__(self):
                return 8

            def __getitem__(self, index):
                return torch.ones(2), int(self.labels[index])

        weight = torch.nn.Parameter(torch.ones(2))
        optimizer = torch.optim.Adam([weight], foreach=False)

        def step():
            for x, y in DataLoader(Data(), batch_size=4, shuffle=True):
                (x * weight).sum().backward()
                optimizer.step()
        """,
    )
    assert watched(user).reads == []


def test_an_index_into_a_file_of_samples_is_on_the_host(tmp_path: Path) -> None:
    text = """
    import numpy, torch

    numpy.arange(9, dtype=numpy.uint8).tofile("FILE")
    samples = numpy.memmap("FILE", dtype=numpy.uint8, mode="r")

    def step():
        start = torch.tensor(3)
        assert samples[start : start + 2].tolist() == [3, 4]
    """
    user = UserFile(tmp_path, text.replace("FILE", str(tmp_path / "samples.bin")))
    assert watched(user).reads == []


def test_an_optimizer_that_decides_by_gradients_reads(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        weight = torch.nn.Parameter(torch.tensor([3.0, -2.0]))
        optimizer = torch.optim.LBFGS([weight], max_iter=3)

        def closure():
            optimizer.zero_grad()
            loss = (weight**4).sum()
            loss.backward()
            return loss

        def step():
            optimizer.step(closure)  # decides
        """,
    )
    found = watched(user).reads
    assert found
    assert {each.place for each in found} == {user.place("# decides")}
    assert {each.via for each in found} == {"torch.optim.lbfgs.step"}


def test_what_has_come_to_the_host_is_read_for_nothing(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        total = torch.ones(3)

        def step():
            there = total.cpu()  # comes
            there.numpy()
            there.tolist()
            total.mul(2).cpu().detach().numpy()  # comes and is seen
        """,
    )
    assert rows(user, watched(user, steps=3)) == {
        (user.place("total.cpu()")[1], "cpu"): 3,
        (user.place("comes and is seen")[1], "cpu"): 3,
    }


def test_what_other_instruments_read_does_not_count(tmp_path: Path) -> None:
    user = UserFile(tmp_path, SETUP.format("look(loss)"))
    beside = os.path.join(os.path.dirname(reads.__file__), "another.py")
    exec(compile("def look(x): return x.item()", beside, "exec"), vars(user.module))
    assert watched(user).reads == []


def test_another_threads_reads_count(tmp_path: Path) -> None:
    user = UserFile(tmp_path, SETUP.format("loss.item()"))
    instrument = reads.watch(user.settings)
    instrument.open()
    thread = threading.Thread(target=user.module.step)
    thread.start()
    thread.join()
    assert [each.kind for each in instrument.close().reads] == ["item"]


def test_there_is_an_end_to_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "MOST", 2)
    lines = "; ".join(["loss.item()", "float(loss)", "int(loss)", "loss.cpu()"])
    user = UserFile(tmp_path, SETUP.format(lines))
    assert len(watched(user).reads) == 2


def test_a_fork_does_not_count(tmp_path: Path) -> None:
    user = UserFile(tmp_path, SETUP.format("loss.item()"))
    (instrument,) = install_all(replace(user.settings, instruments=("reads",))).values()
    instrument.open()
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        user.module.step()
        os.write(send, str(len(instrument._reads)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(receive, 10) == b"0"
    os.close(receive)
    os.close(send)
    instrument.close()


def test_a_failing_read_fails_as_it_would(tmp_path: Path) -> None:
    user = UserFile(tmp_path, SETUP.format("values.item()"))
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        watched(user)
    user = UserFile(tmp_path, SETUP.format("torch.where()"))
    with pytest.raises(TypeError):
        watched(user)


@deprecates
def test_torchscript_compiles_what_is_watched(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        def function(x: torch.Tensor):
            return torch.where(x > 0, x, -x), torch.nonzero(x), torch.unique(x), bool(x.sum() > 0)
        """,
    )
    instrument = reads.watch(user.settings)
    instrument.open()
    try:
        torch.jit.script(user.module.function)(torch.ones(2))
    finally:
        instrument.close()


@deprecates
def test_compiled_code_stays_as_it_is(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        @torch.compile(backend="eager")
        def function(x):
            y = torch.where(x > 0, x, -x)
            return y * 2, x.sum().item()

        def step():
            function(torch.ones(3))
        """,
    )
    user.module.step()
    frames = private.compiled_frames()
    assert frames
    found = watched(user)
    assert private.compiled_frames() == frames
    assert rows(user, found) == {(7, "item"): 2}


GPU = """
import json, sys
from dataclasses import asdict
sys.path[:0] = {paths}
import simulated_gpu
import torch
from torchlint.runtime.probe.instruments import install_all, reads
from torchlint.runtime.probe.run_settings import RunSettings

exec(compile(open("train.py").read(), {file!r}, "exec"))
instrument = reads.watch(RunSettings(main="train.py", project={folder!r}))
instrument.open()
for _ in range(3):
    step()
    instrument.passed()
print(json.dumps(asdict(instrument.close())))
"""


def test_on_a_gpu_only_its_tensors_count_with_what_the_host_waits(tmp_path: Path) -> None:
    train = dedent(
        """
        import torch
        weight = torch.ones(64, 64, device="cuda")
        batch, target = torch.ones(64, 64), torch.ones(64)
        def step():
            x = batch.to("cuda")
            x = batch.to("cuda", non_blocking=True)
            for _ in range(4):
                x = x @ weight
            x.sum().item()
            x.sum().item()
            target.tolist()
            x[0].cpu().numpy()
            x.to("cpu", non_blocking=True)
            x.to("cpu")
            target.to("cpu")
            weight.copy_(batch)
        """
    ).strip()
    folder = tmp_path.resolve()
    (folder / "train.py").write_text(train)
    text = GPU.format(
        paths=[str(ROOT), str(ROOT / "tests")], file=str(folder / "train.py"), folder=str(folder)
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = converted(json.loads(done.stdout), ReadsSeen, "reads")
    seen = {(each.place[1], each.kind): each for each in found.reads}
    assert sorted(seen) == [(9, "item"), (10, "item"), (12, "cpu"), (14, "to")]
    assert all(each.calls == each.steps == 3 for each in seen.values())
    # Four products of 0.5 ms are waited for at the first read.
    assert 0.0055 < seen[9, "item"].seconds < 0.007
    assert seen[10, "item"].seconds < 0.001
    copies = {(each.place[1], each.kind): each for each in found.copies}
    assert sorted(copies) == [
        (5, "pageable"),
        (6, "pageable, non-blocking"),
        (16, "pageable"),
    ]
    assert all(each.size == 3 * 64 * 64 * 4 for each in copies.values())
