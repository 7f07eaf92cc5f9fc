"""Caddy, from examples/caddy."""

import sys
import unittest

import proxy


class Caddy(proxy.Contract, proxy.Example, unittest.TestCase):
    example = "caddy"
    command = ["caddy", "run"]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
