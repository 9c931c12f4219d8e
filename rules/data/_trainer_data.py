"""What the samples cost that a file gives to a framework's trainer."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.loading.dataset_classes import Cost, dataset_class
from torchlint.analysis.loading.worker_processes import ONLY_FORKED, holds_local_function
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.batches import collates
from torchlint.rule import Module

from ._tokenizers import mapped_function, tokenizes

_ON_THE_FLY = ("with_transform", "set_transform")
_MEDIA = frozenset({"images", "audio", "audios", "videos", "raw_speech"})
_READERS = ("PIL.", "cv2.", "torchaudio.", "torchvision.", "librosa.", "soundfile.")
_MAY_BE_OF_TEXTS = re.compile(r"tokeniz|encode|preproc|processor", re.IGNORECASE)
_MEDIA_WORDS = re.compile(r"image|pixel|audio|speech|video|transforms|augment|feature_extractor")


class Work(NamedTuple):
    """What a sample costs.

    Args:
        reason: what is done for it.
        certain: it is an image, a sound or a file, not a text.
        held: why workers would lose or spoil something.
    """

    reason: str
    certain: bool
    held: str = ""


def work_per_sample(module: Module) -> Work | None:
    """What the datasets and collate functions of a file do for each sample, if they do anything."""
    return module.once(_work_per_sample)


def tokenizes_texts(module: Module) -> bool:
    return module.once(_tokenizes_texts)


def _tokenizes_texts(module: Module) -> bool:
    return any(map(tokenizes, module.nodes(cst.Call)))


def _work_per_sample(module: Module) -> Work | None:
    found = [*_in_classes(module), *_on_the_fly(module), *_in_collators(module)]
    return max(found, key=lambda each: each.certain, default=None)


def _in_classes(module: Module) -> Iterator[Work]:
    for class_ in module.nodes(cst.ClassDef):
        dataset = dataset_class(class_, module)
        if dataset is not None and dataset.cost is Cost.WORK:
            texts = _MAY_BE_OF_TEXTS.search(dataset.reason)
            yield Work(dataset.reason, texts is None, dataset.held)


def _on_the_fly(module: Module) -> Iterator[Work]:
    """`dataset.with_transform(function)`."""
    for method in _ON_THE_FLY:
        for call in module.calls_by_method.get(method, ()):
            function = mapped_function(call, module)
            words = "" if function is None else module.source(function)
            local = any(holds_local_function(arg.value, module) for arg in call.args)
            yield Work(
                f"`{method}` transforms each sample when it is read",
                bool(_MEDIA_WORDS.search(words)),
                f"the dataset holds a local function, {ONLY_FORKED}" if local else "",
            )


def _in_collators(module: Module) -> Iterator[Work]:
    for function in module.nodes(cst.FunctionDef):
        if not collates(function, module):
            continue
        for call in module.calls_within(function.body):
            keywords = {arg.keyword.value for arg in call.args if arg.keyword is not None}
            reads = any(name.startswith(_READERS) for name in module.resolve(call.func))
            if reads or not keywords.isdisjoint(_MEDIA):
                reason = f"`{function.name.value}` calls `{dotted_text(call.func)}`"
                yield Work(reason, certain=True)
