"""A Python that has torch imported already, and forks itself for each script that it is given.

Reads requests from standard input and writes the process ID of each fork to standard output.
"""

import faulthandler
import gc
import json
import os
import runpy
import sys

PRELOADED = ("torch", "torch._dynamo")
"""The first optimizer imports the second, which takes as long as the first."""


def next_script():
    """Serve requests; in the fork that is to run a script, returns the request."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reader, writer = os.pipe()
        middle = os.fork()
        if middle == 0:
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                os.close(writer)
                return request
            # Once the process in between has ended, the one that asked is the parent.
            os.write(writer, b"%d" % pid)
            os._exit(0)
        os.close(writer)
        os.waitpid(middle, 0)
        with open(reader, "rb") as stream:
            sys.stdout.buffer.write(stream.read() + b"\n")
        sys.stdout.buffer.flush()
    sys.exit()


def become(request):
    """Stand where a fresh process would: session, folder, environment and files."""
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.stdin.close()
    for number, path in enumerate((os.devnull, request["stdout"], request["stderr"])):
        opened = os.open(path, os.O_RDWR | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.argv = request["argv"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if os.environ.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    if threads := os.environ.get("OMP_NUM_THREADS"):
        sys.modules["torch"].set_num_threads(int(threads))


if __name__ == "__main__":
    for name in PRELOADED:
        __import__(name)
    gc.freeze()
    become(next_script())
    runpy.run_path(sys.argv[0], run_name="__main__")
