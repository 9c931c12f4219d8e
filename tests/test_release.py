"""What a release is made of: the changelog's fragments, the workflows, and `.ci/release`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# the changelog ------------------------------------------------------------------------------


def test_a_fragment_of_the_changelog_is_prose_of_a_known_type() -> None:
    types = {each["directory"] for each in PROJECT["tool"]["towncrier"]["type"]}
    for path in (ROOT / "changelog.d").iterdir():
        if path.name == "template.md.jinja":
            continue
        assert re.fullmatch(rf"\+[\w-]+\.({'|'.join(types)})\.md", path.name), path.name
        assert re.match(r"[^\s#*-]", path.read_text(encoding="utf-8")), path.name


@pytest.mark.needs("towncrier")
def test_fragments_become_a_section_like_those_of_the_changelog(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CHANGELOG.md", "changelog.d/template.md.jinja"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    before = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    long = "`check` does " + "something " * 10 + "else."
    for name, text in {"+b.fixed.md": "It stands.", "+a.added.md": long}.items():
        (tmp_path / "changelog.d" / name).write_text(text + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "towncrier", "build", "--version", "9.9.9", "--keep"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    wrapped = "- `check` does " + "something " * 8 + "something\n  something else."
    section = f"## 9.9.9\n\n### Added\n\n{wrapped}\n\n### Fixed\n\n- It stands.\n\n"
    after = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert after == before.replace("## ", f"{section}## ", 1)


# workflows ----------------------------------------------------------------------------------


def workflow(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    return cast("dict[str, Any]", yaml.safe_load(text))


def test_the_tests_run_on_each_version_of_python_that_is_named() -> None:
    named = [
        each.rpartition(" ")[2]
        for each in PROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", each)
    ]
    matrices = [job["strategy"]["matrix"] for job in workflow("test.yml")["jobs"].values()]
    tested = {version for matrix in matrices for version in matrix["python"]}
    assert tested == set(named)
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


MAY = {"PyPI": {"id-token": "write"}, "the release on GitHub": {"contents": "write"}}
"""What else a job may do."""


@pytest.mark.parametrize("name", ["test.yml", "release.yml"])
def test_workflows_pin_what_they_use_and_may_do_little(name: str) -> None:
    found = workflow(name)
    assert found["permissions"] == {}
    for job in found["jobs"].values():
        uses = [step["uses"] for step in job.get("steps", ()) if "uses" in step]
        assert all(re.search(r"@[0-9a-f]{40}$", each) for each in uses)
        assert job["permissions"] in ({"contents": "read"}, MAY.get(job.get("name")))


def test_nothing_is_published_before_everything_is_tested() -> None:
    jobs = workflow("release.yml")["jobs"]
    assert set(jobs["publish"]["needs"]) == {"test", "build", "extension"}
    assert [jobs[name]["needs"] for name in ("test", "build", "extension")] == ["check"] * 3
    assert jobs["page"]["needs"] == "publish"


# releases -----------------------------------------------------------------------------------


@pytest.fixture
def release(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `.ci/release` in a tree with version 1.2.0 that is ready for its release."""
    files = {
        "torchlint/version.py": '"""It."""\n\n__version__ = "1.2.0"\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.0\n\n- New.\n- Better.\n\n## 1.1.0\n\n- Old.\n",
        "changelog.d/template.md.jinja": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([script, *words], check=False, capture_output=True, text=True)

    return run


@pytest.mark.skipif(os.name == "nt", reason="needs bash")
def test_a_release_has_one_version_and_no_fragments(
    tmp_path: Path, release: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    assert release("check", "v1.2.0").returncode == 0
    assert "The tag is v1.2, but" in release("check", "v1.2").stderr
    (tmp_path / "changelog.d" / "+new.added.md").write_text("New.")
    assert "changelog.d/+new.added.md" in release("check", "v1.2.0").stderr
    (tmp_path / "changelog.d" / "+new.added.md").unlink()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.1.0\n")
    assert "is 1.1.0, not 1.2.0" in release("check", "v1.2.0").stderr


@pytest.mark.skipif(os.name == "nt", reason="needs bash")
def test_a_release_is_described_by_its_section(
    release: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert release("notes").stdout == "- New.\n- Better.\n\n"


@pytest.mark.skipif(os.name == "nt", reason="needs bash")
def test_on_a_package_index_the_links_of_the_readme_lead_to_the_repository(
    tmp_path: Path,
    release: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "![A picture](docs/it.svg) [a](docs/a.md#part) · [b](b/) [c](#c) [d](https://d.org/d)\n"
    (tmp_path / "README.md").write_text(text)
    monkeypatch.delenv("TORCHLINT_REPOSITORY", raising=False)
    assert release("readme").stdout == text
    monkeypatch.setenv("TORCHLINT_REPOSITORY", "https://git.org/it")
    assert release("readme").stdout == (
        "![A picture](https://git.org/it/raw/v1.2.0/docs/it.svg)"
        " [a](https://git.org/it/blob/v1.2.0/docs/a.md#part)"
        " · [b](https://git.org/it/blob/v1.2.0/b/) [c](#c) [d](https://d.org/d)\n"
    )
