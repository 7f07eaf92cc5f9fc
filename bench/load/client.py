"""The client of this folder for Python: loads, and servers that take turns under them."""

import json
import statistics
import subprocess
import tempfile

CLIENT_CORE = "1"


class Load:
    """Describes what the client sends. `options` come before the protocol, `words` after it."""

    def __init__(self, protocol, *words, connections=64, pipeline=1, **options):
        self.protocol, self.words, self.message = protocol, words, b""
        self.options = {"connections": connections, "pipeline": pipeline, **options}

    @classmethod
    def grpc(cls, path, message, evaluate, **options):
        """Four connections with a hundred calls each, about as many as a proxy has per thread."""
        load = cls("grpc", path, connections=4, pipeline=100, evaluate=evaluate, **options)
        load.message = message
        return load

    def run(self, program, port, seconds):
        settings = {**self.options, "seconds": seconds}
        options = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
        with tempfile.NamedTemporaryFile() as message:
            message.write(self.message)
            message.flush()
            words = [*self.words, message.name] if self.message else self.words
            done = subprocess.run(["taskset", "-c", CLIENT_CORE, program, str(port), *options, self.protocol, *words],
                                  capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout)


class Figures:
    """Figures from the rounds of one server. `cpu` is its processor time per request, in microseconds."""

    def __init__(self, rounds):
        median = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
        self.rate, self.p99, self.cpu = median["rate"], median["p99_us"] / 1000, median["cpu"]
        self.client_busy = median["client_busy"]
        self.spread = f"{min(one['rate'] for one in rounds):,.0f}-{max(one['rate'] for one in rounds):,.0f}"


def by_turns(program, quick, *contenders):
    """Each contender is a server and a load. Returns their figures: medians of rounds in which they take turns."""
    rounds, seconds = (1, 0.1) if quick else (5, 2.0)
    results = [[] for _ in contenders]
    for _ in range(rounds):
        for (served, load), told in zip(contenders, results):
            before = served.processor_seconds()
            result = load.run(program, served.port, seconds)
            result["cpu"] = (served.processor_seconds() - before) / result["requests"] * 1e6
            told.append(result)
    return [Figures(told) for told in results]
