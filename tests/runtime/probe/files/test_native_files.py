"""Libraries that open files in C: their files stay out of the project and can be read back."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.shielded import BOTH, run_both, run_shielded, tree, write_files
from torchlint.runtime.sandbox.overlayfs import REDIRECT

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = {
    "torch": """
        import os, warnings
        import torch
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        for name in ("ckpt.pt", "ünï.pt", "runs/old.pt"):
            torch.save({"w": torch.ones(3)}, name)
            print(torch.load(name)["w"], torch.load(name, mmap=True)["w"], os.path.exists(name))
        torch.save([1], "legacy.pt", _use_new_zipfile_serialization=False)
        with open("stream.pt", "wb") as stream:
            torch.save([2], stream)
        print(torch.load("legacy.pt"), torch.load("stream.pt"))
        print(torch.load(f="ckpt.pt").keys(), isinstance(torch._C.PyTorchFileReader("ckpt.pt"), torch._C.PyTorchFileReader))
        shared = torch.from_file("shared.bin", shared=True, size=4)
        shared.fill_(3)
        print(torch.from_file("shared.bin", size=4))
        os.replace("ckpt.pt", "runs/old.pt")
        print(torch.load("runs/old.pt")["w"])
        try:
            torch.load("ckpt.pt", mmap=True)
        except FileNotFoundError as error:
            print("gone")
    """,
    "meeting of ranks": """
        import os, sys
        import torch.distributed as dist
        meeting = f"file://{os.getcwd()}/meeting"
        for _ in range(2):
            dist.init_process_group("gloo", init_method=meeting, rank=0, world_size=1)
            print(dist.get_world_size(), os.path.exists("meeting"))
            dist.destroy_process_group()
        store = dist.FileStore("meeting", 1)
        store.set("key", "value")
        print(store.get("key"), isinstance(store, dist.Store), os.path.exists("meeting"))
        sys.stdout.flush()
        os._exit(0)
    """,
    "TorchScript": """
        import warnings
        import torch
        warnings.simplefilter("ignore")
        model = torch.jit.script(torch.nn.Linear(2, 2))
        torch.jit.save(model, "one.pt")
        model.save("two.pt")
        model.save(f="three.pt")
        print([torch.jit.load(name).weight.shape for name in ("one.pt", "two.pt", "three.pt")])
    """,
    "distributed checkpoints": """
        import warnings
        warnings.simplefilter("ignore")
        import torch, torch.distributed.checkpoint as checkpoint
        checkpoint.save({"w": torch.ones(2)}, checkpoint_id="runs/sharded")
        state = {"w": torch.zeros(2)}
        checkpoint.load(state, checkpoint_id="runs/sharded")
        print(state)
    """,
    "safetensors": """
        import torch
        from safetensors import safe_open
        from safetensors.torch import load_file, load_model, save_file, save_model
        save_file({"w": torch.zeros(2)}, "w.safetensors")
        print(load_file("w.safetensors"))
        with safe_open("w.safetensors", framework="pt") as stream:
            print(list(stream.keys()), stream.get_tensor("w"))
        model = torch.nn.Linear(1, 1)
        save_model(model, "runs/old.pt")
        print(load_model(model, "runs/old.pt"))
        import numpy
        from safetensors.numpy import load_file, save_file
        save_file({"w": numpy.ones(2)}, filename="n.safetensors")
        print(load_file("n.safetensors"))
    """,
    "numpy": """
        import numpy as np
        np.save("a.npy", np.arange(3))
        np.savez("a.npz", x=np.ones(2))
        np.savetxt("a.txt", np.ones(2))
        np.arange(3).tofile("a.bin")
        print(np.load("a.npy"), np.load("a.npy", mmap_mode="r+"), np.load("a.npz")["x"])
        print(np.loadtxt("a.txt"), np.fromfile("a.bin", dtype=int))
        mapped = np.memmap("mapped", dtype="f4", mode="w+", shape=(3,))
        mapped[:] = 2
        mapped.flush()
        print(np.fromfile("mapped", dtype="f4"))
    """,
    "pandas": """
        import pandas as pd
        frame = pd.DataFrame({"a": [1, 2]})
        frame.to_csv("runs/old.pt")
        frame.to_csv("log.csv", mode="a")
        frame.to_pickle("frame.pkl")
        frame.to_json("frame.json.gz")
        print(pd.read_csv("log.csv"), pd.read_pickle("frame.pkl"), pd.read_json("frame.json.gz"))
    """,
    "matplotlib": """
        import os
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        plt.plot([1, 2])
        for name in ("p.png", "p.svg", "p.pdf", "p.jpg"):
            plt.savefig(name)
            print(os.path.getsize(name) > 0)
        print(plt.imread("p.png").shape)
    """,
    "tokenizers": """
        import os
        from tokenizers import Tokenizer
        from tokenizers.models import BPE
        tokenizer = Tokenizer(BPE({"a": 0, "b": 1}, []))
        tokenizer.save("tokenizer.json")
        print(sorted(Tokenizer.from_file("tokenizer.json").get_vocab()))
        os.mkdir("folder")
        print([os.path.basename(path) for path in tokenizer.model.save("folder")])
        print(sorted(os.listdir("folder")), tokenizer.model.save(".") != [])
    """,
    "h5py": """
        import h5py
        with h5py.File("new.h5", "w") as stream:
            stream["x"] = [1, 2]
        with h5py.File("new.h5", "a") as stream:
            stream["y"] = [3]
        print(sorted(h5py.File("new.h5")), h5py.File("new.h5", "r")["x"][:])
    """,
    "cv2": """
        import cv2, numpy
        print(cv2.imwrite("new.png", numpy.zeros((2, 2, 3), "u1")), cv2.imread("new.png").shape)
    """,
    "sqlite3": """
        import shutil, sqlite3
        database = sqlite3.connect("old.db")
        database.execute("insert into t values (2)")
        database.commit()
        print(database.execute("select * from t").fetchall())
        database.close()
        shutil.copy("old.db", "copy of 100%?.db")
        print(sqlite3.connect("file:copy of 100%25%3F.db", uri=True).execute("select * from t").fetchall())
        print(sqlite3.dbapi2.connect(database="copy of 100%?.db").execute("select 1").fetchall())
    """,
}
PACKAGES = {"safetensors", "pandas", "matplotlib", "tokenizers", "h5py", "cv2"}


@BOTH
@pytest.mark.parametrize(
    "library",
    [pytest.param(each, marks=[pytest.mark.needs(each)] * (each in PACKAGES)) for each in PROGRAMS],
)
def test_a_library_s_files_can_be_read_back(
    library: str, sandbox: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    files = {"train.py": PROGRAMS[library], "runs/old.pt": "old", "old.db": database()}
    env = {"MPLCONFIGDIR": str(tmp_path / "matplotlib"), "OMP_NUM_THREADS": "1"}
    # The shield waits for the import of a library; what it prints without a shield does not.
    torch = "import torch" in PROGRAMS[library]
    start = request.getfixturevalue("warm_start") if torch else subprocess.Popen
    run_both(tmp_path, files, sandbox, env=env, start=start)


def database() -> bytes:
    """A SQLite database with a table `t` that holds 1."""
    import sqlite3
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(suffix=".db") as stream:
        connection = sqlite3.connect(stream.name)
        connection.execute("create table t (x)")
        connection.execute("insert into t values (1)")
        connection.commit()
        connection.close()
        return stream.read()


def test_a_log_that_belongs_to_a_database_is_taken_along(tmp_path: Path) -> None:
    """What a writer that was killed left in it is not in the database yet."""
    script = """
        import sqlite3
        print(sqlite3.connect("old.db").execute("select * from t").fetchall())
    """
    import sqlite3

    connection = sqlite3.connect(tmp_path / "live.db")
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table t (x)")
    connection.execute("insert into t values (7)")
    connection.commit()
    files = {
        "train.py": script,
        "old.db": (tmp_path / "live.db").read_bytes(),
        "old.db-wal": (tmp_path / "live.db-wal").read_bytes(),
    }
    connection.close()
    project = write_files(tmp_path / "project", files)
    assert run_shielded(project, "train.py", REDIRECT).lines == ["[(7,)]"]


@pytest.mark.needs("lmdb")
def test_a_database_of_lmdb_can_be_read_where_its_lock_cannot_be_written(tmp_path: Path) -> None:
    import lmdb

    with lmdb.open(str(tmp_path / "data")) as database, database.begin(write=True) as transaction:
        transaction.put(b"key", b"value")
    script = """
        import lmdb, sys
        print(lmdb.open(sys.argv[1], readonly=True).begin().get(b"key"))
    """
    project = write_files(tmp_path / "project", {"train.py": script})
    data = tree(tmp_path / "data")
    run = run_shielded(project, "train.py", REDIRECT, argv=[str(tmp_path / "data")])
    assert run.lines == ["b'value'"]
    assert tree(tmp_path / "data") == data
