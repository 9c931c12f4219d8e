"""What a run is to do: one JSON file that the parent writes, named by an environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

VARIABLE = "TORCHLINT_RUN"
"""Names the settings file. Processes that the script starts inherit it."""

SURVEY, MEASURE, RECORD, WINDOW = "survey", "measure", "record", "window"
PLAIN = "none"
"""The mode in which the script just runs."""


@dataclass(frozen=True)
class Anchor:
    """The event that ends a step.

    `kind` is `optimizer`, `backward`, `forward` (of a root module) or `loader`. `index` says
    which optimizer, counted in the order of their first steps; 0 for the other kinds.
    """

    kind: str
    index: int = 0


@dataclass(frozen=True)
class FixLines:
    """Lines of a served file, first to last, that belong to one fix."""

    id: str
    first: int
    last: int


@dataclass(frozen=True)
class PlayedDevice:
    """A GPU that is played on the CPU: a card of `probe.played.cards`, and how many of them."""

    card: str
    devices: int = 1


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """One run of the script.

    Args:
        main: path of the script as the user typed it, or the dotted name of a module.
        project: real path of the tree that has to stay as it is.
        mode: name of the module in `probe.modes` that watches the script, or `PLAIN`.
        name: of the run, for messages.
        as_module: `main` is a module, run as with `python -m`.
        argv: the script's own arguments.
        sources: real path of a source file → path of the file that runs in its place.
        socket: the parent's address, filled in at the start: the path of a Unix socket, or
            `tcp:HOST:PORT` where the run is spread over several machines.
        token: over TCP, tells the parent that this is one of its processes.
        node: name of the machine, where there are several.
        scratch: a folder of this run alone; filled in at the start. Several machines share it.
        local: a folder of this run on its own machine; empty: `scratch` is one.
        sandbox: `overlayfs` (the tree's writes already land elsewhere) or `redirect`.
        fenced: the kernel refuses writes to the tree and elsewhere that nobody redirects.
        seed: seeds Python's, NumPy's and torch's generators before the script; None leaves them.
        threads: torch's intra-op threads; None leaves them.
        device: `auto`, `cpu` or `cuda`.
        anchor: what ends a step; None in a survey, which finds out.
        steps: how many steps a survey wants to see, a record to write down, or a window to watch.
        skip: record and window; how many steps pass first.
        give_up_s: a survey that has seen no better boundary takes a worse one after this time.
        places: survey and record; real path → the lines to watch being executed.
        level: record only; how far random numbers are realigned, 0 to 3.
        perturb: record only; multiply the first weights by 1 ± eps, signs drawn from this seed.
        state: record only; file of the reference's first weights.
        save_state: record only; write `state` instead of loading it.
        workers: of each loader of the script, whatever it asks for; None leaves them.
        instruments: names of the modules in `probe.instruments`: of those that watch a window, and
            in a measurement of those that change what a step does.
        played: the GPU that the script finds; None: the machine's own, if it has one.
    """

    main: str
    project: str
    mode: str = PLAIN
    name: str = "script"
    as_module: bool = False
    argv: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    socket: str = ""
    token: str = ""
    node: str = ""
    scratch: str = ""
    local: str = ""
    sandbox: str = "redirect"
    fenced: bool = False
    seed: int | None = 0
    threads: int | None = None
    device: str = "auto"
    anchor: Anchor | None = None
    steps: int = 30
    skip: int = 0
    give_up_s: float = 20.0
    places: dict[str, tuple[FixLines, ...]] = field(default_factory=dict)
    level: int = 0
    perturb: int | None = None
    state: str | None = None
    save_state: bool = False
    instruments: tuple[str, ...] = ()
    workers: int | None = None
    played: PlayedDevice | None = None


def write(settings: RunSettings, path: str) -> None:
    """Write the settings to `path`."""
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        json.dump(asdict(settings), stream)


def read(path: str | None = None) -> RunSettings:
    """The settings in `path`, or in the file that the environment names.

    Raises:
        KeyError: no path is given and the environment names none.
    """
    path = os.environ[VARIABLE] if path is None else path
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        return from_values(json.load(stream))


def from_values(values: dict[str, Any]) -> RunSettings:
    """The settings that `asdict` made these values of."""
    values["argv"] = tuple(values["argv"])
    values["instruments"] = tuple(values["instruments"])
    anchor = values["anchor"]
    values["anchor"] = Anchor(**anchor) if anchor else None
    played = values["played"]
    values["played"] = PlayedDevice(**played) if played else None
    values["places"] = {
        file: tuple(FixLines(**place) for place in places)
        for file, places in values["places"].items()
    }
    return RunSettings(**values)
