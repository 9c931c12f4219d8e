"""A tree made of the last one is the tree that parsing all of it gives."""

from __future__ import annotations

import random
from pathlib import Path

import libcst as cst
import pytest

from torchlint.source.positions import Positions, PositionsByNeed
from torchlint.source.reparse import Trees
from torchlint.source.tree import Tree

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TEXT = """\
# of the module

# of the import
import torch


def first(x):
    return x  # here
    # inside


# above
@torch.no_grad()
def second(x):
    if x:
        return 1
    return 2


class Third:
    pass


first(1)
# last"""


def parsed(trees: Trees, text: str) -> cst.Module | None:
    try:
        return trees.parse("a.py", text)
    except cst.ParserSyntaxError:
        return None


def assert_same(trees: Trees, text: str) -> bool:
    """Whether the text is Python; the tree and all places in it are those of a whole parse."""
    made = parsed(trees, text)
    whole = parsed(Trees(), text)
    assert (made is None) == (whole is None), text
    if made is None or whole is None:
        return False
    assert made.deep_equals(whole), text
    parts = trees.parts("a.py", made)
    if parts:
        positions = PositionsByNeed(made, text, Tree(made).ancestors, parts)
        all_at_once = Positions(made, text)
        for kind in (cst.Name, cst.Call, cst.FunctionDef, cst.SimpleStatementLine, cst.Expr):
            for node in Tree(made).nodes(kind):
                assert positions.span(node) == all_at_once.span(node)
    return True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1", "return 10"),
        ("# above", "# further above"),
        ("    # inside\n", ""),
        ("    # inside\n", "    # inside\n\n    # and more\n"),
        ("# of the module", "# of the file"),
        ("# of the import\n", ""),
        ("import torch\n", ""),
        ("class Third:\n    pass\n", ""),
        ("class Third:\n    pass\n", "class Third:\n  pass\n"),
        ("    return 2\n", "    return 2\n    x = (\n"),
        ("@torch", "else:\n    pass\n@torch"),
        ("    return 2\n", '    return """2\n'),
        ("# last", ""),
        ("# last", "# last\n"),
        ("\n# last", ""),
        ("first(1)", "first(1)\n    # odd"),
        ("first(1)\n", "if x:\n    first(1)\n    # odd\n"),
        ("\n\n\nclass", "\n\n\n# a\n\n\n# b\nclass"),
        ("pass", "pass\r"),
        ("pass", "pass\x0c"),
    ],
)
def test_an_edit_gives_the_same_tree_as_a_whole_parse(old: str, new: str) -> None:
    trees = Trees()
    for text in (TEXT, TEXT.replace(old, new), TEXT, TEXT.replace(old, new) + "\nx = 1\n"):
        assert_same(trees, text)


def test_statements_that_an_edit_does_not_touch_are_the_same_nodes() -> None:
    trees = Trees()
    before = trees.parse("a.py", TEXT)
    after = trees.parse("a.py", TEXT.replace("first(1)", "first(2)"))
    assert after.body[0] is before.body[0]
    assert after.body[1] is before.body[1]
    assert after.body[-1] is not before.body[-1]


def test_text_that_is_not_python_does_not_cost_the_last_tree() -> None:
    trees = Trees()
    before = trees.parse("a.py", TEXT)
    assert parsed(trees, TEXT + "\n(") is None
    assert trees.parse("a.py", TEXT + "\n()\n").body[0] is before.body[0]


def test_only_the_files_of_late_are_kept() -> None:
    trees = Trees()
    before = trees.parse("a.py", TEXT)
    for number in range(10):
        trees.parse(f"{number}.py", TEXT)
    assert trees.parse("a.py", TEXT).body[0] is not before.body[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_edits_give_what_a_whole_parse_gives(seed: int) -> None:
    chance = random.Random(seed)
    text = (FIXTURES / "seven" / "train.py").read_text()
    trees = Trees()
    sound = sum(assert_same(trees, text) for text in edits(text, chance))
    assert sound > 30


def edits(text: str, chance: random.Random) -> list[str]:
    """Texts, each after one more thing that somebody may do; half of those that break are undone."""
    found = []
    for _ in range(100):
        lines = text.splitlines(keepends=True)
        here, there = chance.randrange(len(lines)), chance.randrange(len(lines))
        indent = lines[there][: len(lines[there]) - len(lines[there].lstrip())].strip("\n")
        match chance.randrange(6):
            case 0:
                lines[here] = lines[here].replace(chance.choice("aeiou019"), "x1", 1)
            case 1:
                del lines[here : here + chance.choice([1, 1, 3, 20])]
            case 2:
                lines.insert(
                    here, f"{indent}{chance.choice(['# note', 'x = 1', 'if x:', '(', ''])}\n"
                )
            case 3:
                lines[here:here] = lines[there : there + chance.choice([1, 5, 30])]
            case 4:
                lines.insert(here, chance.choice(["\n", "# note\n", "'''\n", "@x\n", "else:\n"]))
            case _:
                lines[here] = lines[here].rstrip("\n") + chance.choice(
                    ["\n", "  # note\n", " \\\n"]
                )
        found.append("".join(lines))
        try:
            cst.parse_module(found[-1])
        except cst.ParserSyntaxError:
            continue
        if lines:
            text = found[-1]
    return found
