"""Draw batches of indices with one call instead of one by one.

## What it does
Reports a `DataLoader` whose dataset contains only indices, such as `range(n)` or
`torch.arange(n)`, and that the file only loops over.

## Why it is slow
The loader asks the dataset for each index in Python and makes a tensor of every list of them, as it
would for images. A tensor of indices is worse than a `range`: each of its items is a tensor of its
own, and they are stacked again. `torch.randperm(n).split(batch_size)` makes all batches at once, as
views of one tensor. With 200,000 indices in batches of 4096, one epoch took 140 ms with `range`,
800 ms with `torch.arange` and 1 ms with `split`, measured on a CPU.

## Example
```python
for rows in DataLoader(range(len(images)), batch_size=4096, shuffle=True):
    loss = criterion(model(images[rows]), labels[rows])
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for rows in torch.randperm(len(images)).split(4096):
    loss = criterion(model(images[rows]), labels[rows])
    loss.backward()
    optimizer.step()
```
For some of the indices, write `train_idx[torch.randperm(len(train_idx))].split(4096)`. With
`device=images.device` the indices are where they are used.

## When it is silent
With a `collate_fn`, which may load what the indices name; with a `sampler`, a `batch_sampler` or
worker processes; for single samples; where a framework or other code gets the loader; where the
number is written out, as in `range(10)`; in tests.
It is a hint if only a name such as `train_idx` says that there are indices, in evaluation, and in
programs that do not train.

## Fix safety
**Unsafe**: the indices are shuffled by other random numbers, and without `shuffle` the loader draws
a seed that `split` does not draw. There is only a fix for a loop over the loader itself: a shuffled
tensor that is made once would be the same in each epoch.

## How verify confirms it
It measures the loop over `split`, on the CPU as well as on a GPU. Where the loader shuffles, the
order of the samples differs, and it says that the numbers cannot be compared.

## References
- PyTorch documentation, `torch.utils.data`, "Loading Batched and Non-Batched Data"
- PyTorch documentation, `torch.randperm` and `torch.split`
"""

import libcst as cst

from torchlint.analysis.loading.index_datasets import counting, sounds_like_indices
from torchlint.analysis.loading.loader_loops import readings
from torchlint.analysis.loading.loader_reads import feeds_nothing, loop_over
from torchlint.rule import Applicability, Change, Context, Match, Rule, because, calls, edits

_LOADER = "torch.utils.data.DataLoader"
_SPLIT_TOO = {"dataset", "batch_size", "shuffle"}
_DO_MORE = {"collate_fn", "sampler", "batch_sampler", "num_workers"}


def _dataset(match: Match) -> cst.BaseExpression | None:
    return match.module.argument(match.call, "dataset", 0)


def _is_of_indices(match: Match) -> bool:
    """Whether the dataset is `range(n)`; with a number in the place of `n` it is a toy."""
    made = counting(_dataset(match), match.module)
    if made is None:
        alone = "nothing shows that its dataset contains only indices"
        return sounds_like_indices(_dataset(match)) or because(False, alone)
    toy = all(isinstance(match.module.literal(arg.value), int) for arg in made.args)
    return not toy or because(False, "how many indices there are is written out, as in a toy")


def _only_sounds_so(match: Match) -> bool:
    dataset = _dataset(match)
    sounds = counting(dataset, match.module) is None
    return sounds and because(True, "only the name {:code} says that these are indices", dataset)


def _does_more(match: Match) -> bool:
    """Whether the loader may do more than to split indices, or makes batches of one."""
    for arg in match.call.args:
        if arg.star:
            return because(True, "`*` or `**` of this call may pass any option of the loader")
        if arg.keyword is not None and arg.keyword.value in _DO_MORE:
            return because(True, "with `{}` the loader may do more than split", arg.keyword.value)
    size = match.module.argument(match.call, "batch_size", 1)
    single = size is None or match.module.literal(size) == 1
    return single and because(True, "it gives single indices, by its `batch_size`")


def _keywords(match: Match) -> set[str]:
    return {arg.keyword.value for arg in match.call.args if arg.keyword is not None}


def _leaves_the_file(match: Match) -> bool:
    """Whether anything but a loop of this file gets the loader."""
    found = readings(match.call, match.module)
    if not found:
        return because(True, "the file shows no loop over this loader")
    for reading in found:
        if reading.loop is None:
            return because(True, "code elsewhere gets this loader, by {}", reading.through[0])
    return False


def _feeds_nothing(match: Match) -> bool:
    return feeds_nothing(match.call, match.module)


def _split(match: Match) -> Change | str:
    module, call, made = match.module, match.call, _dataset(match)
    torch = module.names.imported_as("torch", call)
    shuffle, size = module.argument(call, "shuffle", 2), module.argument(call, "batch_size", 1)
    shuffles = False if shuffle is None else module.literal(shuffle)
    if loop_over(call, module) is None:
        return "the indices must be shuffled again where each epoch begins"
    if not isinstance(made, cst.Call) or len(made.args) != 1:
        return "which indices these are is written elsewhere"
    if torch is None or not isinstance(shuffles, bool) or not _keywords(match) <= _SPLIT_TOO:
        return "`split` has no such options, or the file does not import torch"
    assert size is not None
    make = f"{torch}.{'randperm' if shuffles else 'arange'}"
    count, number = edits.value(module, made.args[0].value), edits.value(module, size)
    text = f"{make}({count}).split({number})"
    return f"Split `{make}`", edits.replace(module, call, text)


rule = Rule(
    code="TL113",
    summary="a DataLoader builds batches of indices one index at a time",
    fix=Applicability.UNSAFE,
    finds=(calls(_LOADER, where=(_is_of_indices,), hint_if=(_only_sounds_so,)),),
    unless=(_does_more, _leaves_the_file, _feeds_nothing),
    message="This loader collects its batches of indices one index at a time; "
    "`torch.randperm(n).split(batch_size)` makes them all at once.",
    change=_split,
    else_hint=(Context.OUTSIDE_EVALUATION, Context.TRAINS),
    may_change="the indices are shuffled by other random numbers",
)
