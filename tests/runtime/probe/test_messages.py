"""What the probe says comes to the parent as it is."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from torchlint.runtime.decoding import converted, decode
from torchlint.runtime.probe import instrument_messages, messages
from torchlint.runtime.probe.instrument_messages import INSTRUMENTS, ModuleTimes
from torchlint.runtime.probe.instruments.layers import _Record
from torchlint.runtime.probe.link import Link
from torchlint.runtime.probe.messages import WindowSeen
from torchlint.runtime.probe.run_settings import RunSettings

MESSAGES = [
    each
    for module in (messages, instrument_messages)
    for each in vars(module).values()
    if is_dataclass(each) and each.__module__ == module.__name__ and each is not WindowSeen
]
VALUES = {str: "train\udcff.py", int: 7, float: 0.5, bool: True, NoneType: None}


def made(kind: Any, full: bool) -> Any:
    """A value of a type, with as much in it as there can be, or as little."""
    origin, args = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{each.name: made(hints[each.name], full) for each in fields(kind)})  # type: ignore[operator]
    if origin is UnionType:
        return made(args[0 if full else -1], full)
    if origin is list:
        return [made(args[0], full)] if full else []
    if origin is dict:
        return {"a": made(args[1], full)} if full else {}
    if origin is tuple:
        return tuple(made(each, full) for each in args if each is not ...)
    return VALUES[kind]


def sent(word: str, message: object) -> bytes:
    """The line that goes through the wire."""
    lines: list[bytes] = []
    link: Any = Link(RunSettings(main="", project=""))
    link._socket = type("Wire", (), {"sendall": lambda _, line: lines.append(line)})()
    link.send(word, message)
    return lines[0]


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("kind", MESSAGES)
def test_every_message_is_read_as_it_was_written(kind: type, full: bool) -> None:
    message = made(kind, full)
    assert decode(sent("word", message)).read(kind) == message


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_every_instrument_finds_its_message_in_a_window(name: str) -> None:
    seen = made(INSTRUMENTS[name], full=True)
    line = sent("window", WindowSeen(3, 0.5, None, {name: seen, "replay": None}))
    window = decode(line).read(WindowSeen)
    assert converted(window.found[name], INSTRUMENTS[name], name) == seen


def test_what_an_instrument_keeps_apart_from_its_message_is_not_sent() -> None:
    line = sent("window", WindowSeen(3, 0.5, None, {"layers": [_Record("Linear", "head", 4)]}))
    (module,) = decode(line).read(WindowSeen).found["layers"]
    assert "born" not in module
    assert converted(module, ModuleTimes, "layers") == ModuleTimes("head", "Linear")
