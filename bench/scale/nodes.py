"""What many real nodes ask of one Redis, beside what load.py computes for them.

  nodes.py [--quick] WEIR

Starts a redis-server and 32 `weir serve` with one loop each, which share limits of each consistency. Requests come at
random (Poisson), go to the nodes in turn, and name one key or keys by Zipf's law. Prints a line for each case: calls and
messages per second, the processor time of Redis per admitted request, and what was admitted, in percent of the requests
or, where the demand is twice the limit, of the limit.

At this load a call carries one message, or few. load.py computes with the cost of a message among many in one call, so
the difference, measured first, is added for each call of the model.
"""

import argparse
import bisect
import collections
import contextlib
import itertools
import math
import os
import pathlib
import random
import select
import socket
import subprocess
import tempfile
import time
import urllib.request

import load

CONSISTENCIES = "exact", "leased", "approximate"
EXPONENT = 1.1
SERVER_CORE, NODE_CORE = 0, os.cpu_count() - 1
PATIENCE = 60
EVALUATIONS_OF_MESSAGE = 3  # a message about a slice: a report, a decision and a grant
ADMITTED, DENIED = b"*8\r\n:0", b"*8\r\n:1"  # how a reply to WEIR.CHECK begins


class Extent:
    def __init__(self, quick):
        self.nodes = 4 if quick else 32
        self.rate = 400 if quick else 3_000  # requests per second, over all nodes
        self.keys = 100 if quick else 10_000
        self.warm_up, self.seconds = (0.2, 0.5) if quick else (3, 8)
        self.singles = 50 if quick else 1_000


def limits(extent):
    """Limits of each consistency: one that is never reached, and one at half of the demand."""
    text = "version: 1\nlimits:\n"
    for consistency in CONSISTENCIES:
        for name, rate in ("within", 1_000_000), ("over", extent.rate // 2):
            text += (f"  - {{name: {consistency}-{name}, routes: [/nowhere], consumer_key: user, algorithm: token_bucket, "
                     f"rate: {rate}/s, burst: {rate}, consistency: {consistency}}}\n")
    return text


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"nodes: timed out while waiting for {what}")
        time.sleep(0.05)


def start(stack, core, command, **settings):
    """A process that ends with the benchmark."""
    process = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **settings)

    def end():
        process.terminate()
        process.wait(PATIENCE)

    stack.callback(end)
    return process


def connect(port):
    connection = None

    def is_open():
        nonlocal connection
        with contextlib.suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", port))
        return connection is not None

    eventually(is_open, f"a server on port {port}")
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)


class Redis:
    def __init__(self, stack, folder):
        self.port = free_port()
        program = os.environ.get("WEIR_REDIS_SERVER", "redis-server")
        self.process = start(stack, SERVER_CORE, [program, "--port", self.port, "--bind", "127.0.0.1", "--save", "",
                                                  "--appendonly", "no", "--dir", folder])
        self._connection = stack.enter_context(connect(self.port))
        self._file = stack.enter_context(self._connection.makefile("rb"))

    def processor_us(self):
        """The processor time of its main thread, which executes all commands."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1_000

    def calls(self):
        self._connection.sendall(command("INFO", "commandstats"))
        text = self._file.read(int(self._file.readline()[1:]) + 2).decode()
        return sum(int(line.split("calls=")[1].split(",")[0]) for line in text.splitlines()
                   if line.startswith("cmdstat_evalsha:"))


class Node:
    def __init__(self, stack, program, folder, redis):
        self.port, admin = free_port(), free_port()
        folder.mkdir()
        config = folder / "weir.yaml"
        config.write_text(f"version: 1\npolicy: {folder.parent / 'policy.yaml'}\nloops: 1\nlog: {{denials: off}}\n"
                          f"state: {{directory: {folder / 'state'}}}\n"
                          f'store: {{redis: {{urls: ["redis://127.0.0.1:{redis.port}"], timeout: 1s}}}}\n')
        start(stack, NODE_CORE, [program, "serve", "--config", config, "--http", "off", "--rls", "off",
                                 "--resp", f"127.0.0.1:{self.port}", "--admin", f"127.0.0.1:{admin}"])
        self._metrics = f"http://127.0.0.1:{admin}/metrics"
        self.connection = stack.enter_context(connect(self.port))
        eventually(lambda: self.metrics()["weir_store_connected"] == 1, "a node that is connected to Redis")
        self.rest = b""

    def metrics(self):
        """The sum of all samples of each name; of messages about slices, only `kind="all"`, which has the others."""
        totals = collections.Counter()
        with urllib.request.urlopen(self._metrics, timeout=PATIENCE) as answer:
            for line in answer.read().decode().splitlines():
                head, _, value = line.rpartition(" ")
                if head.startswith("weir_") and ('kind="' not in head or 'kind="all"' in head):
                    totals[head.split("{")[0]] += float(value)
        return totals

    def receive(self):
        """How many requests were admitted and denied, of the replies that have come."""
        got = self.rest + self.connection.recv(1 << 20)
        self.rest = got[-len(ADMITTED) + 1:]
        return got.count(ADMITTED), got.count(DENIED)


class Demand:
    """Poisson requests to all nodes in turn. The counts are of replies."""

    def __init__(self, nodes, limit, rate, keys):
        self.nodes, self.rate = nodes, rate
        weights = itertools.accumulate(rank ** -EXPONENT for rank in range(1, keys + 1))
        self._sums = list(weights)
        self._words = [command("WEIR.CHECK", limit, f"user={key}") for key in range(keys)]
        self._random = random.Random(1)
        self._turn = itertools.cycle(nodes)
        self._poll = select.epoll()
        self._by_file = {node.connection.fileno(): node for node in nodes}
        for file in self._by_file:
            self._poll.register(file, select.EPOLLIN)

    def run(self, seconds):
        """Requests sent, admitted, denied."""
        sent = admitted = denied = 0
        due = time.monotonic()
        until = due + seconds
        while due < until or admitted + denied < sent:
            now = time.monotonic()
            if now > until + PATIENCE:
                raise SystemExit(f"nodes: {sent - admitted - denied} requests were not answered")
            while due <= now and due < until:
                key = bisect.bisect(self._sums, self._random.random() * self._sums[-1])
                next(self._turn).connection.sendall(self._words[key])
                sent += 1
                due += self._random.expovariate(self.rate)
            for file, _ in self._poll.poll(max(0, due - time.monotonic()) if due < until else 0.1):
                yes, no = self._by_file[file].receive()
                admitted += yes
                denied += no
        return sent, admitted, denied


class Fleet:
    def __init__(self, stack, program, folder, extent):
        (folder / "policy.yaml").write_text(limits(extent))
        self.extent = extent
        self.redis = Redis(stack, folder)
        self.nodes = [Node(stack, program, folder / f"node-{number}", self.redis) for number in range(extent.nodes)]
        # An approximate limit is divided by the number of nodes, so all must have counted all.
        eventually(lambda: all(node.metrics()["weir_nodes"] == extent.nodes for node in self.nodes), "nodes that know all others")
        self.idle = self._idle()  # microseconds per second
        self.single, self.round_trip = self._single()

    def _idle(self):
        before, began = self.redis.processor_us(), time.monotonic()
        time.sleep(self.extent.warm_up)
        return (self.redis.processor_us() - before) / (time.monotonic() - began)

    def _single(self):
        """A decision in a call of its own: microseconds of Redis, and seconds until the answer."""
        node, words = self.nodes[0], command("WEIR.CHECK", "exact-within", "user=single")
        before, began = self.redis.processor_us(), time.monotonic()
        for _ in range(self.extent.singles):
            node.connection.sendall(words)
            while not sum(node.receive()):
                pass
        took = time.monotonic() - began
        used = self.redis.processor_us() - before - self.idle * took
        return used / self.extent.singles, took / self.extent.singles

    def messages(self):
        """Questions and messages about slices that all nodes have sent so far."""
        sums = collections.Counter()
        for node in self.nodes:
            sums.update(node.metrics())
        return sums["weir_store_evaluations_total"] - (EVALUATIONS_OF_MESSAGE - 1) * sums["weir_lease_messages_total"]

    def measure(self, limit, keys):
        """Per second: requests, admitted, calls, messages, microseconds of Redis; and what was admitted per second in
        which the limit was refilled, which includes the time of counting."""
        demand = Demand(self.nodes, limit, self.extent.rate, keys)
        demand.run(self.extent.warm_up)
        exhausted = time.monotonic()
        messages, calls, used, began = self.messages(), self.redis.calls(), self.redis.processor_us(), time.monotonic()
        sent, admitted, _ = demand.run(self.extent.seconds)
        took, used, calls = time.monotonic() - began, self.redis.processor_us() - used, self.redis.calls() - calls
        refilled = time.monotonic() - exhausted
        messages = self.messages() - messages
        rates = [count / took for count in (sent, admitted, calls, messages, max(0, used - self.idle * took))]
        return *rates, admitted / refilled


def modelled(fleet, consistency, rate, keys, quick):
    """Per second: calls, messages, microseconds of Redis."""
    extent = fleet.extent
    case = load.Case(consistency, extent.nodes, rate, keys, EXPONENT, round_trip=fleet.round_trip)
    sums, _ = load.simulate(case, quick)
    # A call is in flight for a round trip, and the next one collects until it is answered.
    calls = extent.nodes * (1 - math.exp(-sums["messages"] / extent.nodes * case.round_trip)) / case.round_trip
    return calls, sums["messages"], sums["cost"] + calls * (fleet.single - load.DECISION)


def describe(fleet, consistency, limit, keys, quick):
    requests, admitted, calls, messages, used, of_limit = fleet.measure(f"{consistency}-{limit}", keys)
    of = "one key" if keys == 1 else f"{keys:,} keys"
    line = f"nodes: {consistency}, {fleet.extent.nodes} nodes, {of}, {requests:,.0f} requests/s"
    if limit == "over":
        return (f"{line}, twice the limit: {calls:,.0f} calls/s, {messages:,.0f} messages/s, "
                f"{used / admitted:.2f} us of Redis per admitted request, admitted "
                f"{100 * of_limit / (fleet.extent.rate // 2):.1f} % of the limit")
    model_calls, model_messages, model_used = modelled(fleet, consistency, requests, keys, quick)
    return (f"{line}: {calls:,.0f} calls/s (model {model_calls:,.0f}), {messages:,.0f} messages/s "
            f"(model {model_messages:,.0f}), {used / admitted:.2f} us of Redis per admitted request "
            f"(model {model_used / requests:.2f}), admitted {100 * admitted / requests:.2f} % of the requests")


def main():
    parser = argparse.ArgumentParser(description="What many real nodes ask of one Redis.")
    parser.add_argument("--quick", action="store_true", help="only show that it works")
    parser.add_argument("program", help="weir")
    arguments = parser.parse_args()
    extent = Extent(arguments.quick)
    with tempfile.TemporaryDirectory(prefix="weir-nodes-") as folder, contextlib.ExitStack() as stack:
        fleet = Fleet(stack, arguments.program, pathlib.Path(folder), extent)
        print(f"nodes: a decision in a call of its own takes {fleet.single:.1f} us of Redis and {fleet.round_trip * 1e6:.0f} us "
              f"in all; {extent.nodes} idle nodes take {fleet.idle / 1e4:.2f} % of a core", flush=True)
        for limit, keys in ("within", 1), ("over", 1), ("within", extent.keys):
            for consistency in CONSISTENCIES:
                print(describe(fleet, consistency, limit, keys, arguments.quick), flush=True)


if __name__ == "__main__":
    main()
