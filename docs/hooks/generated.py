"""Pages and parts of pages that are generated from the code: rules, commands, configuration."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from torchlint.cli import torchlint
from torchlint.config.keys import KEYS
from torchlint.config.settings import Settings
from torchlint.profile.catalogue import all_kinds
from torchlint.report.fix_evidence import page_of
from torchlint.report.rules import fixes
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.kind import FindingKind
    from torchlint.ruleapi.rule_definition import Rule

FAMILIES: Final = {
    "data": "Loading data",
    "sync": "Waiting for the device",
    "cudnn": "cuDNN",
    "model": "Models",
    "optimizer": "Optimizers and gradients",
    "precision": "Precision and compilation",
    "distributed": "Several GPUs",
    "evaluation": "Evaluation and debugging",
    "measurement": "Measuring",
    "advice": "Advice and old APIs",
    "suppressions": "Suppression comments",
}
"""Headings of the families of rules; the default is the name of the family."""
ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs/configuration.md"
"""The page with all keys of the configuration."""
_KINDS: Final = "torchlint/profile/kinds"
_WIDTH: Final = 84


def pages() -> dict[str, str]:
    """The generated pages by their place on the site."""
    rules = all_rules().values()
    return {
        "rules/index.md": _rule_index(),
        **{f"rules/{rule.name}.md": _rule_page(rule) for rule in rules},
        "runtime/index.md": _kind_index(),
        **{f"runtime/{kind.name}.md": _kind_page(kind) for kind in all_kinds().values()},
        "commands.md": "\n".join(_commands()),
    }


@cache
def origins() -> dict[str, str]:
    """The pages on rules and findings by what they are made from, to which pages in docs/ link."""
    rules, kinds = all_rules().values(), all_kinds().values()
    return {
        "rules/README.md": "rules/index.md",
        **{_rule_file(rule): f"rules/{rule.name}.md" for rule in rules},
        _KINDS: "runtime/index.md",
        **{_kind_file(kind): f"runtime/{kind.name}.md" for kind in kinds},
    }


def rule_navigation() -> list[object]:
    """Entries of the navigation: the index, then each rule under its family."""
    families = [
        {heading: [{rule.name: f"rules/{rule.name}.md"} for rule in rules]}
        for heading, rules in _families().items()
    ]
    return ["rules/index.md", *families]


def kind_navigation() -> list[object]:
    """The same for the findings of `profile`."""
    return [
        "runtime/index.md",
        *({kind.name: f"runtime/{kind.name}.md"} for kind in all_kinds().values()),
    ]


def filled_in(markdown: str) -> str:
    """The page of the configuration, with what is below its mark made again: all keys, with
    their defaults. `python docs/hooks/generated.py` writes it."""
    head, mark, _ = markdown.partition("<!-- generated: configuration -->\n")
    return f"{head}{mark}\n{configuration()}" if mark else markdown


# rules -------------------------------------------------------------------------------------


def _families() -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in all_rules().values():
        found.setdefault(FAMILIES.get(rule.family, rule.family), []).append(rule)
    return found


def _rule_index() -> str:
    parts = [
        "# Rules\n\n"
        "The last column is the strongest fix that a rule offers. A **safe** fix keeps the values "
        "of every program that matches; an **unsafe** one may change results, memory or "
        "checkpoints, and needs `--unsafe`. A single finding may have a weaker fix, or none; then "
        "torchlint says why. `torchlint rule CODE` shows the same pages in the terminal.\n"
    ]
    for heading, rules in _families().items():
        rows = [
            f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.summary} "
            f"| {rule.effect.value} | {fixes(rule)} |\n"
            for rule in rules
        ]
        head = "| code | name | what it reports | effect | fix |\n|---|---|---|---|---|\n"
        parts.append(f"## {heading}\n\n{head}{''.join(rows)}")
    return "\n".join(parts)


def _rule_file(rule: Rule) -> str:
    return Path(rule.path).relative_to(ROOT).as_posix()


def _rule_page(rule: Rule) -> str:
    file = _rule_file(rule)
    title, _, text = page_of(rule).strip().partition("\n")
    shown = {"default": "always", "hint": "with `--hints`"}.get(rule.tier.value, rule.tier.value)
    facts = (
        "| code | shown | expected effect | fix | added in |\n|---|---|---|---|---|\n"
        f"| **{rule.code}** | {shown} | {rule.effect.value}: {rule.effect.meaning} "
        f"| {fixes(rule)} | {rule.added} |\n"
    )
    more = []
    if rule.may_change:
        more.append(f"The fix may change the computed numbers: {rule.may_change}.")
    if rule.needs_gpu:
        more.append("The saving shows only on a GPU.")
    source = f"## Source\n\n[`{file}`](../../{file})\n"
    return "\n\n".join([f"# {rule.name}", title, facts, *more, text.strip(), source])


# findings of profile -------------------------------------------------------------------------


def _kind_index() -> str:
    rows = [
        f"| {kind.code} | [{kind.name}]({kind.name}.md) | {kind.summary} |\n"
        for kind in all_kinds().values()
    ]
    return (
        "# Findings of profile\n\n"
        "[`torchlint profile`](../profile.md) runs a script and reports these. The first digit is "
        "the family of the [rules](../rules/index.md) that `check` has for the same subject.\n\n"
        f"| code | name | what it reports |\n|---|---|---|\n{''.join(rows)}"
    )


def _kind_file(kind: FindingKind) -> str:
    return f"{_KINDS}/{kind.name.replace('-', '_')}.py"


def _kind_page(kind: FindingKind) -> str:
    file = _kind_file(kind)
    title, _, text = kind.page.strip().partition("\n")
    source = f"## Source\n\n[`{file}`](../../{file})\n"
    return "\n\n".join([f"# {kind.name} ({kind.code})", title, text.strip(), source])


# commands ----------------------------------------------------------------------------------


def _commands() -> Iterator[str]:
    yield "# Commands\n\nThe `--help` text of each command.\n"
    yield from _helped(torchlint, "torchlint", None)


def _helped(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, parent=parent, info_name=name, **command.context_settings)
    context.terminal_width = context.max_content_width = _WIDTH
    yield f"## {context.command_path}\n\n```text\n{context.get_help().rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            if inner is not None and not inner.hidden:
                yield from _helped(inner, each, context)


# configuration -----------------------------------------------------------------------------


def configuration() -> str:
    """A section for each key of the configuration."""
    defaults = Settings(root="")._asdict()
    parts = []
    for key, (kind, meaning, example) in KEYS.items():
        default = _toml(key, defaults.get(key.replace("-", "_"), ()))
        parts.append(
            f"### {key}\n\n{meaning}\n\n**Type:** {kind}  \n**Default:** {default}\n\n"
            f"```toml\n[tool.torchlint]\n{example}\n```\n"
        )
    return "\n".join(parts)


def _toml(key: str, value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        shown = json.dumps(list(value))
        return f"`{'{}' if key == 'per-file-ignores' else shown}`"
    return f"`{json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(filled_in(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
