"""Runs `weir serve` for the duration of a test, on ports that the system chose.

A test of the server is run as FILE PROGRAM VERSION [unittest's arguments].
"""

import http.client
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM, VERSION = sys.argv[1:3]
ROOT = pathlib.Path(__file__).parents[2]
PATIENCE = 60 if "asan" in PROGRAM or "tsan" in PROGRAM else 30

LISTENERS = """
version: 1
policy: policy.yaml
listeners:
  http: {listen: "127.0.0.1:0"}
  rls: {listen: "127.0.0.1:0"}
  resp: {listen: "127.0.0.1:0"}
  admin: {listen: "127.0.0.1:0"}
"""


def eventually(condition, what):
    """Returns the result of `condition` as soon as it is true; `what` describes what was awaited."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.01)
    return found


class Server:
    """Started on construction, stopped at the end of a `with` block. Its addresses are (host, port) pairs by listener.
    """

    def __init__(self, policy, config=LISTENERS, directory=None, environment=None, arguments=()):
        self._temporary = None if directory else tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(directory or self._temporary.name)
        self.state_dir = self.directory / "state"
        self.policy_file = self.directory / "policy.yaml"
        self.config_file = self.directory / "weir.yaml"
        if policy is not None:
            self.policy_file.write_text(policy)
        if config:
            self.config_file.write_text(config)
        self.log_file = self.directory / "log"
        self._log = open(self.log_file, "ab")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *(["--config", self.config_file] if config else []), *arguments],
            stdout=subprocess.PIPE, stderr=self._log,
            env={**os.environ, "STATE_DIRECTORY": str(self.state_dir), **(environment or {})})
        self.greeting = ""
        self._read_places()

    def _read_places(self):
        for line in iter(self.process.stdout.readline, b""):
            self.greeting += line.decode()
            found = re.match(r"  (\w+) +listening on (\S+)", line.decode())
            if found and not found[2].startswith("unix:"):
                host, port = found[2].rsplit(":", 1)
                setattr(self, found[1], (host.strip("[]"), int(port)))
            is_last_listener = found and found[1] == "admin" and not hasattr(self, "http")
            if line.startswith(b"try:") or is_last_listener:
                return
        code = self.stop()
        raise AssertionError(f"it did not start, and ended with {code}: {self.log}")

    def ask(self, method, path, body=None, headers=None, listener="http"):
        """Sends one request on its own connection. Returns (status, headers, body)."""
        connection = http.client.HTTPConnection(*getattr(self, listener), timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def connect(self, listener):
        return socket.create_connection(getattr(self, listener), timeout=PATIENCE)

    @property
    def log(self):
        return self.log_file.read_text()

    @property
    def resident(self):
        """Returns the bytes of memory in use."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    @property
    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def await_log(self, text):
        """Returns when the log contains the text."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.log:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"never logged {text!r}: {self.log}")
            time.sleep(0.01)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self._close()

    def stop(self):
        """Returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self._close()
        return code

    def _close(self):
        self.process.stdout.close()
        self._log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            code = self.stop()
        finally:
            if self.process.poll() is None:
                self.kill()
        log = self.log
        if self._temporary:
            self._temporary.cleanup()
        if code != 0 and sys.exc_info()[0] is None:
            raise AssertionError(f"it ended with {code}: {log}")
