"""`torchlint rule`: explains the rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torchlint.cli.command import Command
from torchlint.cli.options import DEBUG, output_format
from torchlint.cli.printing import print_lines
from torchlint.cli.targets import require_rules

if TYPE_CHECKING:
    from torchlint.profile.kind import Kind
    from torchlint.ruleapi.rule import Rule

_EPILOG = """\b
Examples:
  torchlint rule                         list all rules
  torchlint rule TL201                   show a rule's page: what, why, example, fix safety
  torchlint rule item-in-step-loop       the same by name
  torchlint rule TR101                   the page of a finding of `torchlint profile`
  torchlint rule --output-format json    for programs

\b
Exit codes: 0, or 2 for a rule that does not exist.
"""


@click.command("rule", cls=Command, epilog=_EPILOG)
@click.argument("rule", required=False, metavar="[CODE|NAME]")
@output_format("text", "json")
@DEBUG
def command(rule: str | None, output_format: str) -> None:
    """Explain a rule, or list all of them."""
    from torchlint.report import rules
    from torchlint.ruleapi.registry import all_rules

    require_rules()
    if rule is not None and (kind := _kind(rule)) is not None:
        print_lines(kind.page.strip().splitlines())
        return
    if rule is None:
        listed = list(all_rules().values())
        if output_format == "json":
            print_lines([rules.as_json(listed)])
        else:
            print_lines(rules.table(listed))
        return
    chosen = find(rule)
    if output_format == "json":
        print_lines([rules.as_json([chosen])])
    elif sys.stdout.isatty():
        rules.print_page(chosen)
    else:
        print_lines([rules.page(chosen)])


def _kind(word: str) -> Kind | None:
    """The kind of run-time finding with this code or name."""
    from torchlint.config.settings import normalised
    from torchlint.profile.catalogue import all_kinds

    (wanted,) = normalised([word]) or ("",)
    return next((k for k in all_kinds().values() if wanted in (k.code, k.name)), None)


def find(word: str) -> Rule:
    """The rule with this code or name.

    Raises:
        click.UsageError: there is none.
    """
    from torchlint.config.settings import LISTED, nearest, normalised
    from torchlint.ruleapi.registry import all_rules

    (wanted,) = normalised([word]) or ("",)
    for rule in all_rules().values():
        if wanted in (rule.code, rule.name):
            return rule
    words = [word for rule in all_rules().values() for word in (rule.code, rule.name)]
    hint = nearest(wanted, words, LISTED)
    raise click.UsageError(f"There is no rule `{word}`{hint}.")
