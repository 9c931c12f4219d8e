"""Does what a seed says to the files of its folder, prints how each operation ended, then the tree.

Started as a program: `random_operations.py SEED COUNT`. An even seed also changes its folder; an
odd one also moves and removes folders, which may be the current one of the other kind.
"""

import glob
import io
import os
import pathlib
import random
import shutil
import sys

ROOT = os.getcwd()
SEED, COUNT = map(int, sys.argv[1:])
NAMES = """log.txt new data runs link latest data/a.txt data/new runs/x data/deep data/deep/c.txt
    data/../new ./config.json runs/../data/a.txt link/b.txt no/new made made/x empty""".split()
FLAGS = (
    os.O_RDONLY,
    os.O_WRONLY,
    os.O_RDWR | os.O_CREAT,
    os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    os.O_WRONLY | os.O_TRUNC,
    os.O_WRONLY | os.O_APPEND | os.O_CREAT,
    os.O_RDONLY | os.O_NOFOLLOW,
    os.O_RDONLY | os.O_DIRECTORY,
)
TWO_PATHS = "rename replace renames move copy copy2 copytree link removedirs rmtree".split()

choose = random.Random(SEED)


def some_path():
    path = choose.choice(NAMES)
    return os.path.join(ROOT, path) if choose.random() < 0.2 else path


def write(path, mode):
    with open(path, mode) as stream:
        stream.write(str(choose.randrange(1000)))


def read(path):
    with open(path) as stream:
        return stream.read()


def open_descriptor(path):
    flags = choose.choice(FLAGS)
    descriptor = os.open(path, flags)
    try:
        if flags & (os.O_WRONLY | os.O_RDWR):
            os.write(descriptor, b"zz")
        if flags & os.O_DIRECTORY:
            return sorted(os.listdir(descriptor))
        return os.path.isdir(path) or os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def look(status, path):
    found = status(path)
    return found.st_mode, os.path.isdir(path) or found.st_size


def scan(path):
    with os.scandir(path) as entries:
        return sorted((e.name, e.path, e.is_dir(), e.is_symlink()) for e in entries)


def touch(path):
    os.stat(path)
    os.utime(path, (5, 5))
    return os.stat(path).st_mtime


def walk(path):
    return sorted((a, sorted(b), sorted(c)) for a, b, c, _ in os.fwalk(path))


def enter(path):
    os.chdir(path)
    return os.getcwd()


OPERATIONS = {
    **{f"open {mode}": lambda path, mode=mode: write(path, mode) for mode in "w a x r+ w+".split()},
    "open r": read,
    "os.open": open_descriptor,
    "FileIO": lambda path: io.FileIO(path, choose.choice("rwax")).close(),
    "stat": lambda path: look(os.stat, path),
    "lstat": lambda path: look(os.lstat, path),
    "exists": lambda path: (os.path.exists(path), os.path.lexists(path), os.path.isdir(path)),
    "access": lambda path: os.access(path, os.R_OK),
    "readlink": os.readlink,
    "realpath": os.path.realpath,
    "samefile": lambda path: os.path.samefile(path, some_path()),
    "listdir": lambda path: sorted(os.listdir(path)),
    "listdir bytes": lambda path: sorted(os.listdir(os.fsencode(path))),
    "scandir": scan,
    "glob": lambda path: sorted(glob.glob(path + "/*")),
    "rglob": lambda path: sorted(map(str, pathlib.Path(path).rglob("*"))),
    "fwalk": walk,
    "mkdir": os.mkdir,
    "makedirs": lambda path: os.makedirs(path + "/q/r", exist_ok=True),
    "unlink": os.unlink,
    "chmod": lambda path: os.chmod(path, choose.choice([0o644, 0o755, 0o600])),
    "utime": touch,
    "truncate": lambda path: os.truncate(path, choose.randrange(4)),
    "touch": lambda path: pathlib.Path(path).touch(),
    "write_text": lambda path: pathlib.Path(path).write_text("text") and None,
    "read_text": lambda path: pathlib.Path(path).read_text(),
    "symlink": lambda path: os.symlink(choose.choice(NAMES), path),
    "link": lambda path: os.link(path, some_path()),
    "copy": lambda path: shutil.copy(path, some_path()),
    "copy2": lambda path: shutil.copy2(path, some_path()),
    "copytree": lambda path: shutil.copytree(path, some_path(), symlinks=choose.random() < 0.5),
}
if SEED % 2:
    OPERATIONS |= {
        "rmdir": os.rmdir,
        "removedirs": os.removedirs,
        "rmtree": shutil.rmtree,
        "rename": lambda path: os.rename(path, some_path()),
        "replace": lambda path: os.replace(path, some_path()),
        "renames": lambda path: os.renames(path, some_path()),
        "move": lambda path: shutil.move(path, some_path()),
    }
else:
    OPERATIONS |= {
        "chdir": enter,
        "getcwd": lambda path: os.getcwd(),
        "back": lambda path: enter(ROOT),
    }


def attempt(name):
    path, state = some_path(), choose.getstate()
    try:
        result = OPERATIONS[name](path)
    except OSError as error:
        result = f"{type(error).__name__} {error.errno if name != 'link' else ''}"
        if name not in TWO_PATHS:
            result += f" {error.filename!r}"
    except UnicodeDecodeError as error:
        result = type(error).__name__
    # An operation may stop before it has drawn all of its numbers.
    choose.setstate(state)
    choose.random()
    return path, result


def tree():
    for folder, folders, files in sorted(os.walk(ROOT)):
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                yield path, os.readlink(path)
            elif os.path.isdir(path):
                yield path, "folder"
            else:
                with open(path, "rb") as stream:
                    yield path, stream.read()


for number in range(COUNT):
    name = choose.choice(sorted(OPERATIONS))
    print(number, name, *attempt(name))  # noqa: T201
os.chdir(ROOT)
print(*tree(), sep="\n")  # noqa: T201
