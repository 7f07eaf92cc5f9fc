"""nginx, from examples/nginx."""

import pathlib
import signal
import sys
import unittest

import proxy
from server import eventually


class Example(proxy.Example):
    example = "nginx"
    command = ["nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"]


class Nginx(proxy.Contract, Example, unittest.TestCase):
    pass


class FailClosed(Example, unittest.TestCase):
    without = "= @open;"

    def test_nothing_passes_while_weir_is_away(self):
        self.exhaust(times=1)
        self.assertEqual(self.weir.stop(), 0)
        self.assertEqual(self.ask()[0], 500)
        self.assertEqual(self.application.asked, 1)


class WithoutToken(Example, unittest.TestCase):
    def test_a_door_that_asks_nginx_for_one_lets_nothing_pass(self):
        self.exhaust(times=1)
        token = pathlib.Path(self.weir.directory) / "token"
        token.write_text("0123456789abcdef")
        token.chmod(0o600)
        config = self.weir.config_file.read_text()
        self.weir.config_file.write_text(config.replace("auth_headers:", "token_file: token\n    auth_headers:"))
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: self.ask()[0] == 500, "a refusal")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
