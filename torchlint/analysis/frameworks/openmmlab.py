"""The runners of OpenMMLab, which call `train_step` of the model.

https://mmengine.readthedocs.io/en/latest/tutorials/model.html
"""

from torchlint.analysis.frameworks.adapter import Framework

OPENMMLAB = Framework(
    step_methods=("train_step",),
    step_hooks=((r"Module$", frozenset({"train_step"})),),
    evaluation_hooks=frozenset({"val_step"}),
)
