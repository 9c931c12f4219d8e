"""Serves changed sources in place of files on disk, for every way in which Python runs a file.

A module keeps its `__file__`, `__spec__` and line numbers; tracebacks and `inspect.getsource`
show what ran. Bytecode caches of served files are neither read nor written.
"""

from __future__ import annotations

import ast
import io
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from torchlint.runtime.probe.run_settings import RunSettings


class ServedSources:
    """Bytes by the real path of the file that they replace.

    Args:
        sources: what is served.
        journal: every process appends the real paths that it has served, one a line.
    """

    def __init__(self, sources: dict[str, bytes], journal: str) -> None:
        self._sources = sources
        self._names = frozenset(map(os.path.basename, sources))
        self._journal = journal
        self.served: set[str] = set()
        self.ran: set[str] = set()
        """Absolute paths of all files that were run, served or not."""

    def key(self, path: object) -> str | None:
        """The real path under which `path` is served; None for a file that is left alone."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None
        name = os.fsdecode(path)
        # Most files differ by name already; a link may have any.
        if os.path.basename(name) not in self._names and not os.path.islink(name):
            return None
        real = os.path.realpath(name)
        return real if real in self._sources else None

    def peek(self, path: object) -> bytes | None:
        """What replaces `path`, for somebody who only looks at it."""
        key = self.key(path)
        return None if key is None else self._sources[key]

    def serve(self, path: object) -> bytes | None:
        """What replaces `path`, for somebody who runs it."""
        if isinstance(path, str):
            self.ran.add(os.path.abspath(path))  # now: the script may change the folder
        key = self.key(path)
        if key is None:
            return None
        if key not in self.served:
            self.served.add(key)
            with open(self._journal, "ab", buffering=0) as journal:
                journal.write(os.fsencode(key) + b"\n")
        return self._sources[key]


_installed: ServedSources | None = None


def served() -> list[str]:
    """Real paths of the changed files that this process, or one it was forked from, has run."""
    return sorted(_installed.served) if _installed is not None else []


def ran() -> set[str]:
    """Absolute paths of the files that this process, or one it was forked from, has run through
    the import system, whatever it names them in `sys.modules`."""
    return _installed.ran.copy() if _installed is not None else set()


def install(settings: RunSettings) -> None:
    """Serve `settings.sources` from now on, here and in the processes that this one forks; the
    second time does nothing."""
    global _installed  # noqa: PLW0603 - a process has one import system
    if _installed is not None:
        return
    # Also for interpreters that the script starts by itself: no cache may appear in the project.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    _installed = ServedSources(_read(settings.sources), os.path.join(settings.scratch, "served"))
    _serve_imports(_installed)
    _serve_executed_files(_installed)
    _serve_lines(_installed)


def serve_program() -> None:
    """Serve the file that this interpreter is about to run as well, to be called before it does.

    Python reads a script by itself unless a hook of the import system answers for its path, as one
    does for an archive with a `__main__`.
    """
    assert _installed is not None
    sources = _installed

    def hook(path: str) -> _Program:
        if not path or sources.key(path) is None or os.path.isdir(path):
            raise ImportError(path)
        return _Program("__main__", path)

    sys.path_hooks.insert(0, hook)


class _Program(SourceFileLoader):
    """Finds and loads a script as `__main__`, with the names that a script has."""

    def find_spec(self, name: str, _target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, origin=self.path) if name == "__main__" else None

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]
        # Python has put the file where its folder belongs.
        if sys.path[:1] == [self.path]:
            safe = getattr(sys.flags, "safe_path", False)
            sys.path[:1] = [] if safe else [os.path.dirname(os.path.realpath(self.path))]
        tree = ast.parse(data, path)
        at = len(list(takewhile(_comes_first, tree.body)))
        tree.body[at:at] = ast.parse("__spec__ = __package__ = None").body
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code


def _comes_first(statement: ast.stmt) -> bool:
    """Whether it is a docstring or a `from __future__`, which nothing may precede."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _read(files: dict[str, str]) -> dict[str, bytes]:
    sources = {}
    for real, stand_in in files.items():
        with open(stand_in, "rb") as stream:
            sources[real] = stream.read()
    return sources


def _serve_imports(sources: ServedSources) -> None:
    get_code, get_data = SourceFileLoader.get_code, SourceFileLoader.get_data

    def served_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if sources.serve(path) is None:
            return get_code(self, fullname)
        # Through the loader's own methods: subclasses transform sources there.
        return self.source_to_code(self.get_data(path), path)

    def served_data(self: SourceFileLoader, path: str) -> bytes:
        source = sources.peek(path)
        return get_data(self, path) if source is None else source

    loader: Any = SourceFileLoader
    loader.get_code, loader.get_data = served_code, served_data


def _serve_executed_files(sources: ServedSources) -> None:
    """`io.open_code` is how runpy, pdb and cProfile open a file that they are about to run."""
    open_code = io.open_code

    def open_served_code(path: str) -> Any:
        source = sources.serve(path)
        return open_code(path) if source is None else io.BytesIO(source)

    io.open_code = open_served_code


def _serve_lines(sources: ServedSources) -> None:
    """At the reader and not in its cache, which the script and torch's inductor may clear."""

    def wrap(update: Callable[..., list[str]]) -> Callable[..., list[str]]:
        def read_served_lines(filename: str, module_globals: Any = None) -> list[str]:
            import linecache

            source = sources.peek(filename)
            if source is None:
                return update(filename, module_globals)
            try:
                text = decode_source(source)
            except (UnicodeDecodeError, SyntaxError):
                return []
            lines = [line + "\n" for line in text.split("\n")]
            if text.endswith("\n"):
                del lines[-1]
            # Without a time of change the entry is not compared with the file.
            linecache.cache[filename] = (len(text), None, lines, filename)
            return lines

        return read_served_lines

    private.wrap_line_cache(wrap)
