"""The number of findings of each rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.finding import Finding


def render(findings: Iterable[Finding]) -> Iterator[str]:
    """Lines of count, code, name and how many have a fix; the most frequent first."""
    for entry in counts(findings):
        fixable = f" ({entry['fixable']} with a fix)" if entry["fixable"] else ""
        yield f"{entry['count']:>6}  {entry['code']}  {entry['name']}{fixable}"


def render_json(findings: Iterable[Finding]) -> str:
    """The same as a JSON list."""
    import json

    return json.dumps(counts(findings), indent=2)


def counts(findings: Iterable[Finding]) -> list[dict[str, str | int]]:
    """`code`, `name`, `count` and `fixable` per rule, the most frequent first."""
    total: Counter[tuple[str, str]] = Counter()
    fixable: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        total[finding.code, finding.name] += 1
        fixable[finding.code, finding.name] += finding.fix is not None
    return [
        {"code": code, "name": name, "count": count, "fixable": fixable[code, name]}
        for (code, name), count in sorted(total.items(), key=lambda item: (-item[1], item[0]))
    ]
