"""The VS Code extension as it is packaged, with a stand-in for VS Code and a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

UNREACHABLE = re.compile(
    r"\b(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ENOTFOUND|ETIMEDOUT)\b"
)
EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"


def test_the_lock_file_names_no_other_registry() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    places = [each.get("resolved", "") for each in lock["packages"].values()]
    assert all(not place or place.startswith("https://registry.npmjs.org/") for place in places)
    assert all(each.get("integrity") for name, each in lock["packages"].items() if name)


def test_settings_of_the_extension_are_those_of_the_server() -> None:
    from torchlint.server.editor_settings import ClientSettings, read

    manifest = json.loads((EXTENSION / "package.json").read_text())
    properties = manifest["contributes"]["configuration"]["properties"]
    defaults = {
        name.removeprefix("torchlint."): each["default"] for name, each in properties.items()
    }
    settings, wrong = read(defaults, ClientSettings(hints=True, target_torch=(1, 0)))
    assert (settings, wrong) == (ClientSettings(), ())


@pytest.mark.npm
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs node and npm")
def test_the_packaged_extension_shows_what_a_real_server_finds(tmp_path: Path) -> None:
    home = tmp_path / "editors" / "vscode"
    (tmp_path / "torchlint").mkdir()
    (tmp_path / "torchlint" / "version.py").write_text('"""It."""\n\n__version__ = "12.3.4"\n')
    left_out = shutil.ignore_patterns("node_modules", "*.vsix")
    shutil.copytree(EXTENSION, home, ignore=left_out)

    def run(*words: str, folder: Path = home) -> str:
        environment = {**os.environ, "TORCHLINT_PYTHON": sys.executable}
        done = subprocess.run(
            words, cwd=folder, env=environment, check=False, capture_output=True, text=True
        )
        said = done.stdout + done.stderr
        if words[:2] == ("npm", "ci") and (cause := UNREACHABLE.search(said)):
            pytest.skip(f"npm reaches no registry: {cause[0]}")
        assert done.returncode == 0, said
        return done.stdout

    run("npm", "ci", "--no-audit", "--no-fund")
    run("npm", "run", "package")
    (packaged,) = home.glob("*.vsix")
    assert packaged.name == "torchlint-12.3.4.vsix"
    with zipfile.ZipFile(packaged) as archive:
        archive.extractall(tmp_path / "installed")
    manifest = json.loads((tmp_path / "installed" / "extension" / "package.json").read_text())
    assert manifest["version"] == "12.3.4"
    said = run("node", "test/session.js", str(tmp_path / "installed" / "extension"))
    found = "11:18 TL201 `.item()` makes the host wait for the GPU on every step"
    assert [line.partition(";")[0] for line in said.splitlines()] == [found, found]
