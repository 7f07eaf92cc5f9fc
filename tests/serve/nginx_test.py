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


class MissingIdentity(proxy.MissingIdentity, Example, unittest.TestCase):
    pass


class OwnDenial(Example, unittest.TestCase):
    instead = ("location / {", "location / { deny 127.0.0.3;")

    def test_what_nginx_denies_by_itself_is_no_answer_of_weir(self):
        status, headers, _ = self.ask(client="127.0.0.3")
        self.assertEqual((status, headers["Content-Type"]), (403, "text/html"))
        self.exhaust()
        self.assertEqual(self.ask()[0], 429)


class RedirectedWithin(Example, unittest.TestCase):
    instead = ("      proxy_pass http://application;",
               "try_files /none @app; } location @app { auth_request off; proxy_pass http://application;")

    def test_a_request_that_falls_back_to_another_location_is_charged_once(self):
        self.exhaust()
        self.assert_denied(self.ask(), "everything")


class ManyLimits(Example, unittest.TestCase):
    def changed(self, policy):
        return policy + "".join(f"""
  - name: {"x" * 60}-{number}
    consumer_key: ip
    algorithm: token_bucket
    rate: 1/day
""" for number in range(40))

    def test_a_problem_that_is_too_long_for_a_field_denies_all_the_same(self):
        self.exhaust(times=1)
        status, headers, body = self.ask()
        self.assertEqual((status, headers["Content-Type"], body), (429, "application/problem+json", "{}"))
        self.assertIsNotNone(headers["Retry-After"])
        self.assertEqual(self.application.asked, 1)


class FailClosed(Example, unittest.TestCase):
    instead = ("  error_page 502 503 504 = @weir_open;", "  #")

    def test_nothing_passes_while_weir_is_away(self):
        self.exhaust(times=1)
        self.assertEqual(self.weir.stop(), 0)
        self.assertEqual(self.ask()[0], 500)
        self.assertEqual(self.application.asked, 1)


class WithoutToken(Example, unittest.TestCase):
    def test_a_listener_that_asks_nginx_for_one_lets_nothing_pass(self):
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
