"""`weir top` on a real server: in a pseudo-terminal, and for scripts."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import server
from redis_servers import Redis
from screen import Terminal
from server import PROGRAM, VERSION, Server
from watched import POLICY, WatchedTest

DOWN, ENTER, ESCAPE = "\x1b[B", "\r", "\x1b"


class TopTest(WatchedTest):
    @property
    def place(self):
        return "{}:{}".format(*self.server.admin)

    def deny(self):
        """Causes seven denials of 10 requests, and two of 4 by a limit in shadow mode."""
        self.check(10, user="alice")
        self.check(4, path="/login", method="POST", ip="203.0.113.7")

    def terminal(self, *arguments, **settings):
        return self.enterContext(Terminal("top", "--admin", self.place, *arguments, **settings))

    def once(self, *arguments, admin=None, **environment):
        return subprocess.run([PROGRAM, "top", "--once", "--admin", admin or self.place, *arguments],
                              capture_output=True, text=True, timeout=server.PATIENCE,
                              env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment})


class Live(TopTest):
    def tearDown(self):
        # Everything shown used the few known sequences and stayed within the terminal.
        for terminal in self.terminals:
            self.assertEqual((terminal.screen.unknown, terminal.screen.beyond), ([], []))

    def setUp(self):
        super().setUp()
        self.terminals = []

    def terminal(self, *arguments, **settings):
        self.terminals.append(super().terminal(*arguments, **settings))
        return self.terminals[-1]

    def test_traffic_appears_at_its_limit(self):
        terminal = self.terminal()
        terminal.shows(f"weir {VERSION}  {self.place}", "LIMIT by denials", "No consumer was denied recently.", "q quit")
        self.assertTrue(terminal.screen.is_other)
        self.deny()
        terminal.until(lambda screen: any(line.split()[:5] == ["by-user", "10", "7", "70.0", "%"] for line in screen.lines),
                       "seven denials of ten")
        terminal.until(lambda screen: any(line.split()[:5] == ["logins", "4", "(2)", "50.0", "%"] and line.endswith("shadow")
                                          for line in screen.lines), "what a limit in shadow would deny")
        terminal.shows("  user:", "start: ")
        self.assertNotIn("alice", terminal.screen.text)

    def test_keys(self):
        self.deny()
        terminal = self.terminal()
        terminal.shows("by-user", "logins")
        terminal.type("n")
        terminal.shows("LIMIT by name")
        terminal.type("/LOG")
        terminal.until(lambda screen: "by-user" not in "".join(screen.lines[4:6]) and "/LOG_" in screen.text, "one limit")
        terminal.type(ESCAPE)
        terminal.shows("by-user", "logins", "LIMIT by name")
        terminal.type("?")
        terminal.shows("KEYS", "sort by denials, by traffic")
        terminal.type(ESCAPE)
        terminal.shows("LIMIT by name")
        terminal.type(" ")
        terminal.shows("PAUSED")
        terminal.type(" ")
        terminal.until(lambda screen: "PAUSED" not in screen.text, "going on")

    def test_looking_at_a_limit_and_back(self):
        self.deny()
        terminal = self.terminal("--sort", "name")
        terminal.shows("by-user", "logins")
        terminal.type(ENTER)
        terminal.shows("LIMIT by-user", "10 decisions  7 denied (70.0 %)", "newly denied 2", "MOST DENIED", "user:", "/api/**")
        terminal.type(ESCAPE)
        terminal.type(DOWN)
        terminal.shows("LIMIT by name")
        terminal.type(ENTER)
        terminal.shows("LIMIT logins", "2 would be denied (50.0 %)")
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)

    def test_it_follows_a_resize(self):
        terminal = self.terminal(columns=80, rows=24)
        terminal.shows("EVENTS", "q quit")
        for columns, rows in (120, 40), (40, 10), (80, 24):
            terminal.resize(columns, rows)
            terminal.until(lambda screen: screen.lines[-1].startswith("Enter details") and screen.lines[0].startswith("weir "),
                           f"a picture of {columns} x {rows}")
            # Output drawn before the program received the new size may not have fitted; the next frame does.
            seen = terminal.screen.lines[0]
            terminal.screen.beyond.clear()
            terminal.until(lambda screen: screen.lines[0] != seen and screen.lines[-1].startswith("Enter details"), "the next second")
            self.assertEqual(terminal.screen.beyond, [])

    def test_a_terminal_is_left_as_it_was(self):
        for how, expected in ((lambda each: each.type("q"), 0), (lambda each: each.type("\x03"), 0),
                              (lambda each: each.process.send_signal(signal.SIGINT), 0),
                              (lambda each: each.process.send_signal(signal.SIGTERM), -signal.SIGTERM),
                              (lambda each: each.process.send_signal(signal.SIGHUP), -signal.SIGHUP)):
            terminal = self.terminal()
            terminal.shows("q quit")
            self.assertNotEqual(terminal.settings, terminal.before)
            self.assertFalse(terminal.screen.has_cursor)
            how(terminal)
            self.assertEqual(terminal.end(), expected)
            self.assertTrue(terminal.is_as_before)

    def test_it_can_be_stopped_and_goes_on(self):
        terminal = self.terminal()
        terminal.shows("q quit")
        terminal.type("\x1a")
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED)
        terminal.until(lambda screen: not screen.is_other, "the shell's screen")
        self.assertTrue(terminal.is_as_before)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until(lambda screen: screen.is_other and "q quit" in screen.text, "the view again")
        self.assertFalse(terminal.settings[3] & termios.ECHO)

    def test_it_comes_back_when_the_server_does(self):
        port = self.server.admin[1]
        terminal = self.terminal()
        terminal.shows("q quit")
        self.assertEqual(self.server.stop(), 0)
        terminal.shows("NOT CONNECTED")
        terminal.type("?")  # it is not stuck
        terminal.shows("KEYS")
        terminal.type("?")
        config = server.LISTENERS.replace('admin: {listen: "127.0.0.1:0"}', f'admin: {{listen: "127.0.0.1:{port}"}}')
        self.server = self.enterContext(Server(POLICY, config))
        terminal.until(lambda screen: "NOT CONNECTED" not in screen.text, "the server again")
        self.check(10, user="alice")
        terminal.until(lambda screen: any(line.split()[:3] == ["by-user", "10", "7"] for line in screen.lines), "new traffic")

    def test_letters_of_ascii_where_the_terminal_has_no_others(self):
        self.deny()
        terminal = self.terminal(environment={"LANG": "C"})
        terminal.shows("by-user", "q quit")
        self.assertTrue(terminal.screen.text.isascii())

    def test_colours_are_for_terminals_that_want_them(self):
        self.deny()
        for environment, expected in ({}, True), ({"NO_COLOR": "1"}, False):
            terminal = self.terminal(environment=environment)
            terminal.shows("by-user", "q quit")
            self.assertEqual({"31", "32"} <= terminal.screen.inks, expected)
            self.assertIn("7", terminal.screen.inks)  # the selected limit

    def test_nothing_that_a_server_says_steers_the_terminal(self):
        terminal = self.terminal(columns=200)
        terminal.shows("q quit")
        self.server.policy_file.write_text('version: 1\n"\\e[2J\\e]0;planted\\a": 1\nlimits: []\n')
        terminal.shows("reload: ", "planted", "reload failed: ")

    def test_it_quits_while_the_server_does_not_answer(self):
        terminal = self.terminal()
        terminal.shows("q quit")
        self.server.signal(signal.SIGSTOP)
        try:
            terminal.type("q")
            began = time.monotonic()
            self.assertEqual(terminal.end(), 0)
            self.assertLess(time.monotonic() - began, 5)  # a request has a timeout of ten seconds
        finally:
            self.server.signal(signal.SIGCONT)
        self.assertTrue(terminal.is_as_before)

    def test_a_server_that_is_not_there(self):
        self.assertEqual(self.server.stop(), 0)
        terminal = self.terminal(columns=200)
        self.assertEqual(terminal.end(), 1)
        self.assertIn("connection refused", terminal.screen.text)
        self.assertTrue(terminal.is_as_before)


class Once(TopTest):
    def test_text(self):
        self.deny()
        ran = self.once()
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertNotIn("\x1b", ran.stdout)
        self.assertRegex(ran.stdout, r"(?m)^by-user +10 +7 +70\.0 % ")
        self.assertRegex(ran.stdout, r"(?m)^ +7  user:[0-9a-f]{16}  by-user$")
        self.assertLessEqual(max(map(len, ran.stdout.splitlines())), 80)

    def test_json(self):
        self.deny()
        ran = self.once("--format", "json", "--sort", "traffic")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        told = json.loads(ran.stdout)
        self.assertEqual(set(told), {"status", "limits", "throttle", "denied", "events", "cluster"})
        self.assertEqual([limit["name"] for limit in told["limits"]], ["by-user", "logins"])
        self.assertEqual(told["limits"][0]["traffic"], {"decisions": 10, "denied": 7, "shadow_denied": 0})
        self.assertEqual([each["limit"] for each in told["denied"]], ["by-user"])
        self.assertEqual((told["status"]["version"], told["cluster"]["store"]), (VERSION, None))
        self.assertEqual(told["events"][-1]["kind"], "start")

    def test_sorted_and_filtered(self):
        self.deny()
        for arguments, expected in (["--sort", "name"], ["by-user", "logins"]), (["--filter", "LOG"], ["logins"]):
            told = json.loads(self.once("--format", "json", *arguments).stdout)
            self.assertEqual([limit["name"] for limit in told["limits"]], expected)

    def test_without_a_terminal(self):
        ran = subprocess.run([PROGRAM, "top", "--admin", self.place], capture_output=True, text=True,
                             timeout=server.PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertEqual(ran.stderr, "weir: not a terminal; `weir top --once` prints one screen of text\n")

    def test_a_format_is_of_one_screen(self):
        ran = subprocess.run([PROGRAM, "top", "--format", "json"], capture_output=True, text=True, timeout=server.PATIENCE)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--format requires --once", ran.stderr)

    def test_a_server_that_is_not_there(self):
        self.assertEqual(self.server.stop(), 0)
        ran = self.once()
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("connection refused", ran.stderr)


class Guarded(TopTest):
    CONFIG = server.LISTENERS.replace('admin: {listen: "127.0.0.1:0"}',
                                      'admin: {listen: "127.0.0.1:0", token_file: read.token}')

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.token = self.folder / "read.token"
        self.token.write_text("a-token-that-reads\n")
        self.token.chmod(0o600)
        self.server = self.enterContext(Server(POLICY, self.CONFIG, directory=self.folder))

    def test_a_token_is_shown(self):
        nowhere = {"STATE_DIRECTORY": str(self.folder / "none")}
        ran = self.once(**nowhere)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("--token-file FILE", ran.stderr)
        self.assertEqual(self.once("--token-file", str(self.token), **nowhere).returncode, 0)
        terminal = self.terminal("--token-file", str(self.token))
        terminal.shows("by-user", "q quit")


class Encrypted(TopTest):
    CONFIG = server.LISTENERS.replace('admin: {listen: "127.0.0.1:0"}', 'admin: {listen: "127.0.0.1:0", tls: '
                                      '{certificate: server.crt, key: server.key}}')

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                        "2", "-subj", "/CN=weir", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "server.key", "-out",
                        "server.crt"], cwd=self.folder, check=True, capture_output=True, timeout=server.PATIENCE)
        self.server = self.enterContext(Server(POLICY, self.CONFIG, directory=self.folder))

    @property
    def place(self):
        return "https://{}:{}".format(*self.server.admin)

    def test_the_stream_comes_over_tls(self):
        terminal = self.terminal("--ca", str(self.folder / "server.crt"))
        terminal.shows(self.place, "by-user", "q quit")
        self.check(10, user="alice")
        terminal.until(lambda screen: any(line.split()[:3] == ["by-user", "10", "7"] for line in screen.lines), "traffic")
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)


class Shared(unittest.TestCase):
    def test_the_store_and_its_going(self):
        with Redis() as redis:
            config = server.LISTENERS + f"store: {{ redis: {{ urls: {redis.url} }} }}\n"
            with Server(POLICY, config) as weir, \
                    Terminal("top", "--admin", "{}:{}".format(*weir.admin), columns=80) as terminal:
                weir.ask("POST", "/v1/check", json.dumps({"path": "/api/x", "user": "a"}))
                terminal.shows("store connected, single, 1 node, p50 ")
                redis.kill()
                weir.ask("POST", "/v1/check", json.dumps({"path": "/api/x", "user": "a"}))
                terminal.shows("store UNAVAILABLE")
                terminal.type("q")
                self.assertEqual(terminal.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
