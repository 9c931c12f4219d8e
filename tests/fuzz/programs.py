"""Python programs for fuzzing: any that the grammar gives, with much of one thing, and real ones
that were tampered with."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import hypothesmith
from hypothesis import strategies as st

from benchmarks.grammar import PROGRAM, shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from benchmarks.grammar import Shape

    Mutation = Callable[[Random, list[str], str], list[str]]
    """Takes lines with their ends and another program; gives the lines as they are now."""

_DOUBLINGS: Final = 12
_LONGEST: Final = 16_000
"""Characters of a program in which something is piled up: a check of it takes up to a second."""
FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
_BROKEN: Final = 0.1
"""How many mutations stay although the result is not Python, or only that of a newer version."""

_TRAINING: Final = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

{before}
device = torch.device("cuda")
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loader = DataLoader(dataset, batch_size=4)
total = 0.0
for x, y in loader:
    optimizer.zero_grad(set_to_none=False)
    loss = model(x.to(device)).sum()
{inside}
    loss.backward()
    optimizer.step()
    total += loss.item()
{after}
"""

ODD_STATEMENTS: Final = (
    "global loss, optimizer",
    "nonlocal loss",
    "match loss:\n    case [x, *_] if x: pass\n    case {'a': 1, **rest}: loss.item()\n    case _: pass",
    "async def f(loader):\n    async for x in loader: await x.item()",
    "async with a as b: total += loss.item()",
    "if (total := loss.item()) > 1: pass",
    "first, *loader = loader",
    "def g[T: int, *Ts, **P](x: T, /, *, y) -> T: return x.item()",
    "type Loss[T] = list[T]",
    "class C[T](nn.Module, metaclass=M): x: int = DataLoader(dataset)",
    "@(lambda f: f)\ndef h(loss=loss.item()): return float(loss)",
    "try:\n    import torch\nexcept* ImportError:\n    torch = None\nelse: pass\nfinally: pass",
    "try: import torch\nexcept ImportError as torch: pass",
    "print(f\"{f'{loss.item():{width}}'!r:>{total}} {{}} {total=}\")",
    'print(f"{loss.item()!r}" "" rf\'{total}\\d\')',
    "x = y = loss.item()",
    "x: float = loss.item()",
    "total: float",
    "del loss, optimizer",
    "assert loss.item(), loss",
    "with (a as b, c() as optimizer,): pass",
    "while loss.item(): break\nelse: total += loss.item()",
    "loss.item(); total += loss.item(); del x",
    "total \\\n    += \\\n  loss.item()",
    "total -= (\n    loss  # a comment\n    . item(\n    )\n)",
    "lambda *a, k=loss.item(), **kw: (yield)",
    "return loss.item()",
    "import torch as loss, os as optimizer",
    "from torch import *",
    "from . import (\n    loader,  # why\n)",
    "for optimizer in optimizers: optimizer.zero_grad()",
    "for total, in loader: total += loss.item()",
    "for loader[0] in loader: loss.backward()",
    "loader = loader if x else DataLoader(*dataset, **options)",
    "total += loss.item() if x else 0",
    "total += float(loss) + loss.item() * x.size(0)",
    "self.total += loss.cpu().detach().numpy()[0]",
    "losses.append(loss.item())",
    "exec('import torch')",
    "raise loss from optimizer",
    "x = torch.tensor(np.array([1]))",
    "x = torch.tensor([numpy.zeros(3) for _ in loader])",
    "model = nn.DataParallel(model)",
    "for p in model.parameters(): p.grad.zero_()",
    "for p in model.parameters():\n    if p.grad is not None: p.grad.data.zero_()",
    "optimizer.zero_grad()",
    "if x: import torch",
    "if TYPE_CHECKING:\n\tfrom torch import Tensor as loss",
    "...",
    "'''a string\n  of several lines'''",
    "if 1:\n  if 2:\n    loss.item()\n  # a comment at another depth\n   # and another\n  else: pass",
)
ODD_EXPRESSIONS: Final = (
    "({0} := {1})",
    "(*{0},)",
    "f'{{{0}!r:>{{{1}}}}}'",
    "(await {0})",
    "[{0} for {0} in {1} if {0}]",
    "{{**{0}, {1}: {0}}}",
    "(lambda {0}=1, *a, **k: {0})",
    "({0} if {1} else {0})",
    "(yield {0})",
    "(yield from {0})",
    "(not {0})",
    "({0}\n)",
    "(  # odd\n{0})",
    "{0}[{1}:, ..., ::2]",
    "{0}[*{1}]",
    "{0}(*{1}, **{1})",
    "{0}.{1}()",
    "{0}\\\n.{1}",
    "{0}@{1}",
    "-{0}**-1",
    "{0}<{1}<=3 is not None",
    "{0}.item()",
    "float({0})",
    "0x_f",
    "1_0e-1j",
    "b'' rb'\\x'",
)
_TOKEN: Final = re.compile(
    r"#[^\r\n]*|[rRbBuUfF]{0,2}(?:\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*')|\w+|\s+|.",
    re.DOTALL,
)
_NAME: Final = re.compile(r"(?!\d)\w+")


def lines_of(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


# what the grammar gives ----------------------------------------------------------------------


def grammatical() -> st.SearchStrategy[str]:
    """Valid Python: by itself, after an import of torch, and within a training script."""
    grammar = hypothesmith.from_grammar(auto_target=False)
    nodes = hypothesmith.from_node(auto_target=False)
    # Nodes take four times as long for a case.
    texts = st.one_of(*[grammar] * 7, nodes)
    return st.builds(_in_context, texts, st.sampled_from(("alone", "import", *_PLACES)))


_PLACES: Final = ("before", "inside", "after")


def _in_context(text: str, context: str) -> str:
    if context == "alone":
        return text
    if context == "import":
        return "import torch\n" + text
    return training(**{context: text})


def training(before: str = "", inside: str = "", after: str = "") -> str:
    """A training script with this code in some places of it."""
    indented = textwrap.indent(inside, "    ")
    return _TRAINING.format(before=before, inside=indented, after=after)


def odd() -> st.SearchStrategy[str]:
    """A training script with some statements that few write."""
    some = st.lists(st.sampled_from(ODD_STATEMENTS), max_size=3).map("\n".join)
    return st.builds(training, some, some, some)


# too much of one thing -----------------------------------------------------------------------


def piled_up() -> st.SearchStrategy[str]:
    """A training script that nests or repeats one construct up to some thousand times: patterns,
    brackets, short lines of a chain, functions that call each other, reads into one sum."""
    families = list(shapes())
    some = st.integers(0, len(families) - 1)
    sizes = st.integers(2, _DOUBLINGS).map(lambda doublings: 2**doublings)
    return st.builds(lambda number, size: _no_larger(families[number], size), some, sizes)


def _no_larger(family: Shape, size: int) -> str:
    """The program of this size, or of the largest one that can be written and is short enough."""
    while size > 1:
        try:
            text = family.text(size)
        except ValueError:  # this construct cannot be nested in this way
            text = ""
        if 0 < len(text) <= _LONGEST:
            return text
        size //= 2
    return PROGRAM


# real files, tampered with -------------------------------------------------------------------


@cache
def fixtures() -> tuple[str, ...]:
    """The programs of the rules, in a stable order; those in which rules find something, often."""
    paths = [*sorted(FIXTURES.rglob("*.py")), *sorted(FIXTURES.glob("*/bad.py")) * 5]
    return tuple(path.read_text(encoding="utf-8") for path in paths)


def tampered(texts: Sequence[str]) -> st.SearchStrategy[str]:
    """One of these programs after up to eight mutations; the result need not be Python."""
    mutations = st.lists(st.sampled_from(_MUTATIONS), min_size=1, max_size=8)
    # Not `sampled_from`, which shows all of them in its representation.
    some = st.integers(0, len(texts) - 1).map(lambda number: texts[number])
    return st.builds(_mutated, some, some, mutations, st.randoms(use_true_random=True))


def _mutated(text: str, other: str, mutations: Sequence[Mutation], random: Random) -> str:
    lines = lines_of(text)
    for mutation in mutations:
        if not lines:
            break
        now = "".join(mutation(random, list(lines), other))
        if random.random() < _BROKEN or _is_python(now):
            lines = lines_of(now)
    return "".join(lines)


def _is_python(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


def _place(random: Random, lines: Sequence[str]) -> int:
    return random.randrange(len(lines))


def _block(random: Random, lines: Sequence[str]) -> slice:
    start = _place(random, lines)
    return slice(start, start + random.randint(1, 6))


def _without_lines(random: Random, lines: list[str], _: str) -> list[str]:
    block = _block(random, lines)
    return lines[: block.start] + lines[block.stop :]


def _with_lines_twice(random: Random, lines: list[str], _: str) -> list[str]:
    block, place = _block(random, lines), _place(random, lines)
    return lines[:place] + lines[block] + lines[place:]


def _with_lines_swapped(random: Random, lines: list[str], _: str) -> list[str]:
    one, other = _place(random, lines), _place(random, lines)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def _indented(random: Random, lines: list[str], _: str) -> list[str]:
    block, blanks = _block(random, lines), random.choice(("    ", "\t", " ", "\f", "  \t"))
    lines[block] = [blanks + line for line in lines[block]]
    return lines


def _dedented(random: Random, lines: list[str], _: str) -> list[str]:
    block = _block(random, lines)
    lines[block] = [line.removeprefix("    ") for line in lines[block]]
    return lines


def _under_a_header(random: Random, lines: list[str], _: str) -> list[str]:
    """Some lines as the body of a statement around them."""
    block = _block(random, lines)
    header = random.choice(
        (
            *("if x:", "with a as b:", "def f(*args):", "class C:", "try:", "while True:", "else:"),
            *("for x, y in loader:", "async def f():", "case _:", "finally:", "except* E as e:"),
        )
    )
    blanks = _blanks(lines[block.start])
    lines[block] = [f"{blanks}{header}\n", *("    " + line for line in lines[block])]
    return lines


def _with_odd_statement(random: Random, lines: list[str], _: str) -> list[str]:
    place, statement = _place(random, lines), random.choice(ODD_STATEMENTS)
    return [*lines[:place], textwrap.indent(statement, _blanks(lines[place])), "\n", *lines[place:]]


def _with_comment(random: Random, lines: list[str], _: str) -> list[str]:
    place = _place(random, lines)
    comment = random.choice(
        (
            "# why",
            "# torchlint: ignore[TL201]",
            "# torchlint: ignore[TL202, TL201] -- why  # noqa",
            "# torchlint: disable[TL201]",
            "# torchlint: enable[TL201]",
            "# torchlint: ignore-file",
            "# type: ignore",
            "#",
        )
    )
    if random.random() < 0.5:
        return [*lines[:place], " " * random.randrange(9), comment, "\n", *lines[place:]]
    lines[place] = lines[place].rstrip("\r\n") + f"  {comment}\n"
    return lines


def _joined_by_semicolon(random: Random, lines: list[str], _: str) -> list[str]:
    place = _place(random, lines)
    following = "".join(lines[place + 1 : place + 2]).lstrip()
    lines[place : place + 2] = [lines[place].rstrip("\r\n") + "; " + following]
    return lines


def _with_another_file(random: Random, lines: list[str], other: str) -> list[str]:
    others = lines_of(other)
    return lines[: _place(random, lines)] + others[random.randrange(len(others) + 1) :]


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


# tokens


def _on_tokens(change: Callable[[Random, list[str]], list[str]]) -> Mutation:
    def mutation(random: Random, lines: list[str], _: str) -> list[str]:
        return change(random, _TOKEN.findall("".join(lines))) or lines

    return mutation


def _without_token(random: Random, tokens: list[str]) -> list[str]:
    del tokens[_place(random, tokens)]
    return tokens


def _with_token_twice(random: Random, tokens: list[str]) -> list[str]:
    tokens.insert(_place(random, tokens), random.choice(tokens))
    return tokens


def _with_tokens_swapped(random: Random, tokens: list[str]) -> list[str]:
    return _with_lines_swapped(random, tokens, "")


def _names(tokens: Sequence[str]) -> list[int]:
    return [place for place, token in enumerate(tokens) if _NAME.fullmatch(token)]


def _with_other_name(random: Random, tokens: list[str]) -> list[str]:
    """Another name of the file in one place, or wherever the first one is used."""
    names = _names(tokens)
    if not names:
        return tokens
    place, new = random.choice(names), tokens[random.choice(names)]
    if random.random() < 0.5:
        old = tokens[place]
        return [new if token == old else token for token in tokens]
    tokens[place] = new
    return tokens


def _with_odd_expression(random: Random, tokens: list[str]) -> list[str]:
    names = _names(tokens)
    if names:
        place, other = random.choice(names), tokens[random.choice(names)]
        tokens[place] = random.choice(ODD_EXPRESSIONS).format(tokens[place], other)
    return tokens


def _with_odd_blank(random: Random, tokens: list[str]) -> list[str]:
    blank = random.choice(
        ("\\\n", " \\\r\n  ", "\n", "\t", "\f", " \f ", "  ", ";", "\r", "\\\n\n")
    )
    tokens.insert(_place(random, tokens), blank)
    return tokens


def _with_odd_letters(random: Random, tokens: list[str]) -> list[str]:
    letters = random.choice(
        ("é", "λ", "\U0001d499", "\ufb01", "'ü'", "\x00", "\ufeff", "\u2028", "\x0b", "\x1c")
    )
    tokens.insert(_place(random, tokens), letters)
    return tokens


_MUTATIONS: Final[Sequence[Mutation]] = (
    _without_lines,
    _with_lines_twice,
    _with_lines_swapped,
    _indented,
    _dedented,
    _under_a_header,
    _with_odd_statement,
    _with_comment,
    _joined_by_semicolon,
    _with_another_file,
    *map(
        _on_tokens,
        (
            _without_token,
            _with_token_twice,
            _with_tokens_swapped,
            _with_other_name,
            _with_odd_expression,
            _with_odd_blank,
            _with_odd_letters,
        ),
    ),
)
