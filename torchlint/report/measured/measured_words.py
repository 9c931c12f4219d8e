"""What both reports say in the same words."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Final

from torchlint.experiment.machine import UNKNOWN_DEVICE
from torchlint.report.terminal.safe_text import plural
from torchlint.runtime.sandbox.side_effects import HELPER, PROCESS, UPLOAD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.experiment.machine import Environment
    from torchlint.runtime.sandbox.side_effects import SideEffect

_EFFECTS: Final = {
    "write": "write",
    "create": "new file",
    "delete": "deletion",
    "mkdir": "new folder",
    "output": "large output",
    "process": "process",
    "helper": "process",
    "connect": "connection",
    UPLOAD: "upload",
}


def told(*facts: object) -> list[str]:
    """Those of the facts that there are: texts that are not empty."""
    return [fact for fact in facts if isinstance(fact, str) and fact]


def next_command(
    command: str, argv: Sequence[str], *, options: Sequence[str] = (), last: Sequence[str] = ()
) -> str:
    """A command of torchlint for the same program, as a shell takes it.

    Args:
        options: before the script.
        last: behind it, before its own arguments.
    """
    end = 2 if argv[0] == "-m" else 1
    words = ["torchlint", *command.split(), *options, *argv[:end], *last]
    return shlex.join([*words, "--", *argv[end:]] if argv[end:] else words)


def processors(environment: Environment) -> str:
    """`2 processors`, `2 nodes with 8 processors each`."""
    here = plural(environment.processors, "processor")
    many = len(environment.nodes)
    return f"{many} nodes with {here} each" if many > 1 else here


def known_device(environment: Environment) -> str:
    """The device, if a run got as far as to show it; else empty."""
    return "" if environment.device == UNKNOWN_DEVICE else environment.device


def on_gpu(environment: Environment | None) -> bool:
    """Whether the program computed on one."""
    return environment is not None and environment.device.startswith("cuda")


def outside(
    effects: Iterable[SideEffect], sandbox: str, *, details: bool
) -> list[tuple[str, list[str]]]:
    """What was done outside the processes: how, counted, and by name; nothing that is empty.

    Args:
        sandbox: what held things back; empty: unknown.
        details: also what is not a warning: what was held back, and what packages started by
            themselves. That a tracker was switched off is always said.
    """
    every = list(effects)
    unsent = [each for each in every if each.kind == UPLOAD and not each.kept]
    verb = f"held back ({sandbox})" if sandbox else "held back"
    parts = [
        ("LET THROUGH", [each for each in every if each.is_let_through]),
        ("started by the script", [each for each in every if each.kind == PROCESS]),
        ("switched off or not sent in these runs", unsent),
        (verb, [each for each in every if details and not each.kept and each not in unsent]),
        ("started by packages", [each for each in every if details and each.kind == HELPER]),
    ]
    return [
        (f"{how}: {_counted(some)}", [each.what for each in some]) for how, some in parts if some
    ]


def _counted(effects: Iterable[SideEffect]) -> str:
    """`2 new files, 1 connection`."""
    kinds: Counter[str] = Counter()
    for effect in effects:
        # A folder counts for all the files in it.
        number = effect.count if effect.what.endswith("/") else 1
        kinds[_EFFECTS.get(effect.kind, effect.kind)] += number
    return ", ".join(
        plural(number, kind, "processes" if kind == "process" else "")
        for kind, number in kinds.items()
    )
