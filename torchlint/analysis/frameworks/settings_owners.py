"""Frameworks that torchlint knows only by the settings they have a switch of their own for."""

from torchlint.analysis.frameworks.adapter import Framework

SETTINGS_OWNERS = Framework(
    shown_by=(r"(?m:^[ \t]*(?:from|import)\s+(?:fastai|mmcv|mmengine|mmdet|detectron2)\b)",),
    owns=frozenset({"cudnn.benchmark", "mixed precision"}),
)
