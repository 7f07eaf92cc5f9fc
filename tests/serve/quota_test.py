"""Envoy's rate_limit_quota filter, from examples/envoy-quota: three Envoys each enforce a part of one limit.

WEIR_ENVOY names the program, if script/setup did not install it.
"""

import http.client
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import proxy
from envoy_test import ENVOY
from server import PATIENCE, ROOT, eventually

RATE, BURST = 60, 120  # from the example's policy
REPORT_EVERY = 5       # seconds: a constant in Envoy 1.38, regardless of its configuration
MEASURED = 3           # seconds over which a rate is measured


class Demand:
    """Sends requests to one Envoy at a fixed rate, over a few connections, and records when they were admitted."""

    CONNECTIONS = 8

    def __init__(self, port, rate):
        self.port, self.rate = port, rate
        self.admitted = []
        self._ended = threading.Event()
        begun = time.monotonic()
        self._threads = [threading.Thread(target=self._run, args=[begun + i / rate], daemon=True)
                         for i in range(self.CONNECTIONS)]
        for thread in self._threads:
            thread.start()

    def _run(self, due):
        connection = None
        while not self._ended.wait(max(0, due - time.monotonic())):
            due = max(due + self.CONNECTIONS / self.rate, time.monotonic() - 0.1)  # missed requests are not made up for
            connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            try:
                connection.request("GET", "/api/")
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.admitted.append(time.monotonic())
            except (OSError, http.client.HTTPException):  # it was killed
                connection.close()
                connection = None
        if connection:
            connection.close()

    def since(self, moment):
        """Returns how many were admitted."""
        return sum(each > moment for each in list(self.admitted))

    def end(self):
        self._ended.set()
        for thread in self._threads:
            thread.join(PATIENCE)


def highest_level(admitted):
    """Returns the maximum level of a bucket that leaks at the rate and receives all admitted requests: in every period
    T, at most this plus T x rate were admitted."""
    level, at, highest = 0.0, 0.0, 0.0
    for moment in sorted(admitted):
        level = max(0.0, level - (moment - at) * RATE) + 1
        at, highest = moment, max(highest, level)
    return highest


class Quotas(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.weir = self.enterContext(proxy.served("envoy-quota", self.directory))
        self.application = self.enterContext(proxy.application())
        self.demands = []
        self.addCleanup(lambda: [demand.end() for demand in self.demands])

    def start_envoy(self, number):
        port = proxy.free_port()
        ports = {8000: port, 8081: self.weir.rls[1], 9000: self.application.server_port}
        config = self.directory / f"envoy{number}.yaml"
        config.write_text(proxy.adapted((ROOT / "examples" / "envoy-quota" / "envoy.yaml").read_text(), ports))
        log = self.directory / f"envoy{number}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [ENVOY, "-c", config, "--use-dynamic-base-id", "--concurrency", "1", "-l", "warning"],
                stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        proxy.await_port(port, process, log)
        return process, port

    def figure(self, name):
        page = self.weir.ask("GET", "/metrics", listener="admin")[2]
        return int(re.search(rf"^{name} (\d+)$", page, re.MULTILINE)[1])

    def rates(self):
        """Returns the rate that each Envoy admits over the next seconds."""
        begun = time.monotonic()
        eventually(lambda: time.monotonic() >= begun + MEASURED, "the time to measure")
        return [demand.since(begun) / MEASURED for demand in self.demands]

    def await_rates(self, expected, within, what):
        """Returns when each Envoy admits what is expected; fails if that has not begun after `within` seconds."""
        begun = time.monotonic()
        rates = self.rates()
        while not all(low <= rate <= high for rate, (low, high) in zip(rates, expected)):
            self.assertLess(time.monotonic() - begun, within + MEASURED, f"{what}: {rates}")
            rates = self.rates()

    def test_three_envoys_share_a_limit_by_demand(self):
        envoys = [self.start_envoy(number) for number in range(3)]
        begun = time.monotonic()
        self.demands = [Demand(port, rate) for (_, port), rate in zip(envoys, [5, 15, 90])]
        eventually(lambda: self.figure("weir_quota_streams") == 3, "three streams")
        self.await_rates([(3, 7), (11, 18), (25, 45)], 3 * REPORT_EVERY, "small demands are met")

        self.demands[0].rate, self.demands[2].rate = 90, 5
        self.await_rates([(25, 45), (11, 18), (3, 7)], 3 * REPORT_EVERY, "shares follow the demand")

        envoys[0][0].kill()
        eventually(lambda: self.figure("weir_quota_streams") == 2, "the end of its stream")
        self.demands[1].rate = 90
        self.await_rates([(0, 0), (40, 62), (3, 7)], 3 * REPORT_EVERY, "its part goes to the others")

        admitted = [each for demand in self.demands for each in list(demand.admitted)]
        self.assertGreater(len(admitted), 100)
        self.assertLessEqual(highest_level(admitted), BURST)
        self.assertLess(time.monotonic() - begun, 3 * (3 * REPORT_EVERY + 2 * MEASURED))
        self.assertEqual(self.figure("weir_quota_buckets"), 2)
        self.assertEqual(self.figure("weir_quota_rejected_total"), 0)

    def test_nothing_passes_while_weir_is_away(self):
        _, port = self.start_envoy(0)
        self.demands = [Demand(port, 20)]
        eventually(lambda: self.demands[0].admitted, "a part of the limit")
        self.assertEqual(self.weir.stop(), 0)
        stopped = time.monotonic()
        eventually(lambda: time.monotonic() > stopped + 5 and not self.demands[0].since(time.monotonic() - 1),
                   "the end of the assignment")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
