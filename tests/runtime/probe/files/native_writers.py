"""Ways to write a file at `path`, most of them below Python, by the package that does it.

Each is tried on a file that was there and must stay as it is.
"""

WRITERS = {
    "python": {
        "open": "open(path, 'w').write('new')",
        "cProfile": "import cProfile; p = cProfile.Profile(); p.runcall(int); p.dump_stats(path)",
        "faulthandler": "import faulthandler; faulthandler.dump_traceback(open(path, 'w'))",
        "tracemalloc": "import tracemalloc as t; t.start(); t.take_snapshot().dump(path)",
        "mmap": "import mmap; mmap.mmap(os.open(path, os.O_RDWR), 4)[:3] = b'new'",
        "sqlite3": "import sqlite3; os.remove(path); c = sqlite3.connect(path);"
        "c.execute('create table t(x)'); c.commit()",
        "sqlite3 attach": "import sqlite3; c = sqlite3.connect('');"
        "c.execute('attach ? as o', (path + '.2',)); c.execute('create table o.t(x)')",
        "sqlite3 vacuum": "import sqlite3; c = sqlite3.connect(''); c.execute('create table t(x)');"
        "c.execute('vacuum into ?', (path + '.2',))",
        "readline": "import readline; readline.add_history('x'); readline.write_history_file(path)",
        "readline append": "import readline; readline.add_history('x');"
        "readline.append_history_file(1, path)",
        "ssl": "import ssl; ssl.create_default_context().keylog_filename = path",
        "_io": "import _io; _io.open(path, 'w')",
        "posix": "import posix; posix.open(path, os.O_WRONLY | os.O_TRUNC)",
        "posix.unlink": "import posix; posix.unlink(path)",
        "posix.rename": "import posix; posix.rename(path, path + '.2')",
        "C open": "c('open', name)",
        "C truncate": "c('truncate', name, 0)",
        "C unlink": "c('unlink', name)",
        "C rename": "c('rename', name, name + b'.2')",
        "C replace": "c('rename', os.fsencode(__file__), name)",
        "C symlink": "c('symlink', b'x', name + b'.2')",
        "C mkdir": "c('mkdir', name + b'.2', 0o700)",
        "a shell": "program('sh', '-c', 'echo x > ' + path)",
        "cp": "program('cp', __file__, path)",
        "mv": "program('mv', __file__, path)",
        "rm": "program('rm', path)",
        "tee": "program('tee', '-a', path)",
        "python -I": "program(sys.executable, '-I', '-c', f'open({path!r}, \"w\")')",
    },
    "torch": {
        "save": "torch.save({'x': 1}, path)",
        "save as before": "torch.save({'x': 1}, path, _use_new_zipfile_serialization=False)",
        "jit": "torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), path)",
        "jit of a trace": "torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(2)).save(path)",
        "jit function": "torch.jit.trace(torch.relu, torch.ones(2)).save(path)",
        "Kineto": "profiled().export_chrome_trace(path)",
        "Kineto, packed": "profiled().export_chrome_trace(path + '.gz')",
        "execution trace": "e = torch.profiler.ExecutionTraceObserver(); e.register_callback(path);"
        "e.start(); torch.ones(3).sum(); e.stop(); e.unregister_callback()",
        "from_file": "torch.from_file(path, shared=True, size=1, dtype=torch.int32).fill_(7)",
        "storage": "torch.ones(4).untyped_storage()._write_file(open(path, 'wb'), True, True, 1)",
        "AOTInductor": "torch._C.PyTorchFileWriter(path).write_end_of_file()",
    },
    "numpy": {
        "tofile": "numpy.ones(2).tofile(path)",
        "memmap": "numpy.memmap(path, dtype='u1', mode='r+')[:] = 7",
    },
    "PIL.Image": {"save": "PIL.Image.new('L', (1, 1)).save(path, 'png')"},
    "matplotlib.figure": {
        "agg": "matplotlib.figure.Figure().savefig(path, format='png')",
        "pdf": "matplotlib.figure.Figure().savefig(path, format='pdf')",
        "svg": "matplotlib.figure.Figure().savefig(path, format='svg')",
    },
    "safetensors.numpy": {
        "save_file": "import numpy; safetensors.numpy.save_file({'x': numpy.ones(2)}, path)"
    },
    "tokenizers.models": {
        "save": "tokenizers.Tokenizer(tokenizers.models.BPE({'a': 0}, [])).save(path)"
    },
    "h5py": {"File": "h5py.File(path, 'w').close()"},
    "netCDF4": {"Dataset": "netCDF4.Dataset(path, 'w').close()"},
    "cv2": {
        "imwrite": "import numpy; cv2.imwrite(path + '.png', numpy.zeros((2, 2, 3), 'u1'))",
        "VideoWriter": "import numpy;"
        "w = cv2.VideoWriter(path + '.avi', cv2.VideoWriter.fourcc(*'MJPG'), 5, (16, 16));"
        "w.write(numpy.zeros((16, 16, 3), 'u1')); w.release()",
    },
    "pyarrow.parquet": {
        "OSFile": "pyarrow.OSFile(path, 'wb').write(b'new')",
        "memory_map": "pyarrow.memory_map(path, 'r+').write(b'new')",
        "write_table": "pyarrow.parquet.write_table(pyarrow.table({'x': [1]}), path);"
        "assert pyarrow.parquet.read_table(path)['x'].to_pylist() == [1]",
        "a file system": "import pyarrow.fs; pyarrow.fs.LocalFileSystem().open_output_stream(path)",
    },
    "soundfile": {"write": "import numpy; soundfile.write(path + '.wav', numpy.ones(9), 8000)"},
    "lmdb": {"open": "lmdb.open(path, subdir=False).begin(write=True)"},
    "lxml.etree": {"write": "lxml.etree.ElementTree(lxml.etree.Element('a')).write(path)"},
    "polars": {"write_csv": "polars.DataFrame({'x': [1]}).write_csv(path)"},
    "duckdb": {"copy": "duckdb.sql(f\"copy (select 1) to '{path}'\")"},
    "faiss": {"write_index": "faiss.write_index(faiss.IndexFlatL2(2), path)"},
}

REFUSED = {
    "python": set(WRITERS["python"])
    - {"open", "cProfile", "faulthandler", "tracemalloc", "mmap", "sqlite3"}
    - {"readline", "readline append"},
    "netCDF4": {"Dataset"},
    "pyarrow.parquet": {"a file system"},
    "lmdb": {"open"},
    "lxml.etree": {"write"},
    "polars": {"write_csv"},
    "duckdb": {"copy"},
    "faiss": {"write_index"},
}
"""What is not redirected, and only the kernel can stop."""

UNNAMED = {"lxml.etree": {"write"}}
"""Of these, what complains without saying where."""

PREAMBLE = """
import ctypes, json, os, subprocess, sys

def c(function, *arguments):
    call = getattr(ctypes.CDLL(None, use_errno=True), function)
    if function == "open":
        arguments = (*arguments, os.O_WRONLY | os.O_TRUNC)
    if call(*arguments) < 0:
        raise OSError(f"{function} {arguments}: {os.strerror(ctypes.get_errno())}")

def program(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr)

def profiled():
    with torch.profiler.profile() as profiler:
        torch.ones(3).sum()
    return profiler

def attempt(what, path, code):
    names = dict(globals(), path=path, name=os.fsencode(path))
    try:
        exec(code, names)
        outcome = "sees its own" if is_new(path) else "sees the old one"
    except Exception as error:
        outcome = str(error)
    print(json.dumps([what, outcome]))

def is_new(path):
    folder, name = os.path.split(path)
    seen = [each for each in os.listdir(folder) if each.partition(".")[0] == name]
    return any(open(f"{folder}/{each}", "rb").read() != b"as it was" for each in seen)
"""
