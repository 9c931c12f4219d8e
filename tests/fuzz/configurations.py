"""Configuration files of every kind: the command line answers with a sentence, never a crash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from tests.fuzz.properties import said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_CONFIGURATIONS: Final = ("torchlint.toml", "pyproject.toml")
_OTHERS: Final = (
    ".gitignore", "requirements.txt", "requirements-dev.txt", "setup.cfg", "setup.py",
)  # fmt: skip
_REQUIREMENTS: Final = (
    "torch", "torch>=1.13,<3", "torch==2.*", "torch<0", "torch[cuda] (>=9999.9999.999999999)",
    "install_requires = torch~=1", "['torch<=1.0', 'torch']", "torch!=2; python_version<'3'",
    "torch @ https://example.org", "torch >= 99999999999999999999.1", "torch^1,>,<,=",
)  # fmt: skip
_SCRIPT: Final = b"import torch\nfor x in y:\n    z.backward()\n    t += z.item()\n"
_COMMANDS: Final = (
    ("check", "--no-cache"),
    ("check", "--no-cache", "--output-format", "json"),
    ("check", "--no-cache", "--statistics"),
    ("fix", "--unsafe"),
)
_KEYS: Final = (
    "select", "ignore", "per-file-ignores", "exclude", "extend-exclude", "target-torch",
)  # fmt: skip
_WORDS: Final = (
    "ALL", "TL", "TL2", "TL201", "tl201", "item-in-step-loop", "TL999", "", " ", "*", "**", "**/*",
    "!*", "/", "//", "../..", "src/", "[", "[!]", "[a-", "{a,b}", "\\", "\\\\", "?" * 50, "a*" * 30,
    "**/" * 30 + "x", "*.py", "train.py", "2.1", "2", "2.1.0.0", "-1.0", "999.999", "1e3", "\x00",
    "\uff58", "\U0001f525", "\u202e", "~", "$HOME", "(?P<x", "x" * 5000,
)  # fmt: skip


@dataclass(frozen=True)
class Configured:
    """A small project with files that configure it.

    Args:
        files: these files; the last one is a configuration file.
        words: the command to run.
        named: give the last file with `--config`.
    """

    files: Mapping[str, bytes]
    words: Sequence[str]
    named: bool

    def hold(self, folder: Path) -> None:
        (folder / "src").mkdir()
        (folder / "src" / "train.py").write_bytes(_SCRIPT)
        config = ["--config", str(folder / [*self.files][-1])] if self.named else []
        code, _ = said([*self.words, "--jobs", "1", *config, str(folder)])
        assert code in (0, 1, 2)


def configured(_: Sequence[str]) -> st.SearchStrategy[Configured]:
    contents = st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
        _documents(),
        st.builds(_with_bytes, _documents(), st.binary(max_size=9), st.integers(0, 300)),
    )
    lines = st.lists(st.one_of(map(st.sampled_from, (_WORDS, _REQUIREMENTS))), max_size=9)
    others = st.one_of(st.binary(max_size=200), lines.map(lambda words: "\n".join(words).encode()))
    return st.builds(
        Configured,
        st.builds(
            lambda others, configurations: others | configurations,
            st.dictionaries(st.sampled_from(_OTHERS), others, max_size=2),
            st.dictionaries(st.sampled_from(_CONFIGURATIONS), contents, min_size=1),
        ),
        st.sampled_from(_COMMANDS),
        st.booleans(),
    )


def _documents() -> st.SearchStrategy[bytes]:
    """TOML with the right keys and values of any type, at the right place and elsewhere."""
    strings = st.sampled_from(_WORDS) | st.text(max_size=20)
    plain = st.one_of(
        strings,
        st.integers(),
        st.floats(),
        st.booleans(),
        st.dates(),
        st.lists(strings, max_size=5),
    )
    values = st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
        max_leaves=8,
    )
    right = st.lists(strings, max_size=5)
    per_file = st.dictionaries(strings, right, max_size=4)
    tables = st.dictionaries(
        st.sampled_from(_KEYS) | strings,
        st.one_of(values, right, right, per_file),
        max_size=6,
    )
    return st.one_of(
        tables.map(_toml),
        tables.map(lambda table: _toml({"tool": {"torchlint": table}})),
        values.map(lambda value: _toml({"tool": {"torchlint": value}})),
        values.map(lambda value: _toml({"tool": value})),
        st.lists(st.sampled_from(_REQUIREMENTS) | values, max_size=5).map(
            lambda wanted: _toml({"project": {"dependencies": wanted}, "torchlint": 1})
        ),
        st.integers(1, 20_000).map(lambda depth: b"select = " + b"[" * depth + b"]" * depth),
        st.integers(1, 20_000).map(lambda depth: b"torchlint" + b".a" * depth + b" = 1"),
        st.integers(1, 1000).map(lambda count: b"ignore = [%s]" % (b'"TL201",' * count * 200)),
    )


def _with_bytes(document: bytes, data: bytes, place: int) -> bytes:
    return document[:place] + data + document[place:]


def _toml(table: Mapping[str, object]) -> bytes:
    return "".join(f"{_string(key)} = {_value(value)}\n" for key, value in table.items()).encode()


def _value(value: object) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_string(key)} = {_value(each)}' for key, each in value.items())}}}"
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else repr(value)


def _string(text: str) -> str:
    """A TOML string; JSON's escapes are TOML's, except for pairs of surrogates."""
    plain = text.encode("utf-8", "replace").decode()
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
