"""nginx, from examples/nginx."""

import sys
import unittest

import proxy


class Nginx(proxy.Contract, unittest.TestCase):
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
