"""Runs ctest and shows its progress. Arguments: NAME FOLDER CTEST_OPTION..., with the results in FOLDER/NAME.xml.

On a terminal one line is rewritten: `test: release 212/387, 3 running, 4:10 (serve.soak.Soak 0:45)`; the last part is
the test that has run longest. Otherwise that line is printed every 30 seconds. Failed tests are printed with their
output as soon as they end; skipped tests are left to count.py. Exits with the code of ctest.
"""

import os
import re
import select
import shutil
import subprocess
import sys
import time

EVERY = float(os.environ.get("WEIR_PROGRESS_SECONDS", "30"))  # if there is no terminal

START = re.compile(r"^ *Start +\d+: (.+)$")
RESULT = re.compile(r"^ *(?:(\d+)/(\d+) +)?Test +#\d+: (\S+) \.*(?:\.| )(.*)$")
SUMMARY = re.compile(r"^(\d+% tests passed|No tests were found)")
QUIET = re.compile(r"^(Internal ctest|Test project |Errors while running|$)")


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Follows the lines that ctest prints. `out` is where failures and progress go."""

    def __init__(self, name, out, now=time.monotonic):
        self.name, self.out, self.now = name, out, now
        self.begin = self.last_shown = now()
        self.running = {}  # test -> its start time
        self.done, self.total, self.failed = 0, None, 0
        self.in_summary = False
        self.is_shown = False  # the line will be rewritten

    def read(self, line):
        if started := START.match(line):
            self.running[started[1]] = self.now()
            self.in_summary = False
        elif (result := RESULT.match(line)) and result[3] in self.running:
            self.finish(line, result)
        elif self.in_summary or SUMMARY.match(line):
            self.in_summary = True
        elif not QUIET.match(line):
            self.print(line)  # the output of failed tests

    def finish(self, line, result):
        done, total, test, outcome = result.groups()
        self.running.pop(test, None)
        if done:
            self.done, self.total = int(done), int(total)
        if "Passed" not in outcome and "***Skipped" not in outcome:
            self.failed += 1
            self.print(line.strip())

    def print(self, line):
        self.erase()
        print(line, file=self.out, flush=True)

    def line(self):
        words = f"test: {self.name} {self.done}/{self.total or '?'}"
        if self.failed:
            words += f", {self.failed} failed"
        words += f", {len(self.running)} running, {clock(self.now() - self.begin)}"
        if self.running:
            longest = min(self.running, key=self.running.get)
            words += f" ({longest} {clock(self.now() - self.running[longest])})"
        return words

    def show(self):
        if self.out.isatty():
            self.erase()
            self.out.write(self.line()[: shutil.get_terminal_size().columns - 1])
            self.out.flush()
            self.is_shown = True
        elif self.now() - self.last_shown >= EVERY:
            self.last_shown = self.now()
            print(self.line(), file=self.out, flush=True)

    def erase(self):
        if self.is_shown:
            self.out.write("\r\x1b[K")
            self.is_shown = False

    def end(self):
        self.print(f"test: {self.name} {self.done}/{self.total or 0} in {clock(self.now() - self.begin)}, "
                   f"{self.failed} failed")


def follow(pipe, progress):
    """Shows progress once a second even if ctest is silent."""
    rest = b""
    while True:
        if select.select([pipe], [], [], min(1, EVERY))[0]:
            got = os.read(pipe.fileno(), 65536)
            if not got:
                break
            *lines, rest = (rest + got).split(b"\n")
            for line in lines:
                progress.read(line.decode(errors="replace").rstrip())
        progress.show()


def main(name, folder, *options):
    parallel = 2 * len(os.sched_getaffinity(0))  # most tests wait; those that compute count as two (PROCESSORS)
    ctest = subprocess.Popen(
        ["ctest", "--test-dir", folder, "--parallel", str(parallel), "--output-on-failure", "--no-tests=error",
         "--output-junit", os.path.join(os.path.abspath(folder), f"{name}.xml"), *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    progress = Progress(name, sys.stdout)
    try:
        follow(ctest.stdout, progress)
    finally:
        code = ctest.wait()
        progress.end()
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
