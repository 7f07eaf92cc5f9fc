"""HAProxy, from examples/haproxy."""

import sys
import time
import unittest

import proxy


class Example(proxy.Example):
    example = "haproxy"
    command = ["haproxy", "-f", "haproxy.cfg"]


class HAProxy(proxy.Contract, Example, unittest.TestCase):
    def test_once_weir_is_away_one_request_waits_and_no_other_on_any_thread(self):
        self.exhaust(times=1)
        self.assertEqual(self.weir.stop(), 0)
        waits = []
        for _ in range(12):  # connections are distributed over the threads in turn
            began = time.monotonic()
            self.assertEqual(self.ask()[0], 200)
            waits.append(time.monotonic() - began)
        self.assertLess(len([wait for wait in waits if wait > 1.5]), 2, waits)


class MissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
