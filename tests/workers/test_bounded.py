"""Work that takes too long or too much memory is ended, and the next item is not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine import map_file
from torchlint.engine.check import check
from torchlint.project.target import Target
from torchlint.workers import bounded

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no times of threads")


@pytest.fixture(autouse=True)
def unbound() -> Iterator[None]:
    """A server in the same process, as tests of it start one, has bounded it."""
    bounded.bound_items(most_bytes=0)
    yield
    bounded.bound_items(most_bytes=0)


def for_ever(kept: list[bytes] | None = None) -> None:
    while True:
        try:
            if kept is not None:
                kept.append(bytes(1 << 20))
        except Exception:  # a rule that goes on whatever happens
            pass


def test_an_item_without_bounds_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(bounded, "_Watch")
    with bounded.item():
        pass


def test_python_is_not_left_looking_for_what_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 never ends a traced function then."""
    raised: list[object] = []
    real = bounded._raise_in
    monkeypatch.setattr(bounded, "_raise_in", lambda *how: (raised.append(how[1]), real(*how)))
    bounded.bound_items()
    with bounded.item():
        pass
    bounded.bound_items(longest_s=0.0)
    with pytest.raises(bounded.Excess), bounded.item():
        for_ever()
    assert raised == [bounded.Excess]


def test_what_takes_too_long_is_ended() -> None:
    bounded.bound_items(longest_s=0.0)
    with pytest.raises(bounded.Excess), bounded.item():
        for_ever()
    bounded.bound_items()
    with bounded.item():
        assert sum(range(100_000))


def test_what_takes_too_much_memory_is_ended() -> None:
    bounded.bound_items(longest_s=10_000.0, most_bytes=1 << 26)
    kept: list[bytes] = []
    with pytest.raises(bounded.Excess), bounded.item():
        for_ever(kept)
    kept.clear()


def test_a_file_that_takes_too_long_is_named_and_hides_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = map_file._mapped

    def mapped(target: Target, *rest: object) -> object:
        if target.path == "endless.py":
            for_ever()
        return run(target, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(map_file, "_mapped", mapped)
    bounded.bound_items(longest_s=1.0)
    text = b"import torch\ntorch.nn.DataParallel(model)\n"
    report = check([Target(name, Selection(), (2, 13), text) for name in ("endless.py", "a.py")])
    assert [(each.path, each.kind) for each in report.diagnostics] == [("endless.py", "worker")]
    assert [each.path for each in report.findings] == ["a.py"]
