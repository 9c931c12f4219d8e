"""The public interface for rule authors.

A rule imports from here, and what only a few rules need from `torchlint.analysis`.
"""

from torchlint.analysis import edits
from torchlint.analysis.module import Module
from torchlint.analysis.once import once
from torchlint.because import because
from torchlint.finding import Applicability, Edit, Effect, Finding, Fix, Position, Related, Tier
from torchlint.project.project import Project
from torchlint.reported import Clue, Fact, Reported, Waiting
from torchlint.ruleapi import outlines
from torchlint.ruleapi.contexts import Context
from torchlint.ruleapi.declared import (
    Argument,
    Change,
    Match,
    Pattern,
    assigns,
    calls,
    configures,
    exports,
    first_step,
    method,
    pass_argument,
    passes,
    remove,
    sets,
)
from torchlint.ruleapi.experiment import COMPUTING, STEPPING, Bench, Experiment, Proposal
from torchlint.ruleapi.outlines import Outline
from torchlint.ruleapi.rule_definition import Rule, Triggers, without_fix
from torchlint.ruleapi.texts import STEP_TEXT

__all__ = [
    "COMPUTING",
    "STEPPING",
    "STEP_TEXT",
    "Applicability",
    "Argument",
    "Bench",
    "Change",
    "Clue",
    "Context",
    "Edit",
    "Effect",
    "Experiment",
    "Fact",
    "Finding",
    "Fix",
    "Match",
    "Module",
    "Outline",
    "Pattern",
    "Position",
    "Project",
    "Proposal",
    "Related",
    "Reported",
    "Rule",
    "Tier",
    "Triggers",
    "Waiting",
    "assigns",
    "because",
    "calls",
    "configures",
    "edits",
    "exports",
    "first_step",
    "method",
    "once",
    "outlines",
    "pass_argument",
    "passes",
    "remove",
    "sets",
    "without_fix",
]
