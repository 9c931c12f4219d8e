"""Little programs that write files in every way there is, and look at what they wrote.

Each begins in a folder with `FILES` and prints what it sees; a shield must not show.
"""

from __future__ import annotations

FILES = {
    "log.txt": "first line\n",
    "config.json": '{"lr": 0.1}',
    "data/a.txt": "a",
    "data/b.txt": "b",
    "data/deep/c.txt": "c",
    "runs/old/model.bin": b"\x00\x01",
    "link": "->data",
    "latest": "->data/a.txt",
    "read_only.txt": "no",
    "empty/": "",
}

PROGRAMS = {
    "names that end with a slash": """
        import os
        for path in ("a/b/", "c/", "d//", "a/b/"):
            os.makedirs(path, exist_ok=True)
        os.mkdir("e/")
        os.rename("e/", "f/")
        for call, *paths in (
            (os.mkdir, "f/"), (os.mkdir, "g/h/"), (os.rename, "c", "f/"), (os.rmdir, "f/"),
        ):
            try:
                print(call(*paths))
            except OSError as error:
                print(type(error).__name__, error.filename, error.filename2)
        print(sorted(os.listdir(".")), sorted(os.listdir("a")))
    """,
    "a dump to a new file": """
        import json
        with open("out.json", "w") as stream:
            json.dump({"loss": 1.5}, stream)
        print(json.load(open("out.json")))
    """,
    "a dump over an existing file": """
        import json
        with open("config.json", "w") as stream:
            json.dump({"lr": 1}, stream)
        print(json.load(open("config.json")))
    """,
    "lines at the end of a log": """
        with open("log.txt", "a") as stream:
            print("second line", file=stream)
        print(open("log.txt").read())
    """,
    "an update in the middle": """
        with open("log.txt", "r+") as stream:
            stream.seek(2)
            stream.write("XX")
        print(open("log.txt").read())
    """,
    "pathlib": """
        from pathlib import Path
        Path("out").mkdir()
        Path("out/x.txt").write_text("x")
        Path("out/x.bin").write_bytes(b"y")
        Path("config.json").touch()
        Path("data/a.txt").rename("data/z.txt")
        Path("data/b.txt").unlink()
        print(sorted(map(str, Path().rglob("*"))), Path("out/x.txt").read_text())
    """,
    "a socket in a new folder": """
        import os, socket
        os.mkdir("meeting")
        server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        server.bind("meeting/s")
        server.listen()
        client.connect("meeting/s")
        client.sendall(b"hello")
        print(server.accept()[0].recv(5), os.listdir("meeting"))
        try:
            socket.socket(socket.AF_UNIX).bind("meeting/s")
        except OSError as error:
            print(error)
        os.unlink("meeting/s")
        print(client.connect_ex("meeting/s") != 0, os.listdir("meeting"))
    """,
    "nested folders": """
        import os
        os.makedirs("runs/new/deep", exist_ok=True)
        os.makedirs("runs/new/deep", exist_ok=True)
        open("runs/new/deep/f", "w").close()
        print([(a, sorted(b), sorted(c)) for a, b, c in sorted(os.walk("runs"))])
    """,
    "removal of a folder that was there": """
        import os, shutil
        shutil.rmtree("data")
        print(os.path.exists("data"), os.path.exists("link"), sorted(os.listdir(".")))
        os.mkdir("data")
        print(os.listdir("data"), os.path.isdir("link"))
    """,
    "a rename over a file that was there": """
        import os
        open("new", "w").write("new")
        os.rename("new", "config.json")
        print(open("config.json").read(), os.path.exists("new"))
        os.replace("data/a.txt", "data/b.txt")
        print(open("data/b.txt").read(), os.listdir("data") == [] or sorted(os.listdir("data")))
    """,
    "folders moved and copied": """
        import os, shutil
        os.rename("runs/old", "runs/older")
        shutil.move("data/deep", "moved")
        shutil.copytree("data", "copied", symlinks=True)
        print(sorted((a, *sorted(b), *sorted(c)) for a, b, c in os.walk(".")))
    """,
    "links": """
        import os
        os.symlink("runs/old", "newest")
        print(os.listdir("newest"), os.readlink("newest"), os.path.realpath("newest"))
        os.remove("latest")
        os.symlink("data/b.txt", "latest")
        print(open("latest").read())
        open("link/through.txt", "w").write("t")
        print(sorted(os.listdir("data")), open("data/through.txt").read())
        os.link("log.txt", "hard")
        open("hard", "a").write("more")
        print(open("log.txt").read())
    """,
    "errors": """
        import os
        tries = [
            lambda: open("nowhere/x", "w"), lambda: open("nothing"), lambda: open("data", "w"),
            lambda: open("log.txt", "x"), lambda: os.mkdir("data"), lambda: os.rmdir("data"),
            lambda: os.unlink("data"), lambda: os.rmdir("nothing"), lambda: os.remove("nothing"),
            lambda: os.rename("nothing", "x"), lambda: os.rename("data", "runs"),
            lambda: os.rename("log.txt", "data"), lambda: os.makedirs("log.txt/x"),
            lambda: os.listdir("log.txt"), lambda: os.scandir("nothing"), lambda: os.chdir("log.txt"),
            lambda: os.symlink("x", "log.txt"), lambda: os.stat("new/x"), lambda: open("link/no"),
            lambda: os.open("log.txt", os.O_CREAT | os.O_EXCL | os.O_WRONLY),
        ]
        open("new", "w").close()
        for number, attempt in enumerate(tries):
            try:
                attempt()
            except OSError as error:
                print(number, type(error).__name__, error)
    """,
    "descriptors of folders": """
        import os
        folder = os.open("data", os.O_RDONLY)
        one = os.open("new", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
        os.write(one, b"1")
        os.close(one)
        os.unlink("a.txt", dir_fd=folder)
        os.mkdir("sub", dir_fd=folder)
        os.rename("b.txt", "sub/b.txt", src_dir_fd=folder, dst_dir_fd=folder)
        print(sorted(os.listdir(folder)), os.stat("new", dir_fd=folder).st_size)
        print(sorted(os.listdir("data/sub")), os.open in os.supports_dir_fd)
    """,
    "a working folder of its own": """
        import os
        os.makedirs("outputs/today")
        os.chdir("outputs/today")
        open("inside", "w").write("i")
        print(os.getcwd(), os.path.abspath("inside"), os.listdir("."))
        print(open("../../data/a.txt").read(), open("../../log.txt").read())
        os.chdir("../..")
        print(os.getcwd(), open("outputs/today/inside").read())
    """,
    "temporary files in the project": """
        import os, tempfile
        with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as stream:
            stream.write("t")
        os.replace(stream.name, "done")
        with tempfile.TemporaryDirectory(dir="data") as folder:
            open(folder + "/x", "w").close()
        with tempfile.TemporaryFile(dir="data") as nameless:
            nameless.write(b"n")
        print(open("done").read(), sorted(os.listdir(".")), sorted(os.listdir("data")))
    """,
    "permissions, times and lengths": """
        import os, stat
        os.chmod("log.txt", 0o600)
        os.utime("data", (1, 2))
        os.truncate("log.txt", 5)
        status = os.stat("log.txt")
        print(oct(status.st_mode), status.st_size, os.stat("data").st_mtime)
        open("script.sh", "w").close()
        os.chmod("script.sh", 0o755)
        print(os.access("script.sh", os.X_OK), os.access("nothing", os.F_OK))
        open("config.json", "w").close()
        print(oct(os.stat("config.json").st_mode))
    """,
    "archives": """
        import bz2, gzip, lzma, os, shutil, tarfile, zipfile
        for module in (gzip, bz2, lzma):
            with module.open(module.__name__ + ".z", "wt") as stream:
                stream.write("packed")
            print(module.open(module.__name__ + ".z", "rt").read())
        shutil.make_archive("all", "zip", "data")
        print(sorted(zipfile.ZipFile("all.zip").namelist()))
        with tarfile.open("all.tar", "w") as archive:
            archive.add("data")
        shutil.unpack_archive("all.tar", "unpacked")
        print(sorted(os.listdir("unpacked/data")))
    """,
    "logging": """
        import logging, logging.handlers, os
        handler = logging.handlers.RotatingFileHandler("log.txt", maxBytes=40, backupCount=2)
        logging.basicConfig(handlers=[handler], level="INFO", format="%(message)s")
        for number in range(8):
            logging.info("line number %d", number)
        print(sorted(name for name in os.listdir(".") if "log" in name), open("log.txt").read())
    """,
    "a database": """
        import os, sqlite3
        with sqlite3.connect("new.db") as database:
            database.execute("create table t (x)")
            database.execute("insert into t values (1)")
        database.close()
        print(sqlite3.connect("file:new.db?mode=ro", uri=True).execute("select * from t").fetchall())
        print(sqlite3.connect(":memory:").execute("select 2").fetchall(), os.path.exists("new.db"))
        try:
            sqlite3.connect("file:none.db?mode=ro", uri=True)
        except sqlite3.OperationalError as error:
            print(error)
    """,
    "bytes and odd names": """
        import os
        for name in (b"\\xff\\xfe", "\\u00fcn\\u00ef, c:o\\\\d'e\\"s".encode(), b"new\\nline", b" "):
            with open(name, "wb") as stream:
                stream.write(name)
            print(open(name, "rb").read() == name, os.path.exists(os.fsdecode(name)))
        os.rename(b"\\xff\\xfe", b"\\xfd")
        print(sorted(os.listdir(b".")), sorted(ascii(name) for name in os.listdir(".")))
    """,
    "functions held by classes, copied and pickled": """
        import copy, io, os, pickle
        class Files:
            open, stat, listdir = open, os.stat, staticmethod(os.listdir)
        open("new", "w").close()
        print("new" in Files().listdir("."), Files().stat("new").st_size, Files().open("new").read())
        print(pickle.loads(pickle.dumps(os.stat)) is os.stat, copy.deepcopy(open) is open)
        print(isinstance(open("new").buffer.raw, io.FileIO), isinstance(io.FileIO("new"), io.FileIO))
        print(isinstance(open("new"), io.FileIO), issubclass(io.FileIO, io.RawIOBase))
        class Own(io.FileIO):
            pass
        print(isinstance(io.FileIO("new"), Own), Own("new", "w").write(b"12"))
    """,
    "a glob": """
        import glob, os, pathlib
        open("data/new.txt", "w").close()
        os.remove("data/a.txt")
        print(sorted(glob.glob("**/*.txt", recursive=True)), sorted(glob.glob("data/*")))
        print(sorted(map(str, pathlib.Path("data").glob("*.txt"))))
        with os.scandir("data") as entries:
            print(sorted((e.name, e.path, e.is_dir(), e.stat().st_size * e.is_file()) for e in entries))
    """,
    "a file opened by an opener": """
        import os
        opener = lambda path, flags: os.open(path, flags, 0o600)
        with open("secret", "w", opener=opener) as stream:
            stream.write("s")
        print(open("secret", opener=opener).read(), oct(os.stat("secret").st_mode), stream.name)
    """,
    "threads": """
        import threading
        def write(number):
            for line in range(20):
                open("log.txt", "a").write(f"{number}\\n")
                open(f"own-{number}", "w").write(str(line))
        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(open("log.txt").read().split()), [open(f"own-{n}").read() for n in range(4)])
    """,
    "processes": """
        import multiprocessing, os, shutil, sys
        def write(number):
            with open("log.txt", "a") as stream:
                stream.write(f"{number}\\n")
            os.makedirs(f"out/{number}")
            shutil.rmtree("runs", ignore_errors=True)
            return open("first").read()
        if __name__ == "__main__":
            open("first", "w").write("1")
            for method in sys.argv[1:]:
                context = multiprocessing.get_context(method)
                with context.Pool(2) as pool:
                    print(pool.map(write, [f"{method}-{n}" for n in range(3)]))
            print(sorted(open("log.txt").read().split()), sorted(os.listdir("out")))
            print(os.path.exists("runs"))
    """,
    "programs of Python": """
        import os, subprocess, sys
        os.makedirs("made/deep")
        open("made/deep/x", "w").write("x")
        code = "import os; open('by', 'w').write(open('x').read()); print(os.listdir('.'))"
        done = subprocess.run([sys.executable, "-c", code], cwd="made/deep", capture_output=True)
        print(sorted(eval(done.stdout)), open("made/deep/by").read())
        open("made/tool.py", "w").write("import sys; open('log.txt', 'a').write(sys.argv[1])")
        subprocess.run([sys.executable, "made/tool.py", "said"], check=True)
        print(open("log.txt").read())
        print(subprocess.run(["cat", "made/deep/x"], capture_output=True).stdout)
    """,
}
