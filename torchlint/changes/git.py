"""Asks git about a repository that is not trusted.

Its `.git/config` may name programs for git to start. None of the commands here starts one: they
read objects and the index, and never look at a file of the working tree, for which git would run
the filters that `.gitattributes` names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from tempfile import TemporaryFile
from threading import Event, Timer
from typing import Final, NamedTuple

from torchlint.config.settings import ConfigError

LONGEST_S: Final = 60.0
"""A configuration that includes a named pipe would make git wait forever."""
_MOST_BYTES: Final = 256 << 20
"""What is read of a commit at most."""
_MOST_LISTED: Final = 64 << 20
"""Bytes that git may print, other than the content of files: the names of half a million files. A
few objects can name as many as somebody likes."""
_MOST_SAID: Final = 1 << 16
"""Bytes of what it says is wrong."""
_CHUNK: Final = 1 << 20
_SHOWN: Final = 200
"""Characters of git's own message in ours."""
_CONFIG: Final = (
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "diff.external=",
    "safe.bareRepository=explicit",
)
_ENVIRONMENT: Final = {
    # Objects that a partial clone lacks are not fetched: the repository says how that is done.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitError(ConfigError):
    """What git could not answer to `--since`, as a sentence of fact and one of action."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "--since")


class TreeEntry(NamedTuple):
    """What a commit holds under a name: its mode, such as `100644`, and the name of the object."""

    mode: bytes
    object: bytes


class Repository:
    """The repository that a folder belongs to.

    Args:
        folder: a folder of its working tree.

    Raises:
        GitError: there is no git, or no repository.
    """

    def __init__(self, folder: str) -> None:
        # Not one in the working directory, where PATH or Windows may look.
        found = shutil.which("git")
        if found is None or not os.path.isabs(found):
            raise GitError("There is no git to compare with; install it.")
        self._program = found
        self.top = folder
        top = self._asked("rev-parse", "--show-toplevel")
        self.top = os.path.realpath(os.fsdecode(top[:-1]))

    def commit(self, revision: str) -> str:
        """The name of the commit that a revision means, in full.

        Raises:
            GitError: it means none.
        """
        if not revision or revision.startswith("-") or "\0" in revision:
            raise GitError(f'"{revision}" is not a revision; name a branch, a tag or a commit.')
        name = self._known(revision)
        if name is not None:
            return name
        if revision == "HEAD":
            raise GitError("The repository has no commit yet; make one.")
        raise GitError(
            f'The repository knows no commit "{revision}"; fetch it first '
            "(`fetch-depth: 0` of actions/checkout does)."
        )

    def head(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        return self._known("HEAD")

    def empty_tree(self) -> str:
        """The name of the tree without files, which each repository has.

        Raises:
            GitError: git cannot answer.
        """
        return self._asked("hash-object", "-t", "tree", "--stdin").decode("ascii").strip()

    def _known(self, revision: str) -> str | None:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        code, out, _ = self._run(*words)
        name = out.decode("ascii", "replace").strip()
        return name if code == 0 and re.fullmatch(r"[0-9a-f]{40,64}", name) else None

    def merge_base(self, one: str, other: str) -> str:
        """The newest commit that two commits have in common.

        Raises:
            GitError: they have none, or it was not cloned.
        """
        code, out, _ = self._run("merge-base", one, other)
        if code == 0:
            return out.decode("ascii").strip()
        if self._asked("rev-parse", "--is-shallow-repository").strip() == b"true":
            raise GitError(
                "This is a shallow clone, without the commit where the branches part; run "
                "`git fetch --unshallow`, or set `fetch-depth: 0` (GitHub) or `GIT_DEPTH: 0` "
                "(GitLab)."
            )
        raise GitError("The two have no commit in common; name another revision.")

    def name_of(self, path: str) -> bytes:
        """The path from the top, as git has it.

        Raises:
            GitError: it is outside of the repository.
        """
        top = self.top.rstrip(os.sep) + os.sep
        real = os.path.realpath(path)
        if not real.startswith(top):
            raise GitError(f"{path} does not belong to the repository here; run in its folder.")
        return os.fsencode(real[len(top) :].replace(os.sep, "/"))

    def tree(self, commit: str) -> dict[bytes, TreeEntry]:
        """What a commit holds, by path from the top, with `/` between folders.

        Raises:
            GitError: an object is missing.
        """
        listed = self._asked("ls-tree", "-r", "-z", "--full-tree", commit)
        entries = {}
        for line in listed.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, _, name = about.split(b" ")
            entries[path] = TreeEntry(mode, name)
        return entries

    def renames(self, commit: str) -> dict[bytes, bytes]:
        """The old name, in a commit, of each file that the index holds under a new one.

        Raises:
            GitError: an object is missing.
        """
        listed = self._asked(
            "diff-index", "--cached", "-r", "-z", "-M", "--raw", "--diff-filter=R",
            "--no-ext-diff", "--no-textconv", commit,
        )  # fmt: skip
        fields = listed.split(b"\0")[:-1]
        return {fields[at + 2]: fields[at + 1] for at in range(0, len(fields), 3)}

    def left_out(self) -> set[bytes]:
        """The files that a sparse checkout leaves out of the working tree.

        Raises:
            GitError: the index cannot be read.
        """
        listed = self._asked("ls-files", "--cached", "-t", "-z")
        return {line[2:] for line in listed.split(b"\0") if line.startswith(b"S ")}

    def blobs(self, objects: set[bytes], largest: int) -> dict[bytes, bytes]:
        """The content of these objects, without those of more than `largest` bytes.

        Raises:
            GitError: an object is missing, or there is more than memory should hold.
        """
        asked = b"".join(each + b"\n" for each in sorted(objects))
        wanted = b""
        total = 0
        for line in self._asked("cat-file", "--batch-check", stdin=asked).splitlines():
            name, kind, *size = line.split()
            if kind == b"missing":
                raise GitError(
                    "The repository lacks files of the commit to compare with; clone it "
                    "without `--filter`."
                )
            if int(size[0]) <= largest:
                wanted += name + b"\n"
                total += int(size[0])
        if total > _MOST_BYTES:
            raise GitError(
                f"More than {_MOST_BYTES >> 20} MiB have changed since then; name a newer revision."
            )
        out = self._asked("cat-file", "--batch", stdin=wanted, most=2 * _MOST_BYTES)
        contents = {}
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            name, _, length = out[at:end].split()
            at = end + 1 + int(length)
            contents[name] = out[end + 1 : at]
            at += 1
        return contents

    def _asked(
        self,
        *words: str,
        stdin: bytes = b"",
        most: int | None = None,
    ) -> bytes:
        """What git prints.

        Raises:
            GitError: it failed.
        """
        code, out, err = self._run(*words, stdin=stdin, most=most)
        if code == 0:
            return out
        if "dubious ownership" in err:
            raise GitError(
                "Git does not trust this repository, which belongs to another user; run "
                "`git config --global --add safe.directory FOLDER` with its folder."
            )
        if "not a git repository" in err or "work tree" in err:
            raise GitError("There is no git repository here; run in one.")
        why = (err.splitlines() or [f"exit code {code}"])[0].removeprefix("fatal: ")[:_SHOWN]
        raise GitError(f"Git cannot read the repository: {why.rstrip('.')}; run `git fsck`.")

    def _run(
        self,
        *words: str,
        stdin: bytes = b"",
        most: int | None = None,
    ) -> tuple[int, bytes, str]:
        """Exit code, output and messages of one command of git.

        Raises:
            GitError: it did not end, or prints more than `most` bytes.
        """
        most = _MOST_LISTED if most is None else most
        options = [word for setting in _CONFIG for word in ("-c", setting)]
        with TemporaryFile() as asked, TemporaryFile() as said:
            asked.write(stdin)
            asked.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603
                    [self._program, "--no-pager", *options, *words],
                    cwd=self.top,
                    env={**os.environ, **_ENVIRONMENT},
                    stdin=asked,
                    stdout=subprocess.PIPE,
                    stderr=said,
                )
            except OSError as error:
                raise GitError(f"Git does not start: {error.strerror}; install it again.") from None
            out, in_time = _read(process, LONGEST_S, most)
            if not in_time:
                raise GitError(
                    f"Git did not answer within {LONGEST_S:g} seconds; look at .git/config."
                )
            if len(out) > most:
                raise GitError(
                    f"Git lists more than {most >> 20} MiB here, which no project needs; check "
                    "without a revision, and see what the commits hold."
                )
            said.seek(0)
            return process.returncode, out, said.read(_MOST_SAID).decode("utf-8", "replace")


def _read(process: subprocess.Popen[bytes], seconds: float, most: int) -> tuple[bytes, bool]:
    """What a process prints, little more than `most` bytes of it, and whether it kept to its time.
    It has ended afterwards."""
    assert process.stdout is not None
    late = Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    data = bytearray()
    try:
        with process, process.stdout:
            while len(data) <= most and (chunk := process.stdout.read(_CHUNK)):
                data += chunk
            if len(data) > most:
                process.kill()
    finally:
        timer.cancel()
    return bytes(data), not late.is_set()
