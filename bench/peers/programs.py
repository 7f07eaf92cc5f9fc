"""Weir and its peers, each on the first core, for the duration of a `with` block."""

import contextlib
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
for folder in ("listeners", "instructions", "load"):
    sys.path.insert(1, str(HERE.parent / folder))
import servers  # noqa: E402

POLICY = HERE / "policies" / "weir.yaml"
EDGE = HERE / "policies" / "ratelimit" / "edge.yaml"  # in the words of envoyproxy/ratelimit, which Weir reads as well
COUNTERS = 2_000_000  # what a peer may keep, where it asks


class WithRedis:
    """A server and the Redis that it uses, whose processor times are added."""

    def __init__(self, server, redis):
        self.port = server.port
        self.both = server, redis

    def processor_seconds(self):
        return sum(each.processor_seconds() for each in self.both)


class Peer(servers.Served):
    """Kills the process: it has nothing to save, and may take long to stop."""

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(30)


@contextlib.contextmanager
def weir(program, listener, policy=POLICY, redis=None):
    store = f'store: {{redis: {{urls: ["redis://127.0.0.1:{redis.port}/1"], timeout: 1s}}}}\n' if redis else ""
    with servers.Folder() as folder:
        ports = {name: servers.free_port() for name in ("http", "rls", "resp", "admin")}
        listeners = "".join(f'  {name}: {{listen: "127.0.0.1:{port}"}}\n' for name, port in ports.items())
        config = folder / "weir.yaml"
        config.write_text(f"version: 1\npolicy: {policy}\nloops: 1\nlog: {{denials: off}}\n{store}"
                          f"listeners:\n{listeners}")
        with servers.Served([program, "serve", "--config", config], ports[listener],
                            env={**os.environ, "STATE_DIRECTORY": str(folder / "state")}) as served:
            yield served


@contextlib.contextmanager
def constant(program, protocol):
    port = servers.free_port()
    with servers.Served([program, str(port), protocol], port) as served:
        yield served


@contextlib.contextmanager
def redis():
    with servers.Folder() as folder, servers.redis(folder) as served:
        yield served


class Peers:
    """Returns the peers in a folder that build.sh has made."""

    def __init__(self, folder):
        folder = pathlib.Path(folder).absolute()
        self.programs = {"throttlecrab": folder / "throttlecrab-server", "redis-cell": folder / "libredis_cell.so",
                         "gubernator": folder / "gubernator", "envoyproxy/ratelimit": folder / "ratelimit",
                         "limitador": folder / "limitador_peer"}

    def has(self, name):
        return self.programs[name].exists()

    @contextlib.contextmanager
    def throttlecrab(self, transport):
        port = servers.free_port()
        option = {"resp": "redis"}.get(transport, transport)
        with Peer([self.programs["throttlecrab"], f"--{option}", f"--{option}-host", "127.0.0.1",
                             f"--{option}-port", str(port), "--store-capacity", str(COUNTERS), "--log-level", "error"],
                            port) as served:
            yield served

    @contextlib.contextmanager
    def redis_cell(self):
        with servers.Folder() as folder:
            port = servers.free_port()
            with Peer(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly",
                                 "no", "--dir", folder, "--loadmodule", self.programs["redis-cell"]], port) as served:
                yield served

    @contextlib.contextmanager
    def gubernator(self, protocol):
        ports = {name: servers.free_port() for name in ("http", "grpc", "members")}
        members = f"127.0.0.1:{ports['members']}"
        # A node that finds itself: with no discovery at all it knows of nobody to ask, and every answer is an error.
        settings = {"GUBER_HTTP_ADDRESS": f"127.0.0.1:{ports['http']}",
                    "GUBER_GRPC_ADDRESS": f"127.0.0.1:{ports['grpc']}",
                    "GUBER_ADVERTISE_ADDRESS": f"127.0.0.1:{ports['grpc']}",
                    "GUBER_PEER_DISCOVERY_TYPE": "member-list", "GUBER_MEMBERLIST_ADDRESS": members,
                    "GUBER_MEMBERLIST_BIND_ADDRESS": members, "GUBER_MEMBERLIST_KNOWN_NODES": members,
                    "GUBER_CACHE_SIZE": str(COUNTERS), "GUBER_LOG_LEVEL": "error", "OTEL_TRACES_EXPORTER": "none"}
        with Peer([self.programs["gubernator"]], ports[protocol], env={**os.environ, **settings}) as served:
            yield served

    @contextlib.contextmanager
    def ratelimit(self, redis):
        with servers.Folder() as folder:
            config = folder / "ratelimit" / "config"
            config.mkdir(parents=True)
            (config / EDGE.name).write_text(EDGE.read_text())
            port = servers.free_port()
            settings = {"USE_STATSD": "false", "REDIS_SOCKET_TYPE": "tcp", "REDIS_URL": f"127.0.0.1:{redis.port}",
                        "RUNTIME_ROOT": str(folder), "RUNTIME_SUBDIRECTORY": "ratelimit", "RUNTIME_WATCH_ROOT": "false",
                        "LOG_LEVEL": "error", "GRPC_HOST": "127.0.0.1", "GRPC_PORT": str(port)}
            for name in ("", "DEBUG_"):
                settings |= {f"{name}HOST": "127.0.0.1", f"{name}PORT": str(servers.free_port())}
            with Peer([self.programs["envoyproxy/ratelimit"]], port, env={**os.environ, **settings}) as served:
                yield served

    @contextlib.contextmanager
    def limitador(self):
        port = servers.free_port()
        limits = [("load", 30, 60), ("burst", 20, 3600), ("second", 10, 1), ("retry", 2, 3)]
        arguments = [str(word) for name, value, seconds in limits
                     for word in (name, value, seconds, "descriptors[0]['user']")]
        with Peer([self.programs["limitador"], str(port), *arguments], port) as served:
            yield served
