"""Whole rehearsals, through the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.distributed.fsdp

if TYPE_CHECKING:
    from tests.rehearse.conftest import Rehearse
    from tests.warm_start import Torchlint

SCRIPTS = Path(__file__).with_name("scripts")
LAUNCHED = ["--nproc-per-node", "2"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts do not run on Windows")


def rehearsed(
    torchlint: Torchlint, folder: Path, name: str, *more: str, code: int = 0
) -> tuple[dict[str, Any], str]:
    """What a rehearsal of one of `SCRIPTS` says, for programs and for people."""
    project, out = folder / "project", folder / "rehearsal.json"
    project.mkdir(exist_ok=True)
    shutil.copy(SCRIPTS / f"{name}.py", project)
    before = sorted(os.listdir(project))
    words = ["--yes", "--isolated", "--json", str(out), "--steps", "6", *more]
    ended, said = torchlint(["rehearse", f"{name}.py", *words], project)
    assert ended == code, said
    assert sorted(os.listdir(project)) == before
    return json.loads(out.read_text()), said


def rows(found: dict[str, Any], name: str) -> dict[int, tuple[str, ...]]:
    """The codes of findings by their rows."""
    by_row: dict[int, list[str]] = {}
    for each in found["findings"]:
        assert each["path"] == f"{name}.py"
        by_row.setdefault(each["row"], []).append(each["code"])
    return {row: tuple(sorted(codes)) for row, codes in by_row.items()}


def test_each_line_is_counted_and_nothing_else(warm_torchlint: Torchlint, tmp_path: Path) -> None:
    found, said = rehearsed(warm_torchlint, tmp_path, "plain")
    lines = (SCRIPTS / "plain.py").read_text(encoding="utf-8").splitlines()
    planted = {
        row: planted
        for row, line in enumerate(lines, 1)
        if (planted := re.search(r"# (TR\d+) (.+)$", line))
    }
    assert rows(found, "plain") == {row: (each[1],) for row, each in planted.items()}
    by_row = {each["row"]: each for each in found["findings"]}
    for row, each in planted.items():
        if each[1] == "TR201":
            assert sum(by_row[row]["values"]["kinds"].values()) == int(each[2].split()[0])
            before = by_row[row]["values"]["before_backward"]
            assert before == int("before backward" in each[2])
    seen = found["rehearsal"]
    assert (seen["steps"], seen["skipped"]) == (6, 2)
    assert (seen["waits"], seen["before_backward"], seen["copies"]) == (6, 1, 3)
    assert seen["copied"] == 32 * 16 * 4 + 32 * 8 + 16
    assert "Counts are exact" in said


def test_findings_of_check_are_confirmed_or_contradicted(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    # On a GPU as far as can be read; at run time the model stays on the host.
    script = (SCRIPTS / "plain.py").read_text(encoding="utf-8")
    stays = script.replace(".to(device)", ".to(where(device))").replace(
        "data = Tensor", "def where(device):\n    return HERE or device\n\n\ndata = Tensor"
    )
    told = {}
    for here in ("None", "'cpu'"):
        out = tmp_path / "rehearsal.json"
        options = ("--isolated", "--json", str(out), "--steps", "4")
        code, said = rehearse(stays.replace("HERE", here), *options)
        assert code == 0, said
        found = json.loads(out.read_text())["static"]
        told[here] = {each["code"]: each["status"] for each in found}
    assert {told["None"][code] for code in ("TL201", "TL102")} == {"confirmed"}
    assert {told["'cpu'"][code] for code in ("TL201", "TL202")} == {"contradicted"}


def test_what_passes_through_threads_copies_and_hooks_stays_on_the_device(
    warm_torchlint: Torchlint, tmp_path: Path
) -> None:
    found, _ = rehearsed(warm_torchlint, tmp_path, "threads")
    seen = found["rehearsal"]
    assert found["findings"] == []
    assert (seen["waits"], seen["awaited_copies"]) == (0, 0)
    assert seen["launches"] > 20


def test_a_script_that_leaves_the_gpu_alone_is_told_so(rehearse: Rehearse) -> None:
    script = (
        "import torch\n"
        "model = torch.nn.Linear(4, 4)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(40):\n"
        "    loss = model(torch.rand(2, 4)).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    print(loss.item())\n"
    )
    code, said = rehearse(script)
    assert code == 0
    assert "does not use the GPU" in said


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("graph = torch.cuda.CUDAGraph()", "A CUDA graph (torch.cuda.CUDAGraph in train.py:3)"),
        (
            "torch.nested.nested_tensor([torch.rand(2), torch.rand(3)], device='cuda')",
            "A nested tensor of strided layout that is copied to the GPU "
            "(torch.nested.nested_tensor in train.py:3)",
        ),
        (
            "x = torch.nested.nested_tensor([torch.rand(2, 4, 8), torch.rand(3, 4, 8)], "
            "layout=torch.jagged, device='cuda').transpose(1, 2)\n"
            "torch.nn.functional.scaled_dot_product_attention(x, x, x)",
            "Attention over jagged tensors "
            "(torch.nn.functional.scaled_dot_product_attention in train.py:4)",
        ),
    ],
    ids=["graph", "strided", "attention"],
)
def test_what_cannot_be_played_is_named_with_its_line(
    rehearse: Rehearse, script: str, words: str
) -> None:
    code, said = rehearse(f"import torch\n\n{script}\n")
    assert code == 4
    assert f"{words} cannot be rehearsed" in " ".join(said.split())


def test_a_layer_orders_and_computes_as_much_for_a_jagged_tensor_as_for_its_values(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    script = (
        "import torch\n"
        "model = torch.nn.Linear(8, 8, bias=False).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "values, offsets = torch.rand(5, 8).cuda(), torch.tensor([0, 2, 5]).cuda()\n"
        "for _ in range(40):\n"
        "    x = values + 1\n"
        "    x = model(MADE)\n"
        "    x.sum().backward()\n"
        "    optimizer.step()\n"
    )
    jagged = script.replace("MADE", "torch.nested.nested_tensor_from_jagged(x, offsets)")
    counted = []
    for text in (script.replace("MADE", "x"), jagged.replace("x.sum", "x.values().sum")):
        out = tmp_path / "rehearsal.json"
        code, said = rehearse(text, "--isolated", "--json", str(out), "--steps", "4")
        assert code == 0, said
        counted.append(json.loads(out.read_text())["rehearsal"])
    assert counted[0]["flops"] == counted[1]["flops"]
    assert counted[0]["launches"] == counted[1]["launches"]


def test_what_is_compiled_runs_as_it_is_written(rehearse: Rehearse) -> None:
    script = (
        "import torch\n"
        "model = torch.compile(torch.nn.Linear(4, 4).cuda())\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(40):\n"
        "    loss = model(torch.rand(2, 4, device='cuda')).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    loss.item()\n"
    )
    code, said = rehearse(script)
    assert code == 0, said
    assert "train.py:8" in said
    assert "not played    torch.compile" in said


@pytest.mark.parametrize(
    ("name", "via", "copies"),
    [
        pytest.param(
            "with_lightning",
            "lightning",
            "pageable, non-blocking",
            marks=pytest.mark.needs("lightning"),
        ),
        pytest.param(
            "with_transformers", None, "blocking", marks=pytest.mark.needs("transformers")
        ),
        pytest.param("with_accelerate", None, "pageable", marks=pytest.mark.needs("accelerate")),
        pytest.param("with_ignite", "ignite", "pageable", marks=pytest.mark.needs("ignite")),
    ],
)
def test_frameworks(
    warm_torchlint: Torchlint, tmp_path: Path, name: str, via: str | None, copies: str
) -> None:
    found, _ = rehearsed(warm_torchlint, tmp_path, name)
    reads = [each for each in found["findings"] if each["code"] == "TR201"]
    (moved,) = (each for each in found["findings"] if each["code"] == "TR202")
    assert via is None or any(via in each["fact"] for each in reads)
    assert moved["values"]["kinds"] == {copies: 2}
    assert found["rehearsal"]["used"]
    assert not any(each["code"] == "TR204" for each in found["findings"])


def started(words: list[str], folder: Path) -> tuple[int, str]:
    """torchlint in a Python of its own: torchrun starts others."""
    command = [sys.executable, "-m", "torchlint", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_two_ranks_have_a_gpu_each(tmp_path: Path) -> None:
    found, _ = rehearsed(started, tmp_path, "ranks", *LAUNCHED)
    seen = found["rehearsal"]
    assert {each["code"] for each in found["findings"]} == {"TR201"}
    assert (seen["waits"], seen["copies"], seen["awaited_copies"]) == (1, 2, 0)
    assert seen["exchanged"] > 0
    assert found["environment"]["processes"] == 2


def test_ranks_that_share_their_statistics_read_where_torch_drops_empty_batches(
    tmp_path: Path,
) -> None:
    # torch/nn/modules/_functions.py:98: counts, means and deviations are selected by a mask.
    found, _ = rehearsed(started, tmp_path, "sync_batch_norm", *LAUNCHED)
    (read,) = found["findings"]
    assert read["code"] == "TR201"
    assert read["values"]["kinds"] == {"mask index": 3}
    seen = found["rehearsal"]
    assert (seen["waits"], seen["before_backward"], seen["copies"]) == (3, 3, 0)


@pytest.mark.parametrize("kind", ["1", "2"])
def test_ranks_that_share_parameters_copy_nothing(tmp_path: Path, kind: str) -> None:
    if kind == "2" and not hasattr(torch.distributed.fsdp, "fully_shard"):
        pytest.skip("torch 2.6 has it")
    found, said = rehearsed(started, tmp_path, "sharded", *LAUNCHED, "--", kind)
    seen = found["rehearsal"]
    assert (seen["copies"], "TR204" in said) == (0, False)
    # torch/distributed/fsdp/_runtime_utils.py, _unshard: no more than two gathers run ahead.
    assert seen["waits"] + seen["idle"] == pytest.approx(int(kind == "1"))
    assert {each["code"] for each in found["findings"]} == ({"TR201"} if kind == "1" else set())
    assert seen["flops"] == {"float32": 2 * 4 * (3 * 16 * 4 + 2 * 8 * 16)}


def test_a_line_of_a_step_that_is_not_counted_is_not_contradicted(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    script = (
        "import torch\n"
        "model = torch.nn.Linear(4, 4).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "mean = None\n"
        "for _ in range(40):\n"
        "    loss = model(torch.rand(2, 4, device='cuda')).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    if mean is None:\n"
        "        mean = loss.item()\n"
        "    host = torch.zeros(1)\n"
        "    print(host.item())\n"
    )
    out = tmp_path / "out.json"
    code, said = rehearse(script, "--hints", "--json", str(out))
    assert code == 0, said
    found = json.loads(out.read_text())
    assert 10 not in found["rehearsal"]["ran"]["train.py"]
    assert {9, 11, 12} <= set(found["rehearsal"]["ran"]["train.py"])
    assert not any(each["status"] == "contradicted" for each in found["static"])


def test_what_a_data_set_makes_is_a_batch(rehearse: Rehearse) -> None:
    script = (
        "import torch\n"
        "from torch.utils.data import DataLoader, Dataset\n"
        "class Rows(Dataset):\n"
        "    def __len__(self):\n"
        "        return 400\n"
        "    def __getitem__(self, row):\n"
        "        return torch.tensor([row, 1.0])\n"
        "model = torch.nn.Linear(2, 4).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for x in DataLoader(Rows(), batch_size=8):\n"
        "    model(x.cuda()).sum().backward()\n"
        "    optimizer.step()\n"
    )
    code, said = rehearse(script, "--steps", "4")
    assert code == 0, said
    assert re.search(r"train.py:11 +TR202", said)
    assert "set `pin_memory=True` in the DataLoader" in " ".join(said.split())
    assert "TR203" not in said


def test_a_default_device_of_the_host_leaves_new_tensors_where_the_others_are(
    rehearse: Rehearse,
) -> None:
    script = (
        "import torch\n"
        "torch.set_default_device('cpu')\n"
        "model = torch.nn.Linear(2, 4).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(40):\n"
        "    x = torch.rand(2, 2, device='cuda')\n"
        "    (model(x + x.new_zeros(2)) + x.new_full((4,), 1.0)).sum().backward()\n"
        "    optimizer.step()\n"
    )
    code, said = rehearse(script, "--steps", "4")
    assert code == 0, said
    assert "No finding" in said


def test_the_loader_is_asked_to_pin_its_own_batches_alone(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    script = (
        "import pickle, numpy as np, torch\n"
        "from torch.utils.data import DataLoader\n"
        "model = torch.nn.Linear(2, 4).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "rows = [{'x': torch.rand(2)} for _ in range(400)]\n"
        "for batch in DataLoader(rows, batch_size=8):\n"
        "    x = batch['x'].cuda()\n"
        "    x = x + (2 * batch['x']).cuda()\n"
        "    x = x + torch.from_numpy(np.random.rand(8, 2)).cuda()\n"
        "    x = x + torch.FloatTensor(np.random.rand(8, 2)).cuda()\n"
        "    x = x + torch.Tensor([[1.0, 2.0]]).cuda()\n"
        "    x = x + torch.Tensor(8, 2).fill_(1).cuda()\n"
        "    x = x + pickle.loads(pickle.dumps(batch['x'])).cuda()\n"
        "    model(x.float()).sum().backward()\n"
        "    optimizer.step()\n"
    )
    out = tmp_path / "out.json"
    code, said = rehearse(script, "--steps", "4", "--json", str(out))
    assert code == 0, said
    found = {
        each["row"]: (each["code"], "DataLoader" in each["action"])
        for each in json.loads(out.read_text())["findings"]
    }
    assert found == {
        7: ("TR202", True),
        8: ("TR202", False),
        9: ("TR202", False),
        10: ("TR203", False),
        11: ("TR203", False),
        12: ("TR203", False),
        13: ("TR202", False),
    }


def test_parameters_are_known_where_the_collector_has_frozen_them(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    script = (
        "import gc, torch\n"
        "model = torch.nn.Linear(64, 64).cuda()\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "gc.freeze()\n"
        "for _ in range(40):\n"
        "    model(torch.rand(2, 64, device='cuda')).sum().backward()\n"
        "    optimizer.step()\n"
    )
    out = tmp_path / "out.json"
    code, said = rehearse(script, "--steps", "4", "--json", str(out))
    assert code == 0, said
    memory = json.loads(out.read_text())["rehearsal"]["memory"]
    assert memory["parameters"] == memory["gradients"] == 64 * 64 * 4 + 512
