"""Questions about a file that are answered once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.analysis.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module


def test_a_file_keeps_the_answer_to_the_same_question(module_of: Callable[..., Module]) -> None:
    asked = []

    @once
    def lines_with(word: str, module: Module) -> int:
        asked.append(word)
        return sum(word in line for line in module.lines)

    first, second = module_of("a\na\n"), module_of("a\n")
    answers = [lines_with(word, file) for file in (first, first, second) for word in ("a", "b")]
    assert answers == [2, 0, 2, 0, 1, 0]
    assert asked == ["a", "b", "a", "b"]
