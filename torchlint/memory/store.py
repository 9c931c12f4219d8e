"""Cached results of files: in memory for the rounds of a fix, on disk for the next run.

On disk there is one blob per folder of the project, with the results of each file and a digest of
its content, and one per list of checked files, with the whole report.
"""

from __future__ import annotations

import os
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Final

from torchlint.files.digests import blake2b
from torchlint.memory.cache import name_of
from torchlint.project.target import CHANGED
from torchlint.ruleapi.rule_names import rule_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torchlint.finding import Results
    from torchlint.memory.cache import Cache
    from torchlint.memory.interning import Shared
    from torchlint.memory.kept_join import KeptJoin
    from torchlint.memory.result_codec import FileEntry, Folder
    from torchlint.project.answers import Answers
    from torchlint.project.map_result import Depth, MapResult
    from torchlint.project.target import Known, Target


_FILES: Final = "files"
_REPORTS: Final = "reports"
_JOINS: Final = "joins"
_RULES: Final = "rules"
_NAMES: Final = name_of(b"names")
_MOST_VARIANTS: Final = 6
_MOST_PENDING: Final = 4 << 20
"""Bytes of new results kept in memory before they are stored."""
_NOT_KEPT: Final = frozenset({"rule", "unreadable", "worker"})
"""Diagnostics that may differ between runs although the file is the same."""


class Store:
    """Stores results.

    Args:
        open_cache: opens the cache on disk when it is first needed, if it can be used; by default
            results are kept in memory only.
    """

    def __init__(self, open_cache: Callable[[], Cache | None] | None = None) -> None:
        self._open_cache = open_cache
        self._results: dict[tuple[object, ...], MapResult] = {}
        """Used without a cache on disk."""
        self._answers: dict[bytes | str, Answers] = {}
        """By the digest of a file, or by its path if it changes during the check."""
        self._variants: dict[tuple[object, ...], bytes] = {}
        self._folder: tuple[str, Folder] = ("", {})
        self._new: dict[str, Folder] = {}
        self._pending = 0
        self._of_what = b""

    def beside(self, what: bytes) -> Store:
        """The same store for other contents of the same files: it keeps their reports apart."""
        other = copy(self)
        other._of_what = what
        return other

    @cached_property
    def _cache(self) -> Cache | None:
        return None if self._open_cache is None else self._open_cache()

    @property
    def is_on_disk(self) -> bool:
        """Whether another run finds what is stored."""
        return self._cache is not None

    @cached_property
    def shared(self) -> Shared:
        """Interns the parts of results, to save memory."""
        from torchlint.memory.interning import Shared

        return Shared()

    # files -------------------------------------------------------------------------------

    def result(self, known: Known, depth: Depth) -> MapResult | None:
        """The result of a file with this content at this depth, if it is cached."""
        if self._cache is None or known.target.data is not None:
            return self._results.get(_key(known, depth))
        return self._stored(known, depth)

    def keep(self, known: Known, depth: Depth, result: MapResult) -> bool:
        """Cache the result of a file, if it may be cached."""
        if self._cache is None or known.target.data is not None:
            self._results[_key(known, depth)] = result
            return True
        if any(each.kind in _NOT_KEPT for each in result.diagnostics):
            return False
        from torchlint.memory.result_codec import encode

        encoded = encode(result)
        if encoded is None:
            return False
        self._pending += len(encoded)
        self._of(known).results[self._variant(known.target, depth)] = encoded
        self._save_if_much()
        return True

    def free(self, files: Iterable[Known]) -> None:
        """Free the memory taken by what is on disk as well, since nobody asks for it soon."""
        if self._cache is None:
            return
        self.note_answers(files)
        for known in files:
            self._answers.pop(known.digest, None)
        self.__dict__.pop("shared", None)

    def answers(self, known: Known) -> Answers:
        """The cached answers about the text of a file; the caller adds to them."""
        key = known.target.path if known.digest == CHANGED else known.digest
        cached = self._answers.get(key)
        if cached is None and self._cache is not None and known.target.data is None:
            self._load(known)
            cached = self._answers.get(key)
        if cached is None:
            from torchlint.project.answers import Answers

            cached = self._answers[key] = Answers()
        return cached

    def asked(self, known: Known) -> int:
        """The searches made in the text of a file, as in `Answers`, as far as this is in memory."""
        answers = self._answers.get(known.target.path if known.digest == CHANGED else known.digest)
        return 0 if answers is None else answers.asked

    def note_answers(self, files: Iterable[Known]) -> None:
        """Store new answers about files with the next `save`."""
        if self._cache is None:
            return
        for known in files:
            answers = self._answers.get(known.digest)
            if answers is not None and answers.changed and known.target.data is None:
                noted = answers.as_dict()
                self._of(known).answers.update(noted)
                self._pending += sum(map(len, noted))
                self._save_if_much()

    def _save_if_much(self) -> None:
        if self._pending > _MOST_PENDING:
            self.save()

    def save(self) -> None:
        """Store new results. What another process has stored in the meantime is kept."""
        if self._cache is None:
            return
        from torchlint.memory.result_codec import encode

        new, self._new, self._pending = self._new, {}, 0
        for folder, files in new.items():
            merged = self._read_folder(folder)
            for name, file in files.items():
                _merge(merged, name, file)
            for name in merged.keys() - _names_in(folder):
                del merged[name]
            blob = encode(merged)
            if blob is not None:
                self._cache.put(_FILES, _folder_name(folder), blob)
        self._folder = ("", {})

    # reports -----------------------------------------------------------------------------

    def report(self, files: Sequence[Known]) -> Results | None:
        """The cached report of these files with this content."""
        if self._cache is None:
            return None
        from torchlint.memory.report_codec import decode_report

        name, key, _ = self._of_all(files)
        blob = self._cache.get(_REPORTS, name)
        return None if blob is None else decode_report(blob, key)

    def last(self, files: Sequence[Known]) -> tuple[Results, KeptJoin] | None:
        """The report and join of the last check of these files, whatever their content was."""
        if self._cache is None:
            return None
        from torchlint.memory.report_codec import decode_report
        from torchlint.memory.result_codec import decode_join

        name, _, settings = self._of_all(files)
        blob, joins = self._cache.get(_REPORTS, name), self._cache.get(_JOINS, name)
        if blob is None or joins is None:
            return None
        join = decode_join(joins, settings)
        if join is None or not len(files) == len(join[1].digests) == len(join[1].asked):
            return None
        results = decode_report(blob, join[0])
        return None if results is None else (results, join[1])

    def keep_report(
        self, files: Sequence[Known], results: Results, joined: KeptJoin | None
    ) -> None:
        """Cache the report of a check, unless a file changed during it."""
        if self._cache is None or any(known.digest == CHANGED for known in files):
            return
        if any(each.kind in _NOT_KEPT for each in results[1]):
            return
        from torchlint.memory.report_codec import encode_report
        from torchlint.memory.result_codec import encode

        name, key, settings = self._of_all(files)
        self._cache.put(_REPORTS, name, encode_report(key, results))
        joins = None if joined is None else encode((settings, key, joined))
        if joins is not None:
            self._cache.put(_JOINS, name, joins)

    def _of_all(self, files: Sequence[Known]) -> tuple[str, str, bytes]:
        """A name for the list of files, a key for their content and settings, and a key for the
        settings alone."""
        name, key, settings = (blake2b(digest_size=16) for _ in range(3))
        name.update(os.fsencode(os.getcwd()) + self._of_what)
        for known in files:
            target = known.target
            name.update(b"\0" + os.fsencode(target.path))
            settings.update(self._variant(target, None))
            key.update(known.digest)
        key.update(settings.digest())
        return name.hexdigest(), key.hexdigest(), settings.digest()

    # rules -------------------------------------------------------------------------------

    def rule_names(self) -> Mapping[str, str]:
        """The name of every installed rule by its code."""
        if self._cache is None:
            return rule_names()
        from torchlint.memory.report_codec import decode_names, encode_names

        blob = self._cache.get(_RULES, _NAMES)
        known = None if blob is None else decode_names(blob)
        if known is not None:
            return known
        names = rule_names()
        self._cache.put(_RULES, _NAMES, encode_names(names))
        return names

    # on disk -----------------------------------------------------------------------------

    def _of(self, known: Known) -> FileEntry:
        """The new entry of a file."""
        from torchlint.memory.result_codec import FileEntry

        folder, name = _place(known)
        files = self._new.setdefault(folder, {})
        file = files.get(name)
        if file is None or file.digest != known.digest:
            file = files[name] = FileEntry(known.digest)
        return file

    def _stored(self, known: Known, depth: Depth) -> MapResult | None:
        from torchlint.memory.result_codec import decode_result

        variant = self._variant(known.target, depth)
        folder, name = _place(known)
        new = self._new.get(folder, {}).get(name)
        encoded = new.results.get(variant) if new and new.digest == known.digest else None
        if encoded is None:
            file = self._load(known)
            encoded = file.results.get(variant) if file else None
        result = None if encoded is None else decode_result(encoded)
        if result is None or result.path != known.target.path:
            return None
        return self.shared.of(result, known.target.path)

    def _load(self, known: Known) -> FileEntry | None:
        from torchlint.project.answers import Answers

        folder, name = _place(known)
        if self._folder[0] != folder:
            self._folder = (folder, self._read_folder(folder))
        file = self._folder[1].get(name)
        if file is None or file.digest != known.digest:
            return None
        if known.digest not in self._answers:
            self._answers[known.digest] = Answers(file.answers)
        return file

    def _read_folder(self, folder: str) -> Folder:
        assert self._cache is not None
        from torchlint.memory.result_codec import decode_folder

        blob = self._cache.get(_FILES, _folder_name(folder))
        return {} if blob is None else decode_folder(blob) or {}

    def _variant(self, target: Target, depth: Depth | None) -> bytes:
        """A key for everything that a result depends on, apart from the content of the file."""
        settings: tuple[object, ...] = (target.selection, target.torch, target.named, depth)
        if depth is not None:
            settings += target.brought
        variant = self._variants.get(settings)
        if variant is None:
            variant = blake2b(repr(settings).encode(), digest_size=8).digest()
            self._variants[settings] = variant
        if depth is None:
            return variant
        return blake2b(os.fsencode(target.path), digest_size=8, key=variant).digest()


def _key(known: Known, depth: Depth) -> tuple[object, ...]:
    target = known.target
    settings = (target.selection, target.torch, target.named, target.brought)
    return (target.path, known.digest, *settings, depth)


def _place(known: Known) -> tuple[str, str]:
    """The absolute folder of a file, and its name there."""
    return os.path.split(os.path.abspath(known.target.path))


def _merge(files: Folder, name: str, new: FileEntry) -> None:
    old = files.get(name)
    if old is None or old.digest != new.digest:
        files[name] = new
        return
    old.answers.update(new.answers)
    for variant, result in new.results.items():
        old.results.pop(variant, None)
        old.results[variant] = result
    for variant in list(old.results)[:-_MOST_VARIANTS]:
        del old.results[variant]


def _folder_name(folder: str) -> str:
    return name_of(os.fsencode(folder))


def _names_in(folder: str) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()
