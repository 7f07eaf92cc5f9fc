"""Counts what ctest ran, by kind (label). Arguments: [--strict] NAME:FOLDER..., with ctest's results in FOLDER/NAME.xml.

Prints a table, kinds by runs, what was skipped, and last the line `N passed, N failed`, or `N passed, N failed, N
skipped`. A run without tests counts as a failure. Exits with 1 if anything failed, or with --strict was skipped.
"""

import collections
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def kinds(folder):
    """Test name -> kind."""
    shown = subprocess.run(
        ["ctest", "--test-dir", folder, "--show-only=json-v1"], check=True, capture_output=True, text=True
    )
    found = {}
    for test in json.loads(shown.stdout)["tests"]:
        labels = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        found[test["name"]] = labels[0][0] if labels else "unlabelled"
    return found


def outcomes(name, folder):
    """(test, kind, outcome) of each test that was chosen; outcome is passed, failed or skipped."""
    kind = kinds(folder)
    results = ElementTree.parse(pathlib.Path(folder) / f"{name}.xml")
    for case in results.getroot().iter("testcase"):
        if case.find("failure") is not None or case.get("status") == "fail":
            outcome = "failed"
        elif case.find("skipped") is not None:
            outcome = "skipped"
        else:
            outcome = "passed"
        yield case.get("name"), kind.get(case.get("name"), "unlabelled"), outcome


def main(arguments):
    strict = arguments[:1] == ["--strict"]
    arguments = arguments[strict:]
    names = [argument.split(":")[0] for argument in arguments]
    counts = {name: collections.Counter() for name in names}
    total = collections.Counter()
    skipped = []
    for argument in arguments:
        name, folder = argument.split(":")
        for test, kind, outcome in outcomes(name, folder):
            total[outcome] += 1
            if outcome == "skipped":
                skipped.append(f"{name}: skipped: {test}")
            else:
                counts[name][kind] += 1
        if not counts[name]:
            print(f"{name}: no tests were run")
            total["failed"] += 1

    print("\ntests by kind".ljust(16) + "".join(name.rjust(15) for name in names))
    for kind in sorted({kind for count in counts.values() for kind in count}):
        print(kind.ljust(15) + "".join(str(counts[name][kind] or "-").rjust(15) for name in names))
    for line in skipped:
        print(line)
    print(f"{total['passed']} passed, {total['failed']} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if total["failed"] or (strict and skipped) else 0


sys.exit(main(sys.argv[1:]))
