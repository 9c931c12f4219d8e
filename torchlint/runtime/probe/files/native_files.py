"""Redirects libraries that open files in C, by the path that they are given.

PyTorch, safetensors, tokenizers, sqlite3, HDF5 and OpenCV. Everything else in C is not caught:
LMDB, `dbm`, Arrow and Parquet, TensorFlow, decoders of audio and video.
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
    from collections.abc import Callable

    from torchlint.runtime.probe.files.copy_on_write import CopyOnWrite

_LARGEST = 1 << 30
"""Bytes of a database that is copied because it may be written; a larger one is opened to read."""


def install(view: CopyOnWrite) -> None:
    """Redirect these libraries, each as soon as it is imported."""
    for name, redirect in (
        ("torch", _torch),
        ("safetensors", _safetensors),
        ("tokenizers", _tokenizers),
        ("sqlite3", _sqlite),
        ("h5py", _hdf),
        ("cv2", _opencv),
    ):
        on_import.change(name, redirect, view)


def to_read(view: CopyOnWrite, path: Any) -> Any:
    """The path where the file lies that would be read; anything but a path as it is."""
    text = None if isinstance(path, int) else text_of(path)
    if text is None:
        return path
    try:
        place = view.for_reading(text)
    except OSError:
        # The library is to complain in its own way, and not to find what the run has removed.
        return view.upper + os.path.abspath(text)
    return path if place is None else place


def to_write(view: CopyOnWrite, path: Any, *, anew: bool = True) -> Any:
    """The path where the file may be written; `anew`: whatever was in it does not matter."""
    text = None if isinstance(path, int) else text_of(path)
    place = None if text is None else view.for_writing(text, create=True, truncate=anew)
    return path if place is None else place


def _wrap(
    holder: Any,
    names: str,
    at: int,
    parameter: str,
    place: Callable[[CopyOnWrite, Any], Any],
    view: CopyOnWrite,
) -> None:
    """Have functions take another path, their argument number `at` or the one of that name."""
    for name in names.split():
        real = getattr(holder, name, None)
        if real is not None:
            setattr(holder, name, _elsewhere(real, at, parameter, place, view))


def _elsewhere(
    real: Any, at: int, parameter: str, place: Callable[[CopyOnWrite, Any], Any], view: CopyOnWrite
) -> Any:
    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > at:
            args = (*args[:at], place(view, args[at]), *args[at + 1 :])
        elif parameter in kwargs:
            kwargs[parameter] = place(view, kwargs[parameter])
        return real(*args, **kwargs)

    return call


def _torch(torch: Any, view: CopyOnWrite) -> None:
    private.wrap_archives(functools.partial(to_read, view), functools.partial(to_write, view))
    private.wrap_file_store(lambda path: to_write(view, path, anew=False))
    _wrap(torch.jit, "load", 0, "f", to_read, view)
    _wrap(getattr(torch.jit, "RecursiveScriptModule", None), "save", 1, "f", to_write, view)
    for holder in (torch, torch.UntypedStorage):
        real = holder.from_file

        @functools.wraps(real)
        def from_file(
            filename: Any, shared: Any = False, *args: Any, _real: Any = real, **kwargs: Any
        ) -> Any:
            place = to_write(view, filename, anew=False) if shared else to_read(view, filename)
            return _real(place, shared, *args, **kwargs)

        holder.from_file = staticmethod(from_file) if isinstance(holder, type) else from_file


def _safetensors(safetensors: Any, view: CopyOnWrite) -> None:
    # `safetensors.torch` and its siblings take these from here, when they are imported.
    _wrap(safetensors, "serialize_file", 1, "filename", to_write, view)
    _wrap(safetensors, "safe_open", 0, "filename", to_read, view)


def _tokenizers(tokenizers: Any, view: CopyOnWrite) -> None:
    def folder(view: CopyOnWrite, path: Any) -> Any:
        text = text_of(path)
        place = None if text is None else view.for_changing(text)
        return path if place is None else place

    kind = tokenizers.Tokenizer
    _wrap(kind, "save", 1, "path", to_write, view)
    kind.from_file = staticmethod(_elsewhere(kind.from_file, 0, "path", to_read, view))
    _wrap(tokenizers.models.Model, "save", 1, "folder", folder, view)


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
                to_write(view, text + more, anew=False)
        place = to_write(view, text, anew=False)
    return (f"file:{quote(os.fsencode(place))}?{query}", True) if query else (place, False)


def _hdf(h5py: Any, view: CopyOnWrite) -> None:
    real = h5py.File.__init__

    @functools.wraps(real)
    def init(self: Any, name: Any, mode: str = "r", *args: Any, **kwargs: Any) -> None:
        if isinstance(name, (str, bytes, os.PathLike)):
            text = text_of(name) or ""
            if mode == "r":
                name = to_read(view, name)
            else:
                place = view.for_writing(
                    text,
                    create=mode != "r+",
                    truncate=mode == "w",
                    exclusive=mode in ("x", "w-"),
                )
                name = name if place is None else place
        real(self, name, mode, *args, **kwargs)

    h5py.File.__init__ = init


def _opencv(cv2: Any, view: CopyOnWrite) -> None:
    _wrap(cv2, "imread imreadmulti", 0, "filename", to_read, view)
    _wrap(cv2, "imwrite imwritemulti", 0, "filename", to_write, view)
