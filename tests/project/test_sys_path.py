"""Which folders a file puts on `sys.path`, read off its bytes."""

from __future__ import annotations

import pytest

from torchlint.project.sys_path import Root, sys_path_roots

PUT = {
    "a folder": ('sys.path.append("core")', [Root("core", anchored=False, first=False)]),
    "one above": ('sys.path.append("../core/")', [Root("../core", anchored=False, first=False)]),
    "before all others": ('sys.path.insert(0, "core")', [Root("core", anchored=False, first=True)]),
    "behind the first": ('sys.path.insert(1, "core")', [Root("core", anchored=False, first=False)]),
    "several": (
        'sys.path += ["core", "lib"]\nsys.path.extend(["lib", "more"])',
        [Root(each, anchored=False, first=False) for each in ("core", "lib", "more")],
    ),
    "behind an import": ('import sys; sys.path.append("core")', [Root("core", False, False)]),
    "in a slice": ('sys.path[:0] = ["core"]', [Root("core", anchored=False, first=True)]),
    "as a folder of packages": ('site.addsitedir("core")', [Root("core", False, False)]),
    "under a condition": (
        'if "core" not in sys.path:\n    sys.path.append("core")', [Root("core", False, False)],
    ),
    "beside the file": (
        'sys.path.append(os.path.join(os.path.dirname(__file__), "core"))',
        [Root("core", anchored=True, first=False)],
    ),
    "over several lines": (
        'sys.path.append(\n    os.path.join(\n        osp.dirname(__file__),\n        "core",\n    )\n)',
        [Root("core", anchored=True, first=False)],
    ),
    "above the file": (
        "sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))",
        [Root("..", anchored=True, first=True)],
    ),
    "a path": (
        'sys.path.append(str(Path(__file__).resolve().parent.parent / "core"))',
        [Root("../core", anchored=True, first=False)],
    ),
    "the second of its parents": (
        "sys.path.append(str(Path(__file__).parents[1]))", [Root("..", True, False)],
    ),
    "a path of parts": (
        'sys.path.append(Path(__file__).parent.joinpath("a", "b").as_posix())',
        [Root("a/b", anchored=True, first=False)],
    ),
    "by a name": (
        'HERE = os.path.dirname(__file__)\nLIB = os.path.join(HERE, "lib")\nsys.path.append(LIB)',
        [Root("lib", anchored=True, first=False)],
    ),
    "in a text": (
        'HERE = Path(__file__).parent\nsys.path.append(f"{HERE}/core")', [Root("core", True, False)],
    ),
    "behind a text": (
        'sys.path.append(os.path.dirname(__file__) + "/core")', [Root("core", True, False)],
    ),
    "where it is started": (
        'sys.path.append(os.path.join(os.getcwd(), "core"))', [Root("core", False, False)],
    ),
    "what nobody knows": ("sys.path.append(args.root)", []),
    "what is bound nowhere": ("sys.path.append(ROOT)", []),
    "what is bound to itself": ("a = b\nb = a\nsys.path.append(a)", []),
    "a place of one machine": ('sys.path.append("/opt/lib")', []),
    "no Python": ("sys.path.append(((", []),
    "in a comment": ('# sys.path.append("core")', []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "roots"), PUT.values(), ids=PUT)
def test_a_file_puts_folders_on_the_path(text: str, roots: list[Root]) -> None:
    assert list(sys_path_roots(text.encode())) == roots


def test_a_name_of_many_names_is_read_once() -> None:
    lines = [f"a{each} = f'{{a{each + 1}}}{{a{each + 1}}}'" for each in range(400)]
    assert sys_path_roots("\n".join([*lines, "sys.path.append(a0)"]).encode()) == ()
