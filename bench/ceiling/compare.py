"""Compares Weir with a server that answers a constant, with the same event loop and codecs, to measure what deciding
costs.

    compare.py [--quick] WEIR LOAD CONSTANT-SERVER

The server is on one core, the client on the other; the two take turns, and a figure is the median of the rounds.
`cpu` is the server's processor time per request.
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(1, str(HERE.parent / "peers"))
import programs  # noqa: E402, finds the others
import asking  # noqa: E402
import messages  # noqa: E402
from client import Load, by_turns  # noqa: E402, of bench/load

KEY = "user-######"
THROTTLE = ["CL.THROTTLE", KEY, "15", "30", "60"]
DESCRIPTORS = messages.rate_limit_request("edge", ("load", KEY))
QUERY = messages.rate_limit_request("weir", ("path", "/load"), ("user", KEY))


def compare(options, protocol, weir, constant, load):
    ours, theirs = by_turns(options.load, options.quick, (weir, load), (constant, load))
    print(f"ceiling: {protocol} weir {ours.rate:,.0f}/s, constant {theirs.rate:,.0f}/s, "
          f"ratio {ours.rate / theirs.rate:.2f}, cpu {ours.cpu:.2f} / {theirs.cpu:.2f} us, "
          f"p99 {ours.p99:.2f} / {theirs.p99:.2f} ms, client busy {ours.client_busy:.0%} / {theirs.client_busy:.0%}",
          flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    for argument in ("weir", "load", "constant"):
        parser.add_argument(argument)
    options = parser.parse_args()
    with programs.weir(options.weir, "resp") as weir, programs.constant(options.constant, "resp") as constant:
        for pipeline in (1, 16, 64):
            compare(options, f"RESP-P{pipeline}", weir, constant, Load("resp", *THROTTLE, pipeline=pipeline))
        compare(options, "RESP-P64-cached", weir, constant, Load("resp", *THROTTLE, pipeline=64, keys=10_000))
    with programs.constant(options.constant, "grpc") as constant:
        with programs.weir(options.weir, "rls", policy=programs.EDGE) as weir:
            compare(options, "RLS", weir, constant, Load.grpc(asking.RLS, DESCRIPTORS, "rls"))
        with programs.weir(options.weir, "rls") as weir:
            compare(options, "RLS-query", weir, constant, Load.grpc(asking.RLS, QUERY, "rls"))


main()
