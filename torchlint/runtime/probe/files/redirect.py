"""Redirects what Python writes to the territory, and lets it be read back.

The functions of `os`, `io` and `builtins` that take a path are replaced, so everything in Python
that writes files is: `pathlib`, `shutil`, `tempfile`, `zipfile`, `logging`, NumPy, pandas,
matplotlib, PIL; and Unix sockets. `native_files` adds libraries that open files in C.

Not redirected: other programs, unless they are Python's (`inherit`); extensions that `native_files`
does not know, such as `dbm`; `import` of modules that the script has just written; `posix` used by
itself. The kernel refuses their writes if it can (`sandbox/fence.py`); the journal lists those that
Python can see.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import socket
import stat
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.files.listing import Listing, entries
from torchlint.runtime.probe.files.opening import at, file_io, opening, opening_descriptors, text_of
from torchlint.runtime.probe.files.stand_in import StandIn, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torchlint.runtime.probe.files.copy_on_write import CopyOnWrite
    from torchlint.runtime.probe.files.listing import FolderEntry

    Wrap = Callable[[CopyOnWrite, Callable[..., Any]], Callable[..., Any]]


def install(view: CopyOnWrite, others: Iterable[tuple[object, object]] = ()) -> None:
    """Replace the functions of this process, in what is imported and in what will be.

    Args:
        others: what else is replaced on the way, as for `put`.
    """
    pairs: list[tuple[object, object]] = [
        (getattr(os, name), StandIn(getattr(os, name), "os", wrap(view, getattr(os, name))))
        for wrap, names in _WRAPS.items()
        for name in names.split()
        if hasattr(os, name)
    ]
    pairs.append((builtins.open, StandIn(builtins.open, "io", opening(view, builtins.open))))
    pairs.append((io.FileIO, file_io(view, io.FileIO)))
    put([*pairs, *others])
    for name, where in (
        ("bind", view.for_creating),
        ("connect", view.for_reading),
        ("connect_ex", view.for_reading),
    ):
        setattr(socket.socket, name, _meeting(view, getattr(socket.socket, name), where))
    private.wrap_preparation(_in_a_real_folder)


def _looking(view: CopyOnWrite, real: Callable[..., Any], *, follow: bool = True) -> Any:
    def look(path: Any, *args: Any, **kwargs: Any) -> Any:
        if view.begun and not isinstance(path, int):
            text = text_of(path, kwargs.get("dir_fd"))
            if text is not None:
                to_end = follow and kwargs.get("follow_symlinks", True)
                place = view.for_reading(text, follow=to_end)
                if place is not None:
                    return at(place, real, path, *args, **kwargs)
        return real(path, *args, **kwargs)

    return look


def _asking(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    look = _looking(view, real)

    def ask(path: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return look(path, *args, **kwargs)
        except OSError:
            return False

    return ask


def _entering(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    def enter(path: Any) -> None:
        text = None if isinstance(path, int) else text_of(path)
        place = None if text is None else view.folder_to_enter(text)
        at(place, real, path)

    return enter


def _naming_the_folder(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    def name() -> Any:
        here = real()
        above: Any = os.fsencode(view.above) if isinstance(here, bytes) else view.above
        return here[len(above) - 1 :] if here.startswith(above) else here

    return name


def _listing(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    def names(path: Any = None) -> Any:
        found = _entries(view, path)
        if found is None:
            return real(path)
        return [entry.name for entry in found]

    return names


def _scanning(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    def scan(path: Any = None) -> Any:
        found = _entries(view, path)
        return real(path) if found is None else Listing(found)

    return scan


def _entries(view: CopyOnWrite, path: Any) -> Iterator[FolderEntry] | None:
    """What a folder shows; None: what the path says."""
    text = text_of("." if path is None else path)
    try:
        layers = None if text is None else view.layers(text)
        if layers is None:
            return None
        start = "" if isinstance(path, int) else "." if path is None else os.fspath(path)
        return entries(view, layers, start)
    except OSError as error:
        error.filename = path if isinstance(path, int) else os.fspath(path or ".")
        raise


def _changing(view: CopyOnWrite, real: Callable[..., Any], *, follow: bool = True) -> Any:
    def change(path: Any, *args: Any, **kwargs: Any) -> Any:
        place = None
        text = None if isinstance(path, int) else text_of(path, kwargs.get("dir_fd"))
        if text is not None:
            to_end = follow and kwargs.get("follow_symlinks", True)
            place = view.for_changing(text, follow=to_end)
        return at(place, real, path, *args, **kwargs)

    return change


def _creating(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    def create(path: Any, *args: Any, **kwargs: Any) -> Any:
        text = text_of(path, kwargs.get("dir_fd"))
        place = None if text is None else view.for_creating(text)
        return at(place, real, path, *args, **kwargs)

    return create


def _linking_softly(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    def symlink(
        src: Any, dst: Any, target_is_directory: bool = False, *, dir_fd: int | None = None
    ) -> None:
        with _naming_both(src, dst):
            text = text_of(dst, dir_fd)
            place = None if text is None else view.for_creating(text)
            if place is None:
                real(src, dst, target_is_directory, dir_fd=dir_fd)
            else:
                real(src, os.fsencode(place) if isinstance(dst, bytes) else place)
                view.changed()

    return symlink


@contextmanager
def _naming_both(src: Any, dst: Any) -> Iterator[None]:
    """An error names both paths, as they were given."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = os.fspath(src), os.fspath(dst)
        raise


def _removing(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    remove = view.rmdir if real.__name__ == "rmdir" else view.unlink

    def call(path: Any, *, dir_fd: int | None = None) -> None:
        text = text_of(path, dir_fd)
        spot = None if text is None else view.locate(text, follow=False)
        if spot is not None and spot.covered:
            remove(spot, os.fspath(path))
        elif spot is None or spot.straight:
            real(path, dir_fd=dir_fd)
        else:
            at(spot.path, real, path)

    return call


def _moving(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    move = view.link if real.__name__ == "link" else view.rename

    def call(
        src: Any,
        dst: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        **kwargs: Any,
    ) -> None:
        paths = text_of(src, src_dir_fd), text_of(dst, dst_dir_fd)
        if paths[0] is None or paths[1] is None:
            real(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **kwargs)
            return
        with _naming_both(src, dst):
            source = view.locate(paths[0], follow=False)
            # A folder may be moved to a name with a slash that is not there yet.
            moves_folder = source.found is not None and stat.S_ISDIR(source.found.st_mode)
            new = (paths[1].rstrip("/") or "/") if moves_folder else paths[1]
            target = view.locate(new, follow=False)
            if source.covered or target.covered:
                move(source, target)
                return
        try:
            if source.straight and target.straight:
                real(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **kwargs)
            else:
                real(source.path, target.path, **kwargs)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with _naming_both(src, dst):
                if not view.move_layered(source, target):
                    raise

    return call


def _meeting(
    view: CopyOnWrite, real: Callable[..., Any], where: Callable[[str], str | None]
) -> Any:
    """Sockets in folders that the run has made, as multiprocessing has them."""

    def meet(self: socket.socket, address: Any) -> Any:
        by_path = self.family == getattr(socket, "AF_UNIX", None)
        text = text_of(address) if by_path and address and address[0] not in (0, "\0") else None
        if text is not None:
            try:
                place = where(text)
                address = address if place is None else view.short(place)
            except FileExistsError as error:
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE)) from error
            except OSError:
                address = view.above  # what the run has removed is not to be found either
        return real(self, address)

    return meet


def _in_a_real_folder(prepare: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    """A fresh interpreter enters its folder before the view is there."""

    def prepare_in_it(name: str) -> dict[str, Any]:
        data = prepare(name)
        if "dir" in data:
            data["dir"] = system.getcwd()
        return data

    return prepare_in_it


_WRAPS: dict[Wrap, str] = {
    _looking: "stat statvfs pathconf getxattr listxattr",
    partial(_looking, follow=False): "lstat readlink",
    _asking: "access",
    _entering: "chdir",
    _naming_the_folder: "getcwd getcwdb",
    _listing: "listdir",
    _scanning: "scandir",
    _changing: "chmod chown utime truncate setxattr removexattr chflags",
    partial(_changing, follow=False): "lchown lchmod lchflags",
    _creating: "mkdir mkfifo mknod",
    _linking_softly: "symlink",
    _removing: "unlink remove rmdir",
    _moving: "rename replace link",
    opening_descriptors: "open",
}
