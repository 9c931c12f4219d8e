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
For functions of other files, for other classes that have a `map`, where `**kwargs` may bring the
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

from torchlint.rule import Argument, Match, Module, Rule, Tier, method

from ._tokenizers import mapped_function, tokenizes


def _tokenizes(match: Match) -> bool:
    function = mapped_function(match.call, match.module)
    return function is not None and match.module.once(_calls_tokenizer, function)


def _calls_tokenizer(module: Module, function: cst.FunctionDef | cst.Lambda) -> bool:
    return any(map(tokenizes, module.calls_within(function.body)))


def _is_of_datasets(match: Match) -> bool:
    """Whether the file imports Datasets, and nothing says that another library maps."""
    others = {"num_parallel_calls", "chunksize"}
    keywords = {each.keyword.value for each in match.call.args if each.keyword is not None}
    plain = [each for each in match.call.args if each.keyword is None]
    return match.module.once(_imports_datasets) and keywords.isdisjoint(others) and len(plain) < 2


def _imports_datasets(module: Module) -> bool:
    return any(name.partition(".")[0] == "datasets" for name in module.imported)


def _is_slow_anyway(match: Match) -> bool:
    return match.module.once(_has_slow_tokenizer)


def _has_slow_tokenizer(module: Module) -> bool:
    """Whether a tokenizer is one in Python, which takes texts one by one."""
    named = map(module.parent, module.spelled("use_fast"))
    return any(isinstance(each, cst.Arg) and module.literal(each.value) is False for each in named)


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
