"""Sharing files among processes: every file is answered for, whoever dies."""

from __future__ import annotations

import concurrent.futures
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

import pytest

from torchlint.config import Selection
from torchlint.lint.engine import Target
from torchlint.lint.mapping import MapResult
from torchlint.project import workers
from torchlint.project.workers import map_targets

if TYPE_CHECKING:
    from collections.abc import Callable

DEADLY = b"deadly"


def target(path: str, data: bytes = b"import torch\n") -> Target:
    return Target(path, Selection(), (2, 13), data)


class Pool:
    """Runs shares at once, in this process; one with deadly data takes the whole pool along."""

    made: int = 0

    def __init__(self, max_workers: int) -> None:
        type(self).made += 1
        self.broken = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *rest: object) -> None:
        pass

    def submit(
        self, work: Callable[..., list[MapResult]], share: list[Target], woken: bool
    ) -> Future[list[MapResult]]:
        if self.broken:
            raise BrokenProcessPool("died before")
        future: Future[list[MapResult]] = Future()
        self.broken = any(each.data == DEADLY for each in share)
        if self.broken:
            future.set_exception(BrokenProcessPool("died"))
        else:
            future.set_result(work(share, woken))
        return future


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> type[Pool]:
    monkeypatch.setattr(workers, "_WORTH_A_POOL", 0)
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(Pool, "made", 0)
    monkeypatch.setattr(
        workers, "map_share", lambda share, woken: [MapResult(each.path) for each in share]
    )
    return Pool


def mapped(targets: list[Target], jobs: int = 2) -> dict[str, MapResult]:
    found = list(map_targets(targets, woken=False, jobs=jobs))
    assert all(given.path == result.path for given, result in found)
    assert len(found) == len(targets)
    return {given.path: result for given, result in found}


def test_every_file_is_mapped_once(pool: type[Pool]) -> None:
    targets = [target(f"{i}.py", b"x" * (i * 37 % 11)) for i in range(40)]
    assert set(mapped(targets)) == {each.path for each in targets}


def test_a_file_whose_process_dies_is_named_and_the_others_are_mapped(pool: type[Pool]) -> None:
    targets = [target(f"{i}.py") for i in range(40)] + [target("bad.py", DEADLY)]
    results = mapped(targets)
    dead = {path for path, result in results.items() if result.diagnostics}
    assert dead == {"bad.py"}
    (diagnostic,) = results["bad.py"].diagnostics
    assert (diagnostic.path, diagnostic.kind) == ("bad.py", "worker")


@pytest.mark.parametrize(("count", "jobs"), [(40, 1), (1, 2)])
def test_one_job_or_one_file_needs_no_other_process(
    pool: type[Pool], count: int, jobs: int
) -> None:
    mapped([target(f"{i}.py") for i in range(count)], jobs)
    assert pool.made == 0


def test_little_work_needs_no_other_process(
    pool: type[Pool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_WORTH_A_POOL", 1000)
    mapped([target("a.py"), target("b.py")])
    assert pool.made == 0


def test_shares_are_of_about_equal_size() -> None:
    targets = [target(f"{i}.py", b"x" * size) for i, size in enumerate([90, 10, 20, 30, 30])]
    shares = workers._shares(targets, 2)
    assert sorted(sum(len(each.data or b"") for each in share) for share in shares) == [90, 90]
    assert len(workers._shares(targets[:2], 8)) == 2
