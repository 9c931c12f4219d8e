"""MONAI: https://monai.readthedocs.io/en/stable/data.html#dataloader"""

from torchlint.analysis.frameworks.adapter import Framework

MONAI = Framework(
    moved=(
        # A subclass whose `num_workers` is 0 by default, as torch's, and is usually a keyword.
        ("monai.data.DataLoader", "torch.utils.data.DataLoader"),
        ("monai.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
    ),
)
