"""The keys of `[tool.torchlint]`: what each takes, and what it means.

The parser knows these keys and no others, and the reference page is made from them.
"""

from __future__ import annotations

from typing import Final

KEYS: Final[dict[str, tuple[str, str, str]]] = {
    "select": (
        "list of rules",
        "The rules that are on. An entry is a code (`TL201`), a family (`TL2`), a name "
        "(`item-in-step-loop`) or `ALL`. Between `select` and `ignore` the closer entry wins: a "
        "code or name before a family, a family before `ALL`; `ignore` wins a tie. A pedantic "
        "rule that is selected by its own code or name is shown without `--pedantic`. `--select` "
        "on the command line takes the place of this key and of `ignore`.",
        'select = ["TL1", "TL2"]',
    ),
    "ignore": (
        "list of rules",
        "The rules that are off, with the same entries as `select`. `--ignore` on the command "
        "line adds to this key.",
        'ignore = ["TL304"]',
    ),
    "per-file-ignores": (
        "table from globs to lists of rules",
        "What is off in some files, whatever `select` says. A glob without a slash means that "
        "name in any folder; one with a slash starts at the folder of the configuration file. "
        "`**` spans folders. A glob that matches a folder means all that lies in it.",
        'per-file-ignores = { "examples/*" = ["TL101"] }',
    ),
    "exclude": (
        "list of globs",
        "Files and folders that a search of a folder leaves out. This takes the place of the "
        "default, so prefer `extend-exclude`. A file that is named on the command line is checked "
        "whatever excludes it.",
        'exclude = ["build", "third_party"]',
    ),
    "extend-exclude": (
        "list of globs",
        "The same, in addition to `exclude` or its default.",
        'extend-exclude = ["third_party"]',
    ),
    "target-torch": (
        "string",
        "The oldest torch that the code must work with. No rule recommends what that version "
        "lacks. Without this key it is the lower bound that the project states for torch in its "
        "requirements, `pyproject.toml`, `setup.cfg` or `setup.py`, and without one the newest "
        "torch that this torchlint knows.",
        'target-torch = "2.1"',
    ),
    "baseline": (
        "string",
        "A file with findings that are known, in the folder of the configuration file or below. "
        "`torchlint check` leaves out what it covers, and `torchlint baseline` writes, checks and "
        "prunes it. `--baseline` names another one, and `--no-baseline` shows everything.",
        'baseline = "torchlint-baseline.json"',
    ),
    "require-reason": (
        "true or false",
        "Whether a comment that silences a finding has to say why, as in "
        "`# torchlint: ignore[TL201] -- the scheduler needs it`. One that does not is reported.",
        "require-reason = true",
    ),
}
"""By name: its type in words, its meaning in Markdown, and an example in TOML."""
