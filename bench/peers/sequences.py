"""Compares what a server admits of requests at known times with what a bucket with the same numbers admits.

burst   50 at once, of 20 an hour
seam    10 per second: one at the start of a second, 20 after 0.9 s, 20 after 1.1 s; four keys at the same time
steady  10 a second: 100, one every 20 ms
retry   2 in 3 s: three at once, and another when the third was told to come back
"""

import concurrent.futures
import time

import asking


def bucket(name, times):
    """Returns how many of these a bucket that is initially full admits."""
    burst, count, period = asking.LIMITS[name]
    level, last, admitted = float(burst), times[0], 0
    for at in times:
        level, last = min(burst, level + (at - last) * count / period), at
        if level >= 1:
            level, admitted = level - 1, admitted + 1
    return admitted


class Sequence:
    """Counts what is admitted. A server decides between a request and its response, so `exact` may be two numbers."""

    def __init__(self, make, name, key):
        self.asker, self.name, self.key = make(), name, key
        self.asked, self.answered, self.admitted = [], [], 0

    def ask(self, count=1):
        for _ in range(count):
            self.asked.append(time.monotonic())
            admitted, self.retry = self.asker.ask(self.name, self.key)
            self.answered.append(time.monotonic())
            self.admitted += admitted
        return admitted

    def exact(self):
        return {bucket(self.name, self.asked), bucket(self.name, self.answered)}


def report(*sequences):
    def span(numbers):
        return "-".join(str(number) for number in sorted({min(numbers), max(numbers)}))

    admitted = span([sequence.admitted for sequence in sequences])
    return f"{admitted} of {len(sequences[0].asked)} (exact {span(set().union(*(each.exact() for each in sequences)))})"


def burst(make):
    sequence = Sequence(make, "burst", "burst")
    sequence.ask(50)
    return f"burst {report(sequence)}"


def over_seam(make, key):
    sequence = Sequence(make, "second", key)
    time.sleep(1.005 - time.time() % 1)
    begin = time.monotonic()
    sequence.ask()
    for after in (0.9, 1.1):
        time.sleep(max(0, begin + after - time.monotonic()))
        sequence.ask(20)
    return sequence


def seam(make):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return f"seam {report(*pool.map(lambda number: over_seam(make, f'seam-{number}'), range(4)))}"


def steady(make):
    sequence = Sequence(make, "second", "steady")
    begin = time.monotonic()
    for number in range(100):
        time.sleep(max(0, begin + number * 0.02 - time.monotonic()))
        sequence.ask()
    return f"steady {report(sequence)}"


def retry(make):
    sequence = Sequence(make, "retry", "retry")
    sequence.ask(3)
    wait = sequence.retry
    if wait is None:
        return "retry says nothing (exact 1.5 s)"
    time.sleep(max(0, min(wait, 10)) + 0.005)
    then = "admitted" if sequence.ask() else "denied again"
    return f"retry after {wait:.3g} s (exact 1.5 s), then {then}"


def run(make, without=()):
    """Runs all sequences at once, each with its own key. `without` lists those for which a server has no limit."""
    wanted = [sequence for sequence in (burst, seam, steady, retry) if sequence.__name__ not in without]
    with concurrent.futures.ThreadPoolExecutor(len(wanted)) as pool:
        told = list(pool.map(lambda sequence: sequence(make), wanted))
    return ", ".join(told + [f"{name} cannot be had" for name in without])
