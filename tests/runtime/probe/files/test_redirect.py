"""Files under the shield: a script sees what it would see without, and changes nothing."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from file_programs import FILES, PROGRAMS

from tests.shielded import BOTH, run_both, run_plainly, run_shielded, write_files
from torchlint.runtime.sandbox.overlayfs import REDIRECT

OPERATIONS = Path(__file__).parents[1].joinpath("random_operations.py").read_text()
START_METHODS = ("fork", "spawn", "forkserver")


@BOTH
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_prints_without_a_shield(
    name: str, sandbox: str, tmp_path: Path
) -> None:
    # The multiprocessing stub, which carries the shield into fresh interpreters, is not part of
    # this: here it is `inherit` that does.
    run_both(tmp_path, {**FILES, "train.py": PROGRAMS[name]}, sandbox, argv=START_METHODS)


@BOTH
@pytest.mark.parametrize("seed", range(12))
def test_random_operations_end_as_they_do_without_a_shield(
    seed: int, sandbox: str, tmp_path: Path
) -> None:
    run_both(tmp_path, {**FILES, "train.py": OPERATIONS}, sandbox, argv=(str(seed), "60"))


OUTSIDE = """
    import json, os, sys
    out = sys.argv[1]
    print(open(out + "/kept.txt").read())
    with open(out + "/kept.txt", "a") as stream:
        stream.write(" and more")
    os.makedirs(out + "/new")
    json.dump([1], open(out + "/new/dump.json", "w"))
    os.remove(out + "/gone.txt")
    print(open(out + "/kept.txt").read(), json.load(open(out + "/new/dump.json")))
    print(sorted(os.listdir(out)))
"""


@BOTH
def test_files_outside_of_the_project_stay_as_they_are_too(sandbox: str, tmp_path: Path) -> None:
    out = write_files(tmp_path / "out", {"kept.txt": "kept", "gone.txt": "gone"})
    project = write_files(tmp_path / "project", {"train.py": OUTSIDE})
    twin = shutil.copytree(out, tmp_path / "twin")
    expected = run_plainly(project, "train.py", argv=[str(twin)]).lines
    run = run_shielded(project, "train.py", sandbox, argv=[str(out)])
    assert run.lines == expected
    assert sorted(os.listdir(out)) == ["gone.txt", "kept.txt"]
    assert (out / "kept.txt").read_text() == "kept"
    assert run.effects() == {
        ("write", str(out / "kept.txt")),
        ("mkdir", str(out / "new")),
        ("create", str(out / "new/dump.json")),
        ("delete", str(out / "gone.txt")),
    }


@BOTH
def test_a_link_out_of_the_project_leads_to_files_that_stay_too(
    sandbox: str, tmp_path: Path
) -> None:
    write_files(tmp_path / "out", {"model.pt": "old"})
    script = """
        open("out/model.pt", "w").write("new")
        print(open("out/model.pt").read())
    """
    files = {"train.py": script, "out": f"->{tmp_path / 'out'}"}
    project = write_files(tmp_path / "project", files)
    assert run_shielded(project, "train.py", sandbox).lines == ["new"]
    assert (tmp_path / "out/model.pt").read_text() == "old"


def test_caches_and_the_run_s_temporary_files_are_written_as_usual(tmp_path: Path) -> None:
    script = """
        import os, sys, tempfile
        cache = os.path.join(os.environ["HF_HOME"], "new", "weights")
        os.makedirs(os.path.dirname(cache))
        open(cache, "w").write("w")
        folder = tempfile.mkdtemp(prefix="shielded-")
        open(folder + "/x", "w").close()
        print(folder)
        open(os.devnull, "w").write("nothing")
    """
    cache = tmp_path / "cache"
    project = write_files(tmp_path / "project", {"train.py": script})
    run = run_shielded(project, "train.py", env={"HF_HOME": str(cache)})
    assert (cache / "new/weights").read_text() == "w"
    assert os.listdir(run.lines[0]) == ["x"]
    assert run.effects() == set()


def test_a_cache_inside_the_project_stays_as_it_is(tmp_path: Path) -> None:
    script = "open('cache/x', 'w').write('new'); print(open('cache/x').read())"
    project = write_files(tmp_path / "project", {"train.py": script, "cache/x": "old"})
    run = run_shielded(project, "train.py", env={"HF_HOME": str(project / "cache")})
    assert run.lines == ["new"]


def test_a_file_that_is_missing_or_locked_is_refused_as_usual(tmp_path: Path) -> None:
    script = """
        import os
        os.chmod("log.txt", 0o400)
        for path, mode in (("log.txt", "a"), ("shut/new", "w")):
            try:
                open(path, mode)
            except PermissionError as error:
                print(error)
    """
    if os.geteuid() == 0:
        pytest.skip("nothing is locked for root")
    files = {**FILES, "shut/x": "", "train.py": script}
    project = write_files(tmp_path / "project", files)
    (project / "shut").chmod(0o500)
    assert len(run_shielded(project, "train.py").lines) == 2


def test_a_worker_sees_at_once_what_another_process_has_changed(tmp_path: Path) -> None:
    """Where the look at a folder is remembered, too."""
    script = """
        import multiprocessing, os
        def look(orders, answers):
            for path in iter(orders.get, None):
                found = sorted(os.listdir(path)) if os.path.isdir(path) else os.path.lexists(path)
                answers.put((path, found, os.path.realpath(path)))
        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            orders, answers = context.SimpleQueue(), context.SimpleQueue()
            worker = context.Process(target=look, args=(orders, answers))
            worker.start()
            def ask(*paths):
                for path in paths:
                    orders.put(path)
                    print(*answers.get())
            ask("data", "data/a.txt", "link", "new")
            open("data/new.txt", "w").close()
            ask("data", "link/new.txt", "data/a.txt")
            os.remove("data/a.txt")
            ask("data/a.txt", "link/a.txt")
            os.remove("link")
            os.symlink("runs", "link")
            ask("link", "link/old")
            os.rename("data", "new")
            ask("data", "new", "new/b.txt")
            orders.put(None)
            worker.join()
    """
    run_both(tmp_path, {**FILES, "train.py": script}, REDIRECT)


def test_modules_imported_before_the_shield_are_shielded(tmp_path: Path) -> None:
    """`bz2` keeps `open` for itself when it is imported, and `shutil` imports it."""
    project = write_files(tmp_path / "project", {"train.py": PROGRAMS["archives"], **FILES})
    hook = write_files(tmp_path / "site", {"sitecustomize.py": "import bz2, glob, lzma, tarfile"})
    run = run_shielded(project, "train.py", env={"PYTHONPATH": str(hook)})
    assert run.lines[:3] == ["packed"] * 3


def test_a_sitecustomize_of_the_user_is_run_in_programs_all_the_same(tmp_path: Path) -> None:
    script = """
        import os, subprocess, sys
        code = "import os, sys; print(sys.custom, [p for p in sys.path if 'scratch' in p]);"
        code += "open('new', 'w').close()"
        subprocess.run([sys.executable, "-c", code], check=True)
        print(os.path.exists("new"))
    """
    project = write_files(tmp_path / "project", {"train.py": script})
    site = write_files(tmp_path / "site", {"sitecustomize.py": "import sys; sys.custom = 'mine'"})
    run = run_shielded(project, "train.py", env={"PYTHONPATH": str(site)})
    assert run.lines == ["mine []", "True"]


def test_another_program_that_writes_is_listed_as_a_process(tmp_path: Path) -> None:
    script = "import subprocess; subprocess.run(['true', 'x'])"
    project = write_files(tmp_path / "project", {"train.py": script})
    run = run_shielded(project, "train.py")
    assert run.effects(kept=True) == {("process", "true x")}


def test_the_same_interpreter_is_shielded_once(tmp_path: Path) -> None:
    script = """
        import os, builtins
        from torchlint.runtime.probe.world import shield
        from torchlint.runtime.probe.run_settings import read
        before = builtins.open, os.stat
        shield.install(read())
        print(before == (builtins.open, os.stat))
    """
    project = write_files(tmp_path / "project", {"train.py": dedent(script)})
    root = str(Path(sys.modules["torchlint"].__path__[0]).parent)
    assert run_shielded(project, "train.py", env={"PYTHONPATH": root}).lines == ["True"]
