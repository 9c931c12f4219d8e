"""A Python that has imported what takes long, and forks itself for each program that it is given.

A request comes over a socket, with the three files that the program is to have, and the answer is
the ID of its process. `tests/warm_start.py` asks.
"""

import faulthandler
import gc
import json
import os
import runpy
import socket
import sys


def next_request(wire):
    """Serves requests; returns in the fork that is to be the program."""
    while True:
        data, files, _, _ = socket.recv_fds(wire, 1 << 20, 3)
        if not data:
            sys.exit()
        reader, writer = os.pipe()
        middle = os.fork()
        if middle == 0:
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                os.close(writer)
                return json.loads(data), files
            os.write(writer, b"%d" % pid)
            os._exit(0)
        # Once the process in between has ended, the one that asked is the parent.
        os.waitpid(middle, 0)
        for each in (writer, *files):
            os.close(each)
        with open(reader, "rb") as stream:
            wire.send(stream.read())


def become(request, files):
    """Stand where a fresh process would: session, folder, environment and files."""
    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    # The streams remember whether what they were opened for could seek.
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, None, "backslashreplace", closefd=False)  # noqa: SIM115
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if os.environ.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    if "torch" in sys.modules and (threads := os.environ.get("OMP_NUM_THREADS")):
        sys.modules["torch"].set_num_threads(int(threads))


def run(words):
    """As `python` does with these words."""
    if words[0] == "-m":
        sys.argv, sys.path[0] = words[1:], os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = words, os.path.dirname(words[0])
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    for name in sys.argv[2:]:
        __import__(name)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as wire:
        request, files = next_request(wire)
    become(request, files)
    run(request["words"])
