"""The runners of OpenMMLab, which call `train_step` of the model, and that `forward`.

https://mmengine.readthedocs.io/en/latest/tutorials/model.html
"""

from torchlint.analysis.frameworks.adapter import Framework, Runner

OPENMMLAB = Framework(
    step_words=(r"\.update_params\(",),
    backward_methods=frozenset({"update_params"}),
    runners=(
        Runner(
            packages=("mmengine", "mmcv", "mmdet", "mmseg", "mmcls", "mmpretrain"),
            decides=r"\w*Runner|train_(?:detector|segmentor|model)",
            belongs=r"Base(?:Model|Module|DataPreprocessor)",
            trains=r"train_(?:detector|segmentor|model)",
            starts=frozenset({"train"}),
        ),
    ),
    step_methods=("train_step",),
    step_hooks=((r"Module$", frozenset({"train_step"})),),
    step_forwards=(r"^mmengine\.model\..*BaseModel$",),
    hook_words=(r"\bmmengine\.model\b",),
    evaluation_hooks=frozenset({"val_step"}),
    evaluation_modes=frozenset({"predict", "tensor"}),
    host_parameters=frozenset({"mode"}),
)
