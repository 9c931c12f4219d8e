"""A profile of an earlier run: how its file is read, and what has changed since."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import timing
from tests.profile.results import confirmed, profile, read_at, written
from torchlint.config.settings import ConfigError
from torchlint.experiment.figures import TIMES, TO
from torchlint.experiment.machine import Environment
from torchlint.profile.before import compare
from torchlint.profile.earlier_profile import SeenLines, decode, read
from torchlint.report.profile.profile_text import CHANGES, held_against
from torchlint.report.terminal.safe_text import Paint

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.profile.profile_result import Change, Compared, Profile


def since(before: Profile, now: Profile) -> Compared:
    return compare(decode(written(before)), now)


def rows(changes: tuple[Change, ...]) -> list[int]:
    return [each.row for each in changes]


# what has changed --------------------------------------------------------------------------


def test_a_profile_that_shows_the_same_has_no_changes() -> None:
    result = profile(read_at(row=9, share=0.1), read_at(row=12))
    found = since(result, result)
    assert (found.gone, found.new, found.changed) == ((), (), ())
    assert (found.ratio, found.beyond_noise, found.date) == (1.0, False, "2026-07-01")
    assert found.elsewhere == ()


def test_findings_are_gone_and_new_by_file_and_code() -> None:
    old = profile(read_at(row=9), read_at(row=12), read_at(path="old.py", row=3))
    new = profile(read_at(row=9), read_at(row=12), read_at(row=40), read_at(path="new.py", row=3))
    found = since(old, new)
    assert [(each.path, each.row) for each in found.gone] == [("old.py", 3)]
    assert [(each.path, each.row) for each in found.new] == [("train.py", 40), ("new.py", 3)]


def test_a_finding_whose_line_has_moved_is_the_same_one() -> None:
    found = since(profile(read_at(row=88), read_at(row=95)), profile(read_at(row=93)))
    assert (rows(found.gone), rows(found.new)) == ([88], [])


def test_a_read_of_the_same_kind_is_the_same_one_before_a_nearer_one() -> None:
    now = profile(read_at(row=12, kind="bool"), read_at(row=19))
    assert rows(since(profile(read_at(row=15)), now).new) == [12]


def test_a_share_has_changed_if_it_is_more_than_the_cut_and_both_noises() -> None:
    before, now = profile(read_at(share=0.1)), profile(read_at(row=10, share=0.2))
    (change,) = since(before, now).changed
    assert (change.row, change.before, change.now) == (10, 0.1, 0.2)
    assert since(before, profile(read_at(share=0.12))).changed == ()
    noisy = profile(read_at(share=0.1), timing=timing(noise=0.2))
    assert since(noisy, now).changed == ()


def test_what_went_below_the_cut_is_not_gone_and_what_came_from_there_not_new() -> None:
    shown, small = profile(read_at(share=0.04)), profile(below=(read_at(share=0.029),))
    for before, now in ((shown, small), (small, shown)):
        found = since(before, now)
        assert (found.gone, found.new, found.changed) == ((), (), ())
    assert rows(since(profile(read_at(share=0.3)), small).changed) == [9]
    assert since(small, profile()).gone == since(profile(), small).new == ()


def test_nothing_is_said_about_what_only_one_has_watched() -> None:
    found = since(profile(read_at(), watched=("TR201",)), profile(watched=("TR101",)))
    assert (found.gone, found.only_once) == ((), ("TR101", "TR201"))


@pytest.mark.parametrize(
    ("before", "now", "beyond"),
    [
        ({"step_s": 0.012, "noise": 0.02}, {"noise": 0.02}, True),
        ({"step_s": 0.0102, "noise": 0.02}, {"noise": 0.02}, False),
        ({"step_s": 0.008, "noise": 0.02}, {"noise": 0.02}, True),
        ({"step_s": 0.012, "noise": 0.3}, {"noise": 0.02}, False),
    ],
)
def test_a_step_is_faster_or_slower_beyond_both_noises(
    before: dict[str, float], now: dict[str, float], beyond: bool
) -> None:
    found = since(profile(timing=timing(**before)), profile(timing=timing(**now)))
    assert found.ratio == pytest.approx(before["step_s"] / 0.01)
    assert found.beyond_noise is beyond


def test_without_a_time_there_is_no_ratio() -> None:
    for before, now in ((None, timing()), (timing(), None)):
        found = since(profile(timing=before), profile(timing=now))
        assert (found.ratio, found.beyond_noise) == (None, False)


def test_another_machine_is_named() -> None:
    here = Environment("2.12.0", "3.11", "cuda", 1, 2, (), "redirect", gpu={"name": "H100"})
    found = since(profile(environment=here), profile())
    assert found.elsewhere == (
        "torch 2.12.0, now 2.13.0",
        "device cuda, now cpu",
        "GPU H100, now none",
    )


# its text ----------------------------------------------------------------------------------


def text(before: Profile, now: Profile, width: int = 100) -> list[str]:
    now = profile(
        **{name: getattr(now, name) for name in now.__slots__} | {"compared": since(before, now)}
    )
    return held_against(now, Paint(), width)


def test_the_text_says_the_step_then_what_is_gone_new_and_changed() -> None:
    before = profile(read_at(row=9, share=0.1), read_at(path="data.py", row=3, share=0.2),
                     timing=timing(step_s=0.012))  # fmt: skip
    now = profile(read_at(row=9, share=0.3), read_at(path="net.py", row=5))
    assert text(before, now) == [
        "",
        f"since the profile of 2026-07-01: 12.0 {TO} 10.0 ms a step, {TIMES}1.20 as fast "
        "(± 1% then, ± 1% now)",
        f"  gone: data.py:3 TR201 (at most {TIMES}1.25)",
        "  new: net.py:5 TR201",
        f"  changed: train.py:9 TR201 (at most {TIMES}1.11 to {TIMES}1.43)",
    ]


def test_the_text_is_short_whatever_has_changed() -> None:
    before = profile(*(read_at(path="a/" * 40 + f"{row}.py", row=row) for row in range(1, 9)))
    here = Environment("x" * 300, "3.11", "cuda", 1, 2, (), "redirect")
    now = profile(*(read_at(path="b/" * 40 + f"{row}.py") for row in range(1, 9)), environment=here)
    assert len(text(before, now, 72)) == CHANGES
    assert text(profile(), profile())[-1] == "  the findings are the same"
    assert held_against(profile(), Paint(), 100) == []


# files -------------------------------------------------------------------------------------


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    result = profile(read_at(share=0.1, static=confirmed(9)), read_at(row=12),
                     below=(read_at(row=14, share=0.01),))  # fmt: skip
    (tmp_path / "profile.json").write_bytes(written(result))
    found = read(str(tmp_path / "profile.json"))
    read_ = [(each.row, each.share) for each in (*found.findings, *found.census)]
    assert read_ == [(9, 0.1), (12, None)]
    assert found.findings[0].confirmed == (("TL201", "train.py", 9),)
    assert [each.row for each in found.below] == [14]
    assert (found.timing.step_s, found.timing.noise, found.date) == (0.01, 0.01, "2026-07-01")
    assert found.watched == ("TR101", "TR201")


FINDING = json.loads(written(profile(read_at(share=0.1, static=confirmed(9)))))["findings"][0]
PLACE = FINDING["static"][0]
REHEARSAL: dict[str, Any] = {"waits": 1.0, "ran": {}, "lines": [], "files": {}}
EMPTY = sha256().hexdigest()
FILES = {f"{number}.py": "0" for number in range(2001)}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"schema": 2}, "The schema of this profile is not 1"),
        ({"schema": True}, "The schema of this profile is not 1"),
        ({"findings": 3}, "is damaged: Expected `array`, got `int` - at `$.findings`"),
        ({"findings": [3]}, "Expected `object`, got `int` - at `$.findings[0]`"),
        ({"findings": [FINDING] * 2001}, "Expected `array` of length <= 2000"),
        ({"census": [{**FINDING, "code": "x"}]}, "at `$.census[0].code`"),
        ({"census": [{**FINDING, "row": -1}]}, "Expected `int` >= 0 - at `$.census[0].row`"),
        ({"census": [{**FINDING, "row": 1.5}]}, "Expected `int`, got `float`"),
        ({"census": [{**FINDING, "path": "x" * 1001}]}, "Expected `str` of length <= 1000"),
        ({"census": [{**FINDING, "path": "\0"}]}, "at `$.census[0].path`"),
        ({"findings": [{**FINDING, "share": 1}]}, "Expected `float` < 1.0"),
        ({"findings": [{**FINDING, "share": float("nan")}]}, "Expected `float | null`, got `str`"),
        ({"findings": [{**FINDING, "static": [3]}]}, "at `$.findings[0].static[0]`"),
        ({"findings": [{**FINDING, "static": [{**PLACE, "row": "9"}]}]}, "`int`, got `str`"),
        ({"timing": {"step_s": 0, "noise": 0}}, "Expected `float` > 0.0 - at `$.timing.step_s`"),
        ({"timing": {"step_s": 1, "noise": 2}}, "Expected `float` <= 1.0 - at `$.timing.noise`"),
        ({"timing": 3}, "Expected `object | null`, got `int` - at `$.timing`"),
        ({"environment": {"torch": 3}}, "at `$.environment.torch`"),
        ({"watched": [3]}, "at `$.watched[0]`"),
        ({"date": 3}, "at `$.date`"),
        ({"rehearsal": {**REHEARSAL, "ran": 3}}, "at `$.rehearsal.ran`"),
        ({"rehearsal": {**REHEARSAL, "files": FILES}}, "Expected `object` of length <= 2000"),
    ],
)
def test_a_damaged_profile_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        decode(written(profile(), **more))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"\xff", b'{"schema": 1}', b"[" * 100_000, b'{"schema": 1, "tool": "torchlint"}'],
    ids=lambda each: each[:10],
)  # fmt: skip
def test_what_is_not_a_profile_is_called_so(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"This is not a profile; write one with"):
        decode(data)


@pytest.mark.parametrize("number", [b"9" * 1_000_000, b"1e999", b"Infinity"], ids=len)
def test_a_number_that_no_step_takes_is_refused_without_reading_its_digits(number: bytes) -> None:
    with pytest.raises(ConfigError, match="damaged"):
        decode(written(profile()).replace(b'"step_s": 0.01', b'"step_s": ' + number))


def test_a_name_that_is_not_text_is_read_as_it_was_written() -> None:
    (finding,) = decode(written(profile(read_at(path="caf\udce9.py")))).census
    assert finding.path == "caf\udce9.py"


def test_what_is_not_a_date_is_left_out() -> None:
    assert decode(written(profile(), date="\x1b[31m today")).date == ""


def test_a_file_that_is_not_one_or_too_large_is_named(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.touch()
    os.truncate(large, (16 << 20) + 1)
    for path, said in ((large, "over 16 MiB"), (tmp_path / "no.json", "no such file")):
        with pytest.raises(ConfigError, match=said) as caught:
            read(str(path))
        assert caught.value.path == str(path)


def test_what_may_never_end_is_not_read_to_see_whether_it_has_changed() -> None:
    device = os.path.realpath(os.devnull)
    found = decode(written(profile(), rehearsal={**REHEARSAL, "files": {device: EMPTY}}))
    seen = SeenLines.of(found)
    assert seen is not None
    assert seen.changed == (device,)


def test_where_a_copied_tensor_was_made_is_not_contradicted(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(b"")
    path = str(script)
    seen = {**REHEARSAL, "ran": {path: [1, 2, 3]}, "files": {path: EMPTY}}
    copied = {"code": "TR203", "path": path, "row": 2, "made": {"path": path, "row": 1}}
    lines = SeenLines.of(decode(written(profile(), findings=[copied], rehearsal=seen)))
    assert lines is not None
    assert not lines.contradicts("TL205", path, 1, 1)
    assert lines.contradicts("TL205", path, 3, 3)
