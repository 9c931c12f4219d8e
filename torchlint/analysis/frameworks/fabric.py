"""Fabric: https://lightning.ai/docs/fabric/stable/api/fabric_methods.html"""

from torchlint.analysis.frameworks.adapter import Framework, Keeps, Runner, Setting

FABRIC = Framework(
    shown_by=(r"\bFabric\(",),
    owns=frozenset({"mixed precision", "sampler"}),
    renamed=(("lightning_fabric.", "lightning.fabric."),),
    moved=(("lightning.Fabric", "lightning.fabric.Fabric"),),
    runners=(
        Runner(
            packages=("lightning", "pytorch_lightning", "lightning_fabric"),
            decides=r"Fabric|LightningLite",
            keeps=(Keeps("accelerator", "cpu", 0),),
        ),
    ),
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
