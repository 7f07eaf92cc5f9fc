"""Runs clients/conformance.json in every language: the clients through drivers, the middlewares in real frameworks.

conformance_test.py PROGRAM VERSION [unittest's arguments]
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path.append(str(FOLDER.parent / "serve"))
from scripted_servers import ScriptedServers  # noqa: E402
from server import LISTENERS, PATIENCE, ROOT, Server, eventually  # noqa: E402
from toolchains import GO_PROGRAM, node, node_environment  # noqa: E402

CASES = json.loads((ROOT / "clients/conformance.json").read_text())
POLICY = "\n".join(CASES["policy"]) + "\n"


def mismatch(expected, found, where="result"):
    """Returns what is not as expected, or None."""
    if isinstance(expected, dict) and "matches" in expected:
        return None if re.fullmatch(expected["matches"], str(found)) else f"{where}: {found!r} is not {expected}"
    if isinstance(expected, dict) and "from" in expected:
        is_between = isinstance(found, (int, float)) and expected["from"] <= found <= expected["to"]
        return None if is_between else f"{where}: {found!r} is not {expected}"
    if isinstance(expected, dict) and isinstance(found, dict):
        wrong = (mismatch(value, found.get(name), f"{where}.{name}") for name, value in expected.items())
        return next(filter(None, wrong), None)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        wrong = (mismatch(one, other, f"{where}[{i}]") for i, (one, other) in enumerate(zip(expected, found)))
        return next(filter(None, wrong), None)
    return None if expected == found else f"{where}: {found!r} is not {expected!r}"


def with_cases(cases):
    """Adds a test for each case to a class."""
    def add(to_class):
        for case in cases:
            name = "test_" + re.sub(r"\W+", "_", case["name"]).strip("_")
            assert not hasattr(to_class, name), name
            setattr(to_class, name, lambda self, case=case: self.run_case(case))
        return to_class
    return add


class Scene(unittest.TestCase):
    """Real servers and scripted ones, for all cases of a class."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.scripted = cls.enterClassContext(ScriptedServers())
        cls.weir = cls.start('"127.0.0.1:0"')
        cls.addClassCleanup(lambda: cls.weir.stop())
        cls.urls = {**cls.scripted.urls, "weir": cls.url(cls.weir), "unix": f"unix:{cls.folder}/http.sock"}

    @classmethod
    def start(cls, place):
        listen = f'[{place}, "unix:{cls.folder}/http.sock"]'
        return Server(POLICY, LISTENERS.replace('http: {listen: "127.0.0.1:0"}', f"http: {{listen: {listen}}}"),
                      cls.folder)

    @staticmethod
    def url(server):
        return "http://{}:{}".format(*server.http)

    @classmethod
    def start_again(cls):
        host, port = cls.weir.http
        cls.weir = cls.start(f'"{host}:{port}"')

    @classmethod
    def restart(cls):
        cls.weir.stop()
        cls.start_again()

    def assert_as_expected(self, step, found):
        wrong = mismatch(step["expect"], found)
        if wrong:
            self.fail(f"{wrong}\nstep: {json.dumps(step)}\nfound: {json.dumps(found)}")


@with_cases(CASES["clients"])
class Clients:
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "token").touch(mode=0o600)
        (cls.folder / "token").write_text("open-sesame-open-sesame\n")
        cls.urls["with_token"] = cls.url(cls.further(f"token_file: {cls.folder}/token, max_body: 4KiB"))
        made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=weir", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "weir.key", "-out", "weir.crt"]
        subprocess.run(made, cwd=cls.folder, check=True, capture_output=True, timeout=PATIENCE)
        tls = cls.further(f"tls: {{certificate: {cls.folder}/weir.crt, key: {cls.folder}/weir.key}}")
        cls.urls["tls"] = cls.url(tls).replace("http:", "https:")
        command, environment = cls.command()
        cls.driver = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        cls.addClassCleanup(cls.end_driver)

    @classmethod
    def further(cls, fields):
        """Starts another server, with these fields of its HTTP listener."""
        http = f'http: {{listen: "127.0.0.1:0", {fields}}}'
        return cls.enterClassContext(Server(POLICY, LISTENERS.replace('http: {listen: "127.0.0.1:0"}', http)))

    @classmethod
    def end_driver(cls):
        cls.driver.communicate(timeout=PATIENCE)

    def ask(self, line):
        self.driver.stdin.write(json.dumps(line) + "\n")
        self.driver.stdin.flush()
        answer = self.driver.stdout.readline()
        self.assertTrue(answer, f"the driver ended at {line}")
        return json.loads(answer)

    def run_case(self, case):
        name = case.get("server", "weir")
        self.scripted.forget(name)
        self.ask({"new": {"url": self.urls[name], "timeout": case.get("timeout", 10), "fail": case.get("fail", "open"),
                          "token": case.get("token"), "ca": str(self.folder / "weir.crt") if "ca" in case else None,
                          **case.get("breaker", {})}})
        for step in case["steps"]:
            self.run_step(step, name)

    def run_step(self, step, name):
        if "server" in step:
            self.change_server(step["server"])
        elif "open_receipts" in step:
            self.open_receipts(step["open_receipts"])
        elif "sleep" in step:
            time.sleep(step["sleep"])
        elif step.get("eventually"):
            found = (lambda: self.scripted.counts(name)) if "counts" in step else (lambda: self.ask(step))
            eventually(lambda: mismatch(step["expect"], found()) is None, json.dumps(step))
        elif "counts" in step:
            self.assert_as_expected(step, self.scripted.counts(name))
        else:
            start = time.monotonic()
            for _ in range(step.get("repeat", 1)):
                found = self.ask(with_sizes(step))
            self.assert_as_expected(step, {**found, "took": time.monotonic() - start})

    def change_server(self, what):
        if what == "restart":
            self.restart()
        elif what == "stop":
            self.weir.stop()
        elif what == "start":
            self.start_again()
        elif what == "pause":
            self.addCleanup(self.weir.signal, signal.SIGCONT)
            self.weir.signal(signal.SIGSTOP)
            os.waitid(os.P_PID, self.weir.process.pid, os.WSTOPPED)  # all threads of the process
        else:
            self.weir.signal(signal.SIGCONT)

    def open_receipts(self, query):
        """Returns the maximum number that the server keeps for one state."""
        for count in (1000, 24):
            body = json.dumps([{**query, "reserve": True}] * count)
            verdicts = json.loads(self.weir.ask("POST", "/v1/check", body)[2])
            self.assertTrue(all("receipt" in verdict for verdict in verdicts))


def with_sizes(step):
    """Expands `many_headers` and `long_path`."""
    for name in ("check", "reserve"):
        query = step.get(name)
        if query and {"many_headers", "long_path"} & set(query):
            query = dict(query)
            many, length = query.pop("many_headers", 0), query.pop("long_path", 0)
            if many:
                query["headers"] = [[f"X-Header-{i}", "x"] for i in range(many)]
            query["path"] = query["path"].ljust(length, "x")
            return {**step, name: query}
    return step


@with_cases(CASES["middleware"])
class Middleware:
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        settings = {name: {**app, "url": cls.urls[app["server"]]} for name, app in CASES["apps"].items()}
        command, environment = cls.command()
        cls.apps = subprocess.Popen([*command, json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    text=True, env=environment, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(lambda: cls.apps.communicate(timeout=PATIENCE))
        cls.ports = json.loads(cls.apps.stdout.readline())

    def run_case(self, case):
        for step in case["requests"]:
            if "check" in step:
                ask = lambda: self.check(step["check"])  # noqa: E731
            else:
                ask = lambda: self.send(case.get("app", "evaluated"), step)  # noqa: E731
            if step.get("eventually") or step.get("check", {}).get("cost") == 0:
                eventually(lambda: mismatch(step["expect"], ask()) is None, json.dumps(step))
            elif step["expect"].get("denied"):
                found = ask()
                self.assertIn(found["status"], range(400, 500), f"it passed: {step}")
            else:
                self.assert_as_expected(step, ask())

    def check(self, query):
        return json.loads(self.weir.ask("POST", "/v1/check", json.dumps(query))[2])

    def send(self, app, step):
        """Returns the response to a request that is sent byte by byte as written."""
        headers = [["Host", "app.example"], *step.get("headers", ())]
        headers += [[f"X-Header-{i}", "x"] for i in range(step.get("many_headers", 0))]
        if "long_header" in step:
            headers.append(["X-Long", "x" * step["long_header"]])
        if "Connection" not in [name for name, _ in headers]:
            headers.append(["Connection", "close"])
        body = step.get("body", "")
        if body or step.get("method") == "POST":
            headers += [["Content-Length", str(len(body))], ["Content-Type", "text/plain"]]
        method, target = step.get("method", "GET"), step["target"].ljust(step.get("long_target", 0), "x")
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", body]
        with socket.create_connection(("127.0.0.1", self.ports[app]), PATIENCE,
                                      source_address=(step.get("from", "127.0.0.1"), 0)) as connection:
            try:
                connection.sendall("\r\n".join(lines).encode("latin-1"))
            except OSError:
                pass  # it was answered before it was read
            return parsed(all_of(connection))


def all_of(connection):
    received = b""
    try:
        while data := connection.recv(65536):
            received += data
    except ConnectionResetError:
        pass
    return received


def parsed(received):
    head, _, body = received.decode("latin-1").partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = "".join(re.findall(r"[0-9a-f]+\r\n(.*?)\r\n", body))
    # A server that rejects a request may close the connection without a response.
    found = {"status": int(first.split()[1]) if first else 400, "headers": headers, "body": body}
    if headers.get("content-type") == "application/problem+json" and body:
        found["problem"] = json.loads(body)
    return found


def python_command(*arguments):
    return lambda: ([sys.executable, "-B", *arguments], None)


def node_command(*arguments):
    return lambda: ([node(), *arguments], node_environment())


def go_command(*arguments):
    return lambda: ([GO_PROGRAM, *arguments], None)


class Python(Clients, Scene):
    command = staticmethod(python_command(FOLDER / "driver.py", "sync"))


class PythonAsync(Clients, Scene):
    command = staticmethod(python_command(FOLDER / "driver.py", "async"))


class Node(Clients, Scene):
    command = staticmethod(node_command(FOLDER / "driver.js"))


class Go(Clients, Scene):
    command = staticmethod(go_command("driver"))


class Wsgi(Middleware, Scene):
    command = staticmethod(python_command(FOLDER / "apps.py", "wsgi"))


class Flask(Middleware, Scene):
    command = staticmethod(python_command(FOLDER / "apps.py", "flask"))


class Starlette(Middleware, Scene):
    command = staticmethod(python_command(FOLDER / "apps.py", "starlette"))


class Express(Middleware, Scene):
    command = staticmethod(node_command(FOLDER / "apps.js", "express"))


class Fastify(Middleware, Scene):
    command = staticmethod(node_command(FOLDER / "apps.js", "fastify"))


class NetHttp(Middleware, Scene):
    command = staticmethod(go_command("apps"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
