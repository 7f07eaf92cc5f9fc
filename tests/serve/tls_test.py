"""TLS at every listener: accepted clients, and certificates that change while the server runs."""

import json
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

import resp_client
import rls_client
import server
from server import PROGRAM, Server, eventually

POLICY = """
version: 1
limits:
  - {name: api, consumer_key: user, algorithm: token_bucket, rate: 1/h, burst: 1000}
"""
LISTENERS = ["http", "rls", "resp", "admin"]


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=server.PATIENCE)


def make_key(folder, name):
    openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{name}.key")


def make_ca(folder, name):
    make_key(folder, name)
    # Without a key usage, Python 3.13 and later reject it.
    openssl(folder, "req", "-x509", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-days", "2",
            "-addext", "keyUsage=critical,keyCertSign", "-out", f"{name}.crt")


def make_certificate(folder, name, ca, common_name=None):
    make_key(folder, name)
    openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN={common_name or name}", "-out", f"{name}.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nauthorityKeyIdentifier=keyid\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", f"{name}.crt")


def config(**client_ca):
    """Returns TLS settings for all listeners; with `client_ca`, client certificates from that CA are required."""
    asked = "".join(f", {field}: {file}" for field, file in client_ca.items())
    return "version: 1\npolicy: policy.yaml\nlisteners:\n" + "".join(
        f'  {listener}: {{listen: "127.0.0.1:0", tls: {{certificate: server.crt, key: server.key{asked}}}}}\n'
        for listener in LISTENERS)


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        folder = pathlib.Path(cls.made.name)
        for ca in "ca", "other-ca":
            make_ca(folder, ca)
        for name, ca in ("server", "ca"), ("renewed", "ca"), ("client", "ca"), ("stranger", "other-ca"):
            make_certificate(folder, name, ca)

    def folder_of_files(self):
        """Creates the certificates and a policy."""
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for file in pathlib.Path(self.made.name).iterdir():
            (self.folder / file.name).write_bytes(file.read_bytes())
        (self.folder / "policy.yaml").write_text(POLICY)
        return self.folder

    def start(self, settings):
        return self.enterContext(Server(POLICY, settings, self.folder_of_files()))

    def connect(self, weir, listener, certificate=None, **versions):
        context = ssl.create_default_context(cafile=self.folder / "ca.crt")
        for name, value in versions.items():
            setattr(context, name, value)
        if listener == "rls":
            context.set_alpn_protocols(["h2"])
        if certificate:
            context.load_cert_chain(self.folder / f"{certificate}.crt", self.folder / f"{certificate}.key")
        plain = socket.create_connection(getattr(weir, listener), timeout=server.PATIENCE)
        try:
            return context.wrap_socket(plain, server_hostname="127.0.0.1")
        except BaseException:
            plain.close()
            raise

    def ask(self, weir, listener, certificate=None, **versions):
        """Sends a request that the listener can answer, and reads the response."""
        connection = self.connect(weir, listener, certificate, **versions)
        if listener == "rls":
            with rls_client.RlsClient(connection) as client:
                return client.ask({"path": "/", "user": "alice"}).admitted
        if listener == "resp":
            with resp_client.RespClient(connection) as client:
                return client.ask("WEIR.CHECK", "api", "alice")[0] == 0
        with connection, connection.makefile("rb") as answer:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return answer.read().startswith(b"HTTP/1.1 200 ")


class Listeners(TlsTest):
    def test_answer_over_tls(self):
        weir = self.start(config())
        for listener in LISTENERS:
            for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
                self.assertTrue(self.ask(weir, listener, minimum_version=version, maximum_version=version), listener)
        self.assertEqual(weir.greeting.count(" (TLS)\n"), 4)
        self.assertIn("try: curl -i https://127.0.0.1:", weir.greeting)

    def test_do_not_answer_without(self):
        weir = self.start(config())
        for listener in LISTENERS:
            with weir.connect(listener) as connection, connection.makefile("rb") as answer:
                connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertNotIn(b"HTTP", answer.read())
            self.assertTrue(self.ask(weir, listener))

    def test_ask_for_a_certificate(self):
        weir = self.start(config(client_ca="ca.crt"))
        for listener in LISTENERS:
            self.assertTrue(self.ask(weir, listener, "client"), listener)
            for nobody in None, "stranger":
                # A failed handshake, or the end of the connection instead of an answer.
                with self.assertRaises(OSError, msg=(listener, nobody)):
                    if not self.ask(weir, listener, nobody):
                        raise ConnectionError
            self.assertTrue(self.ask(weir, listener, "client"), listener)

    def test_may_be_open_to_others_by_certificate(self):
        """With client_ca, a listener needs neither a token nor loopback."""
        for settings, code in (config(client_ca="ca.crt"), 0), (config(), 1):
            (self.folder_of_files() / "weir.yaml").write_text(settings.replace("127.0.0.1:0", "0.0.0.0:0"))
            ran = subprocess.run([PROGRAM, "serve", "--check", "--config", self.folder / "weir.yaml"],
                                 capture_output=True, text=True, timeout=server.PATIENCE)
            self.assertEqual(ran.returncode, code, ran.stderr)


class Renewal(TlsTest):
    def subject(self, weir, listener):
        with self.connect(weir, listener) as connection:
            return connection.getpeercert()["subject"][0][0][1]

    def renew(self, certificate):
        for end in "key", "crt":
            fresh = self.folder / f"server.{end}.new"
            fresh.write_bytes((self.folder / f"{certificate}.{end}").read_bytes())
            fresh.replace(self.folder / f"server.{end}")

    def test_new_connections_see_the_new_certificate(self):
        weir = self.start(config())
        old = self.connect(weir, "resp")
        self.renew("renewed")
        weir.signal(signal.SIGHUP)
        for listener in LISTENERS:
            eventually(lambda: self.subject(weir, listener) == "renewed", "the new certificate")
        with resp_client.RespClient(old) as client:
            self.assertEqual(client.ask("PING"), "PONG")

    def test_a_changed_file_is_enough(self):
        weir = self.start(config())
        self.renew("renewed")
        eventually(lambda: self.subject(weir, "http") == "renewed", "the new certificate")

    def test_a_certificate_without_its_key_changes_nothing(self):
        weir = self.start(config())
        (self.folder / "server.key").write_bytes((self.folder / "renewed.key").read_bytes())
        weir.signal(signal.SIGHUP)
        weir.await_log("reload failed, keeping the current configuration: ")
        self.assertEqual(self.subject(weir, "http"), "server")
        self.assertTrue(self.ask(weir, "rls"))
        eventually(lambda: json.loads(self.status(weir))["last_reload"], "a word of it")
        error = json.loads(self.status(weir))["last_reload"]["error"]
        self.assertIn("server.", error)

    def status(self, weir):
        with self.connect(weir, "admin") as connection, connection.makefile("rb") as answer:
            connection.sendall(b"GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return answer.read().split(b"\r\n\r\n", 1)[1]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
