"""Train in mixed precision, where the GPU has tensor cores for it.

## What it does
Reports the first training step of a program that trains convolutions, attention, a
network from a model zoo or one that is called like those (`UNet`) on a GPU, and whose text says
nothing about mixed precision. It is shown only if you ask for pedantic findings: whether a model
trains as well in 16 bits is something that you must try.

## Why it is slow
Matrix products and convolutions run on tensor cores, which compute several times as fast in float16
or bfloat16 as in float32. Activations also take half of the memory, so operations that wait for
memory get faster too, and a larger batch fits. PyTorch's tuning guide reports up to three times
the speed on Volta and newer GPUs. A small model, or one that waits for its data, gains nothing.

## Example
```python
network = torchvision.models.resnet50().to(device)
for images, labels in loader:
    loss = criterion(network(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
network = torchvision.models.resnet50().to(device)
for images, labels in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(network(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
Only the forward pass and the loss belong into the region. On GPUs older than Ampere use
`torch.float16`, and scale the loss with `torch.amp.GradScaler("cuda")`, so that small gradients do
not become zero.

## When it is silent
If any file of the program mentions autocast, AMP, float16, bfloat16, `.half()`, DeepSpeed or Apex;
if it works in float64; if Lightning, Fabric, Transformers, Accelerate, fastai or OpenMMLab trains,
which have a switch of their own; for reinforcement learning and other training on a CPU or TPU;
for networks of linear layers alone; in tests; if the project supports a torch older than 1.10,
which has no `torch.autocast`.

## Fix safety
There is no fix: which lines belong into the region, and whether the loss must be scaled, depends on
the program. Losses change, and a training that is close to the limits of float16 may diverge.

## How verify confirms it
It cannot: there is no fix. On a GPU, `torchlint verify train.py --against train_amp.py` compares
with your own version.

## References
- PyTorch performance tuning guide, "Use mixed precision and AMP"
- PyTorch documentation, "Automatic Mixed Precision package"
"""

from torchlint.rule import Context, Effect, Rule, Tier, first_step

from ._float32_programs import CHOSEN_ELSEWHERE, CODE

rule = Rule(
    code="TL501",
    effect=Effect.LARGE,
    summary="a network trains in float32 although the GPU has tensor cores",
    tier=Tier.PEDANTIC,
    finds=(first_step(),),
    message="This program trains in float32; try `torch.autocast` around the forward pass and the "
    "loss.",
    contexts=(Context.ACCELERATOR,),
    program_has={
        "layers for tensor cores": CODE + r"(?:\bConv(?:Transpose)?[123]d\(|MultiheadAttention\(|"
        r"\bTransformer(?:En|De)coder|scaled_dot_product_attention|\b(?:LSTM|GRU)\(|"
        r"\b(?:torchvision\.)?models(?:\.(?:[a-z]\w{0,60}\(|__dict__)|\s+as\s)|\btimm\.|from_pretrained\(|"
        r"(?:U[Nn]et|UNETR|ResNet|DenseNet|EfficientNet|Transformer|ViT)\w{0,40}\()"
    },
    program_lacks=CHOSEN_ELSEWHERE,
    since=(1, 10),
    needs_gpu=True,
)
