"""Compute the loss of a language model without a float32 copy of all logits.

## What it does
Reports `logits.float()` and `logits.to(torch.float32)` in the training of a language model, before
its loss or the probabilities of its tokens are computed.

## Why it is slow
Logits are as large as the vocabulary. For 4 texts of 2048 tokens and 128,000 words they take 2 GB
in bfloat16 and 4 GB more in float32; the loss keeps a third tensor of that size, and the backward
pass makes the gradients of each. That is often the peak of a step's memory, and so decides how
large a batch can be.

## Example
```python
logits = model(input_ids=input_ids).logits.float()
loss = F.cross_entropy(logits.view(-1, vocabulary), labels.view(-1))
```

## Use instead
```python
hidden = model.model(input_ids=input_ids).last_hidden_state
loss = 0
for rows, words in zip(hidden.flatten(0, 1).split(1024), labels.flatten().split(1024)):
    loss = loss + checkpoint(token_loss, model.lm_head, rows, words, use_reentrant=False)
```
Here `token_loss` makes the logits of 1024 tokens, casts these alone, and adds up their loss; the
backward pass computes them again. A fused loss does all of that in a kernel, such as
`torch.nn.functional.linear_cross_entropy` with `options`, which torch has since 2.13, or that of
Liger. Where only the probabilities of the labels are needed, take `logits.gather(…)` minus
`logits.logsumexp(-1)`, row by row, and not a `log_softmax` of everything.

## When it is silent
- In files that say nothing of tokens or a vocabulary, or compute neither a loss nor probabilities.
- For the logits of a single token (`logits[:, -1]`) and of a single class (`.squeeze(-1)`).
- In functions and classes that speak of chunks; in files, functions and classes that are named
  after the choice of tokens: generation, decoding, sampling, inference.
- Where gradients are off, in evaluation, and in tests.

It is a hint where nothing shows that it runs on each training step, or that the logits are the
`.logits` of a model that takes `input_ids`: with a small vocabulary the copy is small.

## Fix safety
There is no fix: how to compute a loss in chunks depends on what else uses the logits.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares with your own
version; the loss is equal up to rounding.

## References
- PyTorch issue 124480 compares the time and memory of losses over a large vocabulary
- Liger Kernel, "FusedLinearCrossEntropy"
"""

import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.because import Unlike
from torchlint.rule import Context, Effect, Match, Rule, because, method

_LANGUAGE: Final = re.compile(r"input_ids|vocab|lm_head|tokens?(?![a-z])")
_CHUNKS: Final = re.compile(r"(?i:chunked|(?:num|n)_chunks|chunk_size)|def \w*chunk")
_LOSS: Final = re.compile(r"cross_entropy|CrossEntropy|log_softmax|logsumexp|log_?prob|logp")
_WIDE: Final = frozenset({"torch.float32", "torch.float"})

_CHOOSES: Final = re.compile(r"(?i)decode(?!r)|decoding|generat|infer|sampl|schedul|search")
"""What chooses tokens, and has no gradients."""


def _widens(match: Match) -> bool:
    """`.float()`, `.to(torch.float32)`, `.to(dtype=torch.float32)`."""
    call, module = match.call, match.module
    if method_name(call) == "float" and not call.args:
        return True
    dtypes = [arg.value for arg in call.args if not arg.keyword or arg.keyword.value == "dtype"]
    wide = any(not _WIDE.isdisjoint(module.resolve(each)) for each in dtypes)
    return wide or because(False, Unlike("{:code} casts nothing to float32"), call)


def _are_logits(match: Match) -> bool:
    """Whether it is done to the logits of all tokens."""
    logits, module = receiver(match.call), match.module
    cut = logits.slice if isinstance(logits, cst.Subscript) else ()
    if any(isinstance(each.slice, cst.Index) and not _keeps(each.slice.value) for each in cut):
        return because(False, "{:code} are the logits of a part", logits)
    whole = logits.value if isinstance(logits, cst.Subscript) else logits
    name = whole.attr if isinstance(whole, cst.Attribute) else whole
    given = module.enclosing(match.call, cst.Assign)
    called = given.targets[0].target if given is not None and given.value is match.call else name
    if not any("logits" in dotted_text(each).lower() for each in (name, called)):
        return because(False, "nothing shows that {:code} are logits", logits)
    taken = module.parent(match.call)
    if isinstance(taken, cst.Attribute) and taken.attr.value == "squeeze":
        return because(False, "they are squeezed, so there is one class")
    return True


def _keeps(index: cst.BaseExpression) -> bool:
    """`logits[mask]` and `logits[...]`, but not `logits[:, -1]`."""
    return isinstance(index, cst.Name | cst.Ellipsis)


def _is_of_a_language_model(match: Match) -> bool:
    text = match.module.text
    if not _LANGUAGE.search(text) or not _LOSS.search(text):
        return because(False, "nothing in the file shows a loss over a vocabulary")
    module = match.module
    if _CHOOSES.search(module.path + module.qualified_name(module.function(match.call))):
        return because(False, "the name of the file or function says that it chooses tokens")
    for scope in (module.function(match.call), module.class_(match.call)):
        if scope is not None and _CHUNKS.search(module.source(scope)):
            return because(False, "{} computes in chunks already", scope)
    return True


def _may_be_few(match: Match) -> bool:
    """Whether nothing shows that they are over a vocabulary, as `model(input_ids).logits` are."""
    whole = receiver(match.call)
    whole = whole.value if isinstance(whole, cst.Subscript) else whole
    sure = isinstance(whole, cst.Attribute) and "input_ids" in match.module.text
    return not sure and because(True, "{:code} may be over a few classes", whole)


rule = Rule(
    code="TL313",
    effect=Effect.LARGE,
    summary="the logits of a language model are copied to float32 as a whole",
    finds=(
        method(
            *("float", "to"),
            where=(_widens, _are_logits, _is_of_a_language_model),
            hint_if=(_may_be_few,),
        ),
    ),
    message="This copies the logits, which are as large as the vocabulary, to float32, and so are "
    "their gradients; compute the loss in chunks of tokens, or by a fused kernel.",
    change="how to compute the loss in chunks depends on what else uses the logits",
    contexts=(Context.OUTSIDE_EVALUATION, Context.TRAINS),
    else_hint=(Context.HOT,),
    triggers=(
        r"ogits\w{0,40}(?:\[[^\]\r\n]{0,80}\])?\.(?:float\(|to\()"
        r"|ogits\w{0,40} = [^\r\n]{0,120}\.(?:float\(|to\()",
    ),
)
