"""A user's own diff, made to copies of the files that it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from typing import Final

from torchlint.experiment.errors import ExperimentError
from torchlint.files.diffs import unquoted
from torchlint.files.reading import SourceError, read_bytes

_HEADER: Final = re.compile(rb'^(---|\+\+\+) (?:"((?:[^"\\]|\\.)+)"|([^\t\n"]+))')


def patched(patch: str, root: str) -> dict[str, tuple[bytes, bytes]]:
    """Real path → bytes before and after, for each file that the patch changes.

    The patch is one that `git diff` writes; its paths are taken from the folder `root`, or from
    the working directory. The files themselves are left alone.

    Raises:
        ExperimentError: the patch cannot be read or does not apply, or it does more than change
            Python files.
    """
    try:
        data = read_bytes(patch)
    except SourceError as error:
        raise ExperimentError(f"{patch}: {error.message}") from None
    names = _changed_names(data, patch)
    for base in dict.fromkeys((root, os.path.realpath(os.getcwd()))):
        if all(os.path.isfile(os.path.join(base, name)) for name in names):
            return _applied(data, patch, base, names)
    missing = next(name for name in names if not os.path.isfile(os.path.join(root, name)))
    raise ExperimentError(
        f"{patch} changes {missing}, which is not in {root}; make the patch from there."
    )


def _changed_names(data: bytes, patch: str) -> list[str]:
    names: list[str] = []
    old = None
    for line in data.splitlines():
        header = _HEADER.match(line)
        if header is None:
            continue
        name = os.fsdecode(unquoted(header[2]) if header[2] else header[3]).strip()
        if header[1] == b"---":
            old = name
            continue
        if "/dev/null" in (old, name):
            raise ExperimentError(
                f"{patch} adds or removes {old if name == '/dev/null' else name}; verify serves "
                "changes of existing files, so compare with a second script through --against."
            )
        name = name[2:] if name.startswith("b/") else name
        if not name.endswith(".py"):
            raise ExperimentError(
                f"{patch} changes {name}, which is not Python; leave it out of the patch."
            )
        if os.path.isabs(name) or ".." in name.split("/"):
            raise ExperimentError(f"{patch} changes {name}, which is outside the project.")
        if old is not None and os.path.normpath(old.removeprefix("a/")) != os.path.normpath(name):
            raise ExperimentError(
                f"{patch} makes {name} of {old}; name the same file after --- and +++, as `git "
                "diff` does, or compare the two scripts with --against."
            )
        names.append(name)
    if not names:
        raise ExperimentError(f"{patch} is not a unified diff; make one with `git diff`.")
    return list(dict.fromkeys(names))


def _applied(
    data: bytes, patch: str, base: str, names: list[str]
) -> dict[str, tuple[bytes, bytes]]:
    git = shutil.which("git")
    if git is None:
        raise ExperimentError("--with needs git to apply the patch; install git.")
    before = {name: read_bytes(os.path.join(base, name)) for name in names}
    with tempfile.TemporaryDirectory(prefix="torchlint-") as folder:
        for name, content in before.items():
            copy = os.path.join(folder, name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "wb") as stream:
                stream.write(content)
        level = "-p1" if re.search(rb"^\+\+\+ \"?b/", data, re.M) else "-p0"
        # A repository around the temporary folder would make git skip files outside of it.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(folder)}
        done = subprocess.run(  # noqa: S603 - a fixed command
            [git, "apply", level, "--whitespace=nowarn", "-"],
            input=data,
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            why = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ExperimentError(
                f"{patch} does not apply: {why[-1] if why else 'git apply failed'}; "
                "make it again from the files as they are."
            )
        result: dict[str, tuple[bytes, bytes]] = {}
        for name, content in before.items():
            after = read_bytes(os.path.join(folder, name))
            result[os.path.realpath(os.path.join(base, name))] = (content, after)
    return result
