"""The files of one folder as one project: those on disk, and over them what the editor holds."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from torchlint.engine.large_trees import results_of, reused_findings
from torchlint.engine.map_project import Mapper
from torchlint.finding import Results
from torchlint.project.map_result import Depth
from torchlint.server.buffers import Outcome
from torchlint.server.files import Files
from torchlint.server.text_positions import moved_along
from torchlint.silence.tiers import choose
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlint.engine.targets import Wishes
    from torchlint.finding import Finding
    from torchlint.memory.kept_join import KeptJoin
    from torchlint.project.map_result import MapResult
    from torchlint.project.target import Known
    from torchlint.server.buffers import Buffer
    from torchlint.server.server_store import ServerStore
    from torchlint.silence.tiers import Wanted

QUICK_S: Final = 0.05
"""A join that takes less than this is done after every key; others wait for a pause."""
FEW_BYTES: Final = 60_000
"""What is parsed at once when a file is opened; more is looked at in the background."""
_NOT_READ: Final = frozenset({"syntax", "undecodable", "unreadable", "worker"})


class OpenProject:
    """A folder, or one file outside of all folders. Used by one thread only.

    Args:
        root: the folder, absolute; None for a file by itself.
        store: where it remembers what files said.
        wishes, wanted: what the settings of the editor say.
        say: takes a sentence about what is wrong with the configuration.
    """

    def __init__(
        self,
        root: str | None,
        store: ServerStore,
        wishes: Wishes,
        wanted: Wanted,
        say: Callable[[str], None],
    ) -> None:
        self.root = root
        self.settled = False
        """Whether the findings are those of all files as they are."""
        self._store = store
        self._wanted = wanted
        self.files = Files(root, store, wishes, say)
        self._open: dict[str, tuple[Buffer, Known]] = {}
        """Buffers, as they were when they last could be parsed, by path as findings have it."""
        self._said = Results()
        self._joined: KeptJoin | None = None
        self._shape: object = None
        """Which files were joined, in which order and under which settings."""
        self._join_s: float | None = None
        """What the last join took; None before the first."""
        self._early: dict[str, tuple[Finding, ...]] = {}
        """Findings of edited files that others have not been asked about yet."""

    def refresh(self) -> bool:
        """Looks which files there are on disk, and says whether they or their settings have
        changed."""
        changed = self.files.refresh()
        self.settled = self.settled and not changed
        return changed

    def close(self, uri: str) -> None:
        """The file on disk counts again."""
        for path, (buffer, _) in list(self._open.items()):
            if buffer.uri == uri:
                del self._open[path]
                self._early.pop(path, None)
                self.settled = False
                if self.root is None:
                    self._store.forget(path)

    # what is said about it ---------------------------------------------------------------

    def check_buffer(self, buffer: Buffer) -> list[Outcome]:
        """The findings after an edit, as far as they are known at once, that of this buffer first.

        If the project is not `settled` then, `check` knows the rest. A text that cannot be parsed
        keeps the findings that it had, in the lines that are still there.

        Raises:
            Interrupted: by the store.
        """
        known_file = self.files.known(buffer)
        if known_file is None:
            self.close(buffer.uri)
            return [Outcome(buffer, ())]
        path = known_file.target.path
        result = (
            self._mapper([known_file]).map([known_file], Depth.RULES)[path]
            if known_file.relevant
            else None
        )
        if result is not None and any(each.kind in _NOT_READ for each in result.diagnostics):
            return [self._half_typed(buffer, path)]
        self._open[path] = (buffer, known_file)
        self.settled = False
        if not self._join_again():
            if not self._is_quick():
                self._early[path] = self._by_itself(path, result)
                return [self._outcome(path)]
            self._join()
        others = (other for other in self._open if other != path)
        return [self._outcome(each) for each in (path, *others)]

    def check(self, progress: Callable[[int, int], None] | None = None) -> list[Outcome]:
        """The findings of all buffers, with all files asked.

        Args:
            progress: called with the number of files that were looked at, and of all.

        Raises:
            Interrupted: by the store.
        """
        if not self._join_again():
            self._join(progress)
        return [self._outcome(path) for path in self._open]

    def _half_typed(self, buffer: Buffer, path: str) -> Outcome:
        last = self._open.get(path)
        if last is None:
            return Outcome(buffer, ())
        shown = self._outcome(path).findings
        return Outcome(buffer, moved_along(shown, last[0].text, buffer.text))

    def _by_itself(self, path: str, result: MapResult | None) -> tuple[Finding, ...]:
        """What a file says without the others; what waits for them is as it was before."""
        if result is None:
            return ()
        before = {(each.code, each.scope, each.fingerprint): each for each in self._of(path)}
        findings = list(result.findings)
        for waiting in result.waiting:
            now = waiting.finding
            held = before.get((now.code, now.scope, now.fingerprint))
            if held is not None:
                fix = now.fix if held.fix else None
                findings.append(
                    held._replace(start=now.start, end=now.end, fix=fix, until=now.until)
                )
        return tuple(findings)

    def _outcome(self, path: str) -> Outcome:
        buffer, known = self._open[path]
        shown = choose(self._of(path), [known.target], self._wanted).findings
        return Outcome(buffer, tuple(sorted(shown, key=lambda each: each.sort_key)))

    def _of(self, path: str) -> tuple[Finding, ...]:
        early = self._early.get(path)
        if early is not None:
            return early
        return tuple(each for each in self._said[0] if each.path == path)

    # the join ----------------------------------------------------------------------------

    def _all(self) -> list[Known]:
        """All files, each as the editor has it if it does."""
        over = {path: known for path, (_, known) in self._open.items()}
        files = [over.pop(each.target.path, each) for each in self.files.on_disk()]
        return files + [over[path] for path in sorted(over)]

    def _mapper(self, files: Sequence[Known]) -> Mapper:
        return Mapper(files, pool=Pool(), progress=None, store=self._store)

    def _join_again(self) -> bool:
        """Whether the last join is still valid, since no file changed for the others."""
        files = self._all()
        if self._joined is None or self._shape != _shape(files):
            return False
        again = reused_findings(self._mapper(files), self._said, self._joined)
        if again is None:
            return False
        self._said, self._joined = again
        self._now_settled()
        return True

    def _is_quick(self) -> bool:
        """Whether everything can be joined after every key without a delay."""
        if self._join_s is not None:
            return self._join_s < QUICK_S
        return sum(known.size for known in self._all() if known.relevant) < FEW_BYTES

    def _join(self, progress: Callable[[int, int], None] | None = None) -> None:
        files = self._all()
        mapper = self._mapper(files)
        relevant = [known for known in files if known.relevant]
        for done, known in enumerate(relevant):
            mapper.map([known], Depth.RULES)  # one at a time, so that an edit does not wait long
            if progress is not None and self._join_s is None:
                progress(done + 1, len(relevant))
        begun = time.monotonic()
        self._said, self._joined = (
            results_of(partial(self._mapper, files)) if relevant else (Results(), None)
        )
        self._join_s = time.monotonic() - begun
        self._shape = _shape(files)
        self._store.note_answers(files)
        self._store.save()
        self._now_settled()

    def _now_settled(self) -> None:
        self._early.clear()
        self.settled = True


def _shape(files: Iterable[Known]) -> object:
    return [(each.target.path, each.target.selection, each.target.torch) for each in files]
