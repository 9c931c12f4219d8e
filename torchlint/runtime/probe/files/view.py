"""A view of the file system in which protected files can be overwritten.

What is written to a path of the territory goes to `redirected` below the run's scratch folder,
under the same path; what is removed leaves a mark in `removed`. Whoever looks finds the upper file
if there is one, nothing if there is a mark, and else the real file. All of it is on disk and none
in memory, so that forked and spawned processes see one another's files; what a process remembers,
it forgets when another one says by a stamp that it has changed something.

Marks stay for good: an upper file comes before them. Paths in here are absolute; a *real* path has
no link in its folders, as this view has them.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.files.stamp import NEVER, Stamp

if TYPE_CHECKING:
    from torchlint.runtime.probe.files.territory import Territory

REDIRECTED = "redirected"
REMOVED = "removed"

_MOST_LINKS = 40
_MOST_FOLDERS = 10_000


class Spot(NamedTuple):
    """A path as this view has it.

    Args:
        path: the real path.
        covered: it must stay as it is.
        straight: the system itself finds the same real path from what was given.
        place: where the file lay when it was looked for; what is missing counts as a real one.
        found: what it was; None: nothing.
    """

    path: str
    covered: bool
    straight: bool
    place: str
    found: os.stat_result | None


class View:
    """Finds out where files are.

    Methods raise what the system would, with the path as it was given.
    """

    def __init__(self, scratch: str, territory: Territory) -> None:
        self.upper = os.path.join(os.path.realpath(scratch), REDIRECTED)
        self.removed = os.path.join(os.path.realpath(scratch), REMOVED)
        self.above = self.upper + "/"
        self._territory = territory
        self._stamp = Stamp(os.path.join(os.path.realpath(scratch), "stamp"))
        self._stamped = NEVER
        self._folders: dict[str, tuple[str, bool]] = {}
        self._news: dict[str, tuple[bool, bool]] = {}

    @property
    def begun(self) -> bool:
        """Whether any process of the run has written; until then every file is the real one."""
        return self._stamp.read() != NEVER

    def locate(self, path: str, *, follow: bool = True) -> Spot:
        """The real path of what is asked for; `follow`: a link at its end, too."""
        self._catch_up()
        given, straight = path, True
        if path.startswith(self.above):
            # The name of a file that this view opened.
            path, straight = path[len(self.upper) :], False
        elif not path.startswith("/"):
            here = system.getcwd()
            straight = not f"{here}/".startswith(self.above)
            path = f"{here if straight else here[len(self.upper) :]}/{path}"
        folder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            folder, name = path, ""
        real, same = self._real_folder(folder, given)
        if not name:
            real = real or "/"
            place, entry = self._found(real, given)
        else:
            real = f"{real}/{name}"
            place, entry = self._found(real, given)
            if follow and entry is not None and _is_plain_link(real, entry):
                real, same = self._walk(path, given)
                real = real or "/"
                place, entry = self._found(real, given)
        return Spot(real, self._territory.covers(real), straight and same, place, entry)

    def place(self, real: str) -> str | None:
        """Where the file of a real path is; None: there is none."""
        above = self.upper + real
        if system.status(above) is not None:
            return above
        if self.is_removed(real) or system.status(real) is None:
            return None
        return real

    def is_removed(self, real: str) -> bool:
        """Whether the run has removed the real file; a new one may be above."""
        return self.begun and system.access(self.mark(real), os.F_OK)

    def for_reading(self, path: str, *, follow: bool = True) -> str | None:
        """Where to look; None: where the path says."""
        if not self.begun:
            return None
        spot = self.locate(path, follow=follow)
        if spot.covered:
            if spot.found is None:
                raise system.error(errno.ENOENT, path)
            if spot.place != spot.path:
                return spot.place
        return None if spot.straight else spot.path

    def folder_to_enter(self, path: str) -> str | None:
        """As `for_reading`, and the real folder where there is one below."""
        place = self.for_reading(path)
        if place is not None and place.startswith(self.above):
            real = place[len(self.upper) :]
            if system.is_folder(place) and not self.is_removed(real) and system.is_folder(real):
                return real
        return place

    def layers(self, path: str) -> tuple[str | None, str | None] | None:
        """The folders whose entries a folder shows: upper, real; None: what the path says.

        Entries of the real one that are above too, or that are removed, do not count.
        """
        if not self.begun:
            return None
        spot = self.locate(path)
        if not spot.covered:
            return None if spot.straight else (None, spot.path)
        place = self.place(spot.path)
        if place is None:
            raise system.error(errno.ENOENT, path)
        if not system.is_folder(place):
            raise system.error(errno.ENOTDIR, path)
        if place == spot.path:
            return None, place
        shows = not self.is_removed(spot.path) and system.is_folder(spot.path)
        return place, spot.path if shows else None

    def names(self, real: str) -> set[str]:
        """Names of what is in the folder with a real path."""
        above = self.upper + real
        listed = set(system.listdir(above)) if system.is_folder(above) else set()
        if not self.is_removed(real) and system.is_folder(real):
            listed.update(
                name for name in system.listdir(real) if not self.is_removed(f"{real}/{name}")
            )
        return listed

    def mark(self, real: str) -> str:
        """The file that says that the real file is removed."""
        digest = hashlib.blake2b(os.fsencode(real), digest_size=16).hexdigest()
        return os.path.join(self.removed, digest)

    def _catch_up(self) -> None:
        """Forget what may have changed since, here or in another process."""
        now = self._stamp.read()
        if now != self._stamped:
            self._folders.clear()
            self._news.clear()
            self._stamped = now

    def _news_of(self, folder: str) -> tuple[bool, bool]:
        """Of the folder with a real path: whether it has an upper one, and whether something in it
        is removed."""
        news = self._news.get(folder)
        if news is None:
            new = self.begun and system.access(self.upper + folder, os.F_OK)
            removed = self.begun and system.access(self.mark(f"{folder}/"), os.F_OK)
            news = self._news[folder] = (new, removed)
        return news

    def _real_folder(self, folder: str, given: str) -> tuple[str, bool]:
        real = self._folders.get(folder)
        if real is None:
            real = self._walk(f"{folder}/.", given)
            if len(self._folders) > _MOST_FOLDERS:
                self._folders.clear()
                self._news.clear()
            self._folders[folder] = real
        return real

    def _walk(self, path: str, given: str) -> tuple[str, bool]:
        """The real path, without a slash at its end, and whether all links are real ones.

        What comes before a slash has to be a folder, or a link to one.
        """
        real, straight, links = "", True, 0
        left = path.split("/")[::-1]
        while left:
            name = left.pop()
            if name in ("", "."):
                continue
            if name == "..":
                real = real.rpartition("/")[0]
                continue
            step = f"{real}/{name}"
            place, entry = self._found(step, given)
            if entry is not None and _is_plain_link(step, entry):
                links += 1
                if links > _MOST_LINKS:
                    raise system.error(errno.ELOOP, given)
                straight = straight and place == step
                target = system.readlink(place)
                if target.startswith("/"):
                    real = ""
                left.extend(reversed(target.split("/")))
                continue
            if left and (entry is None or not stat.S_ISDIR(entry.st_mode)):
                raise system.error(errno.ENOENT if entry is None else errno.ENOTDIR, given)
            real = step
        return real, straight

    def _found(self, real: str, given: str) -> tuple[str, os.stat_result | None]:
        """Where something is, and what it is."""
        has_new, has_removed = self._news_of(real.rpartition("/")[0])
        if has_new:
            above = self.upper + real
            found = system.status(above)
            if found is not None:
                return above, found
        if has_removed and self.is_removed(real):
            return real, None
        try:
            return real, system.lstat(real)
        except (FileNotFoundError, NotADirectoryError):
            # What is a folder in this view may be a file below.
            return real, None
        except OSError as error:
            raise system.error(error.errno or errno.EIO, given) from error


def _is_plain_link(path: str, found: os.stat_result) -> bool:
    """Those of the kernel, as `/dev/stdout` leads to one, do not lead where they say."""
    return stat.S_ISLNK(found.st_mode) and not path.startswith("/proc/")
