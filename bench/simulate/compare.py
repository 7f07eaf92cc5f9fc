"""Compares replaying a generated log against three limits with `wc -l` and with gawk counting requests per address.

    compare.py [--quick] FOLDER-OF-THE-PROGRAMS

All three read the same file, which is in the page cache, on one core, and take turns. A figure is lines per second of
processor time, so that waiting for a core does not count; the median of the rounds.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

QUICK = sys.argv[1] == "--quick"
LINES = 20_000 if QUICK else 4_000_000
ROUNDS = 1 if QUICK else 5
HERE = os.path.dirname(os.path.abspath(__file__))


def run(command):
    """Returns seconds of processor time, seconds of wall time, and the output."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}) as process:
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"simulate: {command[0]} failed")
    return used.ru_utime + used.ru_stime, time.monotonic() - start, output.strip()


def main():
    programs = sys.argv[-1]
    with tempfile.TemporaryDirectory(prefix="weir-simulate-") as folder:
        log = os.path.join(folder, "access.log")
        with open(log, "wb") as file:
            subprocess.run([os.path.join(programs, "generate_log"), str(LINES)], stdout=file, check=True)
        contenders = {
            "wc -l": ["wc", "-l", log],
            "gawk, requests per address": ["gawk", "{ n[$1]++ } END { print length(n) }", log],
            "weir, three limits": [os.path.join(programs, "replay_log"), os.path.join(HERE, "policy.yaml"), log],
        }
        times = {name: [] for name in contenders}
        walls = {name: [] for name in contenders}
        outputs = {}
        for _ in range(ROUNDS):
            for name, command in contenders.items():
                processor, wall, outputs[name] = run(command)
                times[name].append(processor)
                walls[name].append(wall)
        size = os.path.getsize(log)

    print(f"{LINES:,} lines, {size / 1e6:,.0f} MB, {ROUNDS} rounds\n")
    print(f"{'':28} {'M lines/s':>9} {'ns/line':>8} {'spread':>7} {'wall s':>7}  output")
    speed = {}
    for name, seconds in times.items():
        median = statistics.median(seconds)
        speed[name] = LINES / median / 1e6
        spread = (max(seconds) - min(seconds)) / median
        print(
            f"{name:28} {speed[name]:9.2f} {median / LINES * 1e9:8.0f} {spread:7.0%}"
            f" {statistics.median(walls[name]):7.2f}  {outputs[name]}"
        )
    wc, gawk, weir = speed.values()
    print(
        f"\nsimulate: weir {weir:.2f} M lines/s, wc {wc:.2f} M lines/s, gawk {gawk:.2f} M lines/s,"
        f" ratio {weir / gawk:.1f}x gawk"
    )


main()
