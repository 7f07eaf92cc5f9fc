"""The clients of the comparison, on the second core. Each load returns (requests per second, p99 in ms, requests)."""

import json
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
CLIENT_CORE = "1"
UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


def run(*command):
    return subprocess.run(["taskset", "-c", CLIENT_CORE, *map(str, command)], check=True, capture_output=True,
                          text=True).stdout


def redis_benchmark(port, requests, pipeline, command):
    out = run("redis-benchmark", "-p", port, "-c", 50, "-n", requests, "-P", pipeline, "-r", 1_000_000, "--csv",
              "--precision", 3, *command)
    row = [field.strip('"') for field in out.strip().splitlines()[-1].rsplit('","', 7)]
    rate, p99 = float(row[1]), float(row[6])
    return rate, p99, requests


def wrk(port, script, seconds, *arguments):
    out = run("wrk", "-t1", "-c64", f"-d{seconds}s", "--latency", "-s", HERE / script, f"http://127.0.0.1:{port}/",
              *(["--", *arguments] if arguments else []))
    if "Non-2xx" in out and "Non-2xx or 3xx responses: 0" not in out:
        raise SystemExit(f"listeners: {out}")
    requests = int(re.search(r"(\d+) requests in", out)[1])
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s|m)", out).groups()
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), float(number) * UNITS[unit], requests


def h2load(port, requests, path, body, headers):
    """The latencies are those of the last tenth, because recording them costs the client more than sending."""
    with tempfile.NamedTemporaryFile() as data, tempfile.NamedTemporaryFile("r") as log:
        data.write(body)
        data.flush()

        def ask(count, *options):
            out = run("h2load", "-c4", "-m100", "-n", count, "-d", data.name, *options,
                      *[f"-H{name}: {value}" for name, value in headers.items()], f"http://127.0.0.1:{port}{path}")
            if f"{count} succeeded" not in out:
                raise SystemExit(f"listeners: {out}")
            return float(re.search(r"([\d.]+) req/s", out)[1])

        rate = ask(requests * 9 // 10)
        ask(requests // 10, "--log-file", log.name)
        times = sorted(int(line.split("\t")[2]) for line in log)
    return rate, times[len(times) * 99 // 100] / 1000, requests


def load(program, port, seconds, *words):
    """Our own client (bench/load), which is not the bottleneck for any server here."""
    told = json.loads(run(program, port, "--seconds", seconds, *words))
    return told["rate"], told["p99_us"] / 1000, told["requests"]
