"""Interns the parts of results: a thousand files import the same names and make similar calls, so
one copy of each in memory is enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from torchlint.analysis.summary import CallSite

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.summary import FunctionSummary, Summary
    from torchlint.project.map_result import MapResult

_T = TypeVar("_T")


class Shared:
    """Interned parts of all results so far."""

    def __init__(self) -> None:
        self._parts: dict[object, object] = {}

    def of(self, result: MapResult, path: str) -> MapResult:
        """The same result, made of interned parts.

        Args:
            path: the path of the result, as already in memory.
        """
        return replace(
            result,
            path=path,
            imports=self._one(result.imports, lambda names: tuple(map(self._one, names))),
            summary=result.summary and self._summary(result.summary, path),
        )

    def _summary(self, summary: Summary, path: str) -> Summary:
        return replace(
            summary,
            path=path,
            classes=self._one(summary.classes),
            exports=self._one(
                summary.exports,
                lambda exports: tuple(
                    (self._one(name), self._one(dotted)) for name, dotted in exports
                ),
            ),
            functions=self._one(
                summary.functions, lambda functions: tuple(map(self._function, functions))
            ),
        )

    def _function(self, function: FunctionSummary) -> FunctionSummary:
        return replace(
            function,
            name=self._one(function.name),
            parameters=self._one(function.parameters),
            defaults=self._one(function.defaults),
            calls=tuple(map(self._call, function.calls)),
        )

    def _call(self, site: CallSite) -> CallSite:
        return CallSite(
            target=self._one(site.target),
            method=self._one(site.method),
            arguments=self._one(site.arguments),
            loops=self._one(site.loops),
            quiet=site.quiet,
            rare=site.rare,
            demands=self._one(site.demands),
            position=site.position,
        )

    def _one(self, part: _T, made: Callable[[_T], _T] = lambda part: part) -> _T:
        """The interned equal of a part; `made` interns the parts of a new one."""
        kept = self._parts.get(part)
        if kept is None:
            kept = made(part)
            self._parts[kept] = kept
        return cast("_T", kept)
