"""What a process of a run does, from its first line to the signal that ends it."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from torchlint.runtime.probe import on_import, private
from torchlint.runtime.probe.files.territory import OVERLAYFS
from torchlint.runtime.probe.link import Link
from torchlint.runtime.probe.messages import Compiling
from torchlint.runtime.probe.run_settings import PLAIN, VARIABLE, read
from torchlint.runtime.probe.script import main_module, served_sources, spawned_workers
from torchlint.runtime.probe.world import shield, slurm_ranks

if TYPE_CHECKING:
    from torchlint.runtime.probe.run_settings import RunSettings


_installed: set[int] = set()
"""This process, and those that it was forked from."""


class Mode(Protocol):
    """What `install(settings, link)` of a module in `probe.modes` returns."""

    @property
    def steps(self) -> int:
        """Steps seen so far in this process."""

    def finish(self) -> None:
        """The script has ended before this mode was done: send what is known."""


def main(path: str, *, safe_path: bool) -> None:
    """Run the script that the settings in `path` name, and wait to be killed.

    Args:
        path: the settings file.
        safe_path: Python was told to put no folder in front of `sys.path`.
    """
    pid = os.getpid()
    os.environ[VARIABLE] = path
    settings = read(path)
    link = Link(settings, "main")
    _install(settings)
    import torch  # noqa: F401 - before the clock starts, in every run

    mode = _install_mode(settings, link)
    link.hello()
    end = main_module.run(settings.main, settings.argv, settings.as_module, safe_path=safe_path)
    if os.getpid() != pid:
        # A copy that the script forked and let run to the end of its own.
        end.leave()
    else:
        _report(end, mode, settings, link)


def enter_worker(names: dict[str, Any], path: str, kind: str, main: str) -> None:
    """In an interpreter that multiprocessing started afresh: install what a fork inherits, then
    do with the main module what multiprocessing would have done.

    The mode waits until something there imports torch; most workers of a pool never do.

    Args:
        names: globals of the file that calls this. They become those of the main module, so that
            nothing of the file, not even its `__file__`, is taken for the script's.
        path: the settings file.
        kind: what is known of the main module, as in `spawned_workers`.
        main: its path or name.
    """
    os.environ.setdefault(VARIABLE, path)
    settings = read(path)
    if _install(settings):
        link = Link(settings, "child")
        on_import.call("torch", lambda: _install_mode(settings, link))
    content = spawned_workers.run_main(kind, main)
    names.clear()
    names.update(content)


def enter_program(path: str) -> None:
    """In a Python program that the script starts by itself, before its own first line.

    Nothing is measured there, but what it runs of the project is what the script would have run.

    Args:
        path: the settings file.
    """
    settings = read(path)
    served_sources.install(settings)
    served_sources.serve_program()
    if settings.sandbox != OVERLAYFS:
        shield.install(settings)


def _install(settings: RunSettings) -> bool:
    if _installed:
        return False
    _installed.add(os.getpid())
    served_sources.install(settings)
    spawned_workers.send_to_workers(settings.scratch)
    if settings.node:
        slurm_ranks.correct(os.environ)
    if settings.device == "cpu":
        # Before torch looks; processes that the script starts inherit it.
        os.environ.update(CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="")
    shield.install(settings)
    return True


def _install_mode(settings: RunSettings, link: Link) -> Mode | None:
    import torch

    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    if settings.played is not None:
        from torchlint.runtime.probe.played import device

        device.play(settings)
    if settings.seed is not None:
        from torchlint.runtime.probe.numbers import realign

        realign.seed_all(settings.seed)
    if settings.workers is not None:
        from torchlint.runtime.probe.batches import loader_workers

        loader_workers.force(settings.workers)
    if settings.mode == PLAIN:
        return None
    on_import.call(private.COMPILER, partial(_tell_of_compiling, link))
    module = import_module(f"torchlint.runtime.probe.modes.{settings.mode}")
    mode: Mode = module.install(settings, link)
    return mode


def _tell_of_compiling(link: Link) -> None:
    """Compiling takes minutes in which a process has nothing else to say."""
    pid = os.getpid()

    def tell(begun: bool, *_: object) -> None:
        if os.getpid() == pid:  # not in a loader's worker, which nobody waits for
            link.send("compiling", Compiling(begun))

    private.when_compiling(partial(tell, True), partial(tell, False))


def _report(end: main_module.End, mode: Mode | None, settings: RunSettings, link: Link) -> NoReturn:
    if mode is not None:
        mode.finish()
    link.send("ended", end.message(settings.project, steps=mode.steps if mode is not None else 0))
    link.wait_to_be_killed()
