"""HAProxy, from examples/haproxy."""

import sys
import unittest

import proxy


class HAProxy(proxy.Contract, proxy.Example, unittest.TestCase):
    example = "haproxy"
    command = ["haproxy", "-f", "haproxy.cfg"]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
