"""Runs a program under callgrind, with a clock that stands still (stand_still.c)."""

import os
import pathlib
import re
import socket
import subprocess
import time

HERE = pathlib.Path(__file__).parent
SECONDS = 60  # that anything may take


def build_library(folder):
    library = folder / "stand_still.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "stand_still.c", "-pthread"], check=True)
    return library


def start(command, counts, library, control=None):
    numbers = [] if control is None else [control.fileno()]
    environment = {**os.environ, "LD_PRELOAD": str(library), "WEIR_INSTRUCTIONS": str(numbers[0]) if numbers else ""}
    return subprocess.Popen(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}", *map(str, command)],
                            pass_fds=numbers, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def instructions_in(counts):
    return int(re.search(r"^totals: (\d+)", counts.read_text(), re.MULTILINE)[1])


def run(command, folder, library):
    """Returns the instructions of a program, from start to end."""
    counts = folder / "counts"
    with start(command, counts, library) as process:
        complaint = process.communicate(timeout=SECONDS)[1]
    if process.returncode != 0:
        raise SystemExit(f"instructions: {command[0]} failed: {complaint.decode()}")
    return instructions_in(counts)


def until(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"instructions: {what} in {SECONDS} s")
        time.sleep(0.0001)


class Server:
    """A server with one event loop that listens on `ports`, for the duration of a `with` block."""

    def __init__(self, command, ports, folder, library):
        self.counts = folder / "counts"
        self.dumps = 0
        self.control, theirs = socket.socketpair()
        self.control.settimeout(SECONDS)
        with theirs:
            self.process = start(command, self.counts, library, theirs)
        until(lambda: self.listens_on(ports), "the server does not listen")
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        self.loop = None
        until(lambda: self.find_loop(tasks), "no thread waits for events")

    def listens_on(self, ports):
        """Reads the system's list of sockets, because a connection attempt would leave traces in the server's memory.
        """
        if self.process.poll() is not None:
            raise SystemExit(f"instructions: the server ended: {self.process.stderr.read().decode()}")
        time.sleep(0.05)
        sockets = [line.split()[1:4] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        listening = {int(address.split(":")[1], 16) for address, _, state in sockets if state == "0A"}
        return listening.issuperset(ports)

    def find_loop(self, tasks):
        waiting = [task / "wchan" for task in tasks.iterdir() if self.awaits_events(task / "wchan")]
        self.loop = waiting[0] if waiting else None
        return self.loop is not None

    @staticmethod
    def awaits_events(wchan):
        return "ep_poll" in wchan.read_text() or "epoll" in wchan.read_text()

    def rest(self):
        """Waits until the event loop is idle, so that its next steps depend on no race."""
        until(lambda: self.awaits_events(self.loop), "the server does not come to rest")

    def instructions(self):
        """Returns the instructions since the last call."""
        self.rest()
        self.control.sendall(b"!")
        if self.control.recv(1) != b"!":
            raise SystemExit("instructions: the server ended")
        self.dumps += 1
        return instructions_in(self.counts.with_name(f"counts.{self.dumps}"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # where time stands still, it would wait for its connections for ever
        self.process.communicate()
        self.control.close()
