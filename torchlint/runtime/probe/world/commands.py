"""Reads commands: what a process is called, and whether it would upload something."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NOTHING = [sys.executable, "-I", "-S", "-c", ""]
"""Runs, does nothing and succeeds."""

_LONGEST = 100
_SHELLS = frozenset("sh bash dash zsh ksh fish".split())
_BEFORE = frozenset("sudo env nohup nice time timeout stdbuf exec command setsid ionice".split())
_SEPARATORS = frozenset([";", "&", "&&", "|", "||", "(", ")", "\n", ";;", "{", "}", "!"])
_REMOTE = ("s3://", "gs://", "gcs://", "az://", "abfs://", "hf://", "http://", "https://", "ftp://")


def words_of(command: Any) -> list[str]:
    """A command as its words; one for a shell as the single word that it is."""
    if isinstance(command, (str, bytes, os.PathLike)):
        return [os.fsdecode(command)]
    return [os.fsdecode(word) for word in command]


def described(words: Sequence[str]) -> str:
    """A command in few words, the same for commands that differ in their files only."""
    if len(words) == 1 and " " in words[0].strip():
        text = " ".join(words[0].split())
    else:
        names = [os.path.basename(words[0])]
        for word in words[1:3]:
            names.append(word if " " in word else os.path.basename(word))
            if not word.startswith("-"):
                break
        rest = [] if len(names) == len(words) else ["…"]
        text = " ".join(" ".join([*names, *rest]).split())
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def uploads(words: Sequence[str]) -> bool:
    """Whether a command, of a shell too, would send files to another machine."""
    if len(words) == 1:
        return any(_uploads(each) for each in _of_shell(words[0]))
    return _uploads(list(words))


def _of_shell(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace_split, lexer.whitespace, lexer.commenters = True, " \t\r", ""
    command: list[str] = []
    try:
        for word in lexer:
            if word in _SEPARATORS or not word.strip(";&|()\n"):
                yield command
                command = []
            else:
                command.append(word)
    except ValueError:
        # An open quote, or text that no shell would take.
        yield from (line.split() for line in text.splitlines())
    yield command


def _uploads(words: list[str]) -> bool:
    words = _bare(words)
    if not words:
        return False
    program, rest = os.path.basename(words[0]), words[1:]
    if program in _SHELLS:
        flags = [at for at, word in enumerate(rest) if word[:1] == "-" and word.endswith("c")]
        return bool(flags) and uploads(rest[flags[0] + 1 : flags[0] + 2])
    if program.startswith("python") and rest[:1] == ["-m"] and len(rest) > 1:
        program, rest = rest[1].partition(".")[0], rest[2:]
    judge = _PROGRAMS.get(program)
    return judge is not None and judge(rest)


def _bare(words: list[str]) -> list[str]:
    """Without variables, and without programs that only start another one."""
    while words:
        name, is_variable, _ = words[0].partition("=")
        if is_variable and name.isidentifier():
            words = words[1:]
        elif os.path.basename(words[0]) in _BEFORE:
            words = words[1:]
            while words and (words[0].startswith("-") or words[0][:1].isdigit()):
                words = words[1:]
        else:
            break
    return words


def _plain(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _says(*phrases: str) -> Callable[[list[str]], bool]:
    """Its first words, options aside, are one of these."""
    wanted = [phrase.split() for phrase in phrases]

    def judge(words: list[str]) -> bool:
        plain = _plain(words)
        return any(plain[: len(phrase)] == phrase for phrase in wanted)

    return judge


def _git(words: list[str]) -> bool:
    with_value = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in with_value else 1 :]
    return _says("push", "lfs push", "subtree push", "send-email")(words)


def _copies_away(words: list[str]) -> bool:
    """The last of what is copied is another machine: `host:path`, `remote:path`, `s3://…`."""
    plain = _plain(words)
    if not plain:
        return False
    host = plain[-1].partition(":")[0]
    return plain[-1].startswith(_REMOTE) or (":" in plain[-1] and "/" not in host)


def _stores(words: list[str]) -> bool:
    plain = _plain(words)
    changes = {"cp", "mv", "sync", "rsync", "copy", "move", "copyto", "moveto", "put", "mirror"}
    gone = {"rm", "rb", "mb", "remove", "delete", "purge", "del"}
    at = [index for index, word in enumerate(plain[:3]) if word in changes | gone]
    if not at:
        return bool(plain) and plain[0].startswith(("put-", "upload-", "create-", "delete-"))
    return plain[at[0]] in gone | {"put"} or _copies_away(plain[at[0] :])


def _curl(words: list[str]) -> bool:
    if "-G" in words or "--get" in words:
        return False
    short = ("-T", "-F", "-d")
    return _sends(words) or any(word.startswith(short) for word in words)


def _sends(words: list[str]) -> bool:
    """With something to send, or a method that changes the server."""
    for at, word in enumerate(words):
        name, given, method = word.partition("=")
        if name in _SENDING:
            return True
        if name in ("-X", "--request", "--method") and not given:
            method = "".join(words[at + 1 : at + 2])
        elif word.startswith("-X"):
            method = word[2:]
        if method in ("PUT", "POST", "PATCH", "DELETE"):
            return True
    return False


_SENDING = frozenset(
    """--upload-file --form --form-string --data --data-binary --data-raw --data-ascii
    --data-urlencode --json --post-data --post-file --body-data --body-file""".split()
)

_PROGRAMS: dict[str, Callable[[list[str]], bool]] = {
    "git": _git,
    "hg": _says("push"),
    "gh": _says("release create", "release upload", "gist create", "repo create"),
    "aws": lambda words: _stores([word for word in words if word not in ("s3", "s3api")]),
    "awscli": lambda words: _stores([word for word in words if word not in ("s3", "s3api")]),
    "gsutil": _stores,
    "gcloud": lambda words: "storage" in words[:2] and _stores(words[words.index("storage") + 1 :]),
    "az": _says("storage blob upload", "storage blob upload-batch", "storage blob sync"),
    "azcopy": _stores,
    "rclone": _stores,
    "s3cmd": _stores,
    "s5cmd": _stores,
    "scp": _copies_away,
    "rsync": _copies_away,
    "sftp": lambda _words: True,
    "lftp": lambda _words: True,
    "curl": _curl,
    "wget": _sends,
    "huggingface-cli": _says("upload", "upload-large-folder", "repo create", "repo delete"),
    "hf": _says("upload", "upload-large-folder", "repo create", "repo delete", "repos create"),
    "wandb": _says("sync", "artifact put", "launch"),
    "comet": _says("upload"),
    "neptune": _says("sync"),
    "dvc": _says("push", "exp push"),
    "kaggle": _says(
        "competitions submit",
        "datasets create",
        "datasets version",
        "kernels push",
        "models create",
    ),
    "twine": _says("upload"),
    "docker": _says("push"),
    "podman": _says("push"),
}
