"""The runners of OpenMMLab, which call `train_step` of the model.

https://mmengine.readthedocs.io/en/latest/tutorials/model.html
"""

from torchlint.analysis.frameworks.adapter import Framework, Runner

OPENMMLAB = Framework(
    step_methods=("train_step",),
    runners=(Runner(r"^mmengine\.runner\.Runner(?:\.from_cfg)?$", r"\bmmengine\b", trains=True),),
    step_hooks=((r"Module$", frozenset({"train_step"})),),
    evaluation_hooks=frozenset({"val_step"}),
)
