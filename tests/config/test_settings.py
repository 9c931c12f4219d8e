from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from torchlint.config import settings as config
from torchlint.config.keys import from_table
from torchlint.config.settings import ConfigError, Selection, Settings, normalised

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = {"TL101": "dataloader-no-workers", "TL201": "item-in-step-loop", "TL202": "host-copy"}


def load(**table: object) -> Settings:
    return from_table({key.replace("_", "-"): value for key, value in table.items()}, Settings("/"))


@pytest.mark.parametrize(
    ("select", "ignore", "enabled"),
    [
        (("ALL",), (), True),
        ((), (), False),
        (("TL2",), (), True),
        (("TL1",), (), False),
        (("item-in-step-loop",), (), True),
        (("ALL",), ("TL2",), False),
        (("TL201",), ("TL2",), True),
        (("TL2",), ("TL201",), False),
        (("TL2",), ("item-in-step-loop",), False),
        (("TL201",), ("TL201",), False),
        (("TL2",), ("ALL",), True),
    ],
)
def test_the_closer_of_select_and_ignore_wins(
    select: tuple[str, ...], ignore: tuple[str, ...], enabled: bool
) -> None:
    assert Selection(select, ignore).enabled("TL201", "item-in-step-loop") is enabled


def test_what_is_off_for_a_file_is_off_whatever_is_selected() -> None:
    assert not Selection(("TL201",), (), ("ALL",)).enabled("TL201", "item-in-step-loop")


@pytest.mark.parametrize(
    ("select", "exact"),
    [(("TL201",), True), (("item-in-step-loop",), True), (("TL2",), False), (("ALL",), False)],
)
def test_only_a_code_or_a_name_asks_for_a_rule_exactly(
    select: tuple[str, ...], exact: bool
) -> None:
    assert Selection(select).names_exactly("TL201", "item-in-step-loop") is exact


def test_codes_and_names_are_read_in_any_case() -> None:
    assert normalised([" tl201 ", "all", "", "Item-In-Step-Loop"]) == (
        "TL201",
        "ALL",
        "item-in-step-loop",
    )


def test_every_key_is_read() -> None:
    settings = load(
        select=["tl2"],
        ignore=["TL202"],
        per_file_ignores={"tests/*": ["ALL"]},
        exclude=["old"],
        extend_exclude=["gen"],
        target_torch="2.1",
        baseline="ci/known.json",
        require_reason=True,
    )
    assert settings.baseline == os.path.abspath("ci/known.json")
    assert settings.require_reason
    assert settings.select == ("TL2",)
    assert settings.ignore == ("TL202",)
    assert settings.per_file_ignores == (("tests/*", ("ALL",)),)
    assert settings.exclude == ("old", "gen")
    assert settings.target_torch == (2, 1)
    assert settings.selectors == ("TL2", "TL202", "ALL")


def test_extend_exclude_keeps_the_default_excludes() -> None:
    assert load(extend_exclude=["gen"]).exclude == (*config.DEFAULT_EXCLUDE, "gen")


def test_an_unknown_key_suggests_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"`extend-excludes`.*`extend-exclude`"):
        load(extend_excludes=[])


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"select": "TL2"}, r'`select` must be a list of strings, such as select = \["..."\]'),
        ({"ignore": [1]}, "`ignore` must be a list of strings"),
        ({"per_file_ignores": ["a"]}, "`per-file-ignores` must be a table"),
        ({"per_file_ignores": {"a": "TL2"}}, "needs a list of strings for `a`"),
        ({"exclude": None}, "`exclude` must be a list"),
        ({"target_torch": 2.1}, r"`target-torch` must be a string, such as target-torch = \"2.1\""),
        ({"require_reason": "yes"}, "`require-reason` must be true or false"),
        ({"target_torch": "two"}, '`target-torch` is "two"; write a version'),
        ({"baseline": 3}, "`baseline` must name a file"),
        ({"baseline": ""}, "`baseline` must name a file"),
        ({"baseline": "ci/.."}, "`baseline` must name a file"),
        ({"baseline": "a\0b"}, "`baseline` must name a file"),
        ({"baseline": "ci/../../known.json"}, "`baseline` must name a file"),
        ({"baseline": "/etc/known.json"}, "`baseline` must name a file"),
    ],
)
def test_a_wrong_type_is_explained(table: dict[str, object], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        load(**table)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1", (2, 1)),
        (" 2.10.3 ", (2, 10)),
        ("2", None),
        ("2.1rc1", None),
        ("9" * 5000 + ".1", None),
    ],
)
def test_a_torch_version_has_a_major_and_a_minor(
    text: str, version: tuple[int, int] | None
) -> None:
    assert config.parse_torch(text) == version


@pytest.mark.parametrize("entry", ["ALL", "TL201", "TL2", "TL", "item-in-step-loop"])
def test_codes_families_names_and_all_are_known(entry: str) -> None:
    assert config.unknown_selector([entry], KNOWN) is None


@pytest.mark.parametrize(
    ("entry", "suggested"),
    [("TL2011", "TL201"), ("item-in-loop", "item-in-step-loop"), ("T", "TL"), ("TL9", "TL")],
)
def test_an_unknown_code_suggests_the_nearest_one(entry: str, suggested: str) -> None:
    message = config.unknown_selector(["TL2", entry], KNOWN)
    assert message is not None
    assert f"`{entry}`" in message
    assert suggested in message


def test_invalid_toml_names_the_place(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "torchlint.toml")
    with open(path, "w") as file:
        file.write("select = [\nx")
    with pytest.raises(ConfigError, match=r"not valid TOML: .*line 2"):
        config.read_toml(path)


@pytest.mark.parametrize(
    "content",
    [
        b"a = " + b"[" * 20_000,
        b"a = " + b"9" * 10_000,
        b"\xff\xfe",
        b"\x00",
        b"[tool]\ntorchlint = 3",
        b"#" * (config.MAX_BYTES + 1),
        b"[" + b"a." * 500_000 + b"a]",
        b"a." * 500_000 + b"a = 1",
    ],
    ids=["nested", "long number", "not utf-8", "nul", "no table", "too large", "table", "key"],
)
def test_hostile_toml_is_an_error_with_a_sentence(
    tmp_path: os.PathLike[str], content: bytes
) -> None:
    path = os.path.join(tmp_path, "pyproject.toml")
    with open(path, "wb") as file:
        file.write(content)
    with pytest.raises(ConfigError) as caught:
        config.tool_table(config.read_toml(path), path)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"exclude": ["*x"] * 1_001}, "`exclude` has 1,001 globs"),
        ({"extend-exclude": ["*x"] * 1_001}, "`extend-exclude` has 1,001 globs"),
        ({"per-file-ignores": {f"*{n}": ["TL2"] for n in range(1_001)}}, "has 1,001 globs"),
        ({"x" * 9_999: 1}, "Unknown key"),
        ({"target-torch": "9" * 9_999}, "write a version"),
        ({"per-file-ignores": {"x" * 9_999: 1}}, "needs a list"),
    ],
)
def test_what_would_take_forever_is_an_error_with_a_short_sentence(
    table: dict[str, object], expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected) as caught:
        from_table(table, Settings("/"))
    assert len(caught.value.message) < 700


def test_rules_that_are_named_often_are_kept_once() -> None:
    settings = from_table({"select": ["TL2", "tl2", "ALL"] * 1_000}, Settings("/"))
    assert settings.select == ("TL2", "ALL")
    assert len(config.unknown_selector(["x" * 9_999], {"TL201": "item"}) or "") < 300


def test_toml_with_a_byte_order_mark_is_read(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "torchlint.toml")
    with open(path, "wb") as file:
        file.write(b'\xef\xbb\xbfselect = ["TL2"]\r\n')
    assert config.read_toml(path) == {"select": ["TL2"]}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "torchlint.toml")
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="not a regular file"):
        config.read_capped(path)


def test_a_folder_is_not_a_configuration_file(tmp_path: os.PathLike[str]) -> None:
    with pytest.raises(ConfigError, match="Cannot be read"):
        config.read_capped(os.fspath(tmp_path))


@pytest.mark.parametrize("dots", [(1, 60_000), (200, 1_900)])
def test_names_with_too_many_parts_are_not_read(dots: tuple[int, int], tmp_path: Path) -> None:
    lines, parts = dots
    text = "".join(f"a{line}{'.b' * parts} = 1\n" for line in range(lines))
    (tmp_path / "torchlint.toml").write_text(text)
    with pytest.raises(ConfigError, match="too many dots"):
        config.read_toml(str(tmp_path / "torchlint.toml"))
