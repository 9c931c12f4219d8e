"""What speed.py measures on: a tree, the lists of its files, generated sources, TorchFix."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from generated_sources import training_script, write_plain_files

HERE = Path(__file__).resolve().parent
PLAIN_FILES = 300
SCRIPT_LINES = 300
SHORT_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Subjects:
    """Paths, all absolute. `mention` and `gate` list one path per line."""

    tree: Path
    mention: Path
    gate: Path
    plain: Path
    script: Path
    short: Path
    long: Path


def prepare(folder: Path, tree: Path | None, wheel: str) -> Subjects:
    """Everything that the measurements read, written into `folder` once.

    Args:
        tree: the tree to check, or None to download and unpack `wheel`.

    Raises:
        subprocess.CalledProcessError: the download failed, or the files could not be listed.
    """
    subjects = Subjects(
        tree=tree.resolve() if tree else download(wheel, folder),
        mention=folder / "mention.txt",
        gate=folder / "gate.txt",
        plain=folder / "plain",
        script=folder / "script.py",
        short=folder / "short.py",
        long=folder / "long.py",
    )
    lister = [sys.executable, str(HERE / "relevant_files.py")]
    subprocess.run([*lister, subjects.tree, subjects.mention, subjects.gate], check=True)
    write_plain_files(subjects.plain, PLAIN_FILES)
    subjects.script.write_text(training_script(SCRIPT_LINES), encoding="utf-8")
    subjects.short.write_text(training_script(SHORT_LINES), encoding="utf-8")
    subjects.long.write_text(training_script(10 * SHORT_LINES), encoding="utf-8")
    return subjects


def download(wheel: str, folder: Path) -> Path:
    """Downloads a wheel without its dependencies and unpacks it."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(folder / "wheel"), wheel], check=True)
    (archive,) = (folder / "wheel").glob("*.whl")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder / "tree")
    return folder / "tree"


def baseline(folder: Path) -> Path:
    """The Python of a new virtual environment with the torchlint that `baseline.txt` names, the
    build of ten rules, and with the LibCST of this one.

    Raises:
        subprocess.CalledProcessError: this is not a clone with that commit, or pip failed.
    """
    commit = (HERE / "baseline.txt").read_text(encoding="utf-8").strip()
    source, python = folder / "baseline", folder / "baseline-venv" / "bin" / "python"
    source.mkdir()
    archive = subprocess.run(
        ["git", "-C", HERE.parent, "archive", commit], check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    libcst = f"libcst=={metadata.version('libcst')}"
    subprocess.run([python, "-m", "pip", "install", "--quiet", source, libcst], check=True)
    return python


def torchfix(folder: Path, environment: Path | None) -> Path:
    """The `torchfix` command of a virtual environment, made new if none is given.

    Raises:
        FileNotFoundError: the environment has no TorchFix.
        subprocess.CalledProcessError: it could not be installed.
    """
    if environment is None:
        environment = folder / "torchfix"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        python = environment / "bin" / "python"
        install = [str(python), "-m", "pip", "install", "--quiet", "TorchFix"]
        subprocess.run(install, check=True)
    command = shutil.which("torchfix", path=str(environment.resolve() / "bin"))
    if command is None:
        raise FileNotFoundError(f"{environment} has no torchfix; install TorchFix there.")
    return Path(command)
