"""`torchlint rule`: explains the rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torchlint.cli.command import Command
from torchlint.cli.options import DEBUG, output_format
from torchlint.cli.planning import require_rules
from torchlint.cli.printing import print_lines

if TYPE_CHECKING:
    from torchlint.ruleapi.rule_definition import Rule


@click.command("rule", cls=Command)
@click.argument("rule", required=False, metavar="[CODE|NAME|FAMILY]")
@output_format("text", "json")
@DEBUG
def command(rule: str | None, output_format: str) -> None:
    """Explain a rule, or list those of a family, or all of them.

    \f
    Examples:
      torchlint rule                         list all rules
      torchlint rule TL201                   show a rule's page: what, why, example, fix safety
      torchlint rule item-in-step-loop       the same by name
      torchlint rule TL2                     list the rules of a family
      torchlint rule TR101                   the page of a finding of `torchlint profile`
      torchlint rule --output-format json    for programs

    Exit codes: 0, or 2 for a rule that does not exist.
    """
    from torchlint.profile.catalogue import kind_named
    from torchlint.report import rules
    from torchlint.ruleapi.registry import all_rules

    require_rules()
    if rule is not None and (kind := kind_named(rule)) is not None:
        print_lines(kind.page.strip().splitlines())
        return
    listed = list(all_rules().values()) if rule is None else family(rule)
    if rule is None or listed:
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


def family(word: str) -> list[Rule]:
    """The rules of a family such as TL2, as `--select` takes it; none if it is not a family."""
    from torchlint.config.settings import normalised, unknown_selector
    from torchlint.ruleapi.registry import all_rules

    (entry,) = normalised([word]) or ("",)
    names = {rule.code: rule.name for rule in all_rules().values()}
    if entry in names or entry in names.values() or unknown_selector((entry,), names):
        return []
    return [rule for rule in all_rules().values() if entry == "ALL" or rule.code.startswith(entry)]


def find(word: str) -> Rule:
    """The rule with this code or name.

    Raises:
        click.UsageError: there is none.
    """
    from torchlint.config.settings import ConfigError
    from torchlint.ruleapi.registry import rule_named

    try:
        return rule_named(word)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
