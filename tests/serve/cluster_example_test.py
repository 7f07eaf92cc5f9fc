"""Runs examples/cluster/run.sh like a reader."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import unittest

import server
from redis_servers import HOST, free_port
from server import PROGRAM, ROOT

PORTS = 14
PATHS = ["/api", "/feed", "/login"]


def free_ports():
    """Returns the first of a range of free ports."""
    while True:
        first = free_port()
        with contextlib.suppress(OSError), contextlib.ExitStack() as probes:
            for port in range(first, first + PORTS):
                probes.enter_context(socket.create_server((HOST, port)))
            return first


class Example(unittest.TestCase):
    maxDiff = None

    def run_example(self):
        """Returns its output: the headings, and below each {path: (admitted, denied, by)}."""
        ran = subprocess.run([ROOT / "examples/cluster/run.sh"], capture_output=True, text=True,
                             timeout=4 * server.PATIENCE,
                             env={**os.environ, "WEIR": PROGRAM, "PORT": str(free_ports())})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        scenes = []
        for line in ran.stdout.splitlines():
            told = re.match(r"  (\S+) +(\d+) admitted, +(\d+) denied +decided by: (.*?) +slowest +[\d.]+ ms", line)
            if told:
                scenes[-1][told[1]] = (int(told[2]), int(told[3]), told[4])
            elif line.endswith(":"):
                scenes.append({})
        return scenes

    def test_prints_what_its_page_says(self):
        there, away, again, fresh = self.run_example()
        self.assertEqual(there, {path: (12, 6, "shared 18") for path in PATHS})
        self.assertEqual(away, {"/api": (12, 6, "local 18"), "/feed": (18, 0, "open 18"),
                                "/login": (0, 18, "closed 18")})
        self.assertEqual(again, {"/api": (2, 16, "shared 18"), "/feed": (12, 6, "shared 18"),
                                 "/login": (12, 6, "shared 18")})
        self.assertEqual(fresh, there)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
