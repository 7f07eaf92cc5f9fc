"""What four real nodes deny of an approximate limit, beside what an exact limiter denies of the same requests.

  denials.py [--quick] [--shapes WORD] [--demands 50,90] WEIR

Starts a redis-server and four `weir serve` with one loop each. Every limit admits 1,000 per second and is exchanged
every 100 ms. Poisson requests ask for 50, 90, 100 and 200 % of that, spread evenly or with seven in ten on one node;
every request goes to several limits at once. Prints a line for each limit and load: what an exact limiter denies of
these requests (computed from the times at which they were sent), what Weir denies, the difference, what Weir admits
compared with the exact limiter, and the peak of use by the definition of the bound, which must stay below 1.25.

Run it with a negative nice value on a machine that has other work.
"""

import argparse
import collections
import contextlib
import pathlib
import random
import re
import select
import tempfile
import time

import nodes

NODES = 4
RATE = 1_000
BOUND = 1.25  # of the limit
SKEWED = 0.7, 0.1, 0.1, 0.1
REPLY = re.compile(rb"\*8\r\n:([01])")
LONGEST_WINDOW = 10


class Bucket:
    """An exact bucket. Times are in seconds."""

    def __init__(self, burst, rate=RATE):
        self.increment, self.depth, self.full_at = 1 / rate, burst / rate, 0.0

    def admits(self, now):
        if not self.fits(now):
            return False
        self.charge(now)
        return True

    def fits(self, now):
        return max(self.full_at, now) + self.increment - now <= self.depth + 1e-9

    def charge(self, now):
        self.full_at = max(self.full_at, now) + self.increment

    def level(self, now):
        """What is used at `now`, as a part of the burst."""
        return max(0.0, self.full_at - now) / self.depth


class Window:
    """An exact fixed window or, with a weight of the window before, a sliding window counter."""

    def __init__(self, seconds, is_sliding):
        self.seconds, self.is_sliding, self.limit = seconds, is_sliding, RATE * seconds
        self.number = self.count = self.previous = 0

    def admits(self, now):
        if self.level(now) * self.limit + 1 > self.limit + 1e-6:
            return False
        self.charge(now)
        return True

    def charge(self, now):
        self._roll(now)
        self.count += 1

    def level(self, now):
        self._roll(now)
        before = self.previous * (1 - now / self.seconds % 1) if self.is_sliding else 0
        return (self.count + before) / self.limit

    def _roll(self, now):
        number = int(now // self.seconds)
        if number > self.number:
            self.previous = self.count if number == self.number + 1 else 0
            self.number, self.count = number, 0


class Log:
    """An exact sliding window."""

    def __init__(self, seconds):
        self.seconds, self.limit, self.times = seconds, RATE * seconds, collections.deque()

    def admits(self, now):
        if self.level(now) >= 1:
            return False
        self.charge(now)
        return True

    def charge(self, now):
        self.times.append(now)

    def level(self, now):
        while self.times and self.times[0] <= now - self.seconds:
            self.times.popleft()
        return len(self.times) / self.limit


class Shape:
    """A limit: its fields in a policy, an exact limiter, and the measure of its bound."""

    def __init__(self, name, fields, exact, bound):
        self.name, self.fields, self.exact, self.bound = name, fields, exact, bound


def bucket(algorithm, burst):
    # The bound of a bucket is (burst + n b) (1 + T / time to fill): it drains faster by as much as it holds more.
    fields = (f"algorithm: leaky_bucket, capacity: {burst}, leak_rate: {RATE}" if algorithm == "leaky_bucket" else
              f"algorithm: {algorithm}, rate: {RATE}/s, burst: {burst}")
    return Shape(f"{algorithm} burst {burst:,}", fields, lambda: Bucket(burst), lambda: Bucket(burst, RATE * BOUND))


def window(algorithm, seconds):
    def exact():
        if algorithm == "sliding_window_log":
            return Log(seconds)
        return Window(seconds, algorithm == "sliding_window_counter")

    return Shape(f"{algorithm} {seconds} s", f"algorithm: {algorithm}, limit: {RATE * seconds}, window_seconds: {seconds}",
                 exact, exact)


# Measured together, so that each batch has limits that ask Redis for each request and limits that do not.
BATCHES = [
    [bucket("token_bucket", 100), bucket("token_bucket", 500), bucket("token_bucket", 1_000),
     bucket("gcra", 100), bucket("gcra", 1_000), window("fixed_window", 1)],
    [bucket("leaky_bucket", 100), bucket("leaky_bucket", 1_000), window("fixed_window", 10),
     window("sliding_window_counter", 1), window("sliding_window_counter", 10), window("sliding_window_log", 1)],
]


def policy(shapes):
    text = "version: 1\nlimits:\n"
    for number, shape in enumerate(shapes):
        text += (f"  - {{name: limit-{number}, routes: [/nowhere], consumer_key: user, {shape.fields}, "
                 "consistency: {approximate: {sync: 100ms}}}\n")
    return text


class Asked:
    """The requests to one limit, and the answers, in the order of each connection."""

    def __init__(self, shape, limit, key, connections):
        self.words = nodes.command("WEIR.CHECK", limit, f"user={key}")
        self.connections = connections
        self.exact, self.shape = shape.exact(), shape
        self.sent = self.exactly_denied = 0
        self.pending = [collections.deque() for _ in connections]
        self.rest = [b""] * len(connections)
        self.answers = []

    def send(self, to):
        now = time.time()  # Redis has the same clock
        self.connections[to].sendall(self.words)
        self.pending[to].append(now)
        self.sent += 1
        if not self.exact.admits(now):
            self.exactly_denied += 1

    def receive(self, of):
        got = self.rest[of] + self.connections[of].recv(1 << 20)
        self.rest[of] = got[-5:]
        for answer in REPLY.finditer(got):
            self.answers.append((self.pending[of].popleft(), answer[1] == b"0"))

    def denied(self):
        return sum(not admitted for _, admitted in self.answers)

    def peak(self):
        """The largest use by the measure of the bound, as a part of the limit."""
        measure, highest = self.shape.bound(), 0.0
        for at, admitted in sorted(self.answers):
            if admitted:
                measure.charge(at)
                highest = max(highest, measure.level(at))
        return highest


def ask(asked, rate, weights, seconds):
    """Sends Poisson requests to all limits, and waits for all answers."""
    poll, by_file = select.epoll(), {}
    for one in asked:
        for number, connection in enumerate(one.connections):
            by_file[connection.fileno()] = one, number
            poll.register(connection.fileno(), select.EPOLLIN)
    chance = random.Random(7)
    due = time.monotonic()
    until = due + seconds
    while due < until or any(len(one.answers) < one.sent for one in asked):
        now = time.monotonic()
        if now > until + nodes.PATIENCE:
            raise SystemExit("denials: requests were not answered")
        if due <= now and due < until:
            to = chance.choices(range(len(weights)), weights)[0]
            for one in asked:
                one.send(to)
            due += chance.expovariate(rate)
        for file, _ in poll.poll(max(0, due - time.monotonic()) if due < until else 0.1):
            one, number = by_file[file]
            one.receive(number)
    poll.close()


def describe(one, demand, spread):
    denied, sent = one.denied(), one.sent
    falsely = max(0, denied - one.exactly_denied)
    return (f"denials: {one.shape.name}, {demand} % of the limit, {spread}: {sent:,} requests, exact denies "
            f"{100 * one.exactly_denied / sent:.2f} %, weir {100 * denied / sent:.2f} %, falsely {100 * falsely / sent:.2f} %, "
            f"admits {100 * (sent - denied) / (sent - one.exactly_denied):.2f} % of exact, peak {one.peak():.3f} of the limit")


def measure(program, folder, shapes, demands, seconds):
    folder.mkdir()
    (folder / "policy.yaml").write_text(policy(shapes))
    with contextlib.ExitStack() as stack:
        redis = nodes.Redis(stack, folder)
        fleet = [nodes.Node(stack, program, folder / f"node-{number}", redis) for number in range(NODES)]
        nodes.eventually(lambda: all(node.metrics()["weir_nodes"] == NODES for node in fleet), "nodes that know all others")
        connections = [[stack.enter_context(nodes.connect(node.port)) for node in fleet] for _ in shapes]
        for demand in demands:
            for spread, weights in ("even", [1 / NODES] * NODES), ("skewed", SKEWED):
                if seconds >= LONGEST_WINDOW:
                    time.sleep(LONGEST_WINDOW - time.time() % LONGEST_WINDOW)  # so that it has whole windows
                asked = [Asked(shape, f"limit-{number}", f"{demand}-{spread}", connections[number])
                         for number, shape in enumerate(shapes)]
                ask(asked, RATE * demand / 100, weights, seconds)
                for one in asked:
                    print(describe(one, demand, spread), flush=True)


def main():
    parser = argparse.ArgumentParser(description="What four nodes deny of approximate limits.")
    parser.add_argument("--quick", action="store_true", help="only show that it works")
    parser.add_argument("--shapes", default="", help="measure only the limits whose names contain this")
    parser.add_argument("--demands", default="50,90,100,200", help="demand in percent of the limit, with commas")
    parser.add_argument("--seconds", type=float, default=2 * LONGEST_WINDOW, help="the duration of each load")
    parser.add_argument("program", help="weir")
    arguments = parser.parse_args()
    demands = [int(word) for word in arguments.demands.split(",")]
    seconds = 0.3 if arguments.quick else arguments.seconds
    with tempfile.TemporaryDirectory(prefix="weir-denials-") as folder:
        for number, batch in enumerate(BATCHES):
            shapes = [shape for shape in batch if arguments.shapes in shape.name]
            if shapes:
                measure(arguments.program, pathlib.Path(folder) / str(number), shapes, demands, seconds)


if __name__ == "__main__":
    main()
