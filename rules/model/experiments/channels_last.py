"""Keep images with their channels last in memory.

Convolutions of cuDNN for tensor cores, and those of oneDNN, read the channels of a pixel one after
the other. In the default layout they reorder each image first; in the other, layers that do not
have it reorder images back. Which costs more depends on the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchlint.analysis.training.step_sites import model_sites
from torchlint.rule import COMPUTING, Bench, Experiment, Module, Proposal, edits

_IMAGES = re.compile(
    r"Conv2d|resnet|densenet|efficientnet|mobilenet|vgg|timm\.|UNet", re.IGNORECASE
)

experiment = Experiment(
    "images have their channels last in memory",
    speeds=COMPUTING,
    may_change="sums of a convolution are rounded in another order",
)


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    if "channels_last" in module.text or not _IMAGES.search(module.text):
        return
    changes = []
    for site in model_sites(module):
        torch = module.names.imported_as("torch", site.statement)
        if torch is None:
            return
        code = f"{site.name}.to(memory_format={torch}.channels_last)"
        changes.append(edits.insert_before(module, site.statement, code))
    yield Proposal("", "Convert the model to `torch.channels_last`", changes)
