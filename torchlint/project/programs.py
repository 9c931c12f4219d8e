"""What a program does as a whole: whether it uses an accelerator, and whether it trains.

The program of a file is every file that imports it, and what those import.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchlint.analysis.frameworks.runners import Device, device_in_text, trains_in_text
from torchlint.analysis.module import in_test_folder, named_as_test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.analysis.summary import Summary
    from torchlint.project.imports import Imports
    from torchlint.project.word_search import WordSearch


class Programs:
    """What the files of programs show together: parsed ones by their summaries, others by their
    text."""

    def __init__(
        self, summaries: Mapping[str, Summary], imports: Imports, word_search: WordSearch
    ) -> None:
        self._summaries = summaries
        self._imports = imports
        self._word_search = word_search
        self._devices: dict[str, Device] = {}
        """By file: what it shows itself."""
        self._of_programs: dict[str, tuple[Device, str]] = {}

    def of(self, path: str) -> set[str]:
        """The files of every program that uses this file."""
        return self._imports.from_(self._imports.to([path]))

    def uses_accelerator(self, path: str) -> bool:
        """Whether a program that uses this file runs on an accelerator."""
        return self._device(path)[0].is_accelerator

    def kept_on_cpu(self, path: str) -> str | None:
        """The file that keeps the programs of this file on the CPU, if one does."""
        device, by = self._device(path)
        return by if device is Device.CPU else None

    def trains(self, path: str) -> bool:
        """Whether a program that uses this file trains."""
        return any(map(self._trains, self.of(path)))

    def _device(self, path: str) -> tuple[Device, str]:
        """Where the programs of a file run, and the file that shows it."""
        known = self._of_programs.get(path)
        if known is None:
            known = self._of_programs[path] = self._found_device(path)
        return known

    def _found_device(self, path: str) -> tuple[Device, str]:
        device = self._shown(path)
        by = path
        if device is Device.ACCELERATOR:
            return device, by
        for file in self.of(path):
            shown = self._shown(file)
            if shown is Device.ACCELERATOR:
                return shown, file
            if shown is Device.CPU and self._is_test(file):
                continue  # what a test does on the CPU, a training need not
            if shown > device or (shown is device and file < by):
                device, by = shown, file
        return device, by

    def _shown(self, path: str) -> Device:
        cached = self._devices.get(path)
        if cached is None:
            summary = self._summaries.get(path)
            cached = device_in_text(self._matches(path)) if summary is None else summary.device
            self._devices[path] = cached
        return cached

    def _trains(self, path: str) -> bool:
        summary = self._summaries.get(path)
        return trains_in_text(self._matches(path)) if summary is None else summary.trains

    def _matches(self, path: str) -> Callable[[str], bool]:
        return partial(self._word_search.matches, path)

    def _is_test(self, path: str) -> bool:
        summary = self._summaries.get(path)
        if summary is not None:
            return summary.is_test
        return named_as_test(path) or in_test_folder(path)
