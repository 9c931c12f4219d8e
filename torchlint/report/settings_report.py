"""The effective settings, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.report.terminal.safe_text import Paint, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.engine.effective_settings import EffectiveSettings, RuleState, SettingValue

_MOST_SHOWN = 8
"""Entries of a list that one line names."""


def render(found: EffectiveSettings, paint: Paint) -> Iterator[str]:
    """The configuration file, the values with their origins, the rules, and what to write."""
    source = found.source
    where = "no configuration file" if source is None else f"settings from {visible_path(source)}"
    yield f"{paint.bold(visible_path(found.path))}: {where}"
    if found.left_out is not None:
        yield f"  {visible(found.left_out)}: it is checked only if it is named itself"
    yield ""
    yield from _values(found.values, paint)
    yield ""
    for state, on in (("On", True), ("Off", False)):
        rules = [rule for rule in found.rules if rule.on is on]
        if rules:
            yield f"{state}:"
            yield from _rules(rules, paint)
    yield ""
    yield from _teach(source)


def _values(values: Sequence[SettingValue], paint: Paint) -> Iterator[str]:
    width = max(len(value.key) for value in values)
    for value in values:
        first, *rest = _shown(value.value)
        yield f"{value.key:<{width}}  {first}  {paint.dim(f'({visible(value.origin)})')}"
        yield from (f"{'':<{width}}  {line}" for line in rest)


def _shown(value: object) -> list[str]:
    """The lines of a value of any key."""
    if value is None or value == ():
        return ["-"]
    if isinstance(value, bool):
        return [str(value).lower()]
    if not isinstance(value, tuple):
        return [visible(str(value))]
    if all(isinstance(each, int) for each in value):
        return [".".join(map(str, value))]
    if all(isinstance(each, tuple) for each in value):
        return [f"{visible(str(key))}: {', '.join(_shown(entry))}" for key, entry in value]
    # The last ones were added by the project.
    hidden = len(value) - _MOST_SHOWN
    named = [visible(str(each)) for each in value[-_MOST_SHOWN:]]
    return [(f"{hidden} more, " if hidden > 0 else "") + ", ".join(named)]


def _rules(rules: Sequence[RuleState], paint: Paint) -> Iterator[str]:
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        name = f"{rule.name:<{width}}"
        yield f"  {paint.red(rule.code)} {name}  {paint.dim(f'({visible(rule.why)})')}"


def _teach(source: str | None) -> Iterator[str]:
    if source is None:
        yield "To change this, write into pyproject.toml, for instance:"
        table = True
    else:
        yield f"To change this, write into {visible_path(source)}, for instance:"
        table = source.endswith("pyproject.toml")
    yield from ["  [tool.torchlint]"] if table else []
    yield '  ignore = ["TL304"]            # codes, families (TL3), names or ALL'
    yield '  extend-exclude = ["third_party"]'
    yield '  target-torch = "2.1"'


def as_json(found: EffectiveSettings) -> str:
    """One object with everything that `render` says."""
    import json

    return json.dumps(
        {
            "path": found.path,
            "source": found.source,
            "left_out": found.left_out,
            "settings": {
                each.key: {"value": _plain(each.value), "from": each.origin}
                for each in found.values
            },
            "rules": [
                {"code": rule.code, "name": rule.name, "on": rule.on, "why": rule.why}
                for rule in found.rules
            ],
        },
        indent=2,
    )


def _plain(value: object) -> object:
    """As the configuration file would have it."""
    if not isinstance(value, tuple):
        return value
    if value and all(isinstance(each, int) for each in value):
        return ".".join(map(str, value))
    if value and all(isinstance(each, tuple) for each in value):
        return {key: _plain(entry) for key, entry in value}
    return [_plain(each) for each in value]
