"""What several tests share: findings without a linter, modules from text, projects in memory."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from compileall import compile_dir
from functools import cache
from importlib.util import cache_from_source, find_spec
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import rules
import torchlint
from tests.probed import Probed, module_from
from torchlint.config.settings import Selection
from torchlint.engine.check import Report, check
from torchlint.finding import Applicability, Edit, Finding, Fix, Position, Tier
from torchlint.project.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.analysis.module import Module

MakeFinding = Callable[..., Finding]
Files = str | Mapping[str, str]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With `-n`, neighbours run in one process: they share what is recorded or installed once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"
    # Runs write no bytecode, so without it each would compile the probe, hundreds of times, and
    # what it needs of a torch that was installed without.
    for package in (torchlint, rules):
        compile_dir(os.path.dirname(package.__file__), quiet=2)
    torch = find_spec("torch")
    launcher = os.path.join(
        os.path.dirname((torch and torch.origin) or ""), "distributed", "run.py"
    )
    if torch and not os.path.exists(cache_from_source(launcher)):
        imports = [sys.executable, "-c", "import torch, torch._dynamo, torch.distributed.run"]
        subprocess.run(imports, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""}, check=True)


LONGEST = (
    "tests/workers/test_clusters.py", "tests/verify/", "tests/profile/test_profile_r",
    "tests/runtime/nodes/",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first: at the end one would leave the other processes idle."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish() -> None:
    """The garbage collector need not walk through 15,000 tests, each time that it looks at all."""
    gc.collect()
    gc.freeze()


@cache
def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs a package that is not here."""
    for mark in item.iter_markers("needs"):
        for package in mark.args:
            if not _is_installed(package):
                pytest.skip(f"needs {package}, which is not installed")


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nobody's real cache is read or written, by processes that tests start neither."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHLINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def signals_as_on_a_terminal() -> None:
    """A shell's background job inherits an ignored SIGINT, and nohup's an ignored SIGHUP; what is
    ignored stays so, here and in all children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _finding(
    path: str = "train.py",
    row: int = 3,
    column: int = 5,
    *,
    end: tuple[int, int] | None = None,
    code: str = "TL201",
    name: str = "item-in-step-loop",
    message: str = "`.item()` waits for the GPU on every step; read it once after the loop.",
    fix: Applicability | None = None,
    tier: Tier = Tier.DEFAULT,
    **rest: object,
) -> Finding:
    start = Position(row, column)
    stop = Position(*end) if end else Position(row, column + 4)
    mend = fix and Fix(fix, "Read it after the loop", (Edit(start, stop, "loss"),))
    return Finding(code, name, tier, message, path, start, stop, mend, **rest)  # type: ignore[arg-type]


@pytest.fixture
def make_finding() -> MakeFinding:
    """Builds a finding; every part has a default."""
    return _finding


# one file ----------------------------------------------------------------------------------


@pytest.fixture
def module_of() -> Callable[..., Module]:
    """The module that a dedented text makes."""
    return module_from


@pytest.fixture
def probed() -> Callable[..., Probed]:
    """A dedented text in which `probe(x)` marks the expression that a test asks about."""
    return Probed


# a project ---------------------------------------------------------------------------------


def _targets(files: Files, select: Iterable[str] = ("TL201", "TL202")) -> list[Target]:
    named = {"train.py": files} if isinstance(files, str) else files
    selection = Selection(select=tuple(select), ignore=())
    return [Target(path, selection, (2, 13), dedent(text).encode()) for path, text in named.items()]


@pytest.fixture
def targets_of() -> Callable[..., list[Target]]:
    """Targets with dedented texts, by path; a single text is `train.py`."""
    return _targets


@pytest.fixture
def check_text() -> Callable[..., Report]:
    """What a check of some files says; they are given by path and never touch the disk."""

    def checked(files: Files, select: Sequence[str] = ("TL201", "TL202")) -> Report:
        return check(_targets(files, select))

    return checked


@pytest.fixture
def found_in(check_text: Callable[..., Report]) -> Callable[..., list[str]]:
    """The findings of a clean check as `train.py:7 TL201`, hints with a `?` behind."""

    def found(files: Files, select: Sequence[str] = ("TL201", "TL202")) -> list[str]:
        report = check_text(files, select)
        assert not report.diagnostics
        return [
            f"{each.path}:{each.start.row} {each.code}{'?' * (each.tier is Tier.HINT)}"
            for each in report.findings
        ]

    return found
