"""A cache that was damaged: a check comes to the same as without one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Final

import msgspec
from hypothesis import strategies as st

from tests.fuzz.programs import tampered, training
from tests.fuzz.properties import assert_nothing_crashed
from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.memory.cache import Cache
from torchlint.memory.store import Store
from torchlint.project.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torchlint.engine.check import Report

    Damage = Callable[[Random, Path], None]

_GENERATIONS: Final = ("0123456789abcdef", "fedcba9876543210")
_HEAD: Final = len(b"torchlint 1\n") + 16
_CALLER: Final = "from lib.steps import step\n" + training(inside="step(model, loss)")
_HELPER: Final = "def step(model, loss):\n    return model(loss).sum().item() + float(loss)\n"
_OTHER_TYPES: Final = (
    None, True, -1, 2**63, 1.5, "", "train.py", b"\x00" * 99, [], [[]] * 9, {}, {"": {}},
    {"train.py": None}, {"train.py": [b"", {}, {}]}, {"train.py": {"digest": "", "answers": []}},
    [b"", [], [], []], [b"", [[]], [{}]], {"path": 1}, {1: 2, None: b""},
)  # fmt: skip
_HUGE: Final = (
    b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x91" * 100_000,
    b"\x81\xa1a" * 50_000, b"\xdb\x7f\xff\xff\xff" + b"a" * 99, b"\xc7\x05\xff" + b"\x00" * 5,
)  # fmt: skip


@dataclass(frozen=True)
class Damaged:
    """A project whose cache is damaged between two checks.

    Args:
        files: the project before the damage.
        changed: files that are written between the two checks.
        damages: what befalls the cache, in this order.
    """

    files: Mapping[str, bytes]
    changed: Mapping[str, bytes]
    damages: Sequence[Damage]
    seed: int

    def hold(self, folder: Path) -> None:
        cache = folder / "cache"
        for generation in _GENERATIONS[::-1]:
            self._check(folder, Store(lambda name=generation: Cache(str(cache), name)))
        random = Random(self.seed)
        for damage in self.damages:
            damage(random, cache)
        _write(folder, self.changed)
        expected = self._check(folder, Store())
        # The second time it reads what the first one has written over the damage.
        for _ in range(2):
            found = self._check(folder, Store(lambda: Cache(str(cache), _GENERATIONS[0])))
            assert found == expected, "the damaged cache changes what is found"

    def _check(self, folder: Path, store: Store) -> Report:
        targets = [Target(str(folder / name), Selection(), (2, 13)) for name in sorted(self.files)]
        report = check(targets, store=store)
        assert_nothing_crashed(report.diagnostics)
        return report


def damaged(texts: Sequence[str]) -> st.SearchStrategy[Damaged]:
    some = tampered(texts).map(lambda text: text.encode("utf-8", "replace"))
    return st.builds(
        Damaged,
        st.fixed_dictionaries(
            {"train.py": st.just(_CALLER.encode()), "lib/steps.py": st.just(_HELPER.encode())},
            optional={"lib/other.py": some},
        ),
        st.dictionaries(st.sampled_from(("train.py", "lib/steps.py")), some, max_size=1),
        st.lists(st.sampled_from(_DAMAGES), min_size=1, max_size=4),
        st.integers(0, 2**32),
    )


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


# what may befall a cache ---------------------------------------------------------------------


def _blobs(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def _sealed(blob: bytes) -> bytes:
    """A blob with a sum that fits, so that only what is in it can give it away."""
    return b"torchlint 1\n" + blake2b(blob, digest_size=16).digest() + blob


def _on_blob(change: Callable[[Random, bytes], bytes]) -> Damage:
    def damage(random: Random, cache: Path) -> None:
        blobs = _blobs(cache)
        if blobs:
            path = random.choice(blobs)
            path.write_bytes(change(random, path.read_bytes()))

    return damage


def _flipped(random: Random, data: bytes) -> bytes:
    flipped = bytearray(data or b"\0")
    for _ in range(random.randint(1, 5)):
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    return bytes(flipped)


def _truncated(random: Random, data: bytes) -> bytes:
    return data[: random.randint(0, len(data))]


def _truncated_and_sealed(random: Random, data: bytes) -> bytes:
    return _sealed(data[_HEAD : random.randint(_HEAD, max(_HEAD, len(data) - 1))])


def _extended(random: Random, data: bytes) -> bytes:
    return data + random.randbytes(random.randint(1, 99))


def _extended_and_sealed(random: Random, data: bytes) -> bytes:
    return _sealed(data[_HEAD:] + random.randbytes(random.randint(1, 99)))


def _random(random: Random, _: bytes) -> bytes:
    return random.randbytes(random.randint(0, 500))


def _random_and_sealed(random: Random, _: bytes) -> bytes:
    return _sealed(random.randbytes(random.randint(0, 500)))


def _of_other_types(random: Random, _: bytes) -> bytes:
    return _sealed(msgspec.msgpack.encode(random.choice(_OTHER_TYPES)))


def _of_huge_lengths(random: Random, _: bytes) -> bytes:
    return _sealed(random.choice(_HUGE))


def _swapped(random: Random, cache: Path) -> None:
    blobs = _blobs(cache)
    if len(blobs) > 1:
        one, other = random.sample(blobs, 2)
        kept = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(kept)


def _of_another_generation(random: Random, cache: Path) -> None:
    here, there = (cache / name for name in _GENERATIONS)
    for path in _blobs(there):
        goal = here / path.relative_to(there)
        if goal.is_file() and random.random() < 0.5:
            shutil.copyfile(path, goal)


def _without_permissions(random: Random, cache: Path) -> None:
    paths = [path for path in (cache, *sorted(cache.rglob("*"))) if path.exists()]
    if paths:
        random.choice(paths).chmod(random.choice((0o000, 0o400, 0o500)))


def _folder_for_a_file(random: Random, cache: Path) -> None:
    blobs = _blobs(cache)
    if blobs:
        path = random.choice(blobs)
        path.unlink()
        path.mkdir()


def _file_for_a_folder(random: Random, cache: Path) -> None:
    folders = [path for path in (cache, *sorted(cache.rglob("*"))) if path.is_dir()]
    if folders:
        path = random.choice(folders)
        shutil.rmtree(path)
        path.write_bytes(random.randbytes(9))


def _without_something(random: Random, cache: Path) -> None:
    blobs = _blobs(cache)
    if blobs:
        random.choice(blobs).unlink()


_DAMAGES: Final[Sequence[Damage]] = (
    *map(
        _on_blob,
        (
            _flipped,
            _truncated,
            _truncated_and_sealed,
            _extended,
            _extended_and_sealed,
            _random,
            _random_and_sealed,
            _of_other_types,
            _of_huge_lengths,
        ),
    ),
    _swapped,
    _of_another_generation,
    _without_permissions,
    _folder_for_a_file,
    _file_for_a_folder,
    _without_something,
)
