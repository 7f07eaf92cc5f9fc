"""Counters survive a restart and a kill at any time; a damaged snapshot is rejected."""

import datetime
import json
import pathlib
import random
import sys
import tempfile
import time
import unittest

import resp_client
import server
from server import LISTENERS, Server, eventually

POLICY = """
version: 1
limits:
  - {name: bucket, routes: [/bucket], consumer_key: user, algorithm: token_bucket, rate: 1/day, burst: 1000}
  - {name: window, routes: [/window], consumer_key: user, algorithm: fixed_window, rate: 1000/365day}
  - {name: log, routes: [/log], consumer_key: user, algorithm: sliding_window_log, rate: 1000/365day}
  - {name: counter, routes: [/counter], consumer_key: user, algorithm: sliding_window_counter, rate: 1000/365day}
"""
LIMITS = ["bucket", "window", "log", "counter"]
EVERY_SECOND = LISTENERS + "state: {directory: state, snapshot: {every: 1s}}\n"
KEYS = 300_000
ROUNDS = 10


class SnapshotTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.state = pathlib.Path(self.directory) / "state"

    def start(self):
        (pathlib.Path(self.directory) / "log").unlink(missing_ok=True)
        return Server(POLICY, EVERY_SECOND, self.directory)

    def use(self, weir, user, times=1, cost=1):
        """Charges the consumer at all limits. Returns what remains, by limit."""
        left = {}
        with resp_client.connect(weir.resp, server.PATIENCE) as client:
            for _ in range(times):
                for limit in LIMITS:
                    left[limit] = client.ask("WEIR.CHECK", limit, user, "COST", cost)[2]
                left["throttle"] = client.ask("CL.THROTTLE", user, 999, 1, 86_400, cost)[2]
        return left

    def left(self, weir, user):
        return self.use(weir, user, cost=0)

    def await_snapshot(self, weir):
        """Waits for a snapshot that starts after this call and is completed."""
        now = datetime.datetime.now(datetime.timezone.utc)

        def is_saved():
            told = json.loads(weir.ask("GET", "/v1/status", listener="admin")[2])["last_snapshot"]
            if told is None:
                return False
            self.assertIsNone(told["error"])
            return datetime.datetime.fromisoformat(told["at"]) > now

        eventually(is_saved, "a snapshot")

    def temporary_files(self):
        return [path.name for path in self.state.rglob("*.states.*")]

    @staticmethod
    def told_at_the_start(weir):
        """The log is written asynchronously: waits for its lines up to the limits, which come last."""
        weir.await_log('"message":"limit ')
        return [json.loads(line) for line in weir.log.splitlines(keepends=True) if line.endswith("\n")]

    def assert_clean_start(self, weir):
        for told in self.told_at_the_start(weir):
            if not told["message"].startswith(str(weir.policy_file)):  # the warnings of lint
                self.assertEqual(told["level"], "info", told)


def everywhere(number):
    return {limit: number for limit in [*LIMITS, "throttle"]}


class Restart(SnapshotTest):
    def test_nobody_starts_afresh(self):
        with self.start() as weir:
            self.assertEqual(self.use(weir, "alice", 7), everywhere(993))
        with self.start() as weir:
            weir.await_log("restored 4 tables from the snapshot")
            self.assert_clean_start(weir)
            self.assertEqual(self.left(weir, "alice"), everywhere(993))
            self.assertEqual(self.left(weir, "bob"), everywhere(1000))

    def test_snapshots_are_the_owners_alone(self):
        with self.start() as weir:
            self.use(weir, "alice")
        for path in self.state.rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_what_a_kill_left_half_written_is_removed(self):
        with self.start() as weir:
            self.use(weir, "alice")
        for file in list(self.state.rglob("*.states")):
            file.with_name(file.name + ".a1B2c3").write_bytes(b"half")
        with self.start() as weir:
            self.assert_clean_start(weir)
            self.assertEqual(self.left(weir, "alice"), everywhere(999))
        self.assertEqual(self.temporary_files(), [])

    def test_without_snapshots_everybody_does(self):
        settings = LISTENERS + "state: {directory: state, snapshot: off}\n"
        for _ in range(2):
            with Server(POLICY, settings, self.directory) as weir:
                self.assertEqual(self.use(weir, "alice"), everywhere(999))
        self.assertEqual(list(self.state.rglob("*.states")), [])


class Killed(SnapshotTest):
    def fill(self, weir):
        """Creates so many keys that a snapshot takes a while."""
        with weir.connect("resp") as connection, connection.makefile("rb") as replies:
            for begin in range(0, KEYS, 1_000):
                connection.sendall(b"".join(b"CL.THROTTLE k%d 9 1 86400\r\nWEIR.CHECK bucket k%d\r\n" % (key, key)
                                            for key in range(begin, begin + 1_000)))
                for _ in range(1_000 * (6 + 11)):
                    replies.readline()

    def kill_while_saving(self, weir):
        eventually(self.temporary_files, "a file that is being written")
        weir.kill()

    def kill_at_some_moment(self, weir):
        time.sleep(random.uniform(0, 1.1))
        weir.kill()

    def test_at_any_moment_loses_at_most_what_came_after_the_last_snapshot(self):
        seed = random.randrange(2**32)
        random.seed(seed)
        caught = 0
        weir = self.start()
        self.fill(weir)
        for number in range(ROUNDS):
            with self.subTest(round=number, seed=seed):
                self.use(weir, f"kept-{number}")
                self.await_snapshot(weir)
                self.use(weir, "maybe")
                if number % 2 == 0:
                    self.kill_while_saving(weir)
                    caught += 1 if self.temporary_files() else 0
                else:
                    self.kill_at_some_moment(weir)
                weir = self.start()
                self.assert_clean_start(weir)
                for kept in range(number + 1):
                    self.assertEqual(self.left(weir, f"kept-{kept}"), everywhere(999))
                for left in self.left(weir, "maybe").values():
                    self.assertTrue(1000 - ROUNDS <= left <= 1000)
        with weir:
            self.assertGreater(caught, 0, "no kill came while a file was being written")
            self.await_snapshot(weir)
        self.assertEqual(self.temporary_files(), [])


class Damaged(SnapshotTest):
    def damage(self, change):
        """Damages every snapshot; the next start must report it."""
        with self.start() as weir:
            self.use(weir, "alice", 5)
        files = sorted(self.state.rglob("*.states"))
        self.assertEqual(len(files), 5)
        for file in files:
            file.write_bytes(change(file.read_bytes()))
        with self.start() as weir:
            lines = self.told_at_the_start(weir)
            told = "\n".join(line["message"] for line in lines if line["level"] == "warning")
            for file in files:
                self.assertIn(str(file), told)
            self.assertEqual(self.use(weir, "alice"), everywhere(999))
        with self.start() as weir:
            self.assert_clean_start(weir)
            self.assertEqual(self.left(weir, "alice"), everywhere(999))

    def test_a_byte_in_the_middle(self):
        self.damage(lambda text: text[:len(text) // 2] + bytes([text[len(text) // 2] ^ 1]) + text[len(text) // 2 + 1:])

    def test_cut_short(self):
        self.damage(lambda text: text[:len(text) * 2 // 3])

    def test_empty(self):
        self.damage(lambda text: b"")

    def test_something_else(self):
        self.damage(lambda text: b"#!/bin/sh\n" * 1000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
