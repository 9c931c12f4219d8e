"""Tokenize many texts with one call.

## What it does
Reports `dataset.map(function)` of Hugging Face Datasets without `batched=True`, where the function
calls a tokenizer.

## Why it is slow
The tokenizers of Transformers are written in Rust and take a list of texts, which they tokenize on
all processors. One call for each text takes one processor and the overhead of a call, and the
dataset is read and written row by row. This is paid once for each cache of the result, and on each
epoch for a streamed dataset.

## Example
```python
import datasets

texts = datasets.load_dataset("imdb", split="train")
texts = texts.map(lambda row: tokenizer(row["text"], truncation=True))
```

## Use instead
```python
import datasets

texts = datasets.load_dataset("imdb", split="train")
texts = texts.map(lambda rows: tokenizer(rows["text"], truncation=True), batched=True)
```

## When it is silent
For functions of other files, for other classes that have a `map`, where `**kwargs` may contain the
argument, with tokenizers in Python (`use_fast=False`), and in tests.
It is a hint: for a few thousand texts it makes no difference.

## Fix safety
There is no fix: with `batched=True` the function gets a dict of lists, and code that builds a
prompt from one row must go over them.

## How verify confirms it
It cannot: there is no fix, and the work is not part of a step.

## References
- Datasets documentation, "Process: batch processing"
- Tokenizers documentation, `Tokenizer.encode_batch`
"""

import libcst as cst

from torchlint.rule import Argument, Match, Module, Rule, Tier, because, method, once

from ._tokenizers import mapped_function, tokenizes


def _tokenizes(match: Match) -> bool:
    function = mapped_function(match.call, match.module)
    if function is None:
        return because(False, "the file does not show the function that `map` gets")
    alone = "the function in {:line} calls nothing that is known to be a tokenizer"
    return _calls_tokenizer(match.module, function) or because(False, alone, function)


@once
def _calls_tokenizer(module: Module, function: cst.FunctionDef | cst.Lambda) -> bool:
    return any(map(tokenizes, module.calls_within(function.body)))


def _is_of_datasets(match: Match) -> bool:
    """Whether the file imports Datasets, and nothing says that another library maps."""
    if not _imports_datasets(match.module):
        return because(False, "the file does not import Datasets of Hugging Face")
    for each in match.call.args:
        if each.keyword is not None and each.keyword.value in ("num_parallel_calls", "chunksize"):
            another = "`{}` is an argument of another library's `map`"
            return because(False, another, each.keyword.value)
    plain = [each for each in match.call.args if each.keyword is None]
    several = "`map` of Datasets gets no second argument without a name"
    return len(plain) < 2 or because(False, several)


@once
def _imports_datasets(module: Module) -> bool:
    return any(name.partition(".")[0] == "datasets" for name in module.imported)


def _is_slow_anyway(match: Match) -> bool:
    """Whether a tokenizer is one in Python, which takes texts one by one."""
    for each in map(match.module.parent, match.module.spelled("use_fast")):
        if isinstance(each, cst.Arg) and match.module.literal(each.value) is False:
            return because(True, "a tokenizer in Python takes texts one by one: {}", each)
    return False


rule = Rule(
    code="TL112",
    summary="a dataset tokenizes its texts one call at a time",
    tier=Tier.HINT,
    triggers=(r"[tT]ok",),
    finds=(
        method(
            "map",
            Argument("batched", bad=False, missing=True),
            where=(_tokenizes, _is_of_datasets),
        ),
    ),
    unless=(_is_slow_anyway,),
    message="The tokenizer is called once for each text; with `batched=True` it takes many at once "
    "and uses all processors.",
)
