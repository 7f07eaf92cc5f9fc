"""run_story.py PROGRAM PAGE: executes the blocks of a page in order, in one folder, and compares the output.

```LANGUAGE file NAME         the file NAME, as the reader writes it
```console                    `$ command` and below it its output, as in run_page.py
```console background PORT... the same for one program that keeps running, in a separate terminal, until the page ends or
                              until `$ ^C` in a later block with the same ports. The next block begins when it has
                              printed what is shown, and all PORTs are open. Its log (standard error) is not compared

Ports of 127.0.0.1 on the page are replaced by free ones. `weir` listens on these, and connects to them. Times, waits,
hashes and numbers with decimals may differ. UPDATE_GOLDEN=1 updates the output on the page where it differs.
"""

import difflib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from extract import BLOCK
from places import PLACES, without_varying
from run_page import ROOT, commands, matches

PATIENCE = 30
WAIT = re.compile(r'(Retry-After: |RateLimit-Reset: |;t=|"retry_after":|again in )\d+')
PORT = re.compile(r"(127\.0\.0\.1[: ]|-p )(8080|8081|6390|8089|8000|9000)\b")

WEIR = """#!/bin/bash
case "$1 $*" in
  *" --http "*|*" --admin "*) exec "{program}" "$@" ;;
esac
case "$1" in
  serve) exec "{program}" "$@" --http 127.0.0.1:{http} --rls 127.0.0.1:{rls} --resp 127.0.0.1:{resp} --admin 127.0.0.1:{admin} ;;
  status|top|peek|reset|override|grant|block|unblock|reload|hash) exec "{program}" "$@" --admin 127.0.0.1:{admin} ;;
  *) exec "{program}" "$@" ;;
esac
"""


def lasting(lines):
    """Returns the text without what differs from run to run."""
    return [WAIT.sub(r"\1N", without_varying(line)) for line in lines]


def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def free_ports(usual):
    """Returns {port on the page: port here}, below the ephemeral ports, so that they stay free."""
    candidates = (port for port in random.sample(range(20000, 32768), 1000) if is_free(port))
    return {port: next(candidates) for port in usual}


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        return True
    except OSError:
        return False


class Background:
    def __init__(self, story, command, ports):
        self.ports = ports
        self.output = story.folder / f".output-{'-'.join(ports)}"
        self.log = self.output.with_suffix(".log")
        with open(self.output, "wb") as output, open(self.log, "wb") as log:
            self.process = subprocess.Popen(["bash", "-c", "exec " + command], stdout=output, stderr=log,
                                            stdin=subprocess.DEVNULL, cwd=story.folder, env=story.environment)

    def printed(self):
        return self.output.read_text().splitlines()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


class Story:
    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        self.ports = free_ports([*(place.rsplit(":", 1)[1] for place in PLACES.values()), "8000", "9000"])
        self.running = {}
        self.wrong = []
        self.last_code = 0
        (self.folder / "examples").symlink_to(ROOT / "examples")
        (self.folder / ".bin").mkdir()
        weir = self.folder / ".bin/weir"
        here = {listener: self.ports[place.rsplit(":", 1)[1]] for listener, place in PLACES.items()}
        weir.write_text(WEIR.format(program=pathlib.Path(program).resolve(), **here))
        weir.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{weir.parent}:{os.environ['PATH']}:/usr/sbin",
                            "STATE_DIRECTORY": str(self.folder / "state"), "LC_ALL": "C.UTF-8", "COLUMNS": "100"}

    def here(self, text):
        return PORT.sub(lambda found: found[1] + str(self.ports[found[2]]), text)

    def as_on_the_page(self, line):
        for usual, port in self.ports.items():
            line = line.replace(f"127.0.0.1:{port}", f"127.0.0.1:{usual}")
        return line.replace(str(self.folder) + "/", "").rstrip("\r")

    def is_as(self, expected, printed):
        return matches(lasting(expected), lasting(printed))

    def compare(self, command, expected, printed):
        printed = [self.as_on_the_page(line) for line in printed]
        if self.is_as(expected, printed):
            return
        difference = difflib.unified_diff(expected, printed, "page", "program", lineterm="")
        self.wrong.append("\n".join([command, *difference]))
        old, new = ("".join(line + "\n" for line in [f"$ {command}", *lines]) for lines in (expected, printed))
        at = self.text.index(old, self.position)
        self.text = self.text[:at] + new + self.text[at + len(old):]
        self.position = at + len(new)

    def run(self, block):
        for command, expected in commands(block):
            ran = subprocess.run(["bash", "-c", f"(exit {self.last_code})\n{self.here(command)}"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE,
                                 cwd=self.folder, env=self.environment)
            self.last_code = ran.returncode
            self.compare(command, expected, ran.stdout.splitlines())

    def start(self, block, ports):
        [(command, expected)] = commands(block)
        key = " ".join(ports)
        if command == "^C":
            self.running.pop(key).stop()
            return
        started = self.running[key] = Background(self, self.here(command), ports)
        deadline = time.monotonic() + PATIENCE

        def is_ready():
            return (self.is_as([*expected, "..."], [self.as_on_the_page(line) for line in started.printed()])
                    and all(is_open(self.ports[port]) for port in ports))

        while not is_ready():
            if started.process.poll() is not None or time.monotonic() > deadline:
                said = "\n".join([*started.printed(), started.log.read_text()])
                self.wrong.append(f"{command}: does not serve, or has printed otherwise:\n{said}")
                return
            time.sleep(0.02)

    def tell(self, page):
        """Returns the number of blocks that were run."""
        count = 0
        self.text, self.position = page, 0  # the corrected page, and how far it got
        try:
            for kind, text in BLOCK.findall(page):
                words = kind.split()
                count += words[:1] == ["console"] or words[1:2] == ["file"]
                if words[1:2] == ["file"]:
                    (self.folder / words[2]).write_text(self.here(text))
                elif words == ["console"]:
                    self.run(text)
                elif words[:2] == ["console", "background"]:
                    self.start(text, words[2:])
        finally:
            for each in self.running.values():
                each.stop()
        return count


def main(program, page):
    with tempfile.TemporaryDirectory() as folder:
        story = Story(program, folder)
        count = story.tell(pathlib.Path(page).read_text())
    if os.environ.get("UPDATE_GOLDEN"):
        pathlib.Path(page).write_text(story.text)
    print("\n\n".join([f"{count} blocks, {len(story.wrong)} wrong", *story.wrong]))
    return 1 if story.wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
