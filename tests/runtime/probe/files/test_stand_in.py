from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from torchlint.runtime.probe.files.stand_in import put

HOLDS = """
def plain(path, remove=real):
    return remove(path)
class Closer:
    def close(self, path, other=None, remove=real):
        return remove(path)
"""


@pytest.mark.filterwarnings("ignore")  # of what other tests have imported
def test_what_is_a_functions_default_is_replaced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """`tempfile` binds `os.unlink` so, and may be imported before anything of torchlint is."""

    def real(path: str) -> str:
        return f"real {path}"

    holder: Any = ModuleType("holder_of_defaults")
    vars(holder)["real"] = real
    exec(HOLDS, vars(holder))
    monkeypatch.setitem(sys.modules, holder.__name__, holder)
    put([(real, lambda path: f"view of {path}")])
    assert holder.plain("x") == "view of x"
    assert holder.Closer().close("x") == "view of x"
