"""Do costly work once, not for every sample.

## What it does
Reports calls in `__getitem__` of a dataset, in a collate function, in what these call, also in
another file, and in transforms, that cost far more than reading a sample: starting a process such
as `ffmpeg`, loading a model or a tokenizer, running a model, asking the network, making a pool of
threads, resampling a sound or computing its spectrogram, opening a video, decoding its frames or
changing them one by one, filtering an image with SciPy, scaling floats, parsing a text file,
unpickling, opening an HDF5 file or an `.npz`, a tensor of a list that a table gives,
`copy.deepcopy`, `gc.collect()`, and `np.random.choice` without replacement, which shuffles all of
its population, or with `p=`, which adds up all probabilities.

Of work on arrays: Python's `sum`, `max`, `set` and the like, which go over each element; a loop
that sets single elements; `np.unique`; `np.argsort(…)[:k]`; `np.where(mask)` for its extremes; an
`assert` about the range of all elements; and `in` a list that grows with the dataset.

Also sounds, images and arrays that are read as a whole, although the function goes on with a slice
of them; images that are decoded; a cache that is read and never filled; and a cache
in a list of a `Manager`, which each read copies from another process.

## Why it is slow
The call is paid for each sample of each epoch. To start a process takes milliseconds; the work of a
process per sample is rarely more than that. Spectrograms and resampled sounds are the same in each
epoch, and a batch of them is computed in a fraction of a millisecond on a GPU. Measured on a CPU,
`np.random.choice(1_000_000, k, replace=False)` takes 30 ms, and the same of
`np.random.default_rng()` 0.01 ms. For 100,000 elements, `max` of a tensor takes a second,
`np.unique` of rows 0.3 s, and `sum` of a mask of NumPy 30 ms, where its method takes 0.06 ms.
Worker processes hide such a cost only as long as there are processors for them.

## Example
```python
import subprocess


class Speech(Dataset):
    def __getitem__(self, index):
        command = ["ffmpeg", "-i", self.files[index], "-f", "f32le", "-"]
        wave = np.frombuffer(subprocess.run(command, capture_output=True).stdout, np.float32)
        return torch.from_numpy(wave.copy())
```

## Use instead
```python
class Speech(Dataset):
    def __getitem__(self, index):
        wave, _ = soundfile.read(self.files[index], dtype="float32")
        return torch.from_numpy(wave)
```
Convert files once, before training. Keep a model, a tokenizer and a pool in the dataset, made in
`__init__` or at their first use in each worker. Compute spectrograms of the batch on the GPU, or
keep them in files. Keep images of about the size that is used; of a JPEG, `image.draft("RGB",
size)` decodes no more than needed. `np.argpartition` finds the smallest without sorting the rest.

## When it is silent
Where a condition on the sample decides, such as `if not os.path.exists(path)`, but not `if "mask"
in sample` and `if suffix == ".npy"`, which are mostly the same for a dataset; where the result is
kept; in functions with a cache; in code that loads no samples; in tests. The same call is reported
once in each block of lines. To tokenize a text is not reported beside an image or a sound, nor in a
collate function.
Processes, models, tokenizers, pools, the network, `gc.collect()`, resampled sounds, their
spectrograms and sounds of which a part is used, numbers in text files, and caches that nothing
fills or that a `Manager` keeps are reported by default, and so is `np.random.choice` of a hundred
thousand elements and more; the rest is a hint, since it may be small, or different for each epoch,
and so is all that a setting (`if self.augment`), chance or the rate of a sound (`if rate !=
self.rate`) decides.

## Fix safety
There is no fix: what can be kept, and where, depends on the data.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version, on the CPU too.

## References
- NumPy documentation, `numpy.random.Generator.choice`
- torchaudio documentation, `torchaudio.transforms.Resample`, on its precomputed kernel
- PyTorch documentation, `torch.utils.data`, "Multi-process data loading"
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.loading.dataset_classes import dataset_class
from torchlint.analysis.loading.sample_code import (
    INDEX,
    ONE_SAMPLE,
    loads_samples,
    makes_sample,
)
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.batches import collates
from torchlint.rule import (
    Effect,
    Fact,
    Finding,
    Module,
    Outline,
    Project,
    Related,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    once,
)

from .._fixed_paths import is_fixed
from .._per_sample import is_kept, is_rare
from .array_work import array_work, is_kept_list
from .costs import MODEL, READS, TOKENS, Costly, cost_of
from .decoded_parts import decoded_image, part_of, reads_itself
from .frequency import Often, conditions_of, how_often
from .unfilled_caches import is_managed, never_filled

_COSTLY_FUNCTION = "costly function"
_LONGEST = 60
_PLACES = cst.Name | cst.Subscript | cst.BinaryOperation
_LOADS = re.compile(r"^__getitems?__$|(?:item|sample|example)$")
_MODELS = re.compile(r"(?:^|_)(?:model|encoder|net|vae|clip|backbone|bert|hubert|unet|extractor)$")

_COSTLY = (
    r"\b(?:subprocess|ffmpeg|librosa|torchaudio|pyworld|nibabel|SimpleITK|decord|ndimage|rdkit)\b|"
    r"os\.system|torch\.stft|os\.popen|VideoCapture|loadtxt|genfromtxt|self\.worker\(|"
    r"\.resize\([^\n]{0,120}\bfor \w"
)
"""Words of files whose functions a dataset of another file may call."""
_WORDS = rf"__getitems?__|[cC]ollat|get_item|{_COSTLY}"
_DECODES = r"imread\(|\.open\("
_SCALES = r"(?:resize|thumbnail)\("
_BY_INDEX = rf"def \w{{1,40}}\(\s{{0,9}}self,\s{{0,9}}(?:{INDEX})\b"
_READS_FILES = r"Folder\([^\n]{0,200}\bloader\s{0,3}="
_TRANSFORMS = (
    rf"def (?:__call__|transform)\(\s{{0,9}}self,\s{{0,9}}(?:{ONE_SAMPLE})\b|"
    r"@\w{0,20}(?:[Tt]ransform|TRANSFORM|[Pp]ipeline|PIPELINE|[Aa]ugment|AUGMENT|[Pp]reproc|PREPROC)"
    r"\w{0,9}\.register|"
    r"\.(?:set|with)_transform\("
)
_WORKS_ON_ARRAYS = (
    r"\b(?:unique|argsort|deepcopy|nonzero|argwhere)\(|replace=False|np\.load\(|scipy|skimage|"
    r"\bassert [^\n]{0,80}(?:max|min)\(|\b(?:sum|any|all)\((?:~|\w{1,40} [=!<>])|"
    r"\.(?:open|imread)\("
)


def _may_load_samples(outline: Outline) -> bool:
    """Whether a file has a dataset or a reader of one, collates, or has costly functions."""
    if outline.matches(_COSTLY) or outline.matches(r"\bcollate_fn\b"):
        return True
    if outline.matches(_READS_FILES) or (outline.matches(_DECODES) and outline.matches(_SCALES)):
        return True
    functions = {each.name for each in outline.nodes(ast.FunctionDef)}
    classes = {each.name for each in outline.nodes(ast.ClassDef)}
    if any("collat" in name.lower() for name in functions | classes):
        return True
    if outline.matches(_TRANSFORMS):
        return outline.matches(_WORKS_ON_ARRAYS) or because(False, "its transforms cost little")
    loads = any(each == "__iter__" or _LOADS.search(each) for each in functions)
    loads = loads and bool(classes) and outline.matches(_WORDS)
    kept = loads and outline.matches(r"(?i:dataset|reader|loader)")
    kept = kept or (
        any("dataset" in name.lower() for name in classes)
        and outline.matches(_BY_INDEX)
        and outline.matches(_WORKS_ON_ARRAYS)
    )
    return kept or because(False, "the file has no dataset, and collates nothing")


rule = Rule(
    code="TL114",
    effect=Effect.LARGE,
    summary="a dataset does costly work for every sample",
    triggers=Triggers(
        (rf"{_WORDS}|{_BY_INDEX}|{_TRANSFORMS}|{_READS_FILES}|{_DECODES}",),
        outline=_may_load_samples,
    ),
)


class Called(NamedTuple):
    """The dotted name of a function that another file defines."""

    function: str


@rule.on(cst.Call)
def does_costly_work(call: cst.Call, module: Module) -> Iterable[Reported]:
    found = _work(module, call)
    known = found is not None and (_cost_of(call, module) or reads_itself(call, module))
    needs = None if known else _of_the_project(call, module)
    if found is None and needs is None:
        return ()
    if not loads_samples(call, module):
        return because((), "no `__getitem__` of a dataset and no collate function runs this")
    if is_kept(call, module):
        return ()
    often = how_often(call, module)
    if often is Often.FEW:
        decides = next(iter(conditions_of(call, module)), None)
        return because((), "this runs only under a condition, {}", decides)
    calls = _calls_by_place(module)[_place(call, module)]
    first, *again = [each for each in calls if _work(module, each) == found]
    if first is not call:
        return because((), "an earlier line of the same block does the same, {}", first)
    tier = None if found is None else found.tier
    if often is Often.SOME or not _is_certain(call, module):
        tier = because(Tier.HINT, "a setting or chance decides whether this runs")
    message = "" if found is None else _message(call, found, module)
    places = dict.fromkeys(module.span(each)[0] for each in again)
    related = tuple(Related(module.path, place, "and again for the sample") for place in places)
    return rule.report(module, call, message, tier=tier, needs=needs, related=related)


@rule.on(cst.Subscript)
def reads_an_empty_cache(item: cst.Subscript, module: Module) -> Iterable[Reported]:
    """The first read of a cache that nothing fills, in each function that loads samples."""
    if not never_filled(item, module) or not loads_samples(item, module):
        return ()
    text = dotted_text(item.value)
    before = _reads_of_caches(module).get((module.function(item), text))
    if before is not item:
        return because((), "{:code} is read above", before)
    message = f"`{text}` is read and never filled, so each epoch loads all samples anew; fill it."
    return rule.report(module, item, message)


@rule.on(cst.Comparison)
def searches_a_list(comparison: cst.Comparison, module: Module) -> Iterable[Reported]:
    """`if index not in self.seen`, of a list."""
    last = comparison.comparisons[-1]
    if not isinstance(last.operator, cst.In | cst.NotIn):
        return ()
    if not is_kept_list(last.comparator, module):
        return because((), "{:code} is not known to be a list that grows", last.comparator)
    if not loads_samples(comparison, module):
        return because((), "no dataset of the file runs this for its samples")
    message = "This goes over a list for every sample; keep a set."
    return rule.report(module, comparison, message, tier=Tier.HINT)


@rule.on(cst.For)
def sets_single_elements(loop: cst.For, module: Module) -> Iterable[Reported]:
    """`for i in range(n): image[ys[i], xs[i]] = 0`, the outermost of such loops."""
    if not _sets_one(module, loop) or not loads_samples(loop, module):
        return because((), "it sets no single elements, or for no sample")
    around = (each for each in module.ancestors(loop) if isinstance(each, cst.For))
    if any(_sets_one(module, each) for each in around):
        return because((), "the loop around it is reported")
    message = (
        "Python sets the elements of an array one by one for every sample; set all of them by one "
        "index, or by a mask."
    )
    return rule.report(module, loop.iter, message, tier=Tier.HINT)


@rule.on(cst.Assign)
def keeps_samples_in_a_manager(assign: cst.Assign, module: Module) -> Iterable[Reported]:
    """`self.cache = Manager().list()` of a dataset whose samples come from there."""
    kept = assign.targets[0].target
    if not isinstance(kept, cst.Attribute) or not is_managed(assign.value, module):
        return ()
    reads = (read for read in map(module.parent, module.spelled(kept.attr.value)) if read)
    if not any(isinstance(read, cst.Attribute) and loads_samples(read, module) for read in reads):
        return because((), "nothing in the file that loads samples reads {:code}", kept)
    message = (
        "Each read of this asks the process of the `Manager`, which copies what it sends; keep "
        "arrays in shared memory, or a cache in each worker."
    )
    return rule.report(module, assign.value, message)


@rule.on_module
def records_costly_functions(module: Module) -> Iterator[Fact]:
    for call in module.nodes(cst.Call):
        found = cost_of(call, module) or array_work(call, module) or decoded_image(call, module)
        if found is None or found is TOKENS or is_kept(call, module):
            continue
        often = how_often(call, module)
        if often is Often.FEW:
            continue
        tier = found.tier if often is Often.ALL else Tier.HINT
        name = module.qualified_name(module.function(call))
        value = (name, found.does, found.instead, tier.value)
        yield because(Fact(_COSTLY_FUNCTION, module.path, value), found.does, call)


@rule.settle(Called)
def calls_a_costly_function(finding: Finding, called: Called, project: Project) -> Finding | None:
    located = project.index.locate(finding.path, called.function)
    known = finding if finding.message else None
    if located is None:
        return known
    file, rest = located
    for fact in project.facts(_COSTLY_FUNCTION, [file]):
        assert isinstance(fact.value, tuple)
        name, does, instead, tier = fact.value
        if name == ".".join(rest):
            function = f"`{called.function.rpartition('.')[2]}` {does} for every sample"
            message = f"{function}; {instead}."
            tier = Tier.HINT if finding.tier is Tier.HINT else Tier(tier)
            found = finding._replace(message=message, tier=tier)
            return because(found, "{}, in {}", function, fact)
    return because(known, "`{}` is not known to cost much", called.function)


@once
def _sets_one(module: Module, loop: cst.For) -> bool:
    """Whether a loop over a range sets `image[row, column]`, neither of which is fixed."""
    if not isinstance(loop.iter, cst.Call) or not module.calls(loop.iter, "builtins.range"):
        return False
    return any(
        isinstance(node, cst.Subscript)
        and len(node.slice) > 1
        and isinstance(module.parent(node), cst.AssignTarget | cst.AugAssign)
        and all(
            isinstance(each.slice, cst.Index) and isinstance(each.slice.value, _PLACES)
            for each in node.slice[:2]
        )
        for node in module.within(loop.body)
    )


def _message(call: cst.Call, cost: Costly, module: Module) -> str:
    text = dotted_text(call.func) or module.source(call.func)
    name = text if len(text) <= _LONGEST and "\n" not in text else "…"
    return f"`{name}` {cost.does} for every sample; {cost.instead}."


def _is_certain(call: cst.Call, module: Module) -> bool:
    """Whether a `__getitem__` or a collate function runs a call each time, for certain."""
    function = module.function(call)
    runs = makes_sample(call, module) or (function is not None and collates(function, module))
    return runs and not is_rare(call, module)


@once
def _work(module: Module, call: cst.Call) -> Costly | None:
    return part_of(call, module) or _cost_of(call, module) or decoded_image(call, module)


def _cost_of(call: cst.Call, module: Module) -> Costly | None:
    found = cost_of(call, module) or array_work(call, module)
    if found is None and _runs_a_model(call, module):
        return MODEL
    path = call.args[0].value if call.args else None
    if found in READS and path is not None and is_fixed(path, module):
        return because(None, "it reads the same for each sample, which TL108 reports")
    if found is TOKENS and not _is_mainly_text(call, module):
        return because(None, "beside a sample that is decoded, its text takes little")
    return found


def _is_mainly_text(call: cst.Call, module: Module) -> bool:
    """Whether to tokenize is the first work that a `__getitem__` does."""
    class_ = module.class_(call)
    dataset = None if class_ is None else dataset_class(class_, module)
    mainly = dataset is not None and "tok" in dataset.reason.rpartition("calls")[2].lower()
    return mainly and makes_sample(call, module)


def _runs_a_model(call: cst.Call, module: Module) -> bool:
    """`self.encoder(x)` under `torch.no_grad()`."""
    if not _MODELS.search(dotted_text(call.func).rpartition(".")[2]) or not call.args:
        return False
    return module.evaluations.grad_is_off(call)


@once
def _reads_of_caches(module: Module) -> dict[tuple[cst.FunctionDef | None, str], cst.Subscript]:
    found: dict[tuple[cst.FunctionDef | None, str], cst.Subscript] = {}
    for each in module.nodes(cst.Subscript):
        if never_filled(each, module):
            found.setdefault((module.function(each), dotted_text(each.value)), each)
    return found


@once
def _calls_by_place(module: Module) -> dict[tuple[cst.CSTNode | None, str], list[cst.Call]]:
    """The calls that load samples, those of one function in one block together."""
    found: dict[tuple[cst.CSTNode | None, str], list[cst.Call]] = {}
    for each in module.nodes(cst.Call):
        if loads_samples(each, module):
            found.setdefault(_place(each, module), []).append(each)
    return found


def _place(call: cst.Call, module: Module) -> tuple[cst.CSTNode | None, str]:
    statement = module.statement(call)
    return (
        None if statement is None else module.parent(statement),
        dotted_text(call.func) or module.source(call.func),
    )


def _of_the_project(call: cst.Call, module: Module) -> Called | None:
    """A function of another file, as far as this file shows."""
    names = list(module.resolve(call.func))
    return Called(names[0]) if len(names) == 1 and "." in names[0] else None
