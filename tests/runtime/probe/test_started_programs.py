"""Python that the script starts by itself runs the changed sources, as the script does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import RunProbe, Write

TRAIN = """
    import subprocess, sys
    print(subprocess.check_output([sys.executable, {how}, "a"], text=True, {more}), end="")
"""
PART = '''
    """A script of its own."""
    from __future__ import annotations
    import linecache, os, sys
    import data

    WHO = "disk"

    def main():
        print(WHO, data.WHO, sys.argv, __name__, os.path.basename(__file__), __spec__, __package__)
        print(__doc__, os.path.basename(sys.path[0]), linecache.getline(__file__, 7).strip())
        print(sys._getframe().f_code.co_firstlineno)

    if __name__ == "__main__":
        main()
'''


@pytest.mark.parametrize("sandbox", ["redirect", "overlayfs"])
@pytest.mark.parametrize(
    ("how", "more"), [("'tools/part.py'", ""), ("'part.py'", "cwd='tools'")], ids=["path", "folder"]
)
def test_a_script_that_is_started_runs_what_was_changed(
    run_probe: RunProbe, write: Write, sandbox: str, how: str, more: str
) -> None:
    root = write(
        {
            "train.py": TRAIN.format(how=how, more=more),
            "tools/part.py": PART,
            "tools/data.py": "WHO = 'disk'\n",
        }
    )
    part = (root / "tools" / "part.py").read_text()
    overlay = {
        "tools/part.py": part.replace('WHO = "disk"', 'WHO = "changed"'),
        "tools/data.py": "WHO = 'changed too'\n",
    }
    found = run_probe("train.py", overlay=overlay, sandbox=sandbox, fresh=True)
    path = how.strip("'")
    assert found.lines == [
        f"changed changed too ['{path}', 'a'] __main__ part.py None None",
        'A script of its own. tools WHO = "changed"',
        "9",
    ]


def test_a_script_that_is_started_may_spawn_workers_of_its_own(
    run_probe: RunProbe, write: Write
) -> None:
    root = write(
        {
            "train.py": TRAIN.format(how="'part.py'", more=""),
            "part.py": """
                import multiprocessing
                WHO = "disk"
                def work(_):
                    return WHO, __name__
                if __name__ == "__main__":
                    with multiprocessing.get_context("spawn").Pool(1) as pool:
                        print(pool.map(work, [0]))
            """,
        }
    )
    overlay = {"part.py": (root / "part.py").read_text().replace('"disk"', '"changed"')}
    found = run_probe("train.py", overlay=overlay, fresh=True)
    assert found.lines == ["[('changed', '__mp_main__')]"]


def test_a_script_that_is_not_changed_is_started_as_ever(run_probe: RunProbe, write: Write) -> None:
    write({"train.py": TRAIN.format(how="'part.py'", more=""), "part.py": "print(__spec__)\n"})
    found = run_probe("train.py", overlay={"other/part.py": "print('other')\n"}, fresh=True)
    assert found.lines == ["None"]
