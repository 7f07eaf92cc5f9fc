"""The table of script/compat. Arguments: FOLDER SUITE,SUITE... NAME=VERSION..., with ctest's results in
FOLDER/compat-NAME-SUITE.xml.

Prints a row for each server with `passed/run` for each suite, and below it the names of failed and skipped tests. Exits
with 1 if anything failed, or if a suite ran no tests.
"""

import pathlib
import sys

from count import outcomes


def main(folder, suites, *servers):
    suites = suites.split(",")
    print("server".ljust(12) + "version".ljust(16) + "".join(suite.rjust(12) for suite in suites))
    problems = []
    for name, version in (server.split("=", 1) for server in servers):
        row = name.ljust(12) + version.ljust(16)
        for suite in suites:
            run = f"compat-{name}-{suite}"
            is_there = (pathlib.Path(folder) / f"{run}.xml").exists()
            tests = [(test, outcome) for test, _, outcome in outcomes(run, folder)] if is_there else []
            passed = sum(outcome == "passed" for _, outcome in tests)
            row += f"{passed}/{len(tests)}".rjust(12)
            problems += [f"{name}: {outcome}: {test}" for test, outcome in tests if outcome != "passed"]
            if not tests:
                problems.append(f"{name}: failed: no tests of {suite} were run")
        print(row)
    print("\n".join(problems) if problems else "all passed")
    return 1 if any(": failed: " in problem for problem in problems) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
