"""Redirects libraries that open files in C, by the path that they are given.

What is not named here is not redirected; where the kernel knows Landlock, it refuses to let it
write (`sandbox/fence.py`). Named is what would not say so, or is common where models are trained.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from torchlint.runtime.probe import on_import, private
from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.files.opening import text_of

if TYPE_CHECKING:
    from torchlint.runtime.probe.files.copy_on_write import CopyOnWrite

_LARGEST = 1 << 30
"""Bytes of a database that is copied because it may be written; a larger one is opened to read."""

_CALLS = """
    cv2             imread imreadmulti VideoCapture                 0 filename          read
    cv2             imwrite imwritemulti VideoWriter                0 filename          write
    h5py            File.__init__                                   1 name              mode
    pyarrow         OSFile memory_map                               0 path              mode
    pyarrow.parquet read_table                                      0 source            read
    pyarrow.parquet ParquetFile.__init__                            1 source            read
    pyarrow.parquet ParquetWriter.__init__                          1 where             write
    readline        read_history_file                               0 filename          read
    readline        write_history_file                              0 filename          write
    readline        append_history_file                             1 filename          add
    safetensors     safe_open                                       0 filename          read
    safetensors     serialize_file                                  1 filename          write
    soundfile       SoundFile.__init__                              1 file              mode
    tokenizers      Tokenizer.from_file                             0 path              read
    tokenizers      Tokenizer.save                                  1 path              write
    tokenizers      models.Model.save                               1 folder            folder
    torch           jit.load                                        0 f                 read
    torch           jit.RecursiveScriptModule.save                  1 f                 write
    torch           jit.ScriptModule.save                           1 f                 write
    torch           jit.ScriptFunction.save                         1 filename          write
    torch           autograd.profiler.profile.export_chrome_trace   1 path              write
    torch           profiler.ExecutionTraceObserver.register_callback 1 output_file_path write
"""
"""Module; what is called there; number and name of the argument that is a path; what happens to the
file. `mode`: what the next argument says, as that of `open`; to `add` is to write behind what is
there; `folder`: a path in which files are made."""


def install(view: CopyOnWrite) -> None:
    """Redirect these libraries, each as soon as it is imported."""
    rows: dict[str, list[list[str]]] = {}
    for line in _CALLS.strip().splitlines():
        module, *calls, at, parameter, how = line.split()
        rows.setdefault(module, []).append([*calls, at, parameter, how])
    for module, redirected in rows.items():
        on_import.change(module, _redirect, redirected, view)
    for module, redirect in (("torch", _torch), ("sqlite3", _sqlite), ("lmdb", _lmdb)):
        on_import.change(module, redirect, view)


def to_read(view: CopyOnWrite, path: Any) -> Any:
    """The path of the file that would be read; anything but a path is returned as it is."""
    text = None if isinstance(path, int) else text_of(path)
    if text is None:
        return path
    try:
        place = view.for_reading(text)
    except OSError:
        # The library is to complain in its own way, and not to find what the run has removed.
        return view.upper + os.path.abspath(text)
    return path if place is None else place


def to_write(view: CopyOnWrite, path: Any, *, truncate: bool = True) -> Any:
    """The path where the file may be written; `truncate`: whatever was in it does not matter."""
    text = None if isinstance(path, int) else text_of(path)
    place = None if text is None else view.for_writing(text, create=True, truncate=truncate)
    return path if place is None else place


def by_mode(view: CopyOnWrite, path: Any, mode: Any) -> Any:
    """The path where the file is to be opened; `mode` is that of `open`, or of HDF5."""
    if not isinstance(mode, str) or mode in ("r", "rb"):
        return to_read(view, path)
    text = None if isinstance(path, int) else text_of(path)
    if text is None:
        return path
    place = view.for_writing(
        text,
        create=not mode.startswith("r"),
        truncate=mode in ("w", "wb", "w+"),
        exclusive="x" in mode or mode == "w-",
    )
    return path if place is None else place


def to_fill(view: CopyOnWrite, path: Any) -> Any:
    """The path of a folder in which files may be made."""
    text = text_of(path)
    place = None if text is None else view.for_changing(text)
    return path if place is None else place


def _redirect(module: Any, rows: list[list[str]], view: CopyOnWrite) -> None:
    """Have the functions of a module, those that there are, take another path."""
    for *calls, at, parameter, how in rows:
        for call in calls:
            holder, _, name = call.rpartition(".")
            functions = private.inside(module, holder)
            real = getattr(functions, name, None)
            if real is not None:
                stand_in = _elsewhere(real, _Moved(view, int(at), parameter, how))
                is_static = isinstance(getattr(functions, "__dict__", {}).get(name), staticmethod)
                setattr(functions, name, staticmethod(stand_in) if is_static else stand_in)


class _Moved:
    """Arguments with another path."""

    def __init__(self, view: CopyOnWrite, at: int, parameter: str, how: str) -> None:
        self._view = view
        self._at = at
        self._parameter = parameter
        self._how = how

    def __call__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        at = self._at
        if len(args) > at:
            mode = args[at + 1] if len(args) > at + 1 else kwargs.get("mode", "r")
            return (*args[:at], self._place(args[at], mode), *args[at + 1 :]), kwargs
        if self._parameter in kwargs:
            path, mode = kwargs[self._parameter], kwargs.get("mode", "r")
            return args, {**kwargs, self._parameter: self._place(path, mode)}
        return args, kwargs

    def _place(self, path: Any, mode: Any) -> Any:
        if self._how == "mode":
            return by_mode(self._view, path, mode)
        if self._how == "folder":
            return to_fill(self._view, path)
        if self._how == "read":
            return to_read(self._view, path)
        return to_write(self._view, path, truncate=self._how == "write")


def _elsewhere(real: Any, moved: _Moved) -> Any:
    """A function that gives other arguments to another one, or to a class in C; some of those
    cannot have subclasses."""

    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = moved(args, kwargs)
        return real(*args, **kwargs)

    return call


def _torch(torch: Any, view: CopyOnWrite) -> None:
    private.wrap_archives(functools.partial(to_read, view), functools.partial(to_write, view))
    private.wrap_file_store(lambda path: to_write(view, path, truncate=False))
    for holder in (torch, torch.UntypedStorage):
        real = holder.from_file

        @functools.wraps(real)
        def from_file(
            filename: Any, shared: Any = False, *args: Any, _real: Any = real, **kwargs: Any
        ) -> Any:
            place = to_write(view, filename, truncate=False) if shared else to_read(view, filename)
            return _real(place, shared, *args, **kwargs)

        holder.from_file = staticmethod(from_file) if isinstance(holder, type) else from_file


def _lmdb(lmdb: Any, view: CopyOnWrite) -> None:
    """Whoever reads a database without its locks may do so where nothing can be written."""
    real = lmdb.open

    @functools.wraps(real)
    def open_environment(path: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("readonly") and view.locate(os.fsdecode(path)).covered:
            kwargs["lock"] = False
        return real(path, *args, **kwargs)

    lmdb.open = open_environment


def _sqlite(sqlite3: Any, view: CopyOnWrite) -> None:
    real = sqlite3.connect

    @functools.wraps(real)
    def connect(database: Any, *args: Any, **kwargs: Any) -> Any:
        by_address = bool(kwargs.get("uri") or (len(args) > 6 and args[6]))
        found, by_address = _database(view, database, by_address)
        if by_address and len(args) < 7:
            kwargs["uri"] = True
        return real(found, *args, **kwargs)

    sqlite3.connect = sqlite3.dbapi2.connect = connect


def _database(view: CopyOnWrite, database: Any, by_address: bool) -> tuple[Any, bool]:
    """What to connect to, and whether that is an address (https://sqlite.org/uri.html)."""
    text = text_of(database)
    if text is None or isinstance(database, int):
        return database, by_address
    query = ""
    if by_address and text.startswith("file:"):
        text, _, query = text.removeprefix("file:").partition("#")[0].partition("?")
        text = unquote(text).removeprefix("//localhost")
        text = text[2:] if text.startswith("//") else text
    if not text or text.startswith(":") or "mode=memory" in query:
        return database, by_address
    place = to_read(view, text)
    found = system.status(place)
    if found is not None and found.st_size > _LARGEST:
        query = query or "mode=ro"
    elif "mode=ro" not in query and "immutable=1" not in query:
        # The log of what is not in the database yet belongs to it.
        for more in ("-wal", "-journal"):
            if system.status(to_read(view, text + more)) is not None:
                to_write(view, text + more, truncate=False)
        place = to_write(view, text, truncate=False)
    return (f"file:{quote(os.fsencode(place))}?{query}", True) if query else (place, False)
