"""torchnet: https://github.com/pytorch/tnt/blob/0.0.5/torchnet/engine/engine.py"""

from torchlint.analysis.frameworks.adapter import Framework

TORCHNET = Framework(
    hook_words=(r"hooks\[",),
    hook_tables=("hooks",),
    table_keys=frozenset({"on_sample", "on_forward", "on_backward"}),
    state_tensors=frozenset({"loss", "output"}),
)
