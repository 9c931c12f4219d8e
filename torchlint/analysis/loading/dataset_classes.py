"""What reading one sample of a dataset class costs, and whether it can go to worker processes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import literal
from torchlint.analysis.loading.worker_processes import (
    held_by,
    made_by,
    puts_on_device,
    writes_to_self,
)
from torchlint.analysis.names import dotted_text
from torchlint.analysis.steps.guards import snake
from torchlint.analysis.uses import method_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

Function = cst.FunctionDef
_DEEPEST = 2


class Cost(Enum):
    """What it takes to read one sample."""

    WORK = "work"
    """It reads a file, decodes, transforms or tokenizes."""
    MEMORY = "memory"
    """It indexes tensors, arrays or lists that are in memory."""
    TABLE = "table"
    """It reads a row of a Hugging Face dataset; what that costs is up to the collate function."""
    STREAM = "stream"
    """An iterable dataset: each worker would yield every sample."""
    DEVICE = "device"
    """It touches the GPU, which worker processes cannot share."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is known of a dataset.

    `reason` says what costs, for `Cost.WORK`, or what holds the samples, for `Cost.MEMORY` of no
    class of the project; `held` why worker processes would lose or spoil
    something; `option` names the parameter of the constructor that causes the work, where it does
    none without; `imported` is the dotted name that it comes from, if that is elsewhere; `indexed`
    says that a class has a `__getitem__`, so that its workers repeat no samples.
    """

    cost: Cost
    reason: str = ""
    held: str = ""
    option: str = ""
    imported: str = ""
    indexed: bool = False


_READERS = (
    "PIL.", "cv2.", "h5py.", "torchvision.io.", "torchvision.transforms.", "torchaudio.",
    "torchvision.datasets.folder.", "librosa.", "soundfile.", "imageio.", "skimage.", "scipy.io.",
    "scipy.ndimage.", "pydicom.", "nibabel.", "tifffile.", "rasterio.", "decord.", "av.", "lmdb.",
    "albumentations.", "pandas.read_", "gzip.open", "zipfile.", "tarfile.", "SimpleITK.",
)  # fmt: skip
_LOADS = frozenset(
    {"builtins.open", "numpy.load", "numpy.fromfile", "numpy.loadtxt", "numpy.genfromtxt",
     "torch.load", "pickle.load", "json.load", "joblib.load"}
)  # fmt: skip
_LAZY = frozenset(
    {"h5py.File", "zarr.open", "zarr.open_array", "zarr.open_group", "tables.open_file",
     "netCDF4.Dataset", "xarray.open_dataset", "xarray.open_zarr"}
)  # fmt: skip
"""Open files that read, and decompress, only what is indexed."""
_READING_WORDS = re.compile(
    r"(?:^|_)(?:imread|(?:load|read|open|get|pull)_(?:image|img|audio|wav|video|frame|mask|mel|"
    r"spectrogram|text_mel_pair)s?|pil_loader|image_loader|parse_audio|read_text|read_bytes|"
    r"decode_(?:image|jpeg|video|audio))$"
)
_TRANSFORMING_WORDS = re.compile(
    r"(?:^|_)(?:transforms?|transformations?|augment\w{0,80}|augs?|augmentor|tokeniz\w{0,80}|"
    r"encode_plus|preprocess\w{0,80}|preproc|processor|feature_extractor|loader)$"
)
_LIGHT_METHODS = frozenset(
    {"float", "long", "int", "double", "half", "bool", "clone", "copy", "astype", "item",
     "unsqueeze", "squeeze", "reshape", "view", "flatten", "permute", "transpose", "numpy", "get",
     "tolist", "size", "contiguous", "index_select", "keys", "values", "items"}
)  # fmt: skip


def dataset_class(class_: cst.ClassDef, module: Module) -> Dataset | None:
    """What a class says about its objects as datasets; None if they are not datasets."""
    bases = module.definitions.bases(class_)
    methods = module.definitions.methods(class_)
    if _streams(bases, methods):
        return Dataset(Cost.STREAM)
    vision = next((base for base in bases if base.startswith("torchvision.datasets.")), None)
    getitem = methods.get("__getitem__")
    if getitem is None:
        return Dataset(Cost.WORK, _decodes(vision)) if vision else None
    functions = reachable(getitem, methods, module)
    if puts_on_device(class_, functions, module):
        return Dataset(Cost.DEVICE)
    held_reason = held_by(class_, methods.get("__init__"), module) or writes_to_self(
        functions, module
    )
    work = _work(functions, methods, module) or _read_of_file(class_, functions, module)
    if work is None:
        work = Dataset(Cost.WORK, _decodes(vision)) if vision else Dataset(Cost.UNKNOWN)
        if vision is None and _only_indexes(getitem, module):
            work = Dataset(Cost.MEMORY)
    return replace(work, held=held_reason, indexed=True)


def _decodes(vision: str | None) -> str:
    return f"`{(vision or '').rpartition('.')[2]}` decodes and transforms each sample"


def _streams(bases: list[str], methods: dict[str, Function]) -> bool:
    if any(base.rpartition(".")[2] in ("IterableDataset", "IterDataPipe") for base in bases):
        return True
    is_dataset = any(base.endswith("Dataset") for base in bases)
    return is_dataset and "__iter__" in methods and "__getitem__" not in methods


# what a sample costs -----------------------------------------------------------------------


def reachable(function: Function, methods: dict[str, Function], module: Module) -> list[Function]:
    """The function, and the functions of this file that it calls, nearest first."""
    functions = {function: None}
    nearest = [function]
    for _ in range(_DEEPEST):
        called = [each for one in nearest for each in _called(one, methods, module)]
        nearest = [each for each in dict.fromkeys(called) if each not in functions]
        functions.update(dict.fromkeys(nearest))
    return list(functions)


def _called(function: Function, methods: dict[str, Function], module: Module) -> Iterator[Function]:
    for call in module.calls_within(function.body):
        name = dotted_text(call.func)
        called = methods.get(name[5:]) if name.startswith("self.") else None
        if called is None:
            called = module.definitions.callee(call)
        if called is not None:
            yield called


def _work(
    functions: list[Function], methods: dict[str, Function], module: Module
) -> Dataset | None:
    """The first thing among these functions that costs time for each sample."""
    optional: Dataset | None = None
    for function in functions:
        for call in module.calls_within(function.body):
            spelled = _spelled(call)
            reason = f"`{function.name.value}` calls `{spelled}`"
            if _reads(call, spelled, module):
                return Dataset(Cost.WORK, reason)
            if optional is None and _transforms(spelled, methods):
                option = _optional_parameter(spelled, methods, module)
                optional = Dataset(Cost.UNKNOWN if option else Cost.WORK, reason, option=option)
    return optional


def _read_of_file(
    class_: cst.ClassDef, functions: list[Function], module: Module
) -> Dataset | None:
    """An item of what is in an open file: `self.images[index]` of an HDF5 file."""
    for function in functions:
        for node in module.within(function.body):
            if not isinstance(node, cst.Subscript):
                continue
            kept = node.value
            while isinstance(kept, cst.Subscript):
                kept = kept.value
            if not _LAZY.isdisjoint(made_by(kept, class_, module)):
                reason = f"`{function.name.value}` reads `{dotted_text(kept)}` from a file"
                return Dataset(Cost.WORK, reason)
    return None


def _spelled(call: cst.Call) -> str:
    """`self.transform`; only the method for `Path(name).read_bytes()`."""
    return dotted_text(call.func) or method_name(call)


def _reads(call: cst.Call, spelled: str, module: Module) -> bool:
    names = module.resolve(call.func)
    if any(name.startswith(_READERS) or name in _LOADS for name in names):
        return True
    return bool(_READING_WORDS.search(snake(spelled.rpartition(".")[2])))


def _transforms(spelled: str, methods: dict[str, Function]) -> bool:
    """Whether a call is one of a transform or a tokenizer that the dataset holds."""
    parts = [part for part in spelled.split(".") if part != "self"]
    if parts and parts[-1] in methods:
        return False
    return any(_TRANSFORMING_WORDS.search(snake(part)) for part in parts)


def _optional_parameter(spelled: str, methods: dict[str, Function], module: Module) -> str:
    """The parameter of `__init__`, None by default, that `self.transform` is set from."""
    init = methods.get("__init__")
    if init is None or not spelled.startswith("self."):
        return ""
    for binding in module.values.assigned(module.class_(init), spelled.split(".")[1]):
        for param in init.params.params:
            same = isinstance(binding.value, cst.Name) and binding.value.value == param.name.value
            if same and param.default is not None and literal(param.default) is None:
                return param.name.value
    return ""


def _only_indexes(getitem: Function, module: Module) -> bool:
    """Whether a sample is only picked out of what is in memory."""
    return all(_light(call, module) for call in module.calls_within(getitem.body))


def _light(call: cst.Call, module: Module) -> bool:
    names = module.resolve(call.func)
    if names:
        return all(name.startswith(("builtins.", "torch.", "numpy.")) for name in names)
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _LIGHT_METHODS
