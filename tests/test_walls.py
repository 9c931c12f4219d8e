"""The walls between the rooms: which modules may import which, as pyproject.toml declares."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator

from tests.shielded import write_files

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def layers() -> list[set[str]]:
    """From the top down, as declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    found = next(each["layers"] for each in contracts if each["type"] == "layers")
    return [{name.strip() for name in layer.split("|")} for layer in found]


@pytest.fixture
def graph() -> grimp.ImportGraph:
    """All imports of the product, those for types and late ones included."""
    return grimp.build_graph("torchlint", "rules", cache_dir=None)


def circle(graph: grimp.ImportGraph) -> list[str]:
    """The modules of a circle of imports, if there is one."""
    imports = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def upward(graph: grimp.ImportGraph, layers: list[set[str]]) -> Iterator[tuple[str, str]]:
    """The imports that run up or across."""
    level = {name: number for number, layer in enumerate(layers) for name in layer}
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            above, below = (".".join(each.split(".")[:2]) for each in (importer, imported))
            known = above in level and below in level and above != below
            if known and level[above] >= level[below]:
                yield importer, imported


def of_one_rule(graph: grimp.ImportGraph) -> Iterator[tuple[str, str]]:
    """The modules outside of a rule that only this rule imports, with the rule."""
    for module in graph.modules:
        users = graph.find_modules_that_directly_import(module)
        rules = {".".join(user.split(".")[:3]) for user in users if _is_of_rule(user)}
        asked = module.startswith(("rules.", "torchlint.analysis."))
        if asked and users and len(rules) == 1 and all(map(_is_of_rule, users)):
            (rule,) = rules
            if module != rule and not module.startswith(f"{rule}."):
                yield module, rule


def _is_of_rule(module: str) -> bool:
    """Whether a module is a rule, or a part of one: not a family, nor what several rules share."""
    parts = module.split(".")
    return parts[0] == "rules" and len(parts) > 2 and not parts[2].startswith("_")


def test_what_only_one_rule_uses_is_part_of_the_rule(graph: grimp.ImportGraph) -> None:
    assert list(of_one_rule(graph)) == []


def test_a_helper_of_a_single_rule_is_caught(graph: grimp.ImportGraph) -> None:
    graph.add_import(importer="rules.sync.polyak_loop", imported="torchlint.analysis.polyak")
    assert list(of_one_rule(graph)) == [("torchlint.analysis.polyak", "rules.sync.polyak_loop")]


def test_no_modules_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    assert circle(graph) == []


def test_no_import_runs_up(graph: grimp.ImportGraph, layers: list[set[str]]) -> None:
    assert list(upward(graph, layers)) == []


def test_every_room_has_its_layer(graph: grimp.ImportGraph, layers: list[set[str]]) -> None:
    rooms = {name for name in graph.modules if name.count(".") == 1}
    assert {name for name in rooms if name.startswith("torchlint.")} == set().union(*layers)


def test_the_declared_contracts_are_kept() -> None:
    words = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as main; main()",
    ]
    done = subprocess.run(
        [*words, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_edge_that_runs_up_is_caught(graph: grimp.ImportGraph, layers: list[set[str]]) -> None:
    edge = ("torchlint.finding", "torchlint.cli.options")
    graph.add_import(importer=edge[0], imported=edge[1])
    assert list(upward(graph, layers)) == [edge]


def test_an_edge_that_closes_a_circle_is_caught(graph: grimp.ImportGraph) -> None:
    graph.add_import(
        importer="torchlint.analysis.names", imported="torchlint.analysis.values.values"
    )
    assert {"torchlint.analysis.names", "torchlint.analysis.values.values"} <= set(circle(graph))


def twins(root: Path) -> list[str]:
    """The names of files and of public classes that the product has twice."""
    paths = [path for room in ("torchlint", "rules") for path in (root / room).rglob("*.py")]
    classes = [
        node.name
        for path in paths
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    names = Counter(path.name for path in paths if path.name[:2] != "__") + Counter(classes)
    return [name for name, times in names.items() if times > 1]


def test_a_name_means_one_file_or_one_public_class() -> None:
    assert twins(ROOT) == []


def test_names_that_occur_twice_are_caught(tmp_path: Path) -> None:
    text = "class _Own: ...\nclass Plan:\n    class Settings: ..."
    write_files(tmp_path, {"torchlint/cli/a.py": text, "torchlint/b/__init__.py": ""})
    assert twins(tmp_path) == []
    write_files(
        tmp_path, {"rules/data/a.py": text, "rules/data/_b.py": "", "rules/__init__.py": ""}
    )
    assert twins(tmp_path) == ["a.py", "Plan"]
