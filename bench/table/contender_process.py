"""A contender in its own process, controlled by lines of text (see contender_main.cpp)."""

import dataclasses
import subprocess


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    title: str
    command: tuple[str, ...]


class ContenderProcess:
    def __init__(self, contender, sequence, keys, burst):
        self._name = contender.name
        self._process = subprocess.Popen(
            [*contender.command, sequence, str(keys), str(burst)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    def fill(self):
        """Returns the bytes per key: the maximum while filling, and with all keys present."""
        worst, final = self._ask("fill").split()
        return float(worst), float(final)

    def exhaust(self, stride):
        self._ask(f"exhaust {stride}")

    def run(self, first, count, threads):
        """Returns nanoseconds of wall time and of processor time, and how many were admitted."""
        wall, cpu, admitted = self._ask(f"run {first} {count} {threads}").split()
        return int(wall), int(cpu), int(admitted)

    def grow(self):
        """Returns the nanoseconds of the longest single insert."""
        return int(self._ask("grow"))

    def _ask(self, order):
        try:
            self._process.stdin.write(order + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise SystemExit(f"table: {self._name} gave no answer to: {order}")
        return answer
