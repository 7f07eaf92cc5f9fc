"""The workloads of the table comparison, and the results of each contender."""

import contextlib
import dataclasses
import os
import statistics
import subprocess

from contender_process import ContenderProcess

THREADS = (1, 2)


@dataclasses.dataclass(frozen=True)
class Extent:
    """The amount of work to measure."""
    rounds: int = 5
    growths: int = 3
    decisions_per_round: int = 1 << 21

    @property
    def decided(self):
        return self.rounds * len(THREADS) * self.decisions_per_round


@dataclasses.dataclass(frozen=True)
class Workload:
    title: str
    kind: str
    keys: int
    burst: int
    # One key in this many is exhausted beforehand, if the workload itself would deny none.
    exhausted_stride: int = 0


@dataclasses.dataclass
class Outcome:
    """The result of one contender under one workload."""
    extent: Extent
    worst_bytes_per_key: float = 0.0
    admitted: int = 0
    # Nanoseconds of each round: on a core for one thread, of wall time for several.
    times: dict = dataclasses.field(default_factory=lambda: {threads: [] for threads in THREADS})

    def ns(self, threads):
        return statistics.median(self.times[threads]) / self.extent.decisions_per_round

    def spread(self, threads):
        """The spread of the rounds, as a fraction of the median."""
        times = self.times[threads]
        return (max(times) - min(times)) / statistics.median(times)


@contextlib.contextmanager
def key_sequence(workload, count, workload_program):
    """Writes this many key numbers to a file in memory and returns its path."""
    descriptor = os.memfd_create(workload.kind)
    try:
        subprocess.run([workload_program, workload.kind, str(workload.keys), str(count)],
                       stdout=descriptor, check=True)
        yield f"/proc/{os.getpid()}/fd/{descriptor}"
    finally:
        os.close(descriptor)


def measure(extent, workload, contenders, workload_program):
    """Returns outcomes by name. All contenders stay alive and filled, and take turns, so that a busy period of the
    machine affects all of them; each gets the same slices of the same sequence."""
    outcomes = {contender.name: Outcome(extent) for contender in contenders}
    with contextlib.ExitStack() as stack:
        # The first slice is for warming up, then one per measurement.
        count = extent.decisions_per_round + extent.decided
        sequence = stack.enter_context(key_sequence(workload, count, workload_program))
        processes = {}
        for contender in contenders:
            process = stack.enter_context(ContenderProcess(contender, sequence, workload.keys, workload.burst))
            outcomes[contender.name].worst_bytes_per_key, _ = process.fill()
            if workload.exhausted_stride:
                process.exhaust(workload.exhausted_stride)
            process.run(0, extent.decisions_per_round, 1)
            processes[contender.name] = process
        first = extent.decisions_per_round
        for _ in range(extent.rounds):
            for threads in THREADS:
                for name, process in processes.items():
                    wall, cpu, admitted = process.run(first, extent.decisions_per_round, threads)
                    # Alone, a thread waits for nothing but a core, and that is not its doing.
                    outcomes[name].times[threads].append(cpu if threads == 1 else wall)
                    outcomes[name].admitted += admitted
                first += extent.decisions_per_round
    refuse_unequal_work(extent, workload, outcomes)
    return outcomes


def refuse_unequal_work(extent, workload, outcomes):
    """Refill is too slow to matter, so all contenders must admit the same number; otherwise they did not do the same
    work."""
    counts = {name: outcome.admitted for name, outcome in outcomes.items()}
    if max(counts.values()) - min(counts.values()) > 0.001 * extent.decided:
        raise SystemExit(f"table: {workload.title}: the contenders disagree on how many to admit: {counts}")


def longest_insert(extent, workload, contender, workload_program):
    """Returns the nanoseconds of the longest single insert from empty to all keys, in the best of the runs.

    On a shared machine, interruptions count as the thread's own time. They hit different inserts in each run; what the
    contender does itself recurs every time.
    """
    longest = []
    for _ in range(extent.growths):
        with (key_sequence(workload, 1, workload_program) as sequence,
              ContenderProcess(contender, sequence, workload.keys, workload.burst) as process):
            longest.append(process.grow())
    return min(longest)
