"""Computes the load on Redis of limits that many nodes share. Nothing is sent.

  load.py [--quick] [--nodes N --rate N --keys N --exponent X --consistency exact|leased|approximate ...]

Without --nodes: the cases of docs/scale.md. Prints one line for each case.

Keys are requested by Zipf's law, and requests arrive at random (Poisson). Keys of about the same rate form a class; one
key of each class is simulated on one node, and stands for all of them. A leased key follows store/leased: eight requests
in a lease before the first message, slices as large as the demand of the last lease, spent for three quarters of it,
renewed when a quarter of the units or of the time remains, returned when idle for half a lease. An approximate key with
at most three requests per sync is charged without a slice. No limit is exhausted: an exhausted limit would grant smaller
slices and deny.
"""

import argparse
import dataclasses
import math
import random

# Measured by `script/bench redis` (docs/benchmarks.md): microseconds of one Redis core, its system calls included.
DECISION = 4.9  # an evaluation, among others in one call
FOLDED = 0.02  # each further equal request in the same call
# Measured by bench/redis/slices.py in calls of 16 keys, without system calls: a decision 3.0, one on a key with slices
# 4.8, a message 14.0, one that leaves no slice 7.0. To each, 1.9 is added: the difference of DECISION and those 3.0.
LEASED_DECISION = 6.7  # the same on a key with slices, whatever their number
MESSAGE = 15.9  # a message about a slice, whatever the number of slices of the key
CHARGE = 8.9  # a message that only charges
# Of docs/shared-store.md: bytes in Redis.
STATE = 144  # of a consumer
SLICE = 60  # more for each node that holds a slice: an estimate
# What a node may remember of a leased limit: consumers.
MOST_REMEMBERED = 65_536

LEAST_GRANT = 4
LEAST_REQUESTS = 8  # per lease and node, of a leased key with a slice
MOST_UNLEASED = 3  # requests per sync and node of an approximate key without a slice
BUSY = 0.7  # of a core, beyond which waiting grows


@dataclasses.dataclass
class Case:
    consistency: str
    nodes: int
    rate: float  # requests a second, of all nodes
    keys: int
    exponent: float
    lease: float = 1.0
    sync: float = 0.1
    round_trip: float = 0.0005
    limit: int = 10_000  # of each key: for the bound of approximate limits
    spread: str = "round-robin"


@dataclasses.dataclass
class Usage:
    """The load of one key on one node, per second."""

    requests: float
    trips: float  # requests that waited
    decisions: float  # evaluations by the store that carry no message
    messages: float  # about slices
    charges: float = 0.0  # messages that only charge
    folded: float = 0.0  # questions that were equal to one in the same call
    holding: float = 0.0  # share of the time in which a slice is out
    remembered: float = 0.0  # share of the time in which the node knows the key


def exact(rate, case):
    """A call is in flight for a round trip; requests that arrive during it go with the next call, and equal ones are
    folded."""
    evaluations = (1 - math.exp(-rate * case.round_trip)) / case.round_trip
    return Usage(rate, rate, evaluations, 0, folded=rate - evaluations)


def approximate(rate, case):
    """Requested keys are exchanged every sync; their units are leased for four syncs after the last exchange."""
    messages = (1 - math.exp(-rate * case.sync)) / case.sync
    known = 1 - math.exp(-rate * 4 * case.sync)
    if rate * case.sync <= MOST_UNLEASED:
        return Usage(rate, 0, 0, 0, charges=messages, remembered=known)
    return Usage(rate, 0, 0, messages, holding=known, remembered=known)


class LeasedKey:
    """Simulates the record of one key in store/leased/slice_table.h, under random requests."""

    def __init__(self, rate, case, seed):
        self.rate, self.case, self.random = rate, case, random.Random(seed)
        self.now = self.period = self.asked = self.asked_before = 0
        self.rest = self.total = self.begins = self.ends = self.used_at = 0
        self.answer = None  # (when, units kept, units asked for, when it was sent)
        self.trips = self.messages = self.decisions = self.asks = self.requests = self.held = self.known = 0
        self.held_until = 0

    def take_answer(self, until):
        if self.answer is None or self.answer[0] > until:
            return
        arrives, kept, wanted, sent = self.answer
        self.answer = None
        self.total = kept + (wanted if wanted >= LEAST_GRANT else 0)
        self.rest = max(0, self.total - (kept - self.rest))
        self.begins, self.ends = sent, sent + 0.75 * self.case.lease
        if self.total:
            self.held_until = sent + self.case.lease

    def demand(self):
        return 0 if self.now - self.period >= 2 * self.case.lease else max(self.asked, self.asked_before)

    def send(self, kept, wanted):
        self.answer = (self.now + self.case.round_trip, kept, wanted, self.now)
        self.rest = self.total = kept

    def return_idle(self, until):
        """After half a lease without a request, or when the slice expires, the rest is returned."""
        due = min(self.used_at + self.case.lease / 2, self.ends)
        if self.rest > 0 and self.answer is None and due < until:
            self.messages += 1
            self.rest = self.total = 0
            self.held_until = min(self.held_until, due)

    def request(self, wait):
        lease = self.case.lease
        before, self.now = self.now, self.now + wait
        self.known += min(wait, 2 * lease)
        self.take_answer(self.now)
        self.return_idle(self.now)
        self.held += max(0, min(self.now, self.held_until) - before)
        if self.now - self.period >= lease:
            self.asked_before = self.asked if self.now - self.period < 2 * lease else 0
            self.asked, self.period = 0, self.now
        self.asked += 1
        self.used_at = self.now
        self.requests += 1
        if self.rest > 0 and self.now < self.ends:
            self.rest -= 1
            late = (self.ends - self.now) * 4 < self.ends - self.begins
            if self.answer is None and (self.rest * 4 < self.total or late):
                self.messages += 1
                self.send(self.rest, self.demand() - min(self.demand(), self.rest))
            return
        self.trips += 1
        if self.answer is None and (self.rest > 0 or self.demand() >= LEAST_REQUESTS):
            self.messages += 1  # with the request
            self.send(0, self.demand() if self.asked_before else self.demand() // 2)
        else:
            self.decisions += 1

    def usage(self, arrivals):
        for _ in range(arrivals):
            self.request(self.random.expovariate(self.rate))
        time = self.now
        return Usage(self.requests / time, self.trips / time, self.decisions / time, self.messages / time,
                     holding=self.held / time, remembered=self.known / time)


def leased(rate, case, quick):
    # Above some hundred requests in a lease slices only get larger: as many messages, and as good as no trips.
    most = 300 / case.lease
    simulated = min(rate, most)
    arrivals = 200 if quick else 6_000
    usage = LeasedKey(simulated, case, seed=1).usage(arrivals)
    waits = usage.trips / usage.requests
    return dataclasses.replace(usage, requests=rate, trips=rate * waits)


def classes(case):
    """Returns (keys, share of the requests of one of them), by rank; the first keys are their own classes."""
    found, first, total = [], 1, 0.0
    while first <= case.keys:
        last = min(case.keys, max(first, int(first * 1.15)))
        middle = math.sqrt(first * last)
        found.append((last - first + 1, middle ** -case.exponent))
        total += found[-1][0] * found[-1][1]
        first = last + 1
    return [(keys, weight / total) for keys, weight in found]


def simulate(case, quick):
    nodes = case.nodes if case.spread == "round-robin" else 1  # that ask for one key
    sums = dict(trips=0.0, messages=0.0, cost=0.0, ledger=0.0, remembered=0.0)
    hottest = 0.0
    for keys, share in classes(case):
        rate = case.rate * share / nodes
        usage = leased(rate, case, quick) if case.consistency == "leased" else globals()[case.consistency](rate, case)
        holders = usage.holding * nodes
        decision = DECISION + (LEASED_DECISION - DECISION) * min(1.0, holders)
        cost = nodes * (usage.decisions * decision + usage.messages * MESSAGE + usage.charges * CHARGE +
                        usage.folded * FOLDED)
        hottest = max(hottest, cost)
        sums["trips"] += keys * nodes * usage.trips
        sums["messages"] += keys * nodes * (usage.decisions + usage.messages + usage.charges + usage.folded)
        sums["cost"] += keys * cost
        sums["ledger"] += keys * (STATE + SLICE * holders)
        sums["remembered"] += keys * usage.remembered * nodes / case.nodes
    return sums, hottest


def bound(case):
    """Returns the excess over the limit in percent, and for how many seconds units that others hold may be missing."""
    if case.consistency == "approximate":
        allowance = case.limit // (4 * case.nodes)
        return 100 * case.nodes * allowance / case.limit, 4 * case.sync
    return 0.0, case.lease if case.consistency == "leased" else 0.0


def describe(case, quick):
    sums, hottest = simulate(case, quick)
    over, stale = bound(case)
    by = "" if case.spread == "round-robin" else ", clients stay on a node"
    line = (f"{case.consistency}, {case.nodes} nodes, {case.rate:,.0f} requests/s, {case.keys:,} keys, "
            f"Zipf {case.exponent:g}{by}: without a trip {100 * max(0.0, 1 - sums['trips'] / case.rate):.1f} %, "
            f"{sums['messages']:,.0f} messages/s, {sums['cost'] / 1e6 / BUSY:.1f} Redis cores, hottest key "
            f"{hottest / 1e6:.3f}, {sums['ledger'] / 1e6:,.0f} MB in Redis, over at most {over:.0f} %, "
            f"held back at most {stale:g} s")
    if case.consistency == "leased" and sums["remembered"] > MOST_REMEMBERED:
        line += f"; a node meets {sums['remembered']:,.0f} keys in two leases and remembers {MOST_REMEMBERED:,}"
    return line


def cases_of_the_page():
    for nodes, rate, keys in (50, 1e6, 1_000_000), (200, 1e7, 10_000_000):
        for consistency in "exact", "leased", "approximate":
            yield Case(consistency, nodes, rate, keys, 1.1)
        yield Case("leased", nodes, rate, keys, 1.1, spread="client")


def main():
    parser = argparse.ArgumentParser(description="What limits that many nodes share ask of Redis.")
    parser.add_argument("--quick", action="store_true", help="only show that it works")
    parser.add_argument("--consistency", choices=["exact", "leased", "approximate"], default="leased")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--rate", type=float, default=1e6, help="requests a second, of all nodes")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--exponent", type=float, default=1.1, help="of Zipf's law")
    parser.add_argument("--lease", type=float, default=1.0, help="seconds")
    parser.add_argument("--sync", type=float, default=0.1, help="seconds")
    parser.add_argument("--round-trip", type=float, default=0.0005, help="seconds")
    parser.add_argument("--limit", type=int, default=10_000, help="of each key, for the bound of approximate limits")
    parser.add_argument("--spread", choices=["round-robin", "client"], default="round-robin")
    given = vars(parser.parse_args())
    quick = given.pop("quick")
    wanted = [Case(**given)] if given["nodes"] else cases_of_the_page()
    for case in wanted:
        print("scale:", describe(case, quick), flush=True)


if __name__ == "__main__":
    main()
