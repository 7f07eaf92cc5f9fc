"""Compares every listener with what people would use instead, all in one run.

    compare.py [--quick] WEIR RLS-BASELINE LOAD [NAME...]

The server is on one core, the client on the other; the two servers of a line take turns, and a figure is the median
of the rounds. `cpu` is the server's processor time per request.
"""

import argparse
import statistics
import struct
import subprocess
import tempfile

import loads
import servers

ROUNDS = 3
SECONDS = 6  # of a load that goes on for a time
SHARE = 1.0  # of the requests that a load has otherwise


def be_quick():
    global ROUNDS, SECONDS, SHARE
    ROUNDS, SECONDS, SHARE = 1, 1, 0.01


def measure(served, load):
    before = served.processor_seconds()
    rate, p99, requests = load(served.port)
    return rate, p99, (served.processor_seconds() - before) / requests * 1e6


def compare(name, weir, weir_load, peer, peer_load, peer_name="peer"):
    """Prints one line."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(measure(weir, weir_load))
        theirs.append(measure(peer, peer_load))
    (rate, p99, cpu), (peer_rate, peer_p99, peer_cpu) = (
        [statistics.median(column) for column in zip(*rows)] for rows in (ours, theirs))
    print(f"{name}: weir {rate:,.0f}/s, {peer_name} {peer_rate:,.0f}/s, ratio {rate / peer_rate:.2f}x, "
          f"p99 {p99:.2f} ms / {peer_p99:.2f} ms, cpu {cpu:.2f} us / {peer_cpu:.2f} us", flush=True)


def resp(name, program, ask, peer_ask):
    """`ask(port, command)` sends requests to a server with the command, to which it adds a key and the numbers."""
    with servers.Folder() as folder, servers.weir(program, folder, "resp") as weir, servers.redis(folder) as redis:
        script = (servers.HERE / "gcra.lua").read_text()
        digest = subprocess.run(["redis-cli", "-p", str(redis.port), "SCRIPT", "LOAD", script], check=True,
                                capture_output=True, text=True).stdout.strip()
        compare(name, weir, lambda port: ask(port, ["CL.THROTTLE"]),
                redis, lambda port: peer_ask(port, ["EVALSHA", digest, "1"]), "redis EVALSHA")


def redis_benchmark(pipeline, requests):
    return lambda port, command: loads.redis_benchmark(port, int(requests * SHARE), pipeline,
                                                       [*command, "user:__rand_int__", "15", "30", "60"])


def resp_p1(options):
    resp("resp-p1", options.weir, redis_benchmark(1, 300_000), redis_benchmark(1, 300_000))


def resp_p64(options):
    resp("resp-p64", options.weir, redis_benchmark(64, 6_000_000), redis_benchmark(64, 600_000))


def resp_p64_load(options):
    def ask(port, command):
        return loads.load(options.load, port, SECONDS * SHARE, "--connections", 50, "--pipeline", 64, "resp", *command,
                          "user:######", "15", "30", "60")

    resp("resp-p64-load", options.weir, ask, ask)


def message(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload


def rate_limit_request(domain, *descriptors):
    """Returns what Envoy would send for one request, framed for gRPC."""
    request = message(1, domain) + b"".join(
        message(2, b"".join(message(1, message(1, key) + message(2, value)) for key, value in entries))
        for entries in descriptors)
    return b"\0" + struct.pack(">I", len(request)) + request


BY_DESCRIPTORS = rate_limit_request(b"edge", [(b"remote_address", b"203.0.113.7")],
                                    [(b"path", b"/api/v1/items/42"), (b"user", b"user-4711")])
BY_QUERY = rate_limit_request(b"weir", [(b"method", b"GET"), (b"path", b"/api/v1/items/42"), (b"user", b"user-4711"),
                                        (b"ip", b"203.0.113.7")])


RLS = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"


def rls_with(name, options, policy, ask, peer_ask):
    port = servers.free_port()
    with servers.Folder() as folder, servers.weir(options.weir, folder, "rls", policy) as weir, \
            servers.Served([options.baseline, str(port)], port) as peer:
        compare(name, weir, ask, peer, peer_ask, "grpc++")


def h2load(requests, request):
    headers = {"content-type": "application/grpc", "te": "trailers"}
    return lambda port: loads.h2load(port, int(requests * SHARE), RLS, request, headers)


def rls(options):
    rls_with("rls", options, "ratelimit.yaml", h2load(1_000_000, BY_DESCRIPTORS), h2load(200_000, BY_DESCRIPTORS))


def rls_query(options):
    rls_with("rls-query", options, "policy.yaml", h2load(1_000_000, BY_QUERY), h2load(200_000, BY_QUERY))


def rls_load(options):
    with tempfile.NamedTemporaryFile() as message:
        message.write(BY_DESCRIPTORS[5:])  # without its frame
        message.flush()

        def ask(port):
            return loads.load(options.load, port, SECONDS * SHARE, "--connections", 4, "--pipeline", 100, "grpc", RLS,
                              message.name)

        rls_with("rls-load", options, "ratelimit.yaml", ask, ask)


def auth(options):
    with servers.Folder() as folder, servers.Folder() as other, servers.weir(options.weir, folder, "http") as weir:
        load = lambda port: loads.wrk(port, "auth.lua", SECONDS)  # noqa: E731
        with servers.nginx(other, "location / { return 204; }") as nginx:
            compare("auth", weir, load, nginx, load, "nginx return 204")
        with servers.nginx(other, "location / { limit_req zone=users burst=1000000 nodelay; root /; try_files /none =204; }",
                           "limit_req_zone $http_x_user_id zone=users:64m rate=1000000r/s;") as nginx:
            compare("auth", weir, load, nginx, load, "nginx limit_req")


def check(options):
    with servers.Folder() as folder, servers.Folder() as other, servers.weir(options.weir, folder, "http") as weir, \
            servers.nginx(other, 'location / { return 200 "ok"; }') as nginx:
        load = lambda port: loads.wrk(port, "check.lua", SECONDS)  # noqa: E731
        compare("check", weir, load, nginx, load, "nginx return 200")


def reserve_settle(options):
    """Compares reserve and settle, half of the requests each, with plain checks on the same server, in turns."""
    with servers.Folder() as folder, servers.weir(options.weir, folder, "http") as weir:
        compare("reserve+settle", weir, lambda port: loads.wrk(port, "budget.lua", SECONDS, "reserve"),
                weir, lambda port: loads.wrk(port, "budget.lua", SECONDS, "check"), "two checks")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("weir")
    parser.add_argument("baseline")
    parser.add_argument("load")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.quick:
        be_quick()
    for comparison in (resp_p1, resp_p64, resp_p64_load, rls, rls_query, rls_load, auth, check, reserve_settle):
        if not options.names or comparison.__name__.replace("_", "-") in options.names:
            comparison(options)


main()
