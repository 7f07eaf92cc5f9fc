"""Real Redis servers for the length of a test: one alone, with replicas, under Sentinels, or as a cluster.

    with Redis("--maxmemory", "10mb") as redis:             # one; `redis.url` is for weir.yaml
        redis.ask("SET", "a", 1)                            # sends a command on a separate connection
        redis.kill()                                        # SIGKILL; restart() starts it empty, at the same address
    with Redis() as master, Redis(replica_of=master) as replica, Sentinels(master) as sentinels:
        replica.await_replica()
        sentinels.ask("SENTINEL", "FAILOVER", sentinels.name)
    with Cluster() as cluster:                              # three masters with a replica each
        cluster.move_slot(slot_of("{tag}"), cluster.masters[1])

Each listens on 127.0.0.1, on a port below those that the system gives to clients, so that it can have it again after a
restart. All files are in a temporary folder. A server dies with the thread that started it (setpriv), also if that is
killed: start servers on the test's main thread. The environment variable WEIR_REDIS_SERVER names another program than
redis-server.
"""

import binascii
import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile

import resp_client
from server import PATIENCE, eventually

SLOTS = 16384
HOST = "127.0.0.1"
PROGRAM = os.environ.get("WEIR_REDIS_SERVER", "redis-server")


def free_port():
    """Returns a free port below 32768, so that no outgoing connection takes it."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            return port


def free_cluster_port():
    """A free port of a node of a cluster, which also listens 10,000 above it."""
    while True:
        port = free_port()
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port + 10_000))
            return port


def slot_of(key):
    """Returns the slot of a key in a cluster: of the text between its first braces, if it has any."""
    begin = key.find("{")
    end = key.find("}", begin + 1)
    tag = key[begin + 1:end] if begin >= 0 and end > begin + 1 else key
    return binascii.crc_hqx(tag.encode(), 0) % SLOTS


class Redis:
    """A server that answers from its creation to the end of a `with` block.

    `options` are those of the command line, and come last. With `password` the server requires it, and ask() sends it.
    """

    def __init__(self, *options, replica_of=None, password=None, port=None, host=HOST):
        self._temporary = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self._temporary.name)
        self.host, self.port = host, port or free_port()
        self.password = password
        self.socket_file = self.directory / "socket"
        self.log_file = self.directory / "log"
        self._words = ["--port", self.port, "--bind", host, "--unixsocket", self.socket_file, "--dir", self.directory,
                       "--save", "", "--repl-diskless-sync-delay", 0,
                       *(["--requirepass", password, "--masterauth", password] if password else []),
                       *(["--replicaof", replica_of.host, replica_of.port] if replica_of else []), *options]
        self.process = None
        try:
            self.restart()
        except BaseException:
            self.close()
            raise

    @property
    def place(self):
        return self.host, self.port

    @property
    def url(self):
        return f"redis://{self.host}:{self.port}"

    @property
    def log(self):
        return self.log_file.read_text()

    def connect(self):
        client = resp_client.connect(self.place, PATIENCE)
        if self.password:
            client.ask("AUTH", self.password)
        return client

    def ask(self, *words):
        with self.connect() as client:
            return client.ask(*words)

    def info(self, section="default"):
        """Returns INFO as a dictionary."""
        lines = self.ask("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def role(self):
        """Returns `master` or `slave`; None while the server does not answer: a role change closes all connections."""
        try:
            return self.ask("ROLE")[0]
        except OSError:
            return None

    def await_replica(self):
        """Returns when this replica has everything that its master has."""
        eventually(lambda: self.info("replication")["master_link_status"] == "up", "a replica that follows its master")

    def answers(self):
        try:
            return self.ask("PING") == "PONG"
        except (OSError, resp_client.ReplyError):  # it has not started, or is loading
            return False

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def pause(self):
        """Suspends the server, but keeps its connections, until resume()."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """When this returns, the server and its connections are gone."""
        if self.is_alive():
            self.process.kill()
        if self.process:
            self.process.wait(PATIENCE)

    def restart(self):
        """Starts it again at the same address with the same options, without its data."""
        self.kill()
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self._command()],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually(lambda: self.answers() or not self.is_alive(), "an answer of Redis")
        if not self.is_alive():
            raise AssertionError(f"{PROGRAM} does not start: {self.log}")

    def _command(self):
        return [PROGRAM, *map(str, self._words)]

    def close(self):
        self.kill()
        self._temporary.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Sentinel(Redis):
    """A Sentinel that watches `master` under the name `name`."""

    def __init__(self, master, name, quorum, down_after):
        self._text = (f"sentinel monitor {name} {master.host} {master.port} {quorum}\n"
                      f"sentinel down-after-milliseconds {name} {down_after}\n"
                      f"sentinel failover-timeout {name} 5000\n")
        if master.password:
            self._text += f"sentinel auth-pass {name} {master.password}\n"
        super().__init__()

    def _command(self):
        file = self.directory / "sentinel.conf"
        file.write_text(f"port {self.port}\nbind {self.host}\ndir {self.directory}\n{self._text}")
        return [PROGRAM, str(file), "--sentinel"]


class Sentinels:
    """Three Sentinels that know each other and the master's replicas. `down_after` is in milliseconds."""

    def __init__(self, master, name="mymaster", count=3, down_after=500, replicas=1):
        self.name = name
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as started:
            self.all = [started.enter_context(Sentinel(master, name, count // 2 + 1, down_after))
                        for _ in range(count)]
            eventually(lambda: all(self._knows(each, count - 1, replicas) for each in self.all), "Sentinels that agree")
            self._stack = started.pop_all()

    def _knows(self, sentinel, others, replicas):
        flat = sentinel.ask("SENTINEL", "MASTER", self.name)
        told = dict(zip(flat[::2], flat[1::2]))
        return (int(told["num-other-sentinels"]), int(told["num-slaves"])) == (others, replicas)

    @property
    def urls(self):
        return [each.url for each in self.all]

    def ask(self, *words):
        return self.all[0].ask(*words)

    def master_port(self):
        """Returns what all of them report; None while they differ."""
        told = {each.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.name)[1] for each in self.all if each.is_alive()}
        return int(told.pop()) if len(told) == 1 else None

    def await_master(self, redis):
        """Returns when all of them, and `redis` itself, report that it is the master."""
        eventually(lambda: self.master_port() == redis.port and redis.role() == "master", "another master")

    def close(self):
        self._stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Cluster:
    """Masters that share the slots evenly, and a replica for each: replicas[i] is that of masters[i].

    The two lists do not change, whatever happens to the cluster; owner() queries which node has a slot. `node_timeout`
    is in milliseconds.
    """

    def __init__(self, masters=3, node_timeout=1000):
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", node_timeout,
                   "--cluster-replica-validity-factor", 0, "--cluster-require-full-coverage", "no",
                   "--cluster-allow-replica-migration", "no"]
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as started:
            def start():
                return started.enter_context(Redis(*options, port=free_cluster_port()))

            self.masters = [start() for _ in range(masters)]
            self.replicas = [start() for _ in range(masters)]
            self.nodes = self.masters + self.replicas
            self.ids = {node: node.ask("CLUSTER", "MYID") for node in self.nodes}
            self._introduce()
            self._share_slots()
            self._stack = started.pop_all()

    def _introduce(self):
        for epoch, node in enumerate(self.nodes, 1):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", epoch)
        for node in self.nodes[1:]:
            self.nodes[0].ask("CLUSTER", "MEET", node.host, node.port)
        eventually(lambda: all(len(self._table(node)) == len(self.nodes) for node in self.nodes), "nodes that have met")

    def _share_slots(self):
        count = len(self.masters)
        for i, (master, replica) in enumerate(zip(self.masters, self.replicas)):
            master.ask("CLUSTER", "ADDSLOTS", *range(SLOTS * i // count, SLOTS * (i + 1) // count))
            replica.ask("CLUSTER", "REPLICATE", self.ids[master])
        eventually(lambda: all(self.is_whole(node) for node in self.nodes), "a cluster that is whole")
        for replica in self.replicas:
            replica.await_replica()

    @property
    def urls(self):
        return [node.url for node in self.nodes]

    @property
    def living(self):
        return [node for node in self.nodes if node.is_alive()]

    def _table(self, node):
        """Returns CLUSTER NODES: the words of each line, without nodes whose handshake is incomplete."""
        lines = [line.split() for line in node.ask("CLUSTER", "NODES").splitlines()]
        return [words for words in lines if "handshake" not in words[2]]

    def is_whole(self, node):
        """Returns whether `node` knows a live owner for every slot, and a replica for each node that was not killed."""
        told = dict(line.split(":", 1) for line in node.ask("CLUSTER", "INFO").splitlines())
        roles = [words[2].split(",") for words in self._table(node)]
        replicas = sum("slave" in role and "fail" not in role for role in roles)
        dead = len(self.nodes) - len(self.living)
        return (told["cluster_state"], told["cluster_slots_ok"]) == ("ok", str(SLOTS)) and \
            replicas >= len(self.replicas) - dead

    def owner(self, slot, told_by=None):
        """Returns the node that has the slot, according to another node."""
        table = (told_by or self.living[0]).ask("CLUSTER", "SLOTS")
        for first, last, master, *_ in table:
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == master[1])
        return None

    def await_owner(self, slot, node):
        """Returns when all live nodes report that `node` has the slot."""
        eventually(lambda: all(self.owner(slot, each) is node for each in self.living), f"slot {slot} elsewhere")

    def await_whole(self):
        eventually(lambda: all(self.is_whole(node) for node in self.living), "a cluster that is whole again")

    def move_slot(self, slot, target, meanwhile=lambda: None):
        """Moves the slot with its keys, one by one, as redis-cli does. The callback is called before they move, and
        again when they have moved: then the slot's old owner redirects requests for them to the new one."""
        source = self.owner(slot)
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[source])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", self.ids[target])
        meanwhile()
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 1000):
            for key in keys:
                source.ask("MIGRATE", target.host, target.port, key, 0, PATIENCE * 1000, "REPLACE")
        meanwhile()
        for node in [target, source, *(each for each in self.living if each not in (source, target))]:
            if node.role() == "master":
                node.ask("CLUSTER", "SETSLOT", slot, "NODE", self.ids[target])

    def close(self):
        self._stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
