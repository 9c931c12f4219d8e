"""A file of the user's project, run in the test's own process."""

from __future__ import annotations

import importlib.util
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.run_settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType


class UserFile:
    """`UserFile(tmp_path, text)`; what the file defines are attributes of `module`."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder.resolve()
        self.path = str(self.folder / "train.py")
        self._lines = dedent(text).splitlines()
        text = "\n".join(self._lines)
        (self.folder / "train.py").write_text(text)
        spec = importlib.util.spec_from_file_location("users_train", self.path)
        assert spec is not None
        self.module: Any = importlib.util.module_from_spec(spec)
        # Compiled here: Python's cache would take a second file of the same size, written in the
        # same second, for the first.
        exec(compile(text, self.path, "exec"), self.module.__dict__)

    @property
    def settings(self) -> RunSettings:
        return RunSettings(main="train.py", project=str(self.folder))

    def watched(self, instrument: ModuleType, call: str | Callable[[], object], steps: int) -> Any:
        """What an instrument sees in so many calls of a function of the file, or of the test's."""
        step = getattr(self.module, call) if isinstance(call, str) else call
        watch = instrument.watch(self.settings)
        watch.open()
        try:
            for _ in range(steps):
                step()
                watch.passed()
        finally:
            seen = watch.close()
        return seen

    def place(self, words: str) -> tuple[str, int]:
        """Of the only line that holds these words."""
        rows = [row for row, line in enumerate(self._lines, 1) if words in line]
        assert len(rows) == 1, (words, rows)
        return self.path, rows[0]
