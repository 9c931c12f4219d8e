"""Runs commands in an empty folder, with a linter that says what the test wants said."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from torchlint import library
from torchlint.__main__ import run
from torchlint.engine.check import Report
from torchlint.finding import Applicability, Diagnostic, Finding
from torchlint.ruleapi import registry
from torchlint.ruleapi.rule_definition import Rule

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.memory.store import Store
    from torchlint.project.target import Target
    from torchlint.workers.pool import Pool


@dataclass
class Linter:
    """Stands in for the engine: set what it finds, read what it was asked."""

    findings: list[Finding] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    targets: tuple[Target, ...] = ()
    jobs: int = 0
    store: Store | None = None

    def check(
        self,
        targets: Sequence[Target],
        *,
        pool: Pool,
        progress: object = None,
        store: Store | None = None,
    ) -> Report:
        self.targets, self.jobs, self.store = tuple(targets), pool.jobs, store
        return Report(tuple(self.findings), tuple(self.diagnostics), len(targets), {})


@dataclass(frozen=True)
class Outcome:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout to work in, and no colour from outside."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def linter(monkeypatch: pytest.MonkeyPatch) -> Linter:
    fake = Linter()
    monkeypatch.setattr(library, "check", fake.check)
    return fake


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two rules, whatever is installed, and a cache that no other test learns their names from."""
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    known = [
        Rule(
            code="TL101",
            name="dataloader-no-workers",
            family="data",
            summary="Loads in the process",
            page="Load.\n",
        ),
        Rule(
            code="TL201",
            name="item-in-step-loop",
            family="sync",
            summary="Waits",
            fix=Applicability.UNSAFE,
        ),
    ]
    mapping = MappingProxyType({rule.code: rule for rule in known})
    monkeypatch.setattr(registry, "all_rules", lambda: mapping)


@pytest.fixture
def torchlint(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line; `stdin` is what it reads."""

    def call(*words: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run(list(words))
        captured = capsysbinary.readouterr()
        return Outcome(code, captured.out, captured.err.decode())

    return call
