"""Let cuDNN time its convolution algorithms once and keep the fastest.

## What it does
Reports a training script whose network has convolutions and whose program never turns on
`torch.backends.cudnn.benchmark`. There is one finding per script, on the line that starts it.

## Why it is slow
cuDNN has several algorithms for each convolution. By default it picks one with a heuristic. With
`benchmark` on, it times them at the first batch of each shape and keeps the fastest. If all inputs
have the same size, this often saves a good part of each step: SpeechBrain went from 17 to 12
minutes per epoch on a V100. On other hardware the heuristic already picks the fastest and nothing
changes, so measure.

## Example
```python
def main():
    model = torchvision.models.resnet50().cuda()
    loader = DataLoader(ImageFolder("train", RandomResizedCrop(224)), batch_size=64, num_workers=8)
    train(model, loader)
```

## Use instead
```python
def main():
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().cuda()
    loader = DataLoader(ImageFolder("train", RandomResizedCrop(224)), batch_size=64, num_workers=8)
    train(model, loader)
```

## When it is silent
- Programs that ask for determinism (`cudnn.deterministic = True`,
  `use_deterministic_algorithms(True)`) or set `benchmark = False`.
- Programs whose shapes change from batch to batch (detection, padded sequences, multi-scale
  training). There the search would run again and again, and steps become many times slower.
- Programs without a GPU or without convolutions, scripts that import `torch_xla` or JAX, and files
  that are not started as scripts. A convolution that only embeds patches, with a stride as wide as
  its kernel, is a product of matrices and does not count.
- Lightning, fastai, mmcv and detectron2, which have their own setting.

It is a hint if nothing shows that inputs have one size, if there are padded sequences next to
cropped images, as in captioning, if the only convolutions are in a network that is not trained,
such as a frozen autoencoder, if the convolutions are few in a network of attention, or if only some
runs ask for determinism. If these are runs with an option that is off by default, such as `--seed`,
it is a finding for the others, without a fix.

## Fix safety
**Unsafe**: another run may choose another algorithm, so results can differ in the last bits
between runs, even with equal seeds. The first step of each input shape takes longer.

The line is added where the script starts or below its imports. There is no fix where torch may not
be imported there, as after `try: import torch` with an `except` that continues.

## How verify confirms it
It measures the line that `fix --unsafe` inserts, and needs a GPU: without one the finding is NOT
MEASURABLE HERE. The search at the first batch is warm-up and does not count. Numbers are equal up
to rounding or bitwise equal, depending on what cuDNN chooses.

## References
- PyTorch performance tuning guide, "Enable cuDNN auto-tuner"
- PyTorch notes on reproducibility, "CUDA convolution benchmarking"
- pytorch/pytorch#2759: what happens if sizes change
"""

from collections.abc import Iterable

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.module import COMMAND_LINES
from torchlint.project.symbols import Key
from torchlint.rule import (
    Applicability,
    Clue,
    Context,
    Effect,
    Fact,
    Finding,
    Module,
    Project,
    Reported,
    Rule,
    Tier,
    Triggers,
    because,
    without_fix,
)

from .flags import FlagChoice, choices
from .networks import PATCHES, convolutions_in
from .placement import start_of, switch_on
from .reach import Reach, leads_to_training, reach_of, training_functions

_CODE = r"(?m)^[^#\n\"']*"
_ZOO = (
    r"(?:alexnet|convnext|densenet|efficientnet|googlenet|inception|mnasnet|mobilenet|regnet|resnet|"
    r"resnext|shufflenet|squeezenet|vgg|wide_resnet)"
)
_ONE_PATCH = (
    r"[^()\n]{0,200}\bkernel_size\s*=\s*(?P<size>\w[\w.]{0,80}|\([^()\n]{0,80}\)),\s*"
    r"stride\s*=\s*(?P=size)\s*[,)]"
)
"""A convolution that embeds patches: as wide as its stride."""
_SHORT_PATCH = r"[^()\n]{0,60}\bkernel_size\s?=\s?(?P<size>\w{1,20}),\s?stride\s?=\s?(?P=size)\b"
_CHOSEN_FROM_ZOO = (
    rf"\bmodels\.{_ZOO}\w{{0,40}}\(|\bfrom torchvision\.models import[^#\n]{{0,200}}\b{_ZOO}"
)
_SLICED = (
    r"\[ ?(?::|\.\.\.) ?, ?(?:: ?, ?)?(?:0 ?)?: ?\d{2,4} ?, ?(?:0 ?)?: ?\d{2,4} ?\]|"
    r"\binterpolate\([^()\n]{0,200}\bsize ?= ?[(\[]? ?\d"
)
"""Images that are cut to one size, as in `images[:, :224, :224]`, or scaled to it."""
_DECIDES = (
    r"cudnn|use_deterministic_algorithms|deterministic_debug_mode|"
    r"seed\w{0,80}\([^)\n]{0,200}determin"
)

rule = Rule(
    code="TL301",
    effect=Effect.LARGE,
    summary="training with convolutions never turns on `cudnn.benchmark`",
    fix=Applicability.UNSAFE,
    triggers=Triggers(
        (f"{frameworks.STEP_WORDS}|{_DECIDES}",),
        on_demand=(
            rf"(?m)^[ \t]*if\s+__name__|\b(?:{'|'.join(sorted(COMMAND_LINES))})\b|"
            r"^(?:for|while)\b|^(?:async )?def \w*(?:main|run|train|fit|launch|work|tune)",
        ),
        summarizes=True,
    ),
    clues={
        "convolutions": _CODE + rf"(?:\b(?:Lazy)?Conv(?:Transpose)?[123]d\((?!{_ONE_PATCH})|"
        r"(?<!def )\bconv(?:_transpose)?[123]d\([^()]{0,200}\bweight|"
        rf"timm\.create_model\((?!\s*['\"]{PATCHES})|{_CHOSEN_FROM_ZOO})",
        "attention": r"(?m:^[ \t]*)class \w{0,40}(?:Attention|Transformer|ViT)|"
        r"\bMultiheadAttention\(|\bTransformer(?:En|De)coder(?:Layer)?\(|\bscaled_dot_product_attention\(",
        "a network of convolutions": _CODE
        + rf"(?:\btimm\.create_model\((?!\s*['\"]{PATCHES})|\bmodels\.__dict__\[|"
        rf"\bgetattr\((?:torchvision\.)?models,|{_CHOSEN_FROM_ZOO})",
        "blocks of convolutions": r"(?m:^[ \t]*)class \w{0,40}(?:U[Nn]et|Conv_?Block|DoubleConv|"
        r"[Rr]es(?:[Nn]et|idual)?_?[Bb]lock|Down_?(?:[Ss]ample|[Bb]lock)|Up_?(?:[Ss]ample|[Bb]lock))",
        "convolutions in a row": rf"\bConv[123]d\((?!{_SHORT_PATCH})[^\0]{{0,200}}?"
        rf"\bConv[123]d\((?!{_SHORT_PATCH.replace('size>', 'other>').replace('=size', '=other')})",
        "one size": (
            r"(?m)^[^#\n]*(?:\b(?:CenterCrop|RandomCrop|RandomResizedCrop|RandomSizedCrop|FiveCrop|"
            r"TenCrop)\(|Resize\(\s*(?:size\s*=\s*)?[(\[]|\b(?:CIFAR10|CIFAR100|\w*MNIST|SVHN|STL10)\b"
            rf"|\b(?:image_?size|img_?size|crop_?size|input_?shape|num_points|npoints?)\b|{_SLICED})"
        ),
        "many sizes": (
            r"(?m)^[^#\n]*(?:models(?:\.| import )detection|(?:faster|mask|keypoint)rcnn_|"
            r"AspectRatio\w{0,80}\(|\bNestedTensor\b|nested_tensor|multi_?scale|MultiScale|[Rr][Oo][Ii]_?(?:[Aa]lign|[Pp]ool))"
            r"|(?m:^[ \t]*)def \w{0,40}collate(?:.*\n){1,40}?.*\bpad\w*(?:\s*[(=\[\]*+,]|\.\w)"
        ),
        "padded sequences": r"(?m)^[^#\n]*(?:\b(?:pad|pad_packed|pack_padded)_sequence\(|"
        r"\bimport\b[^#\n]{0,200}\b(?:pad|pad_packed|pack_padded)_sequence\b)",
        "cropped images": r"(?m)^[^#\n]*(?:\b(?:Center|Random|RandomResized|RandomSized|Five|Ten)"
        r"Crop\(|Resize\(\s*(?:size\s*=\s*)?[(\[])",
        "XLA": r"(?m)^[ \t]*(?:import|from)[ \t]+(?:torch_xla|jax)\b",
        "imports by name": r"(?m)^[^#\n]*(?:import_module|__import__)\(\s*(?!['\"])",
        "determinism on request": r"(?m:^)[ \t]{0,40}(?:el)?if [^\n:]{0,120}:\s{0,60}"
        r"(?:\w{1,18}\.)?\w{0,18}[dD]etermin\w{0,18}\(",
        "own switch": frameworks.owned("cudnn.benchmark"),
    },
    contexts=(Context.ACCELERATOR,),
    needs_gpu=True,
    may_change="cuDNN may choose other algorithms, which round differently",
)
_NOT_TRAINED = (
    "This program runs convolutions in a network that it does not train, and never turns on "
    "`torch.backends.cudnn.benchmark`; set it to True if they take part of each step."
)
_SILENCES = {
    "own switch": "{} uses a framework with a setting of its own for `cudnn.benchmark`",
    "many sizes": "inputs have many sizes, as {} shows, and each size starts a new search",
}
"""Clues with which the rule is silent, and what they mean."""
_PADDED = "{} pads sequences, which have many lengths, and each length starts a new search"


@rule.on_module
def records_facts(module: Module) -> Iterable[Reported]:
    """Facts about this file, and a finding that waits for the facts of the files it imports."""
    for choice, node in choices(module):
        fact = Fact("cudnn", module.path, choice.value)
        yield because(fact, "{} decides about `cudnn.benchmark`", node)
    yield Fact("convolutions", module.path, bool(convolutions_in(module)))
    for function in training_functions(module) - {None}:
        yield Fact("trains", module.path, module.qualified_name(function))
    start = start_of(module)
    if start is None:
        return because(None, "the file is not started as a script")
    unplaced = "no suitable place for the line was found at the start of the script"
    message = (
        "This program trains a convolutional network and never turns on "
        "`torch.backends.cudnn.benchmark`; set it to True when the program starts."
    )
    fix = switch_on(module) or unplaced
    yield from rule.report(module, start, message, fix=fix, needs=reach_of(module))


@rule.settle(Reach)
def settle(finding: Finding, reach: Reach, project: Project) -> Finding | None:
    files = _files_of(finding.path, reach.uses, project)
    if not _trains(finding.path, reach, files, project):
        return because(None, "nothing shows that the script runs a training step")
    if not _has_convolutions(files, project):
        return because(None, "nothing that the script runs has convolutions")
    for clue, said in _SILENCES.items():
        if project.has_clue(clue, files):
            return because(None, said, Clue(clue, files))
    sequences = project.has_clue("padded sequences", files)
    if sequences and not project.has_clue("cropped images", files):
        return because(None, _PADDED, Clue("padded sequences", files))
    if project.has_clue("XLA", [finding.path]):
        return because(
            None, "{} imports a library that does without cuDNN", Clue("XLA", [finding.path])
        )
    decided = _decisions(finding.path, project)
    for each in (FlagChoice.ON.value, FlagChoice.OFF.value):
        if each in decided:
            said = "{} decides about `cudnn.benchmark` already"
            return because(None, said, decided[each])
    trained = _files_of(finding.path, reach.trained, project) - {finding.path}
    if not reach.convolves and not _has_convolutions(trained, project):
        reason = "only a network that is not trained has convolutions"
        return because(_hint(finding, reason)._replace(message=_NOT_TRAINED), reason)
    if FlagChoice.OFF_SOMETIMES.value in decided:
        as_hint = _hint(finding, "some runs request determinism; set it only for the others")
        asks = decided[FlagChoice.OFF_SOMETIMES.value]
        return because(
            as_hint, "some runs ask for determinism, or switch the search off, in {}", asks
        )
    if sequences:
        as_hint = _hint(finding, "sequences of many lengths are padded; only images have one size")
        return because(as_hint, _PADDED, Clue("padded sequences", files))
    if not reach.convolves and _few_beside_attention(files, project):
        reason = "the convolutions are few beside attention, and may take little of a step"
        return because(_hint(finding, reason), reason)
    if not project.has_clue("one size", files):
        reason = "nothing shows that all inputs have the same size"
        return because(_hint(finding, reason), reason)
    if FlagChoice.OFF_ON_REQUEST.value in decided:
        return without_fix(finding, "some runs request determinism; set it only for the others")
    return finding


def _decisions(path: str, project: Project) -> dict[str, Fact]:
    """What the programs of a file decide about the flag, by the choice."""
    programs = project.programs(path)
    decided = {str(fact.value): fact for fact in project.facts("cudnn", programs)}
    if FlagChoice.OFF_BY_NAME.value in decided:
        asked = project.has_clue("determinism on request", programs)
        choice = FlagChoice.OFF_SOMETIMES if asked else FlagChoice.OFF
        decided.setdefault(choice.value, decided[FlagChoice.OFF_BY_NAME.value])
    return decided


def _files_of(path: str, uses: Iterable[str], project: Project) -> set[str]:
    """The script and the files that it runs, by the dotted names of what it uses."""
    files = {path}
    for name in uses:
        located = project.index.locate(path, name)
        if located is not None:
            files |= project.imported(located[0])
    if project.has_clue("imports by name", files):
        files |= project.beside(path)
    return files


def _trains(path: str, reach: Reach, files: set[str], project: Project) -> bool:
    if reach.trains:
        return True
    others = files - {path}
    training = {Key(fact.path, str(fact.value)) for fact in project.facts("trains", others)}
    return bool(training) and leads_to_training(reach, others, training, project)


def _has_convolutions(files: set[str], project: Project) -> bool:
    """Whether one of the files creates convolutions: by its facts, or by its text if not parsed."""
    read = {fact.path: fact.value for fact in project.facts("convolutions", files)}
    return any(read.values()) or project.has_clue("convolutions", files - set(read))


def _few_beside_attention(files: set[str], project: Project) -> bool:
    """Whether files that create convolutions attend, and none of them shows a network of them."""
    convolving = [each for each in files if _has_convolutions({each}, project)]
    attending = {each for each in convolving if project.has_clue("attention", [each])}
    return bool(attending) and not any(
        project.has_clue("a network of convolutions", [each])
        or project.has_clue(
            "blocks of convolutions" if each in attending else "convolutions in a row", [each]
        )
        for each in convolving
    )


def _hint(finding: Finding, reason: str) -> Finding:
    return without_fix(finding, reason)._replace(tier=Tier.HINT)
