"""embedded_test.py SERVER POLICY: sends requests to examples/embedded until it denies, and across reloads."""

import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest


class Embedded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.policy = pathlib.Path(folder.name) / "policy.yaml"
        self.policy.write_text(pathlib.Path(POLICY).read_text())
        self.server = subprocess.Popen([SERVER, "0", self.policy], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.port = int(re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", self.server.stdout.readline())[1])

    def stop(self):
        self.server.terminate()
        self.assertEqual(self.server.wait(timeout=20), 0)
        self.server.stdout.close()

    def get(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def reload(self, text):
        self.policy.write_text(text)
        self.server.send_signal(signal.SIGHUP)
        return self.server.stdout.readline()

    def test_requests_pass_until_the_limit_and_over_reloads(self):
        for left in (2, 1, 0):
            status, fields, body = self.get("/search?q=x", **{"X-Forwarded-For": f"203.0.113.{left}"})
            self.assertEqual((status, body), (200, "hello\n"))
            self.assertEqual(fields["RateLimit-Policy"], '"search";q=3;w=60')
            self.assertRegex(fields["RateLimit"], f'^"search";r={left};t=\\d+$')
            self.assertEqual(fields["X-RateLimit-Remaining"], str(left))
        status, fields, body = self.get("//search")
        self.assertEqual(status, 429)
        self.assertGreater(int(fields["Retry-After"]), 0)
        self.assertEqual(fields["Content-Type"], "application/problem+json")
        self.assertEqual(json.loads(body)["violated-policies"], ["search"])
        self.assertEqual(self.get("/other")[0], 200)

        # The new numbers apply to existing usage: three of five were used.
        policy = self.policy.read_text()
        self.assertEqual(self.reload(policy.replace("3/min", "5/min")), "reloaded\n")
        self.assertEqual([self.get("/search")[0] for _ in range(3)], [200, 200, 429])

        # The error is reported with its position, and the active policy stays.
        said = self.reload(policy.replace("3/min", "many"))
        self.assertRegex(said, re.escape(str(self.policy)) + r":\d+:\d+: ")
        self.assertEqual(self.get("/search")[0], 429)
        self.assertEqual(self.get("/other")[0], 200)


SERVER, POLICY = sys.argv[1:3]
unittest.main(argv=sys.argv[:1])
