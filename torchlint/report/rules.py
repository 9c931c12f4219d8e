"""Rules for people and programs: the list, and the page of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.report.fix_evidence import page_of
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.ruleapi.rule_definition import Rule


def table(rules: Sequence[Rule]) -> Iterator[str]:
    """One line per rule in columns: code, name, tier, fix, summary."""
    rows = [("CODE", "NAME", "SHOWN", "EFFECT", "FIX", "SUMMARY")]
    rows += [
        (
            rule.code,
            rule.name,
            rule.tier.value,
            rule.effect.value,
            fixes(rule),
            rule.summary,
        )
        for rule in rules
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield visible("  ".join([*cells, row[5]]))


def fixes(rule: Rule) -> str:
    """What its fixes promise: `safe`, `safe or unsafe`, `none`."""
    return " or ".join(each.words.partition(" ")[0] for each in rule.promises) or "none"


def as_json(rules: Sequence[Rule]) -> str:
    """A JSON list with everything a program can know about each rule."""
    import json

    return json.dumps(
        [
            {
                "code": rule.code,
                "name": rule.name,
                "family": rule.family,
                "tier": rule.tier.value,
                "effect": rule.effect.value,
                "fix": rule.promises[0].value if rule.promises else None,
                "fixes": [each.value for each in rule.promises],
                "summary": rule.summary,
                "added": rule.added,
                "torch": {"since": _version(rule.since), "until": _version(rule.until)},
                "page": page(rule),
                "url": rule.url,
            }
            for rule in rules
        ],
        indent=2,
    )


def _version(torch: tuple[int, int] | None) -> str | None:
    return None if torch is None else f"{torch[0]}.{torch[1]}"


def page(rule: Rule) -> str:
    """The rule's page as Markdown: a heading, its facts, then its
    module's docstring with what was measured."""
    fix = f"{fixes(rule)} fix" if rule.promises else "no fix"
    effect = f"{rule.effect.value} effect: {rule.effect.meaning}"
    facts = f"{rule.family} · {rule.tier.value} · {effect} · {fix} · added in {rule.added}"
    text = f"# {rule.name} ({rule.code})\n\n{facts}\n\n{page_of(rule).strip()}"
    if rule.url is not None:
        text += f"\n\n{rule.url}"
    return "\n".join(visible(line) for line in text.split("\n"))


def print_page(rule: Rule) -> None:
    """Prints the page for a person at a terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(Markdown(page(rule)), width=min(console.width, 100))
