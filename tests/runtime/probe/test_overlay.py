"""Changed sources are what runs, in whichever way Python is asked to run a file."""

from __future__ import annotations

import codecs
import py_compile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.probe.conftest import RunServed, Write


def tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# Ways to run a file -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("main", "as_module", "file"),
    [
        ("train.py", False, "train.py"),
        ("./pkg/../train.py", False, "train.py"),
        ("train", True, "train.py"),
        ("pkg", True, "pkg/__main__.py"),
        ("pkg", True, "pkg/__init__.py"),
    ],
)
def test_the_main_module_is_served(
    run_served: RunServed, write: Write, main: str, as_module: bool, file: str
) -> None:
    root = write({"train.py": "", "pkg/__init__.py": "", "pkg/__main__.py": "", file: "print(1)"})
    out = run_served(main, as_module=as_module, overlay={file: "print('served')"})
    assert out.lines == ["served"]
    assert out.served == [str(root / file)]


IMPORTS = {
    "import": "import data",
    "from a package": "from pkg import data",
    "import_module": "import importlib; data = importlib.import_module('pkg.data')",
    "reload": "import data, importlib; data.WHO = ''; importlib.reload(data)",
    "spec_from_file_location": """
        import importlib.util as util
        spec = util.spec_from_file_location("anything", "data.py")
        data = util.module_from_spec(spec)
        spec.loader.exec_module(data)
    """,
    "SourceFileLoader": """
        import types
        from importlib.machinery import SourceFileLoader
        data = types.ModuleType("x")
        SourceFileLoader("x", "data.py").exec_module(data)
    """,
    "an editable install's finder": """
        import importlib.util as util, os, sys
        class Finder:
            @staticmethod
            def find_spec(name, path=None, target=None):
                if name == "installed":
                    return util.spec_from_file_location(name, os.path.abspath("data.py"))
        sys.meta_path.append(Finder)
        import installed as data
    """,
    "a loader that transforms sources": """
        import sys
        from importlib.machinery import FileFinder, SourceFileLoader
        class Loader(SourceFileLoader):
            def source_to_code(self, data, path, *, _optimize=-1):
                return super().source_to_code(data + b"\\nMORE = 1", path)
        sys.path_hooks.insert(0, FileFinder.path_hook((Loader, [".py"])))
        sys.path_importer_cache.clear()
        import data
        assert data.MORE
    """,
    "run_path": "import runpy, types; data = types.SimpleNamespace(**runpy.run_path('data.py'))",
    "run_path by a longer name": """
        import os, runpy, types
        data = types.SimpleNamespace(**runpy.run_path(os.path.abspath("./pkg/../data.py")))
    """,
    "run_module": "import runpy, types; data = types.SimpleNamespace(**runpy.run_module('data'))",
    "through a link": "import linked as data",
    "get_data": """
        import pkgutil, types
        data = types.SimpleNamespace()
        exec(pkgutil.get_data("pkg", "data.py"), vars(data))
    """,
}


@pytest.mark.parametrize("how", IMPORTS.values(), ids=list(IMPORTS))
def test_a_file_is_served_however_it_is_run(run_served: RunServed, write: Write, how: str) -> None:
    text, changed = "WHO = 'disk'", "WHO = 'served'"
    root = write({"data.py": text, "pkg/__init__.py": "", "pkg/data.py": text, "train.py": how})
    (root / "linked.py").symlink_to(root / "data.py")
    with open(root / "train.py", "a") as script:
        script.write("\nprint(data.WHO)\n")
    served = {"data.py": changed, "pkg/data.py": changed}
    before = tree(root)
    assert run_served("train.py", overlay=served).lines == ["served"]
    assert tree(root) == before


def test_other_files_are_left_alone(run_served: RunServed, write: Write) -> None:
    root = write(
        {
            "train.py": "import data, pkg.data; print(data.WHO, pkg.data.WHO)",
            "data.py": "WHO = 'disk'",
            "pkg/data.py": "WHO = 'disk'",
        }
    )
    out = run_served("train.py", overlay={"pkg/data.py": "WHO = 'served'"})
    assert out.lines == ["disk served"]
    assert out.served == [str(root / "pkg" / "data.py")]


def test_a_file_that_never_runs_is_not_counted_as_served(
    run_served: RunServed, write: Write
) -> None:
    look = """
        import importlib.util, linecache
        linecache.getlines("data.py")
        importlib.util.find_spec("data").loader.get_source("data")
    """
    write({"train.py": look, "data.py": ""})
    assert run_served("train.py", overlay={"data.py": "x = 1"}).served == []


# Bytecode -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
def test_bytecode_of_the_file_on_disk_is_not_run(
    run_served: RunServed, write: Write, mode: py_compile.PycInvalidationMode
) -> None:
    root = write({"train.py": "import data; print(data.WHO)", "data.py": "WHO = 'disk'"})
    # As this interpreter runs it; a cache has to be there to be passed over.
    assert py_compile.compile(str(root / "data.py"), invalidation_mode=mode)
    before = tree(root)
    assert run_served("train.py", overlay={"data.py": "WHO = 'served'"}).lines == ["served"]
    assert tree(root) == before


def test_no_bytecode_is_written_even_by_interpreters_that_the_script_starts(
    run_served: RunServed, write: Write
) -> None:
    root = write(
        {
            "train.py": """
                import subprocess, sys
                import data, other
                subprocess.run([sys.executable, "-c", "import third"], check=True)
            """,
            "data.py": "",
            "other.py": "",
            "third.py": "",
        }
    )
    assert run_served("train.py", overlay={"data.py": "x = 1"}).code == 0
    assert not list(root.rglob("*.pyc"))


# What a file looks like from inside ---------------------------------------------------------


SOURCES = {
    "byte order mark": codecs.BOM_UTF8 + "WHO = 'gr\u00fc\u00df'".encode(),
    "coding cookie": "# -*- coding: latin-1 -*-\nWHO = 'gr\u00fc\u00df'".encode("latin-1"),
    "CRLF": "\r\nif True:\r\n    WHO = 'gr\u00fc\u00df'\r\n".encode(),
    "form feed": "WHO = 'gr\u00fc\u00df' \\\n\n\x0c\n".encode(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
@pytest.mark.parametrize("main", [True, False])
def test_sources_are_decoded_as_python_decodes_them(
    run_served: RunServed, write: Write, source: bytes, main: bool
) -> None:
    if main:
        write({"train.py": "WHO = ''"})
        out = run_served("train.py", overlay={"train.py": source + b"\nprint(ascii(WHO))\n"})
    else:
        write({"train.py": "import data; print(ascii(data.WHO))", "data.py": ""})
        out = run_served("train.py", overlay={"data.py": source})
    assert out.lines == [ascii("gr\u00fc\u00df")]


def test_a_module_keeps_its_names(run_served: RunServed, write: Write) -> None:
    show = """
        import data
        print(data.__file__, data.__cached__, data.__spec__, data.__name__, data.__package__,
              data.where.__code__.co_filename, data.where.__code__.co_firstlineno)
    """
    same = "\n\ndef where(): pass\n"
    write({"train.py": show, "data.py": same})
    plain = run_served("train.py").lines
    served = run_served("train.py", overlay={"data.py": same + "served = 1"}).lines
    assert [line.partition("object at")[0] for line in served] == [
        line.partition("object at")[0] for line in plain
    ]
    assert plain[0].endswith(" 3")


@pytest.mark.parametrize("source", [*SOURCES.values(), b"\n"])
def test_lines_are_those_that_python_would_read(
    run_served: RunServed, write: Write, source: bytes
) -> None:
    root = write(
        {"train.py": "import linecache; print(ascii(linecache.getlines('data.py')))", "data.py": ""}
    )
    served = run_served("train.py", overlay={"data.py": source}).lines
    (root / "data.py").write_bytes(source)
    assert served == run_served("train.py").lines


@pytest.mark.parametrize("extra", ["", "linecache.clearcache()", "linecache.checkcache()"])
def test_inspect_shows_the_served_text(run_served: RunServed, write: Write, extra: str) -> None:
    write(
        {
            "train.py": f"""
                import inspect, linecache
                import data
                inspect.getsource(data.who)
                {extra}
                print(inspect.getsource(data.who), inspect.getsource(own), end="")
            """,
            "data.py": "def who():\n    return 'disk'\n",
        }
    )
    own = "def own(): return 'served'\n"
    main = (tmp := write({}) / "train.py").read_text()
    assert tmp.exists()
    out = run_served(
        "train.py",
        overlay={"data.py": "\n\ndef who():\r\n    return 'served'\n", "train.py": own + main},
    )
    assert out.stdout == "def who():\n    return 'served'\n " + own, out.stderr


def test_a_traceback_shows_the_served_text(run_served: RunServed, write: Write) -> None:
    root = write({"train.py": "import data", "data.py": "x = 1\n"})
    out = run_served("train.py", overlay={"data.py": "# new\n1 / 0  # served\n"})
    assert f'File "{root}/data.py", line 2, in <module>\n    1 / 0  # served\n' in out.stderr
