"""What a process of a run does, from its first line to the signal that ends it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, Protocol

from torchlint.runtime.probe import main_module, on_import, overlay
from torchlint.runtime.probe.link import Link
from torchlint.runtime.probe.settings import MEASURE, RECORD, SURVEY, VARIABLE, read
from torchlint.runtime.probe.world import shield

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings


class Part(Protocol):
    """What `install(settings, link)` of a mode's module gives."""

    @property
    def steps(self) -> int:
        """Steps seen so far in this process."""

    def finish(self) -> None:
        """The script has ended before this mode was through: send what is known."""


PARTS = {SURVEY: "steps.survey", MEASURE: "steps.measure", RECORD: "numbers.record"}
"""Which module of the probe serves a mode. In any other mode the script just runs."""


def main(path: str, *, safe_path: bool) -> None:
    """Run the script that the settings in `path` name, and wait to be killed.

    Args:
        path: the settings file.
        safe_path: Python was told to put no folder in front of `sys.path`.
    """
    pid = os.getpid()
    os.environ[VARIABLE] = path
    settings = read(path)
    link = Link(settings.socket, "main", settings.device)
    _install(settings)
    import torch  # noqa: F401 - before the clock starts, in every variant

    part = _install_mode(settings, link)
    link.hello()
    end = main_module.run(settings.main, settings.argv, settings.as_module, safe_path=safe_path)
    if os.getpid() != pid:
        # A copy that the script forked and let run to the end of its own.
        end.leave()
    else:
        _report(end, part, settings, link)


def enter_worker(path: str) -> None:
    """In an interpreter that multiprocessing started afresh: install what a fork inherits.

    The mode waits until something there imports torch; most workers of a pool never do.
    """
    settings = read(path)
    if _install(settings):
        link = Link(settings.socket, "child", settings.device)
        on_import.call("torch", lambda: _install_mode(settings, link))


def _install(settings: Settings) -> bool:
    if not overlay.install(settings):
        return False
    if settings.device == "cpu":
        # Before torch looks; processes that the script starts inherit it.
        os.environ.update(CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="")
    shield.install(settings)
    return True


def _install_mode(settings: Settings, link: Link) -> Part | None:
    import torch

    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    if settings.seed is not None:
        from torchlint.runtime.probe.numbers import realign

        realign.seed_all(settings.seed)
    if settings.mode not in PARTS:
        return None
    module = import_module(f"torchlint.runtime.probe.{PARTS[settings.mode]}")
    part: Part = module.install(settings, link)
    return part


def _report(end: main_module.End, part: Part | None, settings: Settings, link: Link) -> NoReturn:
    if part is not None:
        part.finish()
    link.send(end.message(settings.project, steps=part.steps if part is not None else 0))
    link.wait_to_be_killed()
