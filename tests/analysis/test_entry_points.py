"""What a command line runs of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.entry_points import definitions_run, entry_points

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

FILE = """\
def train(lr=0.1): pass
def test(): pass
class Job:
    def __init__(self): pass
    def run(self): pass
    def _part(self): pass
"""
RUN = {
    "Fire with a function": ("import fire", "fire.Fire(train)", ["train"]),
    "Fire with a class": ("import fire", "fire.Fire(Job)", ["Job", "Job.run"]),
    "Fire with an object": ("import fire", "fire.Fire(Job())", ["Job", "Job.run"]),
    "Fire with a dict": ("from fire import Fire", "Fire({'t': train, 'j': Job})",
                         ["train", "Job", "Job.run"]),
    "Fire with nothing": ("import fire", "fire.Fire()", ["train", "test", "Job", "Job.run"]),
    "Fire with a name only": ("import fire", "fire.Fire(name='x')",
                              ["train", "test", "Job", "Job.run"]),
    "Fire with what it cannot know": ("import fire", "fire.Fire(made())", []),
    "tyro": ("import tyro", "tyro.cli(train)", ["train"]),
    "tyro with a class": ("import tyro", "tyro.cli(Job)", ["Job"]),
    "Typer": ("import typer", "typer.run(train)", ["train"]),
    "jsonargparse": ("from jsonargparse import auto_cli", "auto_cli([train, test])",
                     ["train", "test"]),
    "jsonargparse with nothing": ("from jsonargparse import CLI", "CLI()",
                                  ["train", "test", "Job", "Job.run"]),
    "absl": ("from absl import app", "app.run(train)", ["train"]),
    "a command of Typer": ("import typer\napp = typer.Typer()",
                           "@app.command()\ndef sweep(): pass", ["sweep"]),
    "a command without a call": ("import cyclopts\napp = cyclopts.App()",
                                 "@app.default\ndef sweep(): pass", ["sweep"]),
    "a command of a group": ("import click\n@click.group()\ndef cli(): pass",
                             "@cli.command('sweep')\n@click.option('--lr')\ndef sweep(): pass",
                             ["cli", "sweep"]),
    "Hydra": ("import hydra", "@hydra.main(config_path='conf')\ndef main(cfg): pass", ["main"]),
    "Sacred": ("from sacred import Experiment\nex = Experiment()",
               "@ex.automain\ndef main(): pass", ["main"]),
    "a function of the same name": ("from mine import fire", "fire.Fire(train)", []),
    "a decorator without such a library": ("from mine import app",
                                           "@app.command()\ndef sweep(): pass", []),
}  # fmt: skip


@pytest.mark.parametrize(("imports", "call", "run"), RUN.values(), ids=RUN)
def test_a_command_line_runs_functions_classes_and_methods(
    module_of: Callable[..., Module], imports: str, call: str, run: list[str]
) -> None:
    module = module_of(f"{imports}\n{FILE}{call}\n")
    found = [module.qualified_name(each) for each in definitions_run(module)]
    assert sorted(found) == sorted(run)


def test_what_another_file_defines_is_named(module_of: Callable[..., Module]) -> None:
    module = module_of("import fire\nfrom jobs import Job\nfire.Fire(Job)\n")
    assert [(entry.names, entry.methods) for entry in entry_points(module)] == [
        (("jobs.Job",), True)
    ]
