"""What operators see of a store that nodes share: --check, reloads, the status."""

import json
import signal
import subprocess
import sys
import tempfile
import unittest

from redis_servers import Redis, free_port
from server import LISTENERS, PATIENCE, PROGRAM, Server, eventually

POLICY = """
version: 1
limits:
  - { name: api, consumer_key: user, algorithm: token_bucket, rate: 60/h, burst: 3 }
"""


def on(url):
    return LISTENERS + f"store: {{ redis: {{ urls: \"{url}\" }} }}\n"


class Check(unittest.TestCase):
    def check(self, config, policy=POLICY):
        """Returns (exit code, standard output, standard error)."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in [("weir.yaml", config), ("policy.yaml", policy)]:
                with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                    file.write(text)
            ran = subprocess.run([PROGRAM, "serve", "--config", "weir.yaml", "--check"], cwd=folder, text=True,
                                 capture_output=True, timeout=PATIENCE)
        return ran.returncode, ran.stdout, ran.stderr

    def test_a_server_that_is_there(self):
        with Redis() as redis:
            code, said, wrong = self.check(on(redis.url))
        self.assertEqual((code, wrong), (0, ""))
        self.assertIn("store unavailable: limits are divided by 64 nodes (store.redis.nodes) until nodes are counted\n", said)
        self.assertRegex(said, r"(?m)^store unavailable: \w+: each of 64 nodes admits \d+ of \d+, at 1/64 of the rate")
        self.assertRegex(said, r"(?m)^store: .*, startup timeout 3 s$")
        self.assertRegex(said, r"(?m)^store: Redis \S+, a single server with 0 replicas$")
        self.assertRegex(said, rf"(?m)^store: 127.0.0.1:{redis.port}: round trip \d+ us, .* maxmemory-policy noeviction$")

    def test_one_that_is_not_and_its_password_is_not_told(self):
        port = free_port()
        code, said, wrong = self.check(on(f"redis://weir:hunter2@127.0.0.1:{port}"))
        self.assertEqual(code, 1)
        self.assertIn(f"weir: store.redis: 127.0.0.1:{port}: connection refused", wrong)
        self.assertIn(f"store: redis://weir:*****@127.0.0.1:{port}/0", said)
        self.assertNotIn("hunter2", said + wrong)


class Running(unittest.TestCase):
    def status(self, weir):
        return json.loads(weir.ask("GET", "/v1/status", listener="admin")[2])

    def test_another_store_needs_a_restart(self):
        with Redis() as redis, Server(POLICY, on(redis.url)) as weir:
            weir.config_file.write_text(LISTENERS)
            weir.signal(signal.SIGHUP)
            weir.await_log("restart required to apply changes to: store")
            self.assertEqual(self.status(weir)["store"]["kind"], "redis")

    def test_the_status_follows_the_server(self):
        with Redis() as redis, Server(POLICY, on(redis.url)) as weir:
            eventually(lambda: self.status(weir)["store"]["connected"] == 1, "a connection")
            eventually(lambda: self.status(weir)["store"]["unavailable_since"] is None, "a closed breaker")
            redis.kill()
            eventually(lambda: self.status(weir)["store"]["connected"] == 0, "a lost connection")
            store = self.status(weir)["store"]
            self.assertIn(store["breaker"], {"open", "half_open"})
            self.assertIsNotNone(store["unavailable_since"])
            self.assertTrue(store["last_error"]["error"])
            redis.restart()
            eventually(lambda: self.status(weir)["store"]["breaker"] == "closed", "a closed breaker")

    def test_a_store_of_its_own_is_not_in_the_status(self):
        with Server(POLICY) as weir:
            self.assertNotIn("store", self.status(weir))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
