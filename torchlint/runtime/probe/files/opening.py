"""Opens files where a view has them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.files import system

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

    from torchlint.runtime.probe.files.copy_on_write import CopyOnWrite

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NAMELESS = getattr(os, "O_TMPFILE", 0)


def text_of(path: Any, descriptor: int | None = None) -> str | None:
    """A path as text; None if it is not one that a view could know.

    Args:
        descriptor: of the folder that the path starts from, if it is not absolute.
    """
    if isinstance(path, int):
        return system.path_of(path)
    try:
        text = os.fsdecode(path)
    except TypeError:
        return None
    if descriptor is not None and not text.startswith("/"):
        folder = system.path_of(descriptor)
        return None if folder is None or not text else f"{folder}/{text}"
    return text or None


def at(place: str | None, real: Callable[..., Any], given: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the real function with another path, and with the given one where that is None; an
    error names the given one."""
    if place is None:
        return real(given, *args, **kwargs)
    for name in ("dir_fd", "src_dir_fd", "dst_dir_fd"):
        kwargs.pop(name, None)
    path = os.fsencode(place) if isinstance(given, bytes) else place
    try:
        return real(path, *args, **kwargs)
    except OSError as error:
        if error.filename == path:
            error.filename = os.fspath(given)
        raise


def place_to_open(view: CopyOnWrite, file: Any, mode: Any) -> str | None:
    """Where to open a file; None: where the path says. `mode` is that of `open`."""
    if isinstance(file, int) or not isinstance(mode, str):
        return None
    writes = not {"w", "a", "x", "+"}.isdisjoint(mode)
    if not writes and not view.begun:
        return None
    text = text_of(file)
    if text is None:
        return None
    if not writes:
        return view.for_reading(text)
    return view.for_writing(
        text, create="r" not in mode, truncate="w" in mode, exclusive="x" in mode
    )


def opening(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    """As `open` of `builtins` and `io`."""

    def open_file(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        # A caller with an opener of its own calls `os.open` there.
        own = kwargs.get("opener") or len(args) > 5
        place = None if own else place_to_open(view, file, mode)
        return at(place, real, file, mode, *args, **kwargs)

    return open_file


def opening_descriptors(view: CopyOnWrite, real: Callable[..., Any]) -> Any:
    """As `os.open`."""

    def open_descriptor(
        path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> Any:
        text = text_of(path, dir_fd)
        follow = not flags & os.O_NOFOLLOW
        if text is None:
            place = None
        elif _NAMELESS and flags & _NAMELESS == _NAMELESS:
            place = view.for_changing(text)
        elif flags & _WRITES:
            place = view.for_writing(
                text,
                create=bool(flags & os.O_CREAT),
                truncate=bool(flags & os.O_TRUNC),
                exclusive=bool(flags & os.O_EXCL),
                follow=follow,
            )
        else:
            place = view.for_reading(text, follow=follow)
        return at(place, real, path, flags, mode, dir_fd=dir_fd)

    return open_descriptor


def file_io(view: CopyOnWrite, real: type[io.FileIO]) -> type[io.FileIO]:
    """As `io.FileIO`; what the real one has opened counts as its instance."""

    class Kind(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, real) if cls is FileIO else super().__instancecheck__(value)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, real) if cls is FileIO else super().__subclasscheck__(kind)

    class FileIO(real, metaclass=Kind):  # type: ignore[valid-type,misc]
        def __init__(
            self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None
        ) -> None:
            place = None if opener else place_to_open(view, file, mode)
            at(place, super().__init__, file, mode, closefd, opener)

    FileIO.__module__, FileIO.__qualname__ = real.__module__, real.__qualname__
    return FileIO
