"""What a process says of the processors and GPUs that it got."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.runtime.probe.fake_cuda import FakeCuda
from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instrument_messages import LaunchSeen, ModelCopies
from torchlint.runtime.probe.instruments import launch
from torchlint.runtime.probe.run_settings import RunSettings

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.wrapping.interpose import Function


class SeveralGpus(FakeCuda):
    """`held` are the bytes on each GPU, by its id."""

    def __init__(self, held: dict[str | None, int]) -> None:
        super().__init__()
        self._held = list(held.items())

    def device_count(self) -> int:
        return len(self._held)

    def get_device_properties(self, index: int) -> Any:
        name = self._held[index][0]
        return SimpleNamespace() if name is None else SimpleNamespace(uuid=name)

    def memory_allocated(self, index: int) -> int:
        return self._held[index][1]


def seen(settings: RunSettings, cuda: Any) -> LaunchSeen:
    instrument = launch.LaunchObserver(settings, cuda)
    instrument.open()
    return instrument.close()


def test_threads_are_called_chosen_only_if_they_are_those_of_the_run(tmp_path: Path) -> None:
    settings = RunSettings(main="train.py", project=str(tmp_path), device="cpu")
    here = torch.get_num_threads()
    for asked, chosen in ((None, False), (here, True), (here + 1, False)):
        found = seen(replace(settings, threads=asked), FakeCuda())
        assert (found.threads, found.chosen) == (here, chosen)
    assert found.processors
    assert (found.gpus, found.used_gpus) == ([], [])


def test_gpus_on_which_torch_holds_memory_are_used(tmp_path: Path) -> None:
    settings = RunSettings(main="train.py", project=str(tmp_path))
    found = seen(settings, SeveralGpus({"first": 0, "second": 512}))
    assert (found.gpus, found.used_gpus) == (["first", "second"], ["second"])
    found = seen(settings, SeveralGpus({None: 512}))
    assert (found.gpus, found.used_gpus) == (None, None)


def test_copies_of_a_model_are_counted_at_the_line_that_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replicate(_: Any, module: Any, devices: list[int]) -> list[Any]:
        return [module for _ in devices]

    monkeypatch.setattr(torch.nn.DataParallel, "replicate", replicate)
    user = UserFile(
        tmp_path,
        """
        import torch

        model = torch.nn.DataParallel(torch.nn.Linear(1, 1))

        def step():
            model.replicate(model.module, [0, 1])
        """,
    )
    instrument = launch.LaunchObserver(user.settings, SeveralGpus({"first": 0, "second": 0}))
    instrument.open()
    user.module.step()
    user.module.step()
    with torch.no_grad():
        user.module.step()
    found: Any = instrument.close()
    assert found.copied == [ModelCopies(user.place("model.replicate"), gpus=2, calls=2)]
    now: Function = torch.nn.DataParallel.replicate
    assert now is replicate


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        ("0::/", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/", {"cpu.max": "max 100000"}, None),
        ("0::/a/b", {"a/cpu.max": "200000 100000", "a/b/cpu.max": "max 100000"}, 2.0),
        ("0::/on/the/host", {"cpu.max": "300000 100000"}, 3.0),
        (
            "5:cpu,cpuacct:/a\n0::/",
            {"cpu/a/cpu.cfs_quota_us": "50000", "cpu/a/cpu.cfs_period_us": "100000"},
            0.5,
        ),
        (
            "5:cpu:/",
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
            None,
        ),
        ("4:memory:/a", {"cpu.max": "150000 100000"}, None),
        ("0::/", {"cpu.max": "odd"}, None),
        ("", {}, None),
    ],
)
def test_the_limit_of_control_groups(
    tmp_path: Path, groups: str, files: dict[str, str], limit: float | None
) -> None:
    (tmp_path / "groups").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert launch.quota(str(tmp_path / "groups"), str(tmp_path / "root")) == limit
