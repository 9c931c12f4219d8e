"""Lets workers load with one thread each: OpenCV and OpenBLAS have no pools there."""

from __future__ import annotations

from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.native_threads import no_openblas_pool, no_opencv_pool


class OneThread(Observer):
    """What the script itself asks for afterwards, as in a `worker_init_fn`, it gets."""

    def prepare(self) -> None:
        """OpenCV looks for its number of threads when it is loaded."""
        no_opencv_pool()

    def rest(self) -> None:
        """This process is a copy, probably a worker."""
        super().rest()
        no_openblas_pool()


watch = OneThread
