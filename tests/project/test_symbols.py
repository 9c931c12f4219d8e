"""Where an import leads among the checked files, and what a dotted name refers to there."""

from __future__ import annotations

import os
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.analysis.summary import summarize
from torchlint.project.symbols import Index, Key, Locator
from torchlint.project.sys_path import Root

if TYPE_CHECKING:
    from collections.abc import Callable

LOCATED = {
    "a module beside the script": (["train.py", "utils.py"], "utils.f", ("utils.py", ["f"])),
    "a package beside it": (
        ["train.py", "pkg/__init__.py"],
        "pkg.f",
        ("pkg/__init__.py", ["f"]),
    ),
    "a module of a package": (
        ["train.py", "pkg/__init__.py", "pkg/mod.py"],
        "pkg.mod.f",
        ("pkg/mod.py", ["f"]),
    ),
    "a module of a folder without __init__": (
        ["train.py", "pkg/mod.py"],
        "pkg.mod.A.f",
        ("pkg/mod.py", ["A", "f"]),
    ),
    "the module itself": (["train.py", "utils.py"], "utils", ("utils.py", [])),
    "something of this file": (["train.py"], ":A.f", ("train.py", ["A", "f"])),
    "a package known from a folder above": (
        ["proj/tools/train.py", "proj/pkg/mod.py"],
        "pkg.mod.f",
        ("proj/pkg/mod.py", ["f"]),
    ),
    "the nearest of two": (
        ["a/train.py", "a/utils.py", "utils.py"],
        "utils.f",
        ("a/utils.py", ["f"]),
    ),
    "the longer match, where a module is called like its package": (
        ["pkg/pkg.py", "pkg/part.py"],
        "pkg.part.f",
        ("pkg/part.py", ["f"]),
    ),
    "a folder that the script puts on sys.path": (
        ["tools/train.py", "lib/model/net.py"],
        "model.net.f",
        ("lib/model/net.py", ["f"]),
    ),
    "not one of two such folders": (
        ["tools/train.py", "lib/utils.py", "old/utils.py"],
        "utils.f",
        None,
    ),
    "not the standard library's names elsewhere": (
        ["tools/train.py", "lib/random.py"],
        "random.f",
        None,
    ),
    "but the standard library's names beside the script": (
        ["train.py", "random.py"],
        "random.f",
        ("random.py", ["f"]),
    ),
    "a package cut out of a larger tree": (
        ["cut/core/train.py", "cut/core/loss/focal.py"],
        "company.research.core.loss.focal.f",
        ("cut/core/loss/focal.py", ["f"]),
    ),
    "not by a single name of a cut-out package": (
        ["cut/train.py", "cut/utils.py"],
        "other.package.utils.f",
        None,
    ),
    "one dot": (["pkg/train.py", "pkg/utils.py"], ".utils.f", ("pkg/utils.py", ["f"])),
    "one dot, to the package": (
        ["pkg/train.py", "pkg/__init__.py"],
        ".f",
        ("pkg/__init__.py", ["f"]),
    ),
    "two dots": (
        ["pkg/sub/train.py", "pkg/utils.py"],
        "..utils.f",
        ("pkg/utils.py", ["f"]),
    ),
    "three dots": (
        ["pkg/sub/deep/train.py", "pkg/models/net.py"],
        "...models.net.f",
        ("pkg/models/net.py", ["f"]),
    ),
    "a dot does not look elsewhere": (["pkg/train.py", "utils.py"], ".utils.f", None),
    "a package's own dot": (
        ["pkg/__init__.py", "pkg/utils.py"],
        ".utils.f",
        ("pkg/utils.py", ["f"]),
    ),
    "something not checked": (["train.py"], "torch.nn", None),
    "only part of it is known": (["train.py", "pkg/a.py"], "pkg.b.f", None),
}


@pytest.mark.parametrize(("paths", "dotted", "place"), LOCATED.values(), ids=list(LOCATED))
def test_an_import_leads_to(
    paths: list[str], dotted: str, place: tuple[str, list[str]] | None
) -> None:
    found = Locator(paths).locate(paths[0], dotted)
    assert (found and (found[0], list(found[1]))) == place


BESIDE = Root("core", anchored=True, first=False)
STARTED = Root("core", anchored=False, first=False)
ON_PATH = {
    "a package that the file puts there": (
        ["train.py", "core/__init__.py", "core/net.py"], "net.f", BESIDE, ("core/net.py", ["f"]),
    ),
    "one of two folders": (
        ["train.py", "core/net.py", "old/net.py"], "net.f", BESIDE, ("core/net.py", ["f"]),
    ),
    "one beside the folder of the script": (
        ["tools/train.py", "core/net.py", "old/net.py"], "net.f", STARTED, ("core/net.py", ["f"]),
    ),
    "not one above that the file does not mean": (
        ["tools/train.py", "core/net.py", "old/net.py"], "net.f", BESIDE, None,
    ),
    "a module in a folder there": (
        ["train.py", "core/models/net.py", "old/models/net.py"],
        "models.net.f",
        BESIDE,
        ("core/models/net.py", ["f"]),
    ),
    "behind what the script has beside it": (
        ["train.py", "net.py", "core/net.py"], "net.f", BESIDE, ("net.py", ["f"]),
    ),
    "before it": (
        ["train.py", "net.py", "core/net.py"],
        "net.f",
        BESIDE._replace(first=True),
        ("core/net.py", ["f"]),
    ),
    "before what a folder above has": (
        ["tools/train.py", "tools/core/net.py", "net.py"],
        "net.f",
        BESIDE,
        ("tools/core/net.py", ["f"]),
    ),
    "behind the standard library": (["train.py", "core/random.py"], "random.f", BESIDE, None),
    "something that is not there": (["train.py", "core/net.py"], "nets.f", BESIDE, None),
}  # fmt: skip


@pytest.mark.parametrize(("paths", "dotted", "root", "place"), ON_PATH.values(), ids=ON_PATH)
def test_a_folder_on_the_path_has_modules(
    paths: list[str], dotted: str, root: Root, place: tuple[str, list[str]] | None
) -> None:
    locator = Locator(paths)
    locator.note_roots(paths[0], (root,))
    found = locator.locate(paths[0], dotted)
    assert (found and (found[0], list(found[1]))) == place


def test_only_the_file_that_says_so_has_a_folder_on_the_path() -> None:
    paths = ["train.py", "test.py", "core/net.py", "old/net.py"]
    locator = Locator(paths)
    locator.note_roots("train.py", (BESIDE,))
    assert [locator.locate(path, "net") for path in ("train.py", "test.py", "train.py")] == [
        ("core/net.py", ()),
        None,
        ("core/net.py", ()),
    ]


@pytest.mark.parametrize(
    "shown", [os.path.abspath, lambda path: os.path.join(".", path)], ids=["absolute", "a dot"]
)
def test_paths_may_be_shown_otherwise(shown: Callable[[str], str]) -> None:
    paths = [shown(path) for path in ("pkg/train.py", "pkg/utils.py")]
    assert Locator(paths).locate(paths[0], "pkg.utils.f") == (paths[1], ("f",))


def test_a_file_that_is_not_checked_imports_nothing() -> None:
    assert Locator(["utils.py"]).locate("train.py", "utils.f") is None


@pytest.mark.parametrize(
    ("dotted", "outside"),
    [("os.path", True), ("random", False), ("lib.random", False), ("numpy", False), (".os", False)],
)
def test_only_a_standard_module_that_no_file_is_called_is_outside(
    dotted: str, *, outside: bool
) -> None:
    assert Locator(["train.py", "lib/random.py"]).outside(dotted) is outside


@pytest.fixture
def index_of(module_of: Callable[..., Any]) -> Callable[..., Index]:
    def build(files: dict[str, str], unparsed: tuple[tuple[str, str], ...] = ()) -> Index:
        summaries = {path: summarize(module_of(dedent(text), path)) for path, text in files.items()}
        texts = {**files, **dict(unparsed)}
        index = Index(Locator(texts), lambda path, word: word in texts[path])
        index.add(summaries)
        return index

    return build


SYMBOLS = {
    "a function": ({"utils.py": "def f(): pass"}, "utils.f", ("utils.py", "f")),
    "a class": ({"utils.py": "class A: pass"}, "utils.A", ("utils.py", "A")),
    "a method": ({"utils.py": "class A:\n  def f(self): pass"}, "utils.A.f", ("utils.py", "A.f")),
    "an inherited method": (
        {"utils.py": "class B:\n  def f(self): pass\nclass A(B): pass"},
        "utils.A.f",
        ("utils.py", "B.f"),
    ),
    "a re-export": (
        {"pkg/__init__.py": "from .loss import f", "pkg/loss.py": "def f(): pass"},
        "pkg.f",
        ("pkg/loss.py", "f"),
    ),
    "a re-export under another name": (
        {"pkg/__init__.py": "from .loss import f as g", "pkg/loss.py": "def f(): pass"},
        "pkg.g",
        ("pkg/loss.py", "f"),
    ),
    "a re-export of a re-export": (
        {
            "pkg/__init__.py": "from .sub import f",
            "pkg/sub/__init__.py": "from .loss import f",
            "pkg/sub/loss.py": "def f(): pass",
        },
        "pkg.f",
        ("pkg/sub/loss.py", "f"),
    ),
    "a star re-export": (
        {"pkg/__init__.py": "from .loss import *", "pkg/loss.py": "def f(): pass"},
        "pkg.f",
        ("pkg/loss.py", "f"),
    ),
    "the star that has it": (
        {
            "pkg/__init__.py": "from .a import *\nfrom .b import *",
            "pkg/a.py": "",
            "pkg/b.py": "def f(): pass",
        },
        "pkg.f",
        ("pkg/b.py", "f"),
    ),
    "the last of two stars that have it": (
        {
            "pkg/__init__.py": "from .a import *\nfrom .b import *",
            "pkg/a.py": "def f(): pass",
            "pkg/b.py": "def f(): pass",
        },
        "pkg.f",
        ("pkg/b.py", "f"),
    ),
    "the one of two stars that makes it public": (
        {
            "pkg/__init__.py": "from .a import *\nfrom .b import *",
            "pkg/a.py": "__all__ = ('f',)\ndef f(): pass",
            "pkg/b.py": "__all__ = ['g']\ndef f(): pass",
        },
        "pkg.f",
        ("pkg/a.py", "f"),
    ),
    "a star, and public names that are put together": (
        {
            "pkg/__init__.py": "from .a import *",
            "pkg/a.py": "__all__ = ['g']\n__all__ += other\ndef f(): pass",
        },
        "pkg.f",
        ("pkg/a.py", "f"),
    ),
    "not what begins with an underscore, by a star": (
        {"pkg/__init__.py": "from .a import *", "pkg/a.py": "def _f(): pass"},
        "pkg._f",
        None,
    ),
    "but by its own name": (
        {"pkg/a.py": "__all__ = []\ndef _f(): pass"},
        "pkg.a._f",
        ("pkg/a.py", "_f"),
    ),
    "a re-exported module": (
        {"pkg/__init__.py": "from . import loss", "pkg/loss.py": "def f(): pass"},
        "pkg.loss.f",
        ("pkg/loss.py", "f"),
    ),
    "a method of a re-exported class": (
        {"pkg/__init__.py": "from .a import A", "pkg/a.py": "class A:\n  def f(self): pass"},
        "pkg.A.f",
        ("pkg/a.py", "A.f"),
    ),
    "a re-export that leads back to itself": (
        {"pkg/__init__.py": "from .a import f", "pkg/a.py": "from . import f"},
        "pkg.f",
        None,
    ),
    "stars that lead back to each other": (
        {"a.py": "from b import *", "b.py": "from a import *"},
        "a.f",
        None,
    ),
    "a name that is not there": ({"utils.py": "def f(): pass"}, "utils.g", None),
    "a module": ({"utils.py": "def f(): pass"}, "utils", None),
    "something of torch": ({"utils.py": ""}, "torch.nn.Linear", None),
}


class TestIndex:
    @pytest.mark.parametrize(("files", "dotted", "key"), SYMBOLS.values(), ids=list(SYMBOLS))
    def test_a_name_stands_for(
        self,
        index_of: Callable[..., Index],
        files: dict[str, str],
        dotted: str,
        key: tuple[str, str] | None,
    ) -> None:
        index = index_of({"train.py": "", **files})
        found = index.symbol("train.py", dotted)
        assert (found and (found.path, found.name)) == key

    def test_a_base_in_another_file_lends_its_methods_and_attributes(
        self, index_of: Callable[..., Index]
    ) -> None:
        index = index_of(
            {
                "base.py": """
                    from meters import Meter
                    class Base:
                        def __init__(self): self.meter = Meter()
                        def f(self): pass
                """,
                "train.py": "from base import Base\nclass A(Base): pass",
            }
        )
        own = Key("train.py", "A")
        assert index.method(own, "f") == Key("base.py", "Base.f")
        assert index.method(own, "g") is None
        base = Key("base.py", "Base")
        assert index.attribute(own, "meter") == (base, (("", "meters.Meter()"),))
        assert index.attribute(own, "other") == (own, ())

    def test_an_own_method_goes_before_the_base_s(self, index_of: Callable[..., Index]) -> None:
        index = index_of(
            {"a.py": "class B:\n  def f(self): pass\nclass A(B):\n  def f(self): pass"}
        )
        assert index.method(Key("a.py", "A"), "f") == Key("a.py", "A.f")

    def test_classes_that_inherit_from_each_other_end(self, index_of: Callable[..., Index]) -> None:
        index = index_of({"a.py": "class A(B): pass\nclass B(A): pass"})
        assert index.method(Key("a.py", "A"), "f") is None
        assert index.attribute(Key("a.py", "A"), "x") == (Key("a.py", "A"), ())

    @pytest.mark.parametrize(
        ("methods", "called"),
        [
            ("def forward(self): pass\n  def __call__(self): pass", "A.forward"),
            ("def __call__(self): pass", "A.__call__"),
            ("pass", None),
        ],
    )
    def test_calling_an_object_runs(
        self, index_of: Callable[..., Index], methods: str, called: str | None
    ) -> None:
        index = index_of({"a.py": f"class A:\n  {methods}"})
        found = index.callable(Key("a.py", "A"))
        assert (found and found.name) == called

    @pytest.mark.parametrize(
        ("text", "missing"),
        [("def fast(): pass", {"utils.py"}), ("def slow(): pass", set())],
        ids=["that say the name", "that do not even say the name"],
    )
    def test_unparsed_files_that_hot_code_leads_to_are_missing(
        self, index_of: Callable[..., Index], text: str, missing: set[str]
    ) -> None:
        index = index_of({"train.py": ""}, unparsed=(("utils.py", text), ("other.py", text)))
        assert index.symbol("train.py", "utils.fast") is None
        assert index.missing == set()
        assert index.symbol("train.py", "utils.fast", load=True) is None
        assert index.missing == missing
