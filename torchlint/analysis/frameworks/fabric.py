"""Fabric: https://lightning.ai/docs/fabric/stable/api/fabric_methods.html"""

from torchlint.analysis.frameworks.adapter import Framework, Setting

FABRIC = Framework(
    accelerator_words=(r"Fabric\(",),
    shown_by=(r"\bFabric\(",),
    owns=frozenset({"mixed precision", "sampler"}),
    renamed=(("lightning_fabric.", "lightning.fabric."),),
    moved=(("lightning.Fabric", "lightning.fabric.Fabric"),),
    accelerator_calls=("lightning.fabric.Fabric",),
    barriers=frozenset({"barrier"}),
    prepares=frozenset({"setup", "setup_dataloaders"}),
    settings=(
        Setting(
            "strategy",
            r"^lightning\.fabric\.Fabric$",
            ("strategy", "accelerator", "distributed_backend"),
        ),
    ),
)
