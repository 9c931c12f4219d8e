"""Steps pass without compiling again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import stance, uncompiled

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

TRAIN = """
def scaled(tensor, number):
    return tensor * number
"""


@pytest.mark.parametrize("instrument", [stance, uncompiled])
def test_nothing_is_compiled_in_the_window_and_all_is_as_before_after_it(
    tmp_path: Path, instrument: ModuleType
) -> None:
    user = UserFile(tmp_path, TRAIN)
    compiled = torch.compile(user.module.scaled, backend="eager", dynamic=False)
    one = torch.ones(2)
    compiled(one, 1)
    watch = instrument.watch(user.settings)
    before = private.compiled_frames()
    watch.open()
    assert torch.equal(compiled(one, 2), one * 2)
    watch.passed()
    assert watch.alters
    watch.close()
    assert private.compiled_frames() == before
    compiled(one, 3)
    assert private.compiled_frames() == before + 1
