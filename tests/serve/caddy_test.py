"""Caddy, from examples/caddy."""

import sys
import unittest

import proxy


class Example(proxy.Example):
    example = "caddy"
    command = ["caddy", "run"]


class Caddy(proxy.Contract, Example, unittest.TestCase):
    pass


class MissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
