"""Do costly work once, not for every sample.

## What it does
Reports calls in `__getitem__` of a dataset, in a collate function, and in what these call, also in
another file, that cost far more than reading a sample: starting a process such as `ffmpeg`, loading
a model or a tokenizer, asking the network, making a pool of threads, resampling a sound or
computing its spectrogram, `copy.deepcopy`, and `np.random.choice` without replacement, which
shuffles all of its population.

## Why it is slow
The call is paid for each sample of each epoch. To start a process takes milliseconds; the work of a
process per sample is rarely more than that. Spectrograms and resampled sounds are the same in each
epoch, and a batch of them is computed in a fraction of a millisecond on a GPU. Measured on a CPU,
`np.random.choice(1_000_000, k, replace=False)` takes 30 ms, and the same of
`np.random.default_rng()` 0.01 ms. Worker processes hide such a cost only as long as there are
processors for them.

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
keep them in files.

## When it is silent
Under any condition, such as `if not os.path.exists(path)`; where the result is kept; in functions
with a cache; in code that no dataset with `__getitem__` runs; in tests.
Processes, models and tokenizers are reported by default, and so is `np.random.choice` of a hundred
thousand elements and more; the rest is a hint, since it may be small, or different for each epoch.

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

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.batches import collates
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Effect, Fact, Finding, Module, Project, Reported, Rule, Tier, because

from ._per_sample import is_kept, is_rare


class _Costly(NamedTuple):
    """Calls of one kind: beginnings of their names, what they do for every sample, what to do
    instead."""

    names: tuple[str, ...]
    does: str
    instead: str
    tier: Tier = Tier.HINT


_COSTLY = (
    _Costly(
        ("subprocess.", "os.system", "os.popen", "ffmpeg.run", "asyncio.create_subprocess"),
        "starts a process",
        "call a library, or do it once before training",
        Tier.DEFAULT,
    ),
    _Costly(
        ("torch.hub.load", "whisper.load_model", "spacy.load", "sentencepiece.SentencePieceProc"),
        "loads a model",
        "load it in `__init__`",
        Tier.DEFAULT,
    ),
    _Costly(
        ("requests.", "urllib.request.", "httpx.", "wget.download", "huggingface_hub."),
        "asks the network",
        "download before training",
    ),
    _Costly(
        ("concurrent.futures.", "multiprocessing.Pool", "multiprocessing.pool."),
        "starts a pool of threads or processes",
        "keep one for each worker of the loader",
    ),
    _Costly(
        ("librosa.feature.", "librosa.stft", "librosa.cqt", "librosa.pyin", "librosa.yin",
         "librosa.effects.", "librosa.resample", "pyworld.", "torch.stft", "torchaudio.compliance.",
         "torchaudio.functional.resample", "torchaudio.functional.spectrogram",
         "torchaudio.transforms.", "scipy.signal.resample", "scipy.signal.spectrogram",
         "scipy.signal.stft"),
        "computes features of a sound on the CPU",
        "keep what is the same in each epoch, or compute it for the batch on the GPU",
    ),
    _Costly(("copy.deepcopy",), "copies all that it reaches", "copy what changes"),
)  # fmt: skip
_LOADED = _COSTLY[1]
_CHOICE = "numpy.random.choice"
_MANY = 100_000
_CHOSEN = "shuffles all of its population"
_GENERATOR = "use `np.random.default_rng().choice`"
_COSTLY_FUNCTION = "costly function"

rule = Rule(
    code="TL114",
    effect=Effect.LARGE,
    summary="a dataset does costly work for every sample",
    triggers=(
        r"__getitems?__|[cC]ollat|\b(?:subprocess|ffmpeg|librosa|torchaudio|pyworld)\b|os\.system|"
        r"torch\.stft|os\.popen",
    ),
)


class Called(NamedTuple):
    """The dotted name of a function that another file defines."""

    function: str


@rule.on(cst.Call)
def does_costly_work(call: cst.Call, module: Module) -> Iterable[Reported]:
    found = _cost_of(call, module)
    needs = None if found is not None else _of_the_project(call, module)
    if found is None and needs is None:
        return ()
    if not _runs_per_sample(call, module):
        return because((), "no `__getitem__` of a dataset and no collate function runs this")
    if is_kept(call, module) or is_rare(call, module):
        return ()
    tier = None if found is None else found.tier
    message = "" if found is None else _message(call, found.does, found.instead)
    return rule.report(module, call, message, tier=tier, needs=needs)


@rule.on_module
def records_costly_functions(module: Module) -> Iterator[Fact]:
    for call in module.nodes(cst.Call):
        found = _cost_of(call, module)
        if found is None or is_kept(call, module) or is_rare(call, module):
            continue
        name = module.qualified_name(module.function(call))
        value = (name, found.does, found.instead, found.tier.value)
        yield because(Fact(_COSTLY_FUNCTION, module.path, value), found.does, call)


@rule.settle(Called)
def calls_a_costly_function(finding: Finding, called: Called, project: Project) -> Finding | None:
    located = project.index.locate(finding.path, called.function)
    if located is None:
        return None
    file, rest = located
    for fact in project.facts(_COSTLY_FUNCTION, [file]):
        assert isinstance(fact.value, tuple)
        name, does, instead, tier = fact.value
        if name == ".".join(rest):
            function = f"`{called.function.rpartition('.')[2]}` {does} for every sample"
            message = f"{function}; {instead}."
            found = finding._replace(message=message, tier=Tier(tier))
            return because(found, "{}, in {}", function, fact)
    return because(None, "`{}` is not known to cost much", called.function)


def _message(call: cst.Call, does: str, instead: str) -> str:
    return f"`{dotted_text(call.func)}` {does} for every sample; {instead}."


def _runs_per_sample(call: cst.Call, module: Module) -> bool:
    function = module.function(call)
    return makes_sample(call, module) or (function is not None and collates(function, module))


def _cost_of(call: cst.Call, module: Module) -> _Costly | None:
    names = module.resolve(call.func)
    for each in _COSTLY:
        if any(name.startswith(each.names) for name in names):
            return each
    if method_name(call) == "from_pretrained":
        return _LOADED
    if method_name(call) == "run" and _is_of_ffmpeg(call, module):
        return _COSTLY[0]
    return _choice(call, module) if _CHOICE in names else None


def _is_of_ffmpeg(call: cst.Call, module: Module) -> bool:
    """`ffmpeg.input(file).output("-").run()`."""
    made = receiver(call)
    while isinstance(made, cst.Call):
        if any(name.startswith("ffmpeg.") for name in module.resolve(made.func)):
            return True
        made = receiver(made)
    return False


def _choice(call: cst.Call, module: Module) -> _Costly | None:
    if module.literal(module.argument(call, "replace", 2)) is not False:
        return because(None, "with replacement it draws only as many as it gives")
    if module.argument(call, "p", 3) is not None:
        return because(None, "with probabilities it costs the same elsewhere")
    size = module.literal(module.argument(call, "a", 0))
    many = isinstance(size, int) and size >= _MANY
    return _Costly((), _CHOSEN, _GENERATOR, Tier.DEFAULT if many else Tier.HINT)


def _of_the_project(call: cst.Call, module: Module) -> Called | None:
    """A function of another file, as far as this file shows."""
    names = list(module.resolve(call.func))
    return Called(names[0]) if len(names) == 1 and "." in names[0] else None
