"""compare.py [--quick] BUILD [NAME=PROGRAM]...: Weir's keyed table against hash maps behind locks, in one run.

BUILD contains the compiled table_contender and table_workload. NAME is governor or go_rate; an empty PROGRAM means that
it is not present. docs/benchmarks.md describes what is compared and why it is fair.
"""

import argparse
import dataclasses

from contender_process import Contender
from workloads import THREADS, Extent, Workload, longest_insert, measure

UNIFORM = Workload("1 M keys, uniform", "uniform", keys=1_000_000, burst=64, exhausted_stride=8)
ZIPF = Workload("10 M keys, Zipf 0.99", "zipf", keys=10_000_000, burst=10_000)
QUICK = Extent(rounds=1, growths=1, decisions_per_round=1 << 16)
KEYS_IF_QUICK = 20_000

FOREIGN = {
    "governor": "Rust governor, DashMap",
    "go_rate": "Go x/time/rate, map + mutex",
}


def contenders_in(build, foreign_programs):
    program = f"{build}/table_contender"
    return [
        Contender("weir", "Weir, one at a time", (program, "weir")),
        Contender("weir-batch", "Weir, batches of 32", (program, "weir-batch")),
        Contender("weir-check", "Weir, one whole decision", (program, "weir-check")),
        Contender("weir-check-batch", "Weir, 32 whole decisions", (program, "weir-check-batch")),
        Contender("absl", "absl::flat_hash_map, 256 stripes", (program, "absl")),
        Contender("unordered_map", "std::unordered_map, one mutex", (program, "unordered_map")),
        *(Contender(name, FOREIGN[name], (path,)) for name, path in foreign_programs.items() if path),
    ]


def refuse_little_memory():
    """All contenders hold ten million keys at the same time."""
    needed = 8
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        available = next(int(line.split()[1]) for line in meminfo if line.startswith("MemAvailable:")) / 2**20
    if available < needed:
        raise SystemExit(f"table: needs {needed} GiB of free memory, and there are {available:.1f}")


def print_table(extent, contenders, outcomes_of, longest):
    (uniform_keys, uniform), (zipf_keys, zipf) = outcomes_of.items()
    print(f"ns per decision (1 thread: on a core; 2 threads: wall time over all decisions); "
          f"median of {extent.rounds} rounds of {extent.decisions_per_round:,}, by turns; "
          f"longest insert: best of {extent.growths} runs\n")
    print(f"{'':34}{uniform_keys.title:>22}{zipf_keys.title:>24}{'bytes/key,':>14}{'longest':>14}")
    heads = [f"{threads} thread{'s' if threads > 1 else ''}" for threads in THREADS]
    print(f"{'':34}{heads[0]:>11}{heads[1]:>11}{heads[0]:>13}{heads[1]:>11}{'worst 1-10 M':>14}{'insert':>14}")
    for contender in contenders:
        a, b = uniform[contender.name], zipf[contender.name]
        insert = f"{longest[contender.name] / 1e3:,.0f} us" if contender.name in longest else "same table"
        print(f"{contender.title:34}{a.ns(1):11.1f}{a.ns(2):11.1f}{b.ns(1):13.1f}{b.ns(2):11.1f}"
              f"{b.worst_bytes_per_key:14.1f}{insert:>14}")


def print_notes(extent, outcomes_of, foreign_programs):
    for name, program in foreign_programs.items():
        if not program:
            print(f"{FOREIGN[name]:34}not present")
    print()
    for workload, outcomes in outcomes_of.items():
        share = outcomes["weir"].admitted / extent.decided
        spread = max(outcome.spread(1) for outcome in outcomes.values())
        print(f"{workload.title}: {share:.0%} admitted, the same by all; "
              f"the rounds of one contender, one thread, lie up to {spread:.0%} apart")


def print_summary(zipf):
    weir, batch, absl = (zipf[name].ns(1) for name in ("weir", "weir-batch", "absl"))
    print(f"table: weir {weir:.1f} ns single, {batch:.1f} ns batch, absl {absl:.1f} ns, "
          f"ratio {absl / weir:.1f}x single, {absl / batch:.1f}x batch, "
          f"{zipf['weir'].worst_bytes_per_key:.1f} bytes/key")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("build")
    parser.add_argument("foreign", nargs="*")
    options = parser.parse_args()
    extent, uniform_keys, zipf_keys = Extent(), UNIFORM, ZIPF
    if options.quick:
        extent = QUICK
        uniform_keys, zipf_keys = (
            dataclasses.replace(workload, title=f"{KEYS_IF_QUICK:,} keys, {workload.kind}", keys=KEYS_IF_QUICK)
            for workload in (UNIFORM, ZIPF))
    else:
        refuse_little_memory()
    foreign_programs = dict(argument.split("=", 1) for argument in options.foreign)
    contenders = contenders_in(options.build, foreign_programs)
    workload_program = f"{options.build}/table_workload"
    uniform = measure(extent, uniform_keys, contenders, workload_program)
    zipf = measure(extent, zipf_keys, contenders, workload_program)
    # A table grows one key at a time, whatever is asked of it.
    longest = {contender.name: longest_insert(extent, zipf_keys, contender, workload_program)
               for contender in contenders if not contender.name.startswith("weir-")}
    print_table(extent, contenders, {uniform_keys: uniform, zipf_keys: zipf}, longest)
    print_notes(extent, {uniform_keys: uniform, zipf_keys: zipf}, foreign_programs)
    print()
    print_summary(zipf)


if __name__ == "__main__":
    main()
