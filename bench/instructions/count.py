"""Counts the instructions per request with callgrind: those of the program and its libraries, not the kernel's.

    count.py [--quick] WEIR [BATCH [EVALUATE]]

WEIR serves on loopback. For each kind of request, a number of requests is sent, and then twice as many: the difference
contains only the cost of the requests. Nothing else can differ: time stands still, the hash key is always the same, and
no request is sent until the server is idle again. BATCH does the same in one process, without a protocol; so does
EVALUATE, through the public API and through the evaluator beneath it. docs/benchmarks.md describes the kinds.
"""

import argparse
import pathlib
import socket
import tempfile

import clients
import watched

HERE = pathlib.Path(__file__).parent
POLICIES = HERE.parent / "listeners"

# name, listener, client, requests in one write
BY_POLICY = [
    ("auth", "http", clients.Auth, 1),
    ("auth, 64 at once", "http", clients.Auth, 64),
    ("check", "http", clients.Check, 1),
    ("rls by query", "rls", clients.ByQuery, 1),
    ("rls by query, 64 at once", "rls", clients.ByQuery, 64),
    ("CL.THROTTLE", "resp", clients.Throttle, 1),
    ("CL.THROTTLE, 64 at once", "resp", clients.Throttle, 64),
]
BY_DESCRIPTORS = [
    ("rls by descriptors", "rls", clients.ByDescriptors, 1),
    ("rls by descriptors, 64 at once", "rls", clients.ByDescriptors, 64),
]


def report(name, twice, once, requests):
    print(f"{name:32}{(twice - once) / requests:10,.1f}", flush=True)


def ask(server, client, at_once, users, rounds):
    for _ in range(rounds):
        for first in range(0, users, at_once):
            server.rest()
            client.ask(range(first, first + at_once))


def count(name, server, client, at_once, users, rounds):
    ask(server, client, at_once, users, 2)  # all users are known, and all buffers have their size
    server.instructions()
    ask(server, client, at_once, users, rounds)
    once = server.instructions()
    ask(server, client, at_once, users, 2 * rounds)
    report(name, server.instructions(), once, rounds * users)


def free_ports(names):
    probes = {name: socket.create_server(("127.0.0.1", 0)) for name in names}
    ports = {name: probe.getsockname()[1] for name, probe in probes.items()}
    for probe in probes.values():
        probe.close()
    return ports


def count_kinds(program, policy, kinds, users, rounds, library):
    with tempfile.TemporaryDirectory(prefix="weir-instructions-") as name:
        folder = pathlib.Path(name)
        config = folder / "weir.yaml"
        config.write_text(f"version: 1\npolicy: {POLICIES / policy}\nloops: 1\nlog: {{denials: off}}\n"
                          f"state: {{directory: {folder / 'state'}}}\n")
        ports = free_ports(("http", "rls", "resp"))
        listeners = [word for name, port in ports.items() for word in (f"--{name}", f"127.0.0.1:{port}")]
        with watched.Server([program, "serve", "--config", config, *listeners, "--admin", "off"], ports.values(),
                            folder, library) as server:
            for name, listener, client, at_once in kinds:
                count(name, server, client(ports[listener]), at_once, users, rounds)


def count_process(name, command, requests, library):
    """Counts a program that ends by itself. The command is the program, how much it does at once, and its other
    arguments."""
    program, unit, *words = command
    with tempfile.TemporaryDirectory(prefix="weir-instructions-") as folder:
        once, twice = (watched.run([program, POLICIES / "policy.yaml", str(units), *words], pathlib.Path(folder), library)
                       for units in (unit, 2 * unit))
    report(name, twice, once, requests)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("weir")
    parser.add_argument("batch", nargs="?")
    parser.add_argument("evaluate", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    users, rounds = (64, 1) if options.quick else (256, 4)
    print("instructions per request\n")
    with tempfile.TemporaryDirectory(prefix="weir-instructions-") as folder:
        library = watched.build_library(pathlib.Path(folder))
        count_kinds(options.weir, "policy.yaml", BY_POLICY, users, rounds, library)
        count_kinds(options.weir, "ratelimit.yaml", BY_DESCRIPTORS, users, rounds, library)
        if options.batch:
            count_process("batch of 64 in memory", [options.batch, rounds * 4], rounds * 4 * 64, library)
        if options.evaluate and options.evaluate.exists():  # not so in an older build
            for name, way in (("query by the evaluator", "evaluator"), ("query by weir/engine.h", "engine")):
                count_process(name, [options.evaluate, rounds * 256, way], rounds * 256, library)


main()
