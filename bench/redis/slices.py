#!/usr/bin/env python3
"""Measures what the slices of one key cost the script: the server's time for one EVALSHA, by the number of holders.

    bench/redis/slices.py [CALLS]

Starts its own redis-server. A decision requests one unit; a message reports what a holder keeps, decides and grants,
like a node's renewal. The time is measured by Redis (INFO commandstats). The round trip is over a unix socket and
includes the reply: the value as it was and, for a message, the slice of its holder.
"""

import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "build/release/src/store/redis/decide.lua"
HOLDERS = 0, 1, 50, 200, 1000
BATCH = 16  # keys in one call
ROUNDS = 10  # of which the quickest counts: the machine may have other work
KEY = "weir:{bench}"
LIMIT, TOKEN = 1_000_000, 1_000  # units, and microseconds for one
WINDOW = 3_600_000_000
BUCKET, FIXED, COUNTER = 1, 3, 4
DECIDE_ONE, DECIDE, REPORT, GRANT = 1, 3, 9, 10


class Redis:
    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 10
        while self._socket.connect_ex(path) != 0:
            if time.monotonic() > deadline:
                sys.exit("slices.py: redis-server does not listen; is it installed?")
            time.sleep(0.01)
        self._file = self._socket.makefile("rb")

    def ask(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self._socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        return self._read()

    def _read(self):
        line = self._file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            sys.exit("slices.py: " + rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self._file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self._read() for _ in range(int(rest))]
        return rest


def packed(numbers):
    """Encodes an array as MessagePack, each number in eight bytes."""
    return b"\xdd" + struct.pack(">I", len(numbers)) + b"".join(b"\xd3" + struct.pack(">q", one) for one in numbers)


def term(algorithm):
    if algorithm != BUCKET:
        return [algorithm, 1, LIMIT, WINDOW]
    fill = LIMIT * TOKEN
    return [BUCKET, 1, 1, fill, 0, fill, 0, TOKEN, 0, TOKEN, 0, LIMIT, LIMIT]


def argument(algorithm, number=None):
    """Encodes one decision, with a message about the first holder's slice if that has a number."""
    is_bucket = algorithm == BUCKET
    head = 5 if is_bucket else 6
    numbers = [int(is_bucket), 1, 0, 1 if number is None else 2, 1] + ([] if is_bucket else [head + 1]) + term(algorithm)
    numbers[2] = len(numbers) + 1
    about = [1, head + 1]
    decision = [DECIDE_ONE, *about] if is_bucket else [DECIDE, 1, 1, *about]
    if number is None:
        return packed(numbers + decision)
    report = [REPORT, *about, 1, 0, number, 0, 4, 0, 0, 0]
    grant = [GRANT, *about, 1, 0, number, 0, 0, 3_600_000_000, 0]
    return packed(numbers + report + decision + grant)


def set_state(redis, algorithm, holders, key=KEY):
    """Writes a state and its slices, none of which expires while the benchmark runs."""
    now = time.time_ns() // 1000
    expires = now + 3_600_000_000
    window = 0 if algorithm == BUCKET else now // WINDOW
    state = str(now if algorithm == BUCKET else (1 << 20) + window % (1 << 20)).encode()
    totals = struct.pack("<HQQQQQ", holders, 4 * holders, 0, expires, expires, window if algorithm == FIXED else 0)
    redis.ask("SET", key, state + (b"!" + totals if holders else b""))
    redis.ask("DEL", key + ":s")
    for holder in range(1, holders + 1):
        redis.ask("HSET", key + ":s", struct.pack("<Q", holder), struct.pack("<QQIIQQ", holder, 0, 4, 0, expires, 0))


def measure(redis, digest, algorithm, holders, calls, with_message):
    """Returns the microseconds per call, on the server and in total."""
    set_state(redis, algorithm, holders)
    redis.ask("CONFIG", "RESETSTAT")
    begun = time.perf_counter()
    for number in range(1, calls + 1):
        redis.ask("EVALSHA", digest, 1, KEY, argument(algorithm, number if with_message else None))
    took = time.perf_counter() - begun
    return evalsha_time(redis), took / calls * 1e6


def evalsha_time(redis):
    for line in redis.ask("INFO", "commandstats").decode().splitlines():
        if line.startswith("cmdstat_evalsha:"):
            return float(line.split("usec_per_call=")[1].split(",")[0])
    return sys.exit("slices.py: redis-server counts no EVALSHA")


def batch_argument(keys, number, with_message):
    """Encodes a decision on each of several buckets, each with a message about the first holder's slice."""
    numbers = [keys, keys, 0, 2 if with_message else 0, keys] + term(BUCKET)
    numbers[2] = len(numbers) + 1
    for key in range(1, keys + 1):
        about = [key, 6]
        report = [REPORT, *about, 1, 0, number, 0, 4, 0, 0, 0]
        grant = [GRANT, *about, 1, 0, number, 0, 0, 3_600_000_000, 0]
        numbers += report + [DECIDE_ONE, *about] + grant if with_message else [DECIDE_ONE, *about]
    return packed(numbers)


def measure_batch(redis, digest, holders, calls, with_message):
    """Returns the microseconds on the server per key, with BATCH keys in one call."""
    keys = [f"{KEY}{number}" for number in range(BATCH)]
    for key in keys:
        set_state(redis, BUCKET, holders, key)
    redis.ask("CONFIG", "RESETSTAT")
    for number in range(1, calls + 1):
        redis.ask("EVALSHA", digest, BATCH, *keys, batch_argument(BATCH, number, with_message))
    return evalsha_time(redis) / BATCH


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/redis.sock"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder],
                                  stdout=subprocess.DEVNULL)
        try:
            redis = Redis(path)
            digest = redis.ask("SCRIPT", "LOAD", SCRIPT.read_bytes())
            print("holders | bucket: decision, message | fixed window: the same | sliding counter: the same   "
                  "(us on the server / round trip)")
            for holders in HOLDERS:
                row = []
                for algorithm in BUCKET, FIXED, COUNTER:
                    for with_message in False, True:
                        rounds = [measure(redis, digest, algorithm, holders, calls // ROUNDS, with_message)
                                  for _ in range(ROUNDS)]
                        row.append("%.0f / %.0f" % tuple(map(min, zip(*rounds))))
                print(f"{holders:>7} | " + " | ".join(row), flush=True)
            for holders in HOLDERS:
                decision, message = (min(measure_batch(redis, digest, holders, calls // ROUNDS // BATCH + 1, with_message)
                                         for _ in range(ROUNDS)) for with_message in (False, True))
                print(f"{holders:>7} | buckets, {BATCH} in a call: decision {decision:.1f}, message {message:.1f} us each")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
