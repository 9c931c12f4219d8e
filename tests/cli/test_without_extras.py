"""Without an extra, each command that needs it says what to install; the others do without.

The commands run in a process in which the packages of the extras cannot be imported, as in an
environment that has none of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "fixtures" / "seven" / "train.py")
MEASURING = ("torch", "jinja2", "numpy", "scipy", "psutil")
OTHERS = (
    "watchfiles", "distributed", "dask", "ray", "pygls", "lsprotocol", "cattrs", "mcp", "mcp_types",
    "pydantic", "anyio", "flake8",
)  # fmt: skip
HIDING = """
import contextlib, io, json, sys
hidden = set(json.loads(sys.argv[1]))

class Rest:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in hidden:
            return self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Rest, sys.meta_path)
from torchlint.__main__ import run

said = []
for words in json.loads(sys.argv[2]):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in "oe")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    said.append([code, *texts])
print(json.dumps(said))
"""
Said = list[list[object]]


def without(hidden: tuple[str, ...], *commands: str) -> Said:
    """The exit code, output and errors of each command."""
    words = json.dumps([command.split() for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", HIDING, json.dumps(hidden), words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
    )
    found: Said = json.loads(done.stdout)
    return found


RUNS = tuple(
    f"{command} {SCRIPT} {words}"
    for command, more in {
        "verify": (
            "", "-- --epochs 1", "--against x.py", "--html x.html", "--launcher slurm",
            "--launcher torchrun --nnodes 2 --node-rank 1",
        ),
        "fix --verified": ("", "--apply"),
        "profile": (
            "", "--sweep workers", "--only reads", "--compare x.json", "--budget x.toml",
            "--launcher slurm", "--launcher torchrun --nnodes 2 --node-rank 1",
        ),
    }.items()
    for words in more
)  # fmt: skip
NEEDS = {
    f"check --watch {SCRIPT}": "pip install watchfiles",
    f"check --backend dask {SCRIPT}": "pip install distributed",
    f"check --backend ray {SCRIPT}": "pip install ray",
    "server": "pip install pygls",
    "mcp": "pip install 'mcp>=2'",
}
WORKS = (
    f"check {SCRIPT}",
    f"check --output-format html --no-cache {SCRIPT}",
    f"fix --unsafe {SCRIPT}",
    f"hot {SCRIPT}",
    f"why {SCRIPT}:66 TL201",
    "rule",
    "rule TL201",
    "rule TR101",
    f"config {SCRIPT}",
    f"suppressions {SCRIPT}",
    f"baseline check --baseline {ROOT}/fixtures/none.json {SCRIPT}",
    "completion bash",
    *(f"{name} --help" for name in ("verify", "profile", "fix", "server", "mcp", "check")),
)


def test_with_no_extra_each_command_says_what_it_needs_or_works() -> None:
    commands = (*RUNS, *NEEDS, *WORKS)
    said = dict(zip(commands, without(MEASURING + OTHERS, *commands), strict=True))
    for command, (code, out, err) in said.items():
        assert "bug in torchlint" not in f"{out}{err}", command
        if command in RUNS:
            assert code == 2, command
            assert "run `pip install torch jinja2 numpy scipy psutil` there." in str(err), command
        elif command in NEEDS:
            assert code == 2, command
            assert f"`{NEEDS[command]}`" in str(err), command
        else:
            assert "pip install" not in str(err), command


def test_a_program_that_cannot_be_run_is_said_before_what_it_would_need(tmp_path: Path) -> None:
    (tmp_path / "train.ipynb").touch()
    words = [f"{each} {tmp_path}" for each in ("verify", "profile", "fix --verified")]
    targets = {"": "is not a file", "/nope.py": "does not exist", "/train.ipynb": "is a notebook"}
    commands = {f"{each}{name}": why for each in words for name, why in targets.items()}
    said = without(MEASURING, *commands)
    for (command, why), (code, _, err) in zip(commands.items(), said, strict=True):
        assert code == 2, command
        assert why in str(err), command


def test_a_user_without_torch_is_told_how_to_get_it_without_cuda() -> None:
    (_, _, without_torch), (_, _, with_torch) = (
        *without(("torch",), RUNS[0]),
        *without(("scipy",), RUNS[0]),
    )
    assert "pip install torch --index-url https://download.pytorch.org/whl/cpu" in str(
        without_torch
    )
    assert "--index-url" not in str(with_torch)


@pytest.mark.parametrize("package", MEASURING)
def test_a_part_of_the_extra_verify_that_is_missing_is_named(package: str) -> None:
    for command, (code, _, err) in zip(RUNS, without((package,), *RUNS), strict=True):
        assert code == 2, command
        assert f"Measuring needs {package} in the environment" in str(err), command


@pytest.mark.parametrize("package", OTHERS)
def test_a_part_of_another_extra_that_is_missing_is_named(package: str) -> None:
    commands = [
        command
        for command, parts in {
            f"check --watch {SCRIPT}": ("watchfiles",),
            f"check --backend dask {SCRIPT}": ("distributed", "dask"),
            f"check --backend ray {SCRIPT}": ("ray",),
            "server": ("pygls", "lsprotocol", "cattrs"),
            "mcp": ("mcp", "mcp_types", "pydantic", "anyio"),
        }.items()
        if package in parts
    ]
    for command, (code, _, err) in zip(commands, without((package,), *commands), strict=True):
        assert code == 2, command
        assert f"`{NEEDS[command]}`" in str(err), command
