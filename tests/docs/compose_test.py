"""compose_test.py PROGRAM: compose.yaml and the Dockerfile are valid and name existing files. Needs no engine."""

import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import yaml

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = sys.argv[1]
TIMEOUT = 60


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def is_open(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                          **options)


class Compose(unittest.TestCase):
    def setUp(self):
        self.services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def mounts(self, service):
        """{path in the container: file of the project}"""
        volumes = (volume.split(":") for volume in self.services[service].get("volumes", []))
        return {inside: ROOT / outside for outside, inside, *_ in volumes if outside.startswith("./")}

    def mounted(self, service, path):
        return self.mounts(service)[path].read_text()

    def test_the_services(self):
        self.assertEqual(set(self.services), {"weir", "redis", "nginx", "application"})
        self.assertEqual(self.services["weir"]["build"], ".")
        self.assertTrue((ROOT / "Dockerfile").exists())

    def test_every_mounted_file_exists(self):
        for service in self.services:
            for file in self.mounts(service).values():
                with self.subTest(service):
                    self.assertTrue(file.is_file(), file)

    def test_ports_are_published_on_loopback_only(self):
        for service, settings in self.services.items():
            for port in settings.get("ports", []):
                with self.subTest(service):
                    self.assertTrue(port.startswith("127.0.0.1:"), port)

    def test_the_policy_has_no_warnings(self):
        linted = run(PROGRAM, "lint", "--strict", self.mounts("weir")["/etc/weir/policy.yaml"])
        self.assertEqual(linted.returncode, 0, linted.stdout)

    def test_nginx_is_the_trusted_proxy(self):
        policy = yaml.safe_load(self.mounted("weir", "/etc/weir/policy.yaml"))
        address = self.services["nginx"]["networks"]["default"]["ipv4_address"]
        self.assertEqual(policy["identity"]["trusted_proxies"], [address])

    def test_the_server_accepts_its_configuration(self):
        port = free_port()
        redis = subprocess.Popen(["redis-server", "--port", str(port), "--save", "", "--dir", self.folder],
                                 stdout=subprocess.DEVNULL)
        self.addCleanup(redis.wait, TIMEOUT)
        self.addCleanup(redis.terminate)
        deadline = time.monotonic() + TIMEOUT
        while not is_open(port) and time.monotonic() < deadline:
            time.sleep(0.02)
        config = self.mounted("weir", "/etc/weir/weir.yaml")
        self.assertIn("redis://redis:6379", config)
        (self.folder / "weir.yaml").write_text(config.replace("redis:6379", f"127.0.0.1:{port}"))
        (self.folder / "policy.yaml").write_text(self.mounted("weir", "/etc/weir/policy.yaml"))
        checked = run(PROGRAM, "serve", "--config", self.folder / "weir.yaml", "--check")
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_nginx_accepts_its_configurations(self):
        for service in ("nginx", "application"):
            with self.subTest(service):
                for inside, file in self.mounts(service).items():
                    text = re.sub(r"server (weir|application):", "server 127.0.0.1:", file.read_text())
                    text = text.replace("http {", "http {\n" + "".join(
                        f"{kind}_temp_path {self.folder}/{kind};\n" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")))
                    if "events" in text:
                        text = f"pid {self.folder}/pid;\n{text}"
                    (self.folder / pathlib.Path(inside).name).write_text(text)
                tested = run("nginx", "-t", "-e", "stderr", "-p", self.folder, "-c", self.folder / "nginx.conf",
                             env={"PATH": "/usr/sbin:/usr/bin:/bin"})
                self.assertEqual(tested.returncode, 0, tested.stdout)

    def test_the_dockerfile_copies_files_that_exist(self):
        copied = re.findall(r"(?m)^COPY (?!--from)(\S+) ", (ROOT / "Dockerfile").read_text())
        self.assertIn("deploy/image/weir.yaml", copied)
        for path in copied:
            self.assertTrue((ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
