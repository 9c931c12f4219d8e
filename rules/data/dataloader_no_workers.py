"""Load batches in worker processes, while the model trains.

## What it does
Reports a `DataLoader` whose `num_workers` is missing or 0, if the code shows that each sample
takes work: it reads a file or items of an open HDF5 file, decodes an image, or applies a transform
or a tokenizer. If nothing shows what a sample costs, it is a hint, and so is a loader that is used
for a single evaluation.

The same for the arguments of a trainer of Transformers or TRL, such as `TrainingArguments` and
`SFTConfig`, whose `dataloader_num_workers` is 0 unless it is given: if the file has a dataset or a
collate function that reads images or sounds, or that transforms samples when they are read. If it
tokenizes samples when they are read, it is a hint, and so is an explicit 0.

## Why it is slow
With `num_workers=0` the training process builds each batch itself, between two steps. The GPU
waits while images are decoded, and decoding waits while the GPU computes. Worker processes prepare
the next batches at the same time. How many workers pay off depends on the machine and the dataset:
start with a few, and measure.

## Example
```python
loader = DataLoader(ImageFolder("train", transform), batch_size=64, shuffle=True)
```

## Use instead
```python
loader = DataLoader(ImageFolder("train", transform), batch_size=64, shuffle=True, num_workers=4)
```

## When it is silent
- Samples that are in memory (`TensorDataset`, lists, arrays, a `__getitem__` that only indexes):
  passing them between processes costs more than it saves, up to ten times in our measurements.
- Iterable datasets: each worker would yield all of the data, unless the dataset splits it.
- Datasets that touch the GPU; a batch that is the whole dataset.
- Loaders that are only counted (`len(loader)`), and those whose batches the file only looks at:
  `next(iter(loader))`, a loop that ends after a few of them or only prints.
- Trainers whose texts are tokenized beforehand, or whose arguments a parser fills in.
- `num_workers=args.workers`, unless the program has the option and its default is 0: that is a
  hint. So is a parameter, an attribute or a setting that is 0 by default, if no caller passes a
  number and the program does not read its settings from YAML or TOML.
- `**kwargs` whose content the code does not show, and a 0 next to a comment that gives a reason
  (debugging, Windows, HDF5, determinism).
- The loaders of PyTorch Geometric and DGL, unless they are given 0 workers.
- Tests and documentation.

## Fix safety
`num_workers=4` is **unsafe**: random numbers in the dataset come from other streams than with a
single process, and start-up time and memory use change. There is no fix if worker processes would
break something: there is no `__main__` guard around a loop that runs on import, the dataset or
`collate_fn` uses a lambda or a local function or is of a class that the notebook itself defines
(only forked workers can take these over), the dataset keeps an open file or a random
generator, its `__getitem__` writes to `self`, or the training step calls a method that changes the
dataset, or what it is made with: workers have copies of both.

## How verify confirms it
It measures `num_workers=4` with the steps that wait for data. The first batch, which starts the
workers, is warm-up. Where random numbers in the dataset come from another stream, it says that it
compares the losses after realigning them, or that they cannot be compared.

## References
- `torch.utils.data`, "Single- and Multi-process Data Loading"
- PyTorch performance tuning guide, "Enable asynchronous data loading and augmentation"
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.loading.dataset_classes import Cost, dataset_class
from torchlint.analysis.loading.datasets import changed_by_steps, dataset_of
from torchlint.analysis.loading.loader_reads import Reads, reads_of
from torchlint.analysis.loading.loaders import (
    LOADERS_OF_LIBRARIES,
    Loader,
    forwarding_loader,
    is_left_alone,
    loader_without_workers,
    runs_when_imported,
)
from torchlint.analysis.loading.worker_processes import ONLY_FORKED, holds_local_function
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.batches import collates
from torchlint.rule import (
    Applicability,
    Change,
    Context,
    Effect,
    Fact,
    Finding,
    Module,
    Project,
    Reported,
    Rule,
    Tier,
    because,
    edits,
    once,
    without_fix,
)

from ._tokenizers import mapped_function, tokenizes

_NOT_REPORTED = {
    Cost.MEMORY: "the samples of {} are in memory, and workers would only pass them on",
    Cost.STREAM: "{} is an iterable dataset, and each worker would yield all of its samples",
    Cost.DEVICE: "{} puts samples on the GPU, which workers cannot share",
}
_NO_TABLE = "a sample of {:code} is a row of a table, and no `collate_fn` makes more of it"
_ASK_THERE = "{:code} creates no loader: ask about the line that does"
_NOBODY_KNOWS = "nothing shows that a sample of {} takes work"
_FIXED = "Load with four workers; random numbers drawn in the dataset will differ"
_UNGUARDED = 'the loader is read without an `if __name__ == "__main__"` guard around it'
_IN_NOTEBOOK = f"the notebook itself defines a dataset, {ONLY_FORKED}"
_UNSURE = "the dataset is unknown, and the workers of an iterable dataset repeat its samples"
_COPIED = "workers have copies of what the training step changes in the dataset"
_NAMED = "the number is set elsewhere, and may be of several loaders"
_CHOSEN = "an option decides how many workers there are"
_ON_THE_FLY = ("with_transform", "set_transform")
_MEDIA = frozenset({"images", "audio", "audios", "videos", "raw_speech"})
_READERS = ("PIL.", "cv2.", "torchaudio.", "torchvision.", "librosa.", "soundfile.")
_MAY_BE_OF_TEXTS = re.compile(r"tokeniz|encode|preproc|processor", re.IGNORECASE)
_MEDIA_WORDS = re.compile(r"image|pixel|audio|speech|video|transforms|augment|feature_extractor")


class _Work(NamedTuple):
    """What a sample costs.

    Args:
        reason: what is done for it.
        certain: it is an image, a sound or a file, not a text.
        held: why workers would lose or spoil something.
    """

    reason: str
    certain: bool
    held: str = ""


rule = Rule(
    code="TL101",
    effect=Effect.LARGE,
    summary="a DataLoader builds every batch in the training process",
    fix=Applicability.UNSAFE,
    triggers=(
        r"DataLoader\s*\(|DataLoader as |\([\w.]*DataLoader\)|=\s*[\w.]*DataLoader\s*[\n#]|"
        rf"class \w+\([^)]{{0,200}}Dataset\b|{frameworks.setting_words('loader workers')}",
    ),
    may_change="random numbers are drawn in other processes, so augmentations differ",
)


@rule.on(cst.Call)
def loads_in_the_training_process(call: cst.Call, module: Module) -> Iterable[Reported]:
    loader = loader_without_workers(call, module)
    if loader is None or is_left_alone(loader, module):
        return ()
    dataset = dataset_of(loader.dataset, module)
    if dataset.cost in _NOT_REPORTED:
        return because((), _NOT_REPORTED[dataset.cost], loader.dataset)
    if dataset.cost is Cost.TABLE and loader.collate is None:
        return because((), _NO_TABLE, loader.dataset)
    unsure = dataset.cost is Cost.UNKNOWN and not dataset.imported
    repeats = _UNSURE if unsure and not dataset.indexed else ""
    named = "" if loader.zero is None or module.literal(loader.zero) == 0 else _NAMED
    copied = _COPIED if changed_by_steps(call, module) else ""
    held_reason = named or _held_at_the_call(loader, module) or dataset.held or copied or repeats
    works = dataset.cost is Cost.WORK
    reads = reads_of(call, module)
    tier = Tier.DEFAULT
    option = loader.workers.option
    if option:
        tier = because(Tier.HINT, "`{}` may be given", option)
    elif unsure:
        tier = because(Tier.HINT, _NOBODY_KNOWS, loader.dataset)
    elif dataset.cost is Cost.TABLE:
        tier = because(Tier.HINT, "what a batch costs is up to {:code}", loader.collate)
    elif reads is Reads.EVALUATION_ONCE:
        tier = because(Tier.HINT, "a single evaluation reads this loader, once in a run")
    # A notebook is a whole program; of another file, the training may not have been given.
    whole = module.is_notebook and reads is Reads.OTHER
    elsewhere = _Elsewhere(loader.imported, dataset.imported, works, reads.value, *loader.workers)
    waits = loader.imported or dataset.imported or whole or loader.workers.elsewhere
    return rule.report(
        module,
        call,
        _message(dataset.reason, reads, option),
        tier=tier,
        fix=(_CHOSEN if option else held_reason)
        or _four_workers(loader.call, loader.zero, "num_workers", module),
        needs=elsewhere if waits else None,
        else_hint=(Context.TRAINS,) if whole else (),
    )


@rule.on(cst.Call)
def trains_without_workers(call: cst.Call, module: Module) -> Iterable[Reported]:
    """`TrainingArguments(dataloader_num_workers=0)` of Hugging Face, or without that argument."""
    if not frameworks.keywords("loader workers", module.resolve(call.func)):
        return ()
    passed = module.setting(call, "loader workers")
    if module.has_star_kwargs(call):
        return because((), "`**` of this call may pass the number of workers")
    for arg in passed:
        if module.literal(arg.value) != 0:
            return because((), "{:code} is passed here", arg)
    work = _work_per_sample(module)
    if work is None and _tokenizes_texts(module):
        return because((), "the file tokenizes its texts beforehand")
    if work is None and not passed:
        return because((), "nothing in the file shows that a sample takes work when it is read")
    tier = Tier.DEFAULT
    if work is None:
        tier = because(Tier.HINT, "nothing in the file shows what a sample costs")
    elif not work.certain:
        tier = because(
            Tier.HINT, "a sample may be a text, which takes little work: {}", work.reason
        )
    held_reason = _IN_NOTEBOOK if _is_own_notebook(module) else work.held if work else ""
    if module.main_guard is None and module.function(call) is None and not module.is_notebook:
        held_reason = _UNGUARDED
    zero = passed[0].value if passed else None
    reason = f", and {work.reason}" if work and work.reason else ""
    message = (
        f"The trainer builds every batch in the training process{reason}; set "
        "`dataloader_num_workers` so that loading overlaps with training."
    )
    fix = held_reason or _four_workers(call, zero, "dataloader_num_workers", module)
    return rule.report(module, call, message, tier=tier, fix=fix)


def _message(reason: str, reads: Reads, option: str = "") -> str:
    where, what = "training process", "training"
    if reads is not Reads.OTHER:
        where, what = "process that evaluates", "the evaluation"
    unless = f"Unless the option `{option}` is given, `" if option else "`"
    return (
        f"{unless}DataLoader` builds every batch in the {where}"
        f"{f', and {reason}' if reason else ''}; set `num_workers` so that loading overlaps with "
        f"{what}."
    )


def _held_at_the_call(loader: Loader, module: Module) -> str:
    if runs_when_imported(loader, module):
        return _UNGUARDED
    if _is_own_notebook(module):
        return _IN_NOTEBOOK
    functions = (loader.collate, module.argument(loader.call, "worker_init_fn", 10))
    if any(each is not None and holds_local_function(each, module) for each in functions):
        return f"`collate_fn` is a local function, {ONLY_FORKED}"
    return ""


def _is_own_notebook(module: Module) -> bool:
    """Whether a notebook defines the dataset that its workers would have to import."""
    own = (dataset_class(each, module) for each in module.nodes(cst.ClassDef))
    return module.is_notebook and any(own)


def _four_workers(
    call: cst.Call, zero: cst.BaseExpression | None, keyword: str, module: Module
) -> Change:
    if zero is not None:
        return _FIXED, edits.replace(module, zero, "4")
    return _FIXED, edits.add_argument(module, call, f"{keyword}=4")


# facts of other files ----------------------------------------------------------------------


@rule.on(cst.ClassDef)
def records_sample_cost(class_: cst.ClassDef, module: Module) -> Iterable[Fact]:
    return [because(fact, _ASK_THERE, class_) for fact in _facts_of(class_, module)]


def _facts_of(class_: cst.ClassDef, module: Module) -> Iterator[Fact]:
    name, dataset = module.qualified_name(class_), dataset_class(class_, module)
    if forwarding_loader(class_, module):
        yield Fact("loader", module.path, (name,))
    elif dataset is not None:
        value = (name, dataset.cost.value, dataset.reason, dataset.held)
        yield Fact("dataset", module.path, value)


class _Elsewhere(NamedTuple):
    """The dotted names of a loader and a dataset whose classes other files define, if any;
    whether this file shows that a sample costs something; what it reads the loader for; and what
    is known of the option that may ask for workers, as `Workers` has it."""

    loader: str
    dataset: str
    works: bool
    reads: str
    option: str
    elsewhere: bool
    fallback: bool


@rule.settle(_Elsewhere)
def settle(finding: Finding, needs: _Elsewhere, project: Project) -> Finding | None:
    if needs.elsewhere and not project.is_zero_by_default(
        finding.path, needs.option, fallback=needs.fallback
    ):
        return because(None, "nothing shows that `{}` is 0 by default", needs.option)
    if needs.loader and not _is_loader(needs.loader, finding.path, project):
        unknown = "`{}` is not known to be a `DataLoader` without workers"
        return because(None, unknown, needs.loader)
    if not needs.dataset:
        return finding
    fact = _fact_about("dataset", needs.dataset, finding.path, project)
    if fact is None:
        if needs.works:
            return finding
        hint = without_fix(finding, finding.withheld or _UNSURE)._replace(tier=Tier.HINT)
        return because(hint, _NOBODY_KNOWS, f"`{needs.dataset}`")
    assert isinstance(fact.value, tuple)
    _, cost, reason, held_reason = fact.value
    if Cost(cost) in _NOT_REPORTED:
        return because(None, _NOT_REPORTED[Cost(cost)] + "; see {}", f"`{needs.dataset}`", fact)
    if Cost(cost) is not Cost.WORK and not needs.works:
        hint = finding._replace(tier=Tier.HINT)
        finding = because(hint, _NOBODY_KNOWS + "; see {}", f"`{needs.dataset}`", fact)
    elif reason:
        finding = finding._replace(message=_message(reason, Reads(needs.reads), needs.option))
    return without_fix(finding, held_reason) if held_reason and not finding.withheld else finding


def _is_loader(dotted: str, path: str, project: Project) -> bool:
    known = dotted in LOADERS_OF_LIBRARIES
    return known or _fact_about("loader", dotted, path, project) is not None


def _fact_about(kind: str, dotted: str, path: str, project: Project) -> Fact | None:
    """The fact about the class with a dotted name, from the file that defines it or one that it
    imports."""
    located = project.index.locate(path, dotted)
    if located is None or not located[1]:
        return None
    file, rest = located
    for files in ([file], project.imported(file)):
        facts = {each.value: each for each in project.facts(kind, files)}
        named = [facts[each] for each in facts if isinstance(each, tuple) and each[0] == rest[-1]]
        if len(named) == 1:
            return named[0]
    return None


# what a Trainer loads -----------------------------------------------------------------------------


@once
def _work_per_sample(module: Module) -> _Work | None:
    """What the datasets and collate functions of a file do for each sample, if they do anything."""
    work = chain(_in_classes(module), _on_the_fly(module), _in_collators(module))
    return max(work, key=lambda each: each.certain, default=None)


@once
def _tokenizes_texts(module: Module) -> bool:
    return any(map(tokenizes, module.nodes(cst.Call)))


def _in_classes(module: Module) -> Iterator[_Work]:
    for class_ in module.nodes(cst.ClassDef):
        dataset = dataset_class(class_, module)
        if dataset is not None and dataset.cost is Cost.WORK:
            texts = _MAY_BE_OF_TEXTS.search(dataset.reason)
            yield _Work(dataset.reason, texts is None, dataset.held)


def _on_the_fly(module: Module) -> Iterator[_Work]:
    """`dataset.with_transform(function)`."""
    for method in _ON_THE_FLY:
        for call in module.calls_by_method.get(method, ()):
            function = mapped_function(call, module)
            words = "" if function is None else module.source(function)
            local = any(holds_local_function(arg.value, module) for arg in call.args)
            yield _Work(
                f"`{method}` transforms each sample when it is read",
                bool(_MEDIA_WORDS.search(words)),
                f"the dataset holds a local function, {ONLY_FORKED}" if local else "",
            )


def _in_collators(module: Module) -> Iterator[_Work]:
    for function in module.nodes(cst.FunctionDef):
        if not collates(function, module):
            continue
        for call in module.calls_within(function.body):
            keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
            reads = any(name.startswith(_READERS) for name in module.resolve(call.func))
            if reads or not keywords.isdisjoint(_MEDIA):
                reason = f"`{function.name.value}` calls `{dotted_text(call.func)}`"
                yield _Work(reason, certain=True)
