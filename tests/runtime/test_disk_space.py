"""What runs print and write does not fill the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.shielded import write_files
from torchlint.runtime import workspace
from torchlint.runtime.failures import CRASHED, Failed
from torchlint.runtime.run import Run
from torchlint.runtime.sandbox import disk_space, side_effects
from torchlint.runtime.sandbox.disk_space import cut_output, release

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenes import Scene

LINE = b"y" * 99 + b"\n"
PRINTS = {
    "lines": LINE * 20_000,
    "one line": b"x" * 2_000_000,
    "anything": bytes(range(256)) * 8_000,
}


def taken(path: Path) -> int:
    """Bytes on the disk."""
    return path.stat().st_blocks * 512


@pytest.mark.parametrize("printed", PRINTS.values(), ids=PRINTS)
def test_the_end_of_a_long_output_is_kept_and_its_size_is_known(
    printed: bytes, tmp_path: Path
) -> None:
    output = tmp_path / "stdout"
    with output.open("wb", buffering=0) as stream:
        stream.write(printed)
        cut_output(str(tmp_path), 1 << 20)
        assert taken(output) <= 1 << 17
        assert output.stat().st_size == len(printed)
        # Who prints has not noticed.
        stream.write(b"last words\n")
    text = output.read_bytes()
    assert len(text) == len(printed) + 11
    assert text.endswith(printed[-disk_space._TAIL :] + b"last words\n")


def test_a_short_output_is_left_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {"stdout": LINE * 1000})
    cut_output(str(tmp_path))
    assert (tmp_path / "stdout").read_bytes() == LINE * 1000


def test_a_run_s_files_take_nothing_once_it_has_ended(tmp_path: Path) -> None:
    big = b"w" * (1 << 20)
    run = write_files(
        tmp_path / "run",
        {"upper/runs/ckpt.pt": big, "redirected/data/ckpt.pt": big, "stdout": big, "other": big},
    )
    user = write_files(tmp_path / "user", {"cache/model": big, "data": big})
    (run / "upper/latest").symlink_to(user / "data")
    os.link(user / "cache/model", run / "redirected/data/model")
    release(str(run))
    assert (run / "upper/runs/ckpt.pt").read_bytes() == b""
    assert (run / "redirected/data/ckpt.pt").read_bytes() == b""
    assert taken(run / "stdout") <= 1 << 17
    for kept in (run / "other", user / "data", user / "cache/model"):
        assert kept.read_bytes() == big


def answer_for_ever(run: Run) -> None:
    while True:
        peer, _ = run.receive(20, "go on")
        run.send(peer, "go")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_is_cut_while_it_runs_and_told(
    stream: str, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_effects, "MOST_PRINTED", 1 << 20)
    most = []

    def cut(folder: str) -> None:
        cut_output(folder, 1 << 20)
        most.append(os.stat(os.path.join(folder, stream)).st_blocks * 512)

    monkeypatch.setattr(workspace, "cut_output", cut)
    body = f"""
        import os, sys
        for _ in range(50):
            os.write(sys.{stream}.fileno(), b"z" * 200_000)
            link.ready()
        print("the end of it", file=sys.stderr)
        os._exit(3)
    """
    with scene.workspace() as space, Run(scene.job(body), space) as run:
        run.greet(20)
        run.start()
        with pytest.raises(Failed) as caught:
            answer_for_ever(run)
        run.end()
        effects = side_effects.collect(space.folders(), "/")
    assert caught.value.status == CRASHED
    assert caught.value.tail.endswith("the end of it")
    assert max(most) < 2 << 20  # it goes on writing while it is cut; all would be ten of these
    assert [(each.kind, each.what) for each in effects] == [
        ("output", f"up to 0.0 GB on {stream}, whose end is kept")
    ]
