"""Several `weir serve` that share their limits through Redis, and clients that call all of them at once."""

import concurrent.futures
import contextlib
import http.client
import json
import sys
import threading
import time

import resp_client
from server import LISTENERS, PATIENCE, Server, eventually


def store(urls, **settings):
    """Returns `store` of weir.yaml; settings are its other fields."""
    return LISTENERS + "store: " + json.dumps({"redis": {"urls": urls, **settings}}) + "\n"


def metric(node, name, **labels):
    """Returns the sum of all samples of that name with these labels."""
    marks = [f'{label}="{value}"' for label, value in labels.items()]
    total = 0
    for line in node.ask("GET", "/metrics", listener="admin")[2].splitlines():
        head, _, value = line.rpartition(" ")
        if head.split("{")[0] == name and all(mark in head for mark in marks):
            total += float(value)
    return total


def decisions(nodes, path):
    """Returns how many decisions of all nodes were made this way: shared, local, open or closed."""
    return sum(metric(node, "weir_store_decisions_total", path=path) for node in nodes)


def is_connected(node, servers=1):
    """Returns whether the node is connected to all servers that it knows, and knows at least this many."""
    return metric(node, "weir_store_connected") == metric(node, "weir_store_servers") >= servers and \
        metric(node, "weir_store_breaker_state") == 0


class Nodes(list):
    """Servers with one policy and one store, all connected to it. Stopped at the end of a `with` block.

    The timeout is long unless `settings` says otherwise: a test that counts must not trigger the outage rules.
    """

    def __init__(self, policy, urls, count=4, servers=1, environments=None, sections="", **settings):
        super().__init__()
        self.servers = servers
        config = store(urls, **{"timeout": "10s", **settings}) + sections  # other settings of weir.yaml
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as started:
            for environment in environments or [None] * count:
                self.append(started.enter_context(Server(policy, config, environment=environment)))
            self.await_connected()
            self._stack = started.pop_all()

    def await_connected(self):
        for node in self:
            eventually(lambda: is_connected(node, self.servers), "a node that is connected to the store")

    def __enter__(self):
        return self

    def __exit__(self, *details):
        return self._stack.__exit__(*details)


class CheckClient:
    """Sends POST /v1/check on one persistent connection."""

    def __init__(self, node):
        self._connection = http.client.HTTPConnection(*node.http, timeout=PATIENCE)
        self.headers = None  # headers of the last answer

    def ask(self, path, user, cost=1):
        """Returns the verdict; the status must agree with it."""
        self._connection.request("POST", "/v1/check", json.dumps({"path": path, "user": user, "cost": cost}))
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        if answer.status != (200 if told["admitted"] else 429):
            raise AssertionError(f"{answer.status}: {told}")
        self.headers = answer.headers
        return told

    def close(self):
        self._connection.close()


class RespCheckClient:
    """Sends WEIR.CHECK for the limit that is named like the path. The verdict has the same form as that of CheckClient.
    """

    def __init__(self, node):
        self._client = resp_client.connect(node.resp, PATIENCE)

    def ask(self, path, user, cost=1):
        denied, quota, remaining, retry, reset, delay, limit, reason = self._client.ask(
            "WEIR.CHECK", path.strip("/"), f"user={user}", "COST", cost)
        return {"admitted": denied == 0, "quota": quota, "remaining": remaining, "limit": limit, "reason": reason,
                "retry_after": None if retry < 0 else retry / 1e6, "reset_after": reset / 1e6, "delay": delay / 1e6}

    def close(self):
        self._client.__exit__()


def all_at_once(clients, work):
    """Calls work(number, client) for each client, on threads that start together; returns a list of the results."""
    barrier = threading.Barrier(len(clients))

    def run(number, client):
        barrier.wait(PATIENCE)
        return work(number, client)

    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(len(clients)) as pool:
        for client in clients:
            stack.callback(client.close)
        return [future.result() for future in [pool.submit(run, *each) for each in enumerate(clients)]]


class Load:
    """Clients that send requests repeatedly, from the beginning to the end of a `with` block. ask(client, turn) is one
    request.

    `answers` has for each client a list of (time of the request, its duration, the result of ask()).
    """

    PAUSE = 0.005  # between the requests of a client, because the servers need the cores as well

    def __init__(self, nodes, ask, count=16):
        self.answers = [[] for _ in range(count)]
        self._ask = ask
        self._over = threading.Event()
        self._clients = [CheckClient(nodes[number % len(nodes)]) for number in range(count)]
        self._pool = concurrent.futures.ThreadPoolExecutor(count)
        self._running = [self._pool.submit(self._run, *each) for each in enumerate(self._clients)]

    def _run(self, number, client):
        turn = number
        while not self._over.wait(self.PAUSE):
            asked = time.monotonic()
            told = self._ask(client, turn)
            self.answers[number].append((asked, time.monotonic() - asked, told))
            turn += 1

    def all(self):
        return [answer for answers in self.answers for answer in list(answers)]

    @property
    def slowest(self):
        return max(took for _, took, _ in self.all())

    def await_round(self, times=1):
        """Returns when each client has received this many answers to requests after this call."""
        now = time.monotonic()

        def is_round():
            for running in self._running:
                if running.done():
                    running.result()  # raises the error that stopped it
            return all(sum(asked > now for asked, _, _ in answers[-times:]) == times for answers in self.answers)

        eventually(is_round, "an answer to every client")

    def stop(self):
        self._over.set()
        for running in self._running:
            running.result(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._over.set()
        self._pool.shutdown()
        for client in self._clients:
            client.close()
        if sys.exc_info()[0] is None:
            self.stop()
