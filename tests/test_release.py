"""What a release is made of: the changelog's fragments."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


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
