"""Counts what ctest ran, by kind (label). Arguments: [--strict] [--time WHAT=SECONDS]... NAME:FOLDER..., with ctest's
results in FOLDER/NAME.xml.

Prints a table, kinds by runs, the times and their total, what failed and what was skipped, and last the line `N passed,
N failed`, or `N passed, N failed, N skipped`. A run without tests counts as a failure. Exits with 1 if anything failed,
or with --strict was skipped.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def kinds(folder):
    """Returns test name -> kind."""
    shown = subprocess.run(
        ["ctest", "--test-dir", folder, "--show-only=json-v1"], check=True, capture_output=True, text=True
    )
    found = {}
    for test in json.loads(shown.stdout)["tests"]:
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        found[test["name"]] = labels[0][0] if labels else "unlabelled"
    return found


def outcome_of(case):
    """Returns passed, failed or skipped. ctest also marks tests that it could not start as skipped: these failed."""
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "skipped" if skipped.get("message", "").startswith("SKIP_") else "failed"


def outcomes(name, folder):
    """Returns (test, kind, outcome) of each selected test."""
    kind = kinds(folder)
    results = ElementTree.parse(pathlib.Path(folder) / f"{name}.xml")
    for case in results.getroot().iter("testcase"):
        yield case.get("name"), kind.get(case.get("name"), "unlabelled"), outcome_of(case)


def clock(seconds):
    return f"{seconds // 60}:{seconds % 60:02}"


def summary_of(times):
    """Returns the line with the time of each part."""
    parts = [(what, int(seconds)) for what, seconds in (time.rsplit("=", 1) for time in times)]
    return ", ".join(f"{what} {clock(seconds)}" for what, seconds in parts) + \
        f"; total {clock(sum(seconds for _, seconds in parts))}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--time", action="append", default=[])
    parser.add_argument("runs", nargs="+")
    arguments = parser.parse_args()
    names = [run.split(":")[0] for run in arguments.runs]
    counts = {name: collections.Counter() for name in names}
    total = collections.Counter()
    named = {"failed": [], "skipped": []}
    for run in arguments.runs:
        name, folder = run.split(":")
        for test, kind, outcome in outcomes(name, folder):
            total[outcome] += 1
            if outcome in named:
                named[outcome].append(f"{name}: {outcome}: {test}")
            if outcome != "skipped":
                counts[name][kind] += 1
        if not counts[name]:
            print(f"{name}: no tests were run")
            total["failed"] += 1

    print("\ntests by kind".ljust(16) + "".join(name.rjust(15) for name in names))
    for kind in sorted({kind for count in counts.values() for kind in count}):
        print(kind.ljust(15) + "".join(str(counts[name][kind] or "-").rjust(15) for name in names))
    if arguments.time:
        print(summary_of(arguments.time))
    for line in named["skipped"] + named["failed"]:
        print(line)
    skipped = total["skipped"]
    print(f"{total['passed']} passed, {total['failed']} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if total["failed"] or (arguments.strict and skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
