"""Try the channels-last layout for a convolutional network in mixed precision.

## What it does
Reports the first training step of a file in a program that trains a network of 2-D convolutions on
a GPU with mixed precision, and that mentions `channels_last` nowhere. It is a matter of taste:
`--pedantic` shows it.

## Why it is slow
Tensor cores compute convolutions with the channels of a pixel side by side. PyTorch stores a batch
as a plane for each channel unless told otherwise, so cuDNN transposes the input and the output of
layers, or takes a kernel without tensor cores. The tutorial of PyTorch names 22 % for a ResNet-50
on a V100, and 8 to 35 % for other networks. A small network in float32 trained one and a half times
as fast, measured on a CPU. Where layers change the layout in between, it can also be slower.

## Example
```python
scaler = torch.amp.GradScaler("cuda")
model = torchvision.models.resnet50().to(device)
for images, labels in loader:
    with torch.autocast("cuda"):
        loss = criterion(model(images.to(device)), labels.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda")
model = torchvision.models.resnet50().to(device, memory_format=torch.channels_last)
for images, labels in loader:
    images = images.to(device, memory_format=torch.channels_last)
    with torch.autocast("cuda"):
        loss = criterion(model(images), labels.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
```

## When it is silent
Where some file of the program mentions `channels_last`, `torch.compile`, which chooses the layout
by itself, or 1-D or 3-D convolutions; without mixed precision; without norms or pooling over 2-D
planes, as in a vision transformer whose only convolution cuts patches; in tests; where no
accelerator is used.

## Fix safety
There is no fix: both the model and its inputs must be converted, and a `view` on an activation in
the network may then fail.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares with your own
version; it needs a GPU.

## References
- PyTorch tutorial, "Channels Last Memory Format in PyTorch"
- PyTorch performance tuning guide, "Use channels_last memory format"
"""

from torchlint.rule import Context, Effect, Rule, Tier, first_step

from ._mixed_precision_words import MIXED_PRECISION

_CODE = r"(?m)^[^#\n]*"

rule = Rule(
    code="TL305",
    effect=Effect.LARGE,
    summary="a convolutional network in mixed precision trains in the default layout",
    tier=Tier.PEDANTIC,
    finds=(first_step(),),
    message="This trains 2-D convolutions with mixed precision and one plane per channel; try "
    "`channels_last` for the model and its inputs.",
    change="the model and its inputs change together, and code between the layers may not allow it",
    contexts=(Context.ACCELERATOR,),
    program_has={
        "2-D convolutions": _CODE + r"(?:\b(?:BatchNorm2d|MaxPool2d|AvgPool2d)\(|\bmodels\."
        r"(?:__dict__|convnext|densenet|efficientnet|mobilenet|regnet|resnet|resnext|vgg))",
        "mixed precision": MIXED_PRECISION,
    },
    program_lacks={
        "the layout `channels_last`": _CODE + r"\bchannels_last\b",
        "`torch.compile`": _CODE + r"\btorch\.compile\b",
        "convolutions of one or three dimensions": _CODE + r"\bConv[13]d\(",
    },
    needs_gpu=True,
)
