"""Lets files of the territory be written, removed and moved, and touches none of them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.files.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.files.territory import Territory
    from torchlint.runtime.probe.files.view import Spot

_LONGEST_ADDRESS = 100
"""Bytes of the path of a Unix socket; 107 on Linux, 103 on macOS."""


class CopyOnWrite(View):
    """Provides paths for what is written, and records what is removed.

    Methods raise what the system would, with the path as it was given.
    """

    def __init__(self, scratch: str, territory: Territory) -> None:
        super().__init__(scratch, territory)
        self._drafts = os.path.join(os.path.realpath(scratch), "drafts")

    def for_writing(
        self,
        path: str,
        *,
        create: bool,
        truncate: bool,
        exclusive: bool = False,
        follow: bool = True,
    ) -> str | None:
        """Where to write a file, copied there first unless it is truncated.

        None: where the path says. The flags are those of `open(2)`.
        """
        spot = self.locate(path, follow=follow and not (create and exclusive))
        if not spot.covered:
            return None if spot.straight else spot.path
        place = self.place(spot.path)
        if place is None:
            if not create:
                raise system.error(errno.ENOENT, path)
            return self.room(spot, path)
        if create and exclusive:
            raise system.error(errno.EEXIST, path)
        if place != spot.path or not stat.S_ISREG(system.lstat(place).st_mode):
            # Folders, pipes and devices take no copy.
            return place
        if not system.access(place, os.W_OK):
            raise system.error(errno.EACCES, path)
        return self.copy_up(spot, empty=truncate)

    def for_changing(self, path: str, *, follow: bool = True) -> str | None:
        """Where to change what there is: permissions, times, length. None: where the path says."""
        spot = self.locate(path, follow=follow)
        if not spot.covered:
            return None if spot.straight else spot.path
        place = self.place(spot.path)
        if place is None:
            raise system.error(errno.ENOENT, path)
        return self.copy_up(spot) if place == spot.path else place

    def for_creating(self, path: str) -> str | None:
        """Where to make a folder, a link or a pipe; None: where the path says.

        The name of a new folder may end with a slash.
        """
        try:
            spot = self.locate(path.rstrip("/") or path, follow=False)
        except OSError as error:
            error.filename = path
            raise
        if not spot.covered:
            return None if spot.straight else spot.path
        if self.place(spot.path) is not None:
            raise system.error(errno.EEXIST, path)
        return self.room(spot, path)

    def room(self, spot: Spot, path: str) -> str:
        """The upper path for something new, with its folder made."""
        folder = os.path.dirname(spot.path)
        place = self.place(folder)
        if place is None:
            raise system.error(errno.ENOENT, path)
        if not system.is_folder(place):
            raise system.error(errno.ENOTDIR, path)
        if not system.access(place, os.W_OK | os.X_OK):
            raise system.error(errno.EACCES, path)
        self._folder_above(folder)
        return self.upper + spot.path

    def short(self, place: str) -> str:
        """The same place by a path that fits into the address of a socket, if it is above."""
        if len(os.fsencode(place)) <= _LONGEST_ADDRESS or not place.startswith(self.above):
            return place
        folder, name = os.path.split(place)
        alias = os.path.join(os.path.dirname(self.upper), f"s{system.lstat(folder).st_ino}")
        with suppress(FileExistsError):
            system.symlink(folder, alias)
        return os.path.join(alias, name)

    def copy_up(self, spot: Spot, *, empty: bool = False) -> str:
        """The upper path, with a copy there of what is below."""
        above = self.upper + spot.path
        if system.is_folder(spot.path):
            self._folder_above(spot.path)
        elif system.status(above) is None:
            self._folder_above(os.path.dirname(spot.path))
            # Another thread or process may have made one, and have written to it.
            self._copy(spot.path, above, empty=empty, over=False)
        return above

    def hide(self, real: str) -> None:
        """Leave a mark that the real file is removed, if there is one."""
        if system.status(real) is not None and not self.is_removed(real):
            system.make_folders(self.upper)
            system.make_folders(self.removed)
            for path in (real, f"{os.path.dirname(real).rstrip('/')}/"):
                with system.open_file(self.mark(path), "wb") as stream:
                    stream.write(os.fsencode(path))
            self.changed()

    def changed(self) -> None:
        """Let all processes know that links or folders have changed."""
        self._stamp.renew()

    def unlink(self, spot: Spot, path: str) -> None:
        """Remove a file or a link."""
        place = self._demand(spot, path)
        if system.is_folder(place):
            raise system.error(errno.EISDIR, path)
        self._drop(spot, system.unlink)

    def rmdir(self, spot: Spot, path: str) -> None:
        """Remove an empty folder."""
        if not system.is_folder(self._demand(spot, path)):
            raise system.error(errno.ENOTDIR, path)
        if self.names(spot.path):
            raise system.error(errno.ENOTEMPTY, path)
        self._drop(spot, system.rmdir)

    def rename(self, source: Spot, target: Spot) -> None:
        """Move a file or a folder; one of the two, at least, is covered."""
        self._demand(source, source.path)
        if source.path == target.path:
            return
        self._check(source, target)
        if target.covered:
            self.room(target, target.path)
        self._move(source, target)
        self.changed()

    def link(self, source: Spot, target: Spot) -> None:
        """Give a file a second name; one of the two, at least, is covered."""
        self._demand(source, source.path)
        if self._place_of(target) is not None:
            raise system.error(errno.EEXIST, target.path)
        goal = self.room(target, target.path) if target.covered else target.path
        # What is written under either name is then seen under both.
        place = self.copy_up(source) if source.covered else source.path
        system.link(place, goal)

    def move_layered(self, source: Spot, target: Spot) -> bool:
        """Move a folder that overlayfs will not; False if it is not one of these.

        It only moves those that are new (`redirect_dir` in the kernel's documentation).
        """
        layered = map(self._territory.is_layered, (source.path, target.path))
        if not all(layered) or not system.is_folder(source.path):
            return False
        self._check(source, target)
        self._move(source, target)
        self.changed()
        return True

    def _check(self, source: Spot, target: Spot) -> None:
        """Whether one may take the place of the other."""
        place, there = self._demand(source, source.path), self._place_of(target)
        if (source.path + "/").startswith(target.path + "/"):
            raise system.error(errno.ENOTEMPTY, target.path)
        if not system.is_folder(place):
            if there is not None and system.is_folder(there):
                raise system.error(errno.EISDIR, target.path)
        elif (target.path + "/").startswith(source.path + "/"):
            raise system.error(errno.EINVAL, source.path)
        elif there is not None and not system.is_folder(there):
            raise system.error(errno.ENOTDIR, target.path)
        elif there is not None and self.names(target.path):
            raise system.error(errno.ENOTEMPTY, target.path)

    def _move(self, source: Spot, target: Spot) -> None:
        """Move what is there to where nothing is in the way and the folder is made."""
        place = self._demand(source, source.path)
        goal = self.upper + target.path if target.covered else target.path
        real = source.covered and place == source.path
        if not system.is_folder(place):
            if real:
                self._copy(place, goal)
                self.hide(source.path)
            else:
                self._drop(source, lambda path: self._replace(path, goal))
        elif real or self._is_held_below(source) or not _same_disk(place, goal):
            system.make_folders(goal)
            system.chmod(goal, stat.S_IMODE(system.lstat(place).st_mode) | stat.S_IRWXU)
            for name in self.names(source.path):
                self._move(_inside(source, name), _inside(target, name))
            self._drop(source, system.rmdir)
        else:
            self._drop(source, lambda path: system.rename(path, goal))

    def _drop(self, spot: Spot, remove: Callable[[str], None]) -> None:
        """Hide what is below before what is above goes: no process sees the old file in between."""
        if not spot.covered:
            remove(spot.path)
            return
        self.hide(spot.path)
        if system.status(self.upper + spot.path) is not None:
            remove(self.upper + spot.path)
        self.changed()

    def _demand(self, spot: Spot, path: str) -> str:
        place = self._place_of(spot)
        if place is None:
            raise system.error(errno.ENOENT, path)
        return place

    def _place_of(self, spot: Spot) -> str | None:
        if spot.covered:
            return self.place(spot.path)
        return None if system.status(spot.path) is None else spot.path

    def _is_held_below(self, spot: Spot) -> bool:
        """Whether what is below keeps a folder from being moved as it is."""
        if self._territory.is_layered(spot.path):
            return True
        return spot.covered and not self.is_removed(spot.path) and _exists(spot.path)

    def _replace(self, path: str, goal: str) -> None:
        """Move a file over another one, onto another disk too."""
        if _same_disk(path, goal):
            system.replace(path, goal)
        else:
            self._copy(path, goal)
            system.unlink(path)

    def _copy(self, source: str, goal: str, *, empty: bool = False, over: bool = True) -> None:
        """Copy a file or a link, with its permissions and times; no process sees half of it.

        Args:
            over: replace what is there by now; otherwise that stays.
        """
        draft = f"{goal}.{os.getpid()}-{threading.get_ident()}.part"
        if goal.startswith(self.above):
            system.make_folders(self._drafts)
            draft = os.path.join(self._drafts, os.path.basename(draft)[-60:])
        status = system.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            system.symlink(system.readlink(source), draft)
        else:
            with system.open_file(draft, "wb") as sink:
                if not empty:
                    with system.open_file(source, "rb") as stream:
                        shutil.copyfileobj(stream, sink, 1 << 20)
            system.chmod(draft, stat.S_IMODE(status.st_mode))
            system.utime(draft, ns=(status.st_atime_ns, status.st_mtime_ns))
        if over:
            system.replace(draft, goal)
        else:
            with suppress(FileExistsError):
                system.link(draft, goal, follow_symlinks=False)
            system.unlink(draft)

    def _folder_above(self, real: str) -> None:
        above = self.upper + real
        if system.status(above) is not None:
            return
        if real == "/":
            system.make_folders(self.upper)
            self.changed()
            return
        self._folder_above(os.path.dirname(real))
        system.make_folders(above)
        below = None if self.is_removed(real) else system.status(real)
        if below is not None:
            system.chmod(above, stat.S_IMODE(below.st_mode) | stat.S_IRWXU)
            system.utime(above, ns=(below.st_atime_ns, below.st_mtime_ns))
        self.changed()


def _inside(spot: Spot, name: str) -> Spot:
    path = f"{spot.path}/{name}"
    return spot._replace(path=path, place=path, found=None)


def _exists(path: str) -> bool:
    return system.status(path) is not None


def _same_disk(path: str, goal: str) -> bool:
    return system.lstat(path).st_dev == system.lstat(os.path.dirname(goal)).st_dev
