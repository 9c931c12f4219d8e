"""Files that are decoded as a whole although only a part is used."""

import re

import libcst as cst

from torchlint.analysis.literals import UNKNOWN
from torchlint.analysis.loading.sample_code import loads_samples, makes_sample
from torchlint.analysis.steps.guards import snake
from torchlint.analysis.training.batches import collates
from torchlint.analysis.uses import called_name
from torchlint.rule import Module, Tier, because, once

from .costs import Costly

_SOUND = Costly(
    "decodes a whole sound, of which a part is used",
    "read only that part (`soundfile.read(…, start, frames)`, `frame_offset` of torchaudio)",
    Tier.DEFAULT,
)
_IMAGE = Costly(
    "decodes a whole image, of which a part is used",
    "keep crops, or an array that `np.load(…, mmap_mode='r')` reads in part",
)
_ARRAY = Costly(
    "reads a whole array, of which a part is used", "pass `mmap_mode='r'`, which reads that part"
)
_SCALED = Costly(
    "decodes a whole image, which is then scaled",
    "keep images of the size that is used, or let the decoder scale (`Image.draft`)",
)
_DECODED = Costly(
    "decodes a whole image",
    "keep images of about the size that is used, or their bytes in memory if they fit",
)
_READERS = {
    "librosa.load": _SOUND,
    "torchaudio.load": _SOUND,
    "soundfile.read": _SOUND,
    "scipy.io.wavfile.read": _SOUND,
    "cv2.imread": _IMAGE,
    "PIL.Image.open": _IMAGE,
    "imageio.imread": _IMAGE,
    "imageio.v2.imread": _IMAGE,
    "skimage.io.imread": _IMAGE,
    "torchvision.io.read_image": _IMAGE,
    "torchvision.io.decode_image": _IMAGE,
    "torchvision.datasets.folder.default_loader": _IMAGE,
    "torchvision.datasets.folder.pil_loader": _IMAGE,
    "tifffile.imread": _IMAGE,
    "numpy.load": _ARRAY,
}
_SOUND_WORDS = re.compile(
    r"^_*(?:load|read|get)_?(?:wav|audio|wave|waveform|sound|speech)s?(?:_to_torch|_file)?$"
)
_PARTS = ("frame_offset", "num_frames", "start", "stop", "frames", "offset", "duration",
          "mmap_mode")  # fmt: skip
_SCALES = re.compile(
    r"\b(?:Random(?:Resized|Sized|Scale)\w{0,12}|(?:Long|Small)estMaxSize|Re(?:size|scale)\w{0,16})\("
)
"""Transforms that the file makes."""
_SCALING = re.compile(r"(?:^|_)(?:im)?(?:resize|rescale|thumbnail)$")


def part_of(call: cst.Call, module: Module) -> Costly | None:
    """What a call that reads a file costs, if the function goes on with a slice of it."""
    found = _reader(call, module)
    if found is None or any(module.argument(call, each) is not None for each in _PARTS):
        return None
    if found is _SOUND and makes_sample(call, module) and _collated_in_parts(module):
        return found
    name, function = _name_of(call, module), module.function(call)
    if not name or function is None:
        return None
    return found if name in _sliced(module, function, found is _ARRAY) else None


def decoded_image(call: cst.Call, module: Module) -> Costly | None:
    """What a call that decodes an image costs, most of all if something then scales that."""
    if _READERS.get(next(iter(module.resolve(call.func)), "")) is not _IMAGE:
        return None
    behind, function = module.parent(call), module.function(call)
    if isinstance(behind, cst.Attribute) and behind.attr.value in ("size", "width", "height"):
        return because(None, "only the size of the image is read")
    scales = function is not None and _scales(module, function)
    return _SCALED if scales or _makes_scaling_transforms(module) else _DECODED


@once
def _scales(module: Module, function: cst.FunctionDef) -> bool:
    called = map(called_name, module.calls_within(function))
    return any(map(_SCALING.search, called))


@once
def _makes_scaling_transforms(module: Module) -> bool:
    if _SCALES.search(module.text):
        return True
    functions = module.nodes(cst.FunctionDef)
    return any(
        _scales(module, function) and loads_samples(function.body, module) for function in functions
    )


def reads_itself(call: cst.Call, module: Module) -> bool:
    """Whether a call is one of a library that reads files."""
    return any(name in _READERS for name in module.resolve(call.func))


def _reader(call: cst.Call, module: Module) -> Costly | None:
    names = module.resolve(call.func)
    found = next((_READERS[name] for name in names if name in _READERS), None)
    spelled = called_name(call)
    return found or (_SOUND if _SOUND_WORDS.search(snake(spelled)) else None)


def _name_of(call: cst.Call, module: Module) -> str:
    """`wave` for `wave, rate = torchaudio.load(path)`, also with `.convert("RGB")` behind it."""
    node: cst.CSTNode = call
    for above in module.ancestors(call):
        if isinstance(above, cst.Assign):
            target: cst.BaseExpression = above.targets[0].target
            if isinstance(target, cst.Tuple) and node is call:
                target = target.elements[0].value
            return target.value if isinstance(target, cst.Name) else ""
        if not isinstance(above, cst.Attribute | cst.Call | cst.Arg):
            return ""
        if isinstance(above, cst.Call) and isinstance(node, cst.Arg) and not _wraps(above, module):
            return ""
        node = above
    return ""


def _wraps(call: cst.Call, module: Module) -> bool:
    """`torch.from_numpy(x)`, `np.array(x)`."""
    return any(name.startswith(("torch.", "numpy.")) for name in module.resolve(call.func))


@once
def _sliced(
    module: Module,
    function: cst.FunctionDef,
    rows: bool,
) -> frozenset[str]:
    """The names of a function of which it takes parts: `wave[start : start + length]`. With
    `rows`, only those of which it takes rows, which lie together in a file."""
    return frozenset(
        node.value.value
        for node in module.within(function.body)
        if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name)
        if any(_is_window(each.slice, module) for each in node.slice[: 1 if rows else None])
    )


@once
def _collated_in_parts(module: Module) -> bool:
    """Whether a collate function takes `sample["audio"][start : start + length]`."""
    return any(
        "audio" in str(module.literal(node.value.slice[0].slice.value)).lower()
        and any(_is_window(each.slice, module) for each in node.slice)
        for function in module.nodes(cst.FunctionDef)
        if collates(function, module)
        for node in module.within(function.body)
        if isinstance(node, cst.Subscript)
        and isinstance(node.value, cst.Subscript)
        and isinstance(node.value.slice[0].slice, cst.Index)
    )


def _is_window(part: cst.BaseSlice, module: Module) -> bool:
    return (
        isinstance(part, cst.Slice)
        and part.lower is not None
        and part.upper is not None
        and part.step is None
        and module.literal(part.lower) is UNKNOWN
        and module.literal(part.upper) is UNKNOWN
    )
