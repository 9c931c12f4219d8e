"""Results with their parts in common: a thousand files import the same names and make calls that
look alike, and one of each in memory is enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from torchlint.syntax.summary import CallSite

if TYPE_CHECKING:
    from torchlint.lint.mapping import MapResult
    from torchlint.syntax.summary import FunctionSummary, Summary

_T = TypeVar("_T")


class Shared:
    """The parts of all results so far."""

    def __init__(self) -> None:
        self._parts: dict[object, object] = {}

    def of(self, result: MapResult) -> MapResult:
        """The same result, made of parts that others have too."""
        return replace(
            result,
            path=self._one(result.path),
            imports=tuple(map(self._one, result.imports)),
            summary=result.summary and self._summary(result.summary),
        )

    def _summary(self, summary: Summary) -> Summary:
        return replace(
            summary,
            path=self._one(summary.path),
            classes=self._one(summary.classes),
            exports=tuple((self._one(name), self._one(dotted)) for name, dotted in summary.exports),
            functions=tuple(map(self._function, summary.functions)),
        )

    def _function(self, function: FunctionSummary) -> FunctionSummary:
        return replace(
            function,
            name=self._one(function.name),
            parameters=self._one(function.parameters),
            calls=tuple(map(self._call, function.calls)),
        )

    def _call(self, site: CallSite) -> CallSite:
        """A site of its own, since `Calls` tells sites by their identity."""
        return CallSite(
            target=self._one(site.target),
            method=self._one(site.method),
            arguments=self._one(site.arguments),
            loops=self._one(site.loops),
            quiet=site.quiet,
            rare=site.rare,
        )

    def _one(self, part: _T) -> _T:
        return cast("_T", self._parts.setdefault(part, part))
