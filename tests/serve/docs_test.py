"""Compares the pages about the server with a real server.

```console serve    as ```console (tests/docs/run_page.py), but against a server with the page's latest policy;
                    without one it has the default policy. A policy begins a new server. Places are the
                    usual ones.
```json log         lines as the log has them: the same names in the same order.

Times, hashes, lengths and numbers with decimals may differ. Everything that tables name must exist, and vice versa.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

import server
from redis_servers import Redis, free_port
from server import LISTENERS, PROGRAM, ROOT, Server, eventually

sys.path.append(str(ROOT / "tests/docs"))
import dashboard  # noqa: E402
from extract import BLOCK  # noqa: E402
from places import PLACES, without_varying  # noqa: E402
from run_page import commands, matches  # noqa: E402

# The admin listener of the test is not at the default address.
WEIR = """#!/bin/bash
case "$1" in
  status|top|peek|reset|reload|hash) exec "{program}" "$@" --admin {admin} ;;
  *) exec "{program}" "$@" ;;
esac
"""


def page(name):
    return (ROOT / "docs" / name).read_text()


def section(text, heading):
    """Returns the text below a heading, up to the next one of its level or above."""
    level = heading.index(" ")
    found = re.search(rf"^{re.escape(heading)}$\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise AssertionError(f"there is no {heading!r}")
    return found[1]


def first_cells(text):
    """Returns the words in backquotes in the first column of tables."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return {word for cell in rows for word in re.findall(r"`([^`]+)`", cell)}


class Scene:
    """A server with a policy, and a shell to run commands."""

    def __init__(self, policy, folder):
        self.server = Server(policy, LISTENERS if policy else LISTENERS.replace("policy: policy.yaml\n", ""), folder)
        self.folder = pathlib.Path(folder)
        (self.folder / ".bin").mkdir()
        weir = self.folder / ".bin/weir"
        weir.write_text(WEIR.format(program=PROGRAM, admin=self.place("admin")))
        weir.chmod(0o755)

    def place(self, listener):
        return "{}:{}".format(*getattr(self.server, listener))

    def run(self, command):
        for listener, usual in PLACES.items():
            command = command.replace(usual, self.place(listener))
        command = command.replace("-p 6390", f"-p {self.server.resp[1]}")
        ran = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=server.PATIENCE, cwd=self.folder,
                             env={**os.environ, "PATH": f"{self.folder / '.bin'}:{os.environ['PATH']}",
                                  "STATE_DIRECTORY": str(self.server.state_dir)})
        return self.as_by_default(ran.stdout).splitlines()

    def as_by_default(self, printed):
        printed = printed.replace(str(self.server.policy_file), "policy.yaml")
        printed = printed.replace(str(self.server.state_dir), "state")
        for listener, usual in PLACES.items():
            printed = printed.replace(self.place(listener), usual)
        return printed


class Examples(unittest.TestCase):
    maxDiff = None

    def check_block(self, scene, text):
        for command, expected in commands(text):
            printed = [without_varying(line) for line in scene.run(command)]
            expected = [without_varying(line) for line in expected]
            with self.subTest(command):
                if not matches(expected, printed):
                    self.assertEqual("\n".join(expected), "\n".join(printed))

    def check_scene(self, policy, blocks):
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(policy, folder)
            with scene.server:
                for text in blocks:
                    self.check_block(scene, text)

    def check_page(self, name):
        scenes = [(None, [])]
        for kind, text in BLOCK.findall(page(name)):
            if kind == "yaml policy":
                scenes.append((text, []))
            if kind == "console serve":
                scenes[-1][1].append(text)
        self.assertTrue(any(blocks for _, blocks in scenes))
        for policy, blocks in scenes:
            if blocks:
                self.check_scene(policy, blocks)

    def test_readme(self):
        self.check_page("../README.md")

    def test_http(self):
        self.check_page("reference-http.md")

    def test_rate_limit_service(self):
        self.check_page("reference-rls.md")

    def test_redis_protocol(self):
        self.check_page("reference-resp.md")

    def test_admin(self):
        self.check_page("reference-admin.md")

    def test_observe(self):
        self.check_page("observe.md")

    def test_migrating(self):
        self.check_page("migrating.md")

    def test_budgets(self):
        self.check_page("budgets.md")

    def test_the_program_on_the_page_about_budgets(self):
        blocks = BLOCK.findall(page("budgets.md"))
        kinds = [kind for kind, _ in blocks]
        program, printed = (blocks[kinds.index("python") + after][1] for after in (0, 1))
        policy = blocks[kinds.index("yaml policy")][1]
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(policy, folder)
            (scene.folder / "program.py").write_text(program.replace(PLACES["http"], scene.place("http")))
            with scene.server:
                self.assertEqual(scene.run(f"{sys.executable} program.py"), printed.splitlines())


POLICY = """
version: 1
tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
limits:
  - name: api
    consumer_key: user
    algorithm: token_bucket
    rate: 1/h
    candidate: { rate: 2/h }
    missing: share
    usage: reserved
    tier_overrides: { pro: unlimited }
  - { name: leased, routes: [/leased], consumer_key: user, algorithm: token_bucket, rate: 100/h, consistency: leased }
  - { name: loose, routes: [/loose], consumer_key: user, algorithm: token_bucket, rate: 100/h, consistency: approximate }
  - { name: billed, routes: [/billed], consumer_key: user, algorithm: fixed_window, limit: 9,
      window: { calendar: month, timezone: Europe/Berlin } }
"""


def metrics_of(config):
    """Returns the labels of each metric of a server, by name."""
    with Server(POLICY, config) as weir:
        if "store:" in config:
            eventually(lambda: "\nweir_store_connected 1\n" in weir.ask("GET", "/metrics", listener="admin")[2], "Redis")
        for query in [{"user": "a"}, {"user": "a"}, {}]:
            weir.ask("POST", "/v1/check", json.dumps(query))
        weir.ask("POST", "/v1/report", json.dumps({"user": "a", "cost": 9}))
        told = weir.ask("GET", "/metrics", listener="admin")[2]
    labels = {name: set() for name in re.findall(r"(?m)^# TYPE (\S+)", told)}
    for name, inside in re.findall(r"(?m)^(\w+)\{(.*)\} ", told):
        labels[dashboard.family(name, labels)] |= set(re.findall(r'(\w+)="', inside)) - {"le"}
    return labels


def config_with(redis):
    return LISTENERS + f"store: {{ redis: {{ urls: {redis.url}, timeout: 10s }} }}\n"


def metrics_with_redis():
    with Redis() as redis:
        return metrics_of(config_with(redis))


class Prometheus:
    """Scrapes one address ten times per second."""

    def __init__(self, place):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        config = pathlib.Path(self.folder.name) / "prometheus.yml"
        config.write_text(json.dumps({  # which is YAML too
            "global": {"scrape_interval": "100ms", "scrape_timeout": "100ms"},
            "scrape_configs": [{"job_name": "weir", "static_configs": [{"targets": ["{}:{}".format(*place)]}]}]}))
        self.process = subprocess.Popen(
            ["prometheus", "--config.file", config, "--storage.tsdb.path", pathlib.Path(self.folder.name) / "data",
             "--web.listen-address", f"127.0.0.1:{self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=server.PATIENCE):
                return True
        except urllib.error.URLError:
            return False

    def query(self, query):
        """Returns its current series."""
        target = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        with urllib.request.urlopen(target, timeout=server.PATIENCE) as answer:
            return json.load(answer)["data"]["result"]

    def __enter__(self):
        eventually(self.is_ready, "Prometheus")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(server.PATIENCE)
        self.folder.cleanup()


class Dashboard(unittest.TestCase):
    def test_a_server_has_every_metric_and_label_that_it_asks_for(self):
        told = metrics_with_redis()
        used = dashboard.used(dashboard.load(), told)
        self.assertGreater(len(used), 50)
        self.assertEqual({name: labels - told.get(name, set()) for name, labels in used.items()
                          if name not in told or not labels <= told[name]}, {})

    # Fields that this server does not have: shadow limits, receipts that were not kept, another policy in the last
    # minute.
    WITHOUT_DATA = {"Would be denied (shadow mode)", "Not stored, by limit", "Policy changes"}

    def test_a_prometheus_that_scrapes_a_server_has_data_for_every_query(self):
        with Redis() as redis, Server(POLICY, config_with(redis)) as weir, Prometheus(weir.admin) as prometheus:
            def answer_under_traffic(query):
                for path in "/x", "/leased", "/loose", "/billed":
                    weir.ask("POST", "/v1/check", json.dumps({"path": path, "user": "a"}))
                weir.ask("POST", "/v1/report", json.dumps({"user": "a", "cost": 9}))
                return prometheus.query(dashboard.without_variables(query))

            for where, query in dashboard.queries(dashboard.load()):
                if where not in self.WITHOUT_DATA:
                    eventually(lambda: answer_under_traffic(query), f"data for {where}: {query}")


class Tables(unittest.TestCase):
    maxDiff = None

    def metrics_on_the_page(self, *headings):
        text = "".join(section(page("reference-metrics.md"), heading) for heading in headings)
        return {name: set(re.findall(r"`(\w+)`", cell))
                for name, cell in re.findall(r"(?m)^\| `(\w+)` \|([^|]*)\|", text)}

    def test_metrics_are_those_of_the_page(self):
        self.assertEqual(self.metrics_on_the_page("## Metrics"), metrics_of(LISTENERS))

    def test_metrics_of_a_shared_store_are_those_of_the_page(self):
        self.assertEqual(self.metrics_on_the_page("## Metrics", "## Shared store metrics"), metrics_with_redis())

    def test_the_fields_of_a_query(self):
        text = section(page("reference-http.md"), "## `POST /v1/check`")
        query = first_cells(text.split("| `admitted`")[0]) - {"field"}
        with Server(POLICY) as weir:
            refused = json.loads(weir.ask("POST", "/v1/check", '{"nonsense": 1}')[2])["detail"]
            verdict = json.loads(weir.ask("POST", "/v1/check", '{"user": "a"}')[2])
        valid = re.search(r"valid fields: (.*)$", refused)[1]
        self.assertEqual(query, set(re.split(r", | and ", valid)))
        self.assertEqual(first_cells("| `admitted`" + text.split("| `admitted`")[1]), set(verdict))

    def test_the_commands_of_the_redis_protocol(self):
        with Server(POLICY) as weir:
            connection = weir.connect("resp")
            with connection, connection.makefile("rwb") as stream:
                stream.write(b"COMMAND LIST\r\n")
                stream.flush()
                count = int(stream.readline()[1:])
                names = {(stream.readline(), stream.readline())[1].decode().strip().upper() for _ in range(count)}
        text = page("reference-resp.md")
        told = set(re.findall(r"`((?:CL|WEIR)\.\w+)", text))
        told |= set(re.findall(r"`([A-Z]+)(?: GET)?`", section(text, "## Supported Redis commands").split(".")[0]))
        subcommands = {"ID", "INFO", "LIST", "GETNAME", "SETNAME", "SETINFO", "REPLY", "COUNT", "DOCS"}
        self.assertEqual(told - (subcommands - names), names)

    def test_the_listeners_are_where_the_pages_and_the_help_say(self):
        said = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True, timeout=60).stdout
        helped = dict(re.findall(r"(?m)^  (\w+) +(127\.0\.0\.1:\d+) ", said))
        self.assertEqual(helped, PLACES)
        self.assertEqual(dict(re.findall(r"(?m)^\| `(\w+)` \| (127\.0\.0\.1:\d+) \|", page("protocols.md"))), PLACES)

    def test_the_endpoints_of_the_admin_frontend(self):
        with Server(POLICY) as weir:
            there_are = json.loads(weir.ask("GET", "/nowhere", listener="admin")[2])["detail"]
        told = first_cells(page("reference-admin.md"))
        words = {re.sub(r"\?.*", "", re.sub(r"^(GET|POST|PUT|DELETE) ", "", word)) for word in told}
        paths = {word for word in words if word.startswith("/")}  # other tables are of fields
        self.assertEqual(paths, set(re.findall(r"/[\w/.]*\w|(?<= )/(?= )", there_are)))


class Start(unittest.TestCase):
    maxDiff = None

    def blocks(self, wanted):
        return [text for kind, text in BLOCK.findall(section(page("operations.md"), "## Starting")) if kind == wanted]

    def test_the_greeting(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(None, folder)
            with scene.server:
                greeting = scene.as_by_default(scene.server.greeting)
        self.assertEqual([without_varying(line) for line in self.blocks("text")[0].splitlines()],
                         [without_varying(line) for line in greeting.splitlines()])

    def test_the_default_policy(self):
        source = (ROOT / "src/server/sources.h").read_text()
        self.assertEqual(self.blocks("yaml"), [re.search(r'R"\((.*)\)"', source, re.DOTALL)[1]])


class Log(unittest.TestCase):
    def names(self, line):
        return list(json.loads(line))

    def test_the_lines_are_as_the_page_shows_them(self):
        shown = [text for kind, text in BLOCK.findall(page("observe.md")) if kind == "json log"]
        lines = [line for text in shown for line in text.splitlines()]
        with Server(POLICY, LISTENERS + "log: { denials: { per_second: 1 } }\n") as weir:
            query = {"user": "a", "ip": "192.0.2.7", "method": "GET", "path": "/"}
            for _ in range(4):
                weir.ask("POST", "/v1/check", json.dumps(query))
            weir.await_log('"suppressed"')
            logged = weir.log.splitlines()
        found = {tuple(self.names(line)) for line in logged}
        self.assertEqual({tuple(self.names(line)) for line in lines}, found)
        self.assertNotIn("192.0.2.7", "".join(logged))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
