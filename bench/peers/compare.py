"""Compares Weir with its peers, on the protocols that both support, with the same client.

    compare.py [--quick] WEIR LOAD CONSTANT-SERVER PEERS [NAME...]

PEERS is a folder as build.sh makes it. The server is on one core (with its Redis, where it has one), the client on the
other; the two servers of a line take turns, and a figure is the median of the rounds. `cpu` is the processor time of
the server, and of its Redis, per request.
"""

import argparse
import json

import programs  # finds the others
import asking
import messages
import sequences
from client import Load, by_turns  # of bench/load

ENOUGH = 3  # peers, for a run to say something
KEY = "user-######"
BODY = json.dumps
WEIR_RESP = {many: Load("resp", "CL.THROTTLE", KEY, "15", "30", "60", pipeline=many) for many in (1, 64)}
CRAB_RESP = {many: Load("resp", "THROTTLE", KEY, "16", "30", "60", pipeline=many, admitted=1) for many in (1, 64)}
WEIR_HTTP = Load("http", "/v1/check", BODY({"path": "/load", "user": KEY}), admitted='"limit":"load"')
CRAB_HTTP = Load("http", "/throttle", BODY({"key": KEY, "max_burst": 16, "count_per_period": 30, "period": 60}),
                 admitted='"allowed":true', denied='"allowed":false')
GUBERNATOR_HTTP = Load("http", "/v1/GetRateLimits",
                       BODY({"requests": [{"name": "load", "unique_key": KEY, "hits": 1, "limit": 30, "duration": 60000}]}),
                       admitted='"30"', denied="OVER_LIMIT")
WEIR_GRPC = Load.grpc(asking.RLS, messages.rate_limit_request("weir", ("path", "/load"), ("user", KEY)), "rls")
CRAB_GRPC = Load.grpc(asking.THROTTLECRAB, messages.throttlecrab_request(KEY, 16, 30, 60), "throttlecrab")
GUBERNATOR_GRPC = Load.grpc(asking.GUBERNATOR, messages.gubernator_request("load", KEY, 30, 60_000), "gubernator")
EDGE = Load.grpc(asking.RLS, messages.rate_limit_request("edge", ("load", KEY)), "rls")
LIMITADOR = Load.grpc(asking.RLS, messages.rate_limit_request("load", ("user", KEY)), "rls")


class Comparison:
    def __init__(self, options):
        self.options = options
        self.peers = programs.Peers(options.peers)
        self.lines = []

    def compare(self, name, protocol, weir, weir_load, peer, peer_load):
        """Stores one line to be printed at the end, and prints all figures now."""
        ours, theirs = by_turns(self.options.load, self.options.quick, (weir, weir_load), (peer, peer_load))
        print(f"{name} {protocol}: p99 {ours.p99:.2f} / {theirs.p99:.2f} ms, rounds {ours.spread} / {theirs.spread}/s, "
              f"client busy {ours.client_busy:.0%} / {theirs.client_busy:.0%}", flush=True)
        self.lines.append(f"peers: {name} {protocol} weir {ours.rate:,.0f}/s, peer {theirs.rate:,.0f}/s, ratio "
                          f"{ours.rate / theirs.rate:.2f}x, cpu {ours.cpu:.2f} / {theirs.cpu:.2f} us")

    def admits(self, name, protocol, make, without=()):
        if not self.options.quick:
            print(f"{name} {protocol} admits: {sequences.run(make, without)}", flush=True)

    def weir(self, listener, **settings):
        return programs.weir(self.options.weir, listener, **settings)

    def throttlecrab(self):
        with self.weir("resp") as weir, self.peers.throttlecrab("resp") as peer:
            for pipeline in (1, 64):
                self.compare("throttlecrab", f"RESP-P{pipeline}", weir, WEIR_RESP[pipeline], peer, CRAB_RESP[pipeline])
            self.admits("throttlecrab", "RESP", lambda: asking.Resp(peer.port, "THROTTLE"))
        with self.weir("http") as weir, self.peers.throttlecrab("http") as peer:
            self.compare("throttlecrab", "HTTP", weir, WEIR_HTTP, peer, CRAB_HTTP)
            self.admits("throttlecrab", "HTTP", lambda: asking.ThrottlecrabHttp(peer.port))
        with self.weir("rls") as weir, self.peers.throttlecrab("grpc") as peer:
            self.compare("throttlecrab", "gRPC", weir, WEIR_GRPC, peer, CRAB_GRPC)
            self.admits("throttlecrab", "gRPC", lambda: asking.Throttlecrab(peer.port))

    def redis_cell(self):
        with self.weir("resp") as weir, self.peers.redis_cell() as peer:
            for pipeline in (1, 64):
                self.compare("redis-cell", f"RESP-P{pipeline}", weir, WEIR_RESP[pipeline], peer, WEIR_RESP[pipeline])
            self.admits("redis-cell", "RESP", lambda: asking.Resp(peer.port))

    def gubernator(self):
        with self.weir("http") as weir, self.peers.gubernator("http") as peer:
            self.compare("gubernator", "HTTP", weir, WEIR_HTTP, peer, GUBERNATOR_HTTP)
            self.admits("gubernator", "HTTP", lambda: asking.GubernatorHttp(peer.port))
        with self.weir("rls") as weir, self.peers.gubernator("grpc") as peer:
            self.compare("gubernator", "gRPC", weir, WEIR_GRPC, peer, GUBERNATOR_GRPC)
            self.admits("gubernator", "gRPC", lambda: asking.Gubernator(peer.port))

    def ratelimit(self):
        with programs.redis() as redis:
            with self.weir("rls", policy=programs.EDGE, redis=redis) as weir, self.peers.ratelimit(redis) as peer:
                self.compare("envoyproxy/ratelimit", "RLS-redis", programs.WithRedis(weir, redis), EDGE,
                             programs.WithRedis(peer, redis), EDGE)
                self.admits("envoyproxy/ratelimit", "RLS", lambda: asking.RateLimitService(peer.port), ["retry"])

    def limitador(self):
        with self.weir("rls", policy=programs.EDGE) as weir, self.peers.limitador() as peer:
            self.compare("limitador", "RLS", weir, EDGE, peer, LIMITADOR)
            self.admits("limitador", "RLS", lambda: asking.Limitador(peer.port))

    def constant(self):
        """Used if there is no peer at all."""
        with self.weir("resp") as weir, programs.constant(self.options.constant, "resp") as peer:
            self.compare("constant", "RESP-P64", weir, WEIR_RESP[64], peer, WEIR_RESP[64])

    def weir_admits(self):
        with self.weir("resp") as served:
            self.admits("weir", "RESP", lambda: asking.Resp(served.port))
        with self.weir("http") as served:
            self.admits("weir", "HTTP", lambda: asking.WeirHttp(served.port))
        with self.weir("rls") as served:
            self.admits("weir", "RLS", lambda: asking.WeirByQuery(served.port))

    def run(self):
        contests = {"throttlecrab": self.throttlecrab, "redis-cell": self.redis_cell, "gubernator": self.gubernator,
                    "envoyproxy/ratelimit": self.ratelimit, "limitador": self.limitador}
        ran = 0
        for name, contest in contests.items():
            if self.options.names and name not in self.options.names:
                continue
            if not self.peers.has(name):
                print(f"peers: {name} is left out: it is not in {self.options.peers}")
                continue
            try:
                contest()
                ran += 1
            except (SystemExit, OSError) as problem:
                print(f"peers: {name} is left out: {problem}")
        if ran == 0:
            self.constant()
        if not self.options.quick:
            self.weir_admits()
        print(*self.lines, sep="\n")
        if ran < ENOUGH and not self.options.quick and not self.options.names:
            raise SystemExit(f"peers: only {ran} ran; script/bench peers builds them with cargo and go")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    for argument in ("weir", "load", "constant", "peers"):
        parser.add_argument(argument)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    Comparison(options).run()


main()
