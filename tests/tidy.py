"""Runs clang-tidy on each unit of a build that has a source of given places. Arguments:

    CLANG_TIDY BUILD [--OPTION...] PLACE...    options are passed to clang-tidy

A unit is a file that the build compiles, or several that it compiles together. As many units run in parallel as there
are cores. Each finding is printed once, as soon as it is found, with a progress line from time to time. Exits with 1 if
there are findings, or if there is no such unit. WEIR_LINT_TIMES=1 also prints the time of each unit.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
EVERY = 30  # seconds


def sources_of(unit):
    """Returns the files of a unit, relative to the tree, except generated ones."""
    files = re.findall(r'#include "(.+\.cpp)"', unit.read_text()) if "Unity" in unit.parts else [unit]
    for file in map(pathlib.Path, files):
        if file.is_relative_to(ROOT) and not file.is_relative_to(ROOT / "build"):
            yield file.relative_to(ROOT)


def units_of(build, places):
    """Sorts the largest first: if they started last, they would run alone at the end."""
    commands = json.loads((build / "compile_commands.json").read_text())
    units = {}
    for unit in sorted({pathlib.Path(command["file"]) for command in commands}):
        sources = list(sources_of(unit)) if unit.exists() else []
        if any(source.is_relative_to(place) for source in sources for place in places):
            units[unit] = sum((ROOT / source).stat().st_size for source in sources)
    return sorted(units, key=units.get, reverse=True)


def findings_of(said):
    """Returns findings: each is the line that names it and those that explain it."""
    return [finding for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:error|warning): )", said)
            if re.match(r"\S+:\d+:\d+: ", finding)]


def tidy(program, options, build, unit):
    begin = time.monotonic()
    done = subprocess.run([program, "-p", build, "--quiet", unit, *options], capture_output=True, text=True)
    said = findings_of(done.stdout)
    if done.returncode != 0 and not said:
        said = [f"{unit}: {done.stdout}{done.stderr}"]
    return said, time.monotonic() - begin


def main(program, build, *arguments):
    build = pathlib.Path(build).resolve()
    options = [argument for argument in arguments if argument.startswith("--")]
    places = [argument for argument in arguments if argument not in options]
    units = units_of(build, places)
    if not units:
        print(f"lint: the build has no unit of {', '.join(places)}")
        return 1
    print(f"lint: {program} on {len(units)} units", flush=True)
    begin = shown = time.monotonic()
    found = set()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = {pool.submit(tidy, program, options, build, unit): unit for unit in units}
        for done, future in enumerate(concurrent.futures.as_completed(running), 1):
            said, took = future.result()
            if os.environ.get("WEIR_LINT_TIMES"):
                print(f"{took:7.1f} s  {running[future].relative_to(ROOT)}", flush=True)
            for finding in said:
                if finding not in found:
                    found.add(finding)
                    print(finding.rstrip().replace(f"{ROOT}/", ""), flush=True)
            if time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                print(f"lint: {done}/{len(units)} units, {len(found)} findings, {int(shown - begin)} s", flush=True)
    return 1 if found else 0


sys.exit(main(*sys.argv[1:]))
