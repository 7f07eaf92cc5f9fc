"""Common Redis clients with the Redis protocol's listener, without special settings.

Run as FILE PROGRAM VERSION [unittest's arguments]. WEIR_NODE_MODULES names the folder in which `npm install` has put what
node/package.json lists, if it is not where script/setup puts it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import redis

import server

POLICY = """
version: 1
limits:
  - {name: api, routes: [/api/**], consumer_key: user, algorithm: gcra, rate: 1/min, burst: 3}
"""

WITH_TOKEN = server.LISTENERS.replace('resp: {listen: "127.0.0.1:0"}',
                                  'resp: {listen: "127.0.0.1:0", token_file: token}')
TOKEN = "0123456789abcdef" * 2
NODE = pathlib.Path(__file__).parent / "node"
MODULES = os.environ.get("WEIR_NODE_MODULES", server.ROOT / "build" / "tools" / "node")


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=server.PATIENCE * 4, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class OpenListener(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server.Server(POLICY)
        cls.port = cls.server.resp[1]

    @classmethod
    def tearDownClass(cls):
        with cls.server:
            pass


class RedisCli(OpenListener):
    def cli(self, *words, **options):
        return run("redis-cli", "-p", self.port, *words, **options).strip()

    def test_commands_of_the_listener(self):
        self.assertEqual(self.cli("CL.THROTTLE", "cli", 4, 1, 60).split("\n"), ["0", "5", "4", "-1", "60"])
        self.assertEqual(self.cli("WEIR.CHECK", "api", "cli").split("\n"),
                         ["0", "3", "2", "0", "60000000", "0", "api", "within"])
        self.assertIn("NOPERM", self.cli("WEIR.RESET", "api", "cli"))

    def test_reserve_and_settle(self):
        said = self.cli("WEIR.RESERVE", "api", "cli-budget", "COST", 3, "LEASE", 5000).split("\n")
        self.assertEqual(said[:8] + said[9:], ["0", "3", "0", "0", "180000000", "0", "api", "within", "5000000"])
        self.assertEqual(self.cli("WEIR.SETTLE", said[8], 1).split("\n"), ["api", "done"])
        self.assertEqual(self.cli("WEIR.SETTLE", said[8], 1).split("\n"), ["api", "ended"])
        self.assertEqual(self.cli("WEIR.PEEK", "api", "cli-budget", "COST", 0).split("\n")[2], "2")
        self.assertIn("receipt: invalid", self.cli("WEIR.RELEASE", "forged"))

    def test_third_version_of_the_protocol(self):
        self.assertEqual(self.cli("-3", "WEIR.PEEK", "api", "somebody").split("\n")[:3],
                         ["admitted (true)", "quota 3", "remaining 2"])

    def test_script_of_commands(self):
        said = self.cli(input="PING\nCL.THROTTLE script 0 1 60\nGET a\nCL.THROTTLE script 0 1 60\n")
        self.assertEqual(re.sub(r"\s+", " ", said),
                         "PONG 0 1 0 -1 60 ERR unknown command 'GET', with args beginning with: 'a' 1 1 0 60 60")

    def test_mass_insertion(self):
        commands = "".join(f"CL.THROTTLE mass:{i} 4 1 60\r\n" for i in range(5000))
        self.assertIn("errors: 0, replies: 5000", self.cli("--pipe", input=commands))


class RedisBenchmark(OpenListener):
    def test_every_request_is_answered(self):
        for pipeline in 1, 64:
            said = run("redis-benchmark", "-p", self.port, "-c", 20, "-n", 20000, "-P", pipeline, "-r", 1000, "--csv",
                       "CL.THROTTLE", "key:__rand_int__", 15, 30, 60)
            self.assertIn('"CL.THROTTLE key:__rand_int__ 15 30 60"', said)
            self.assertNotIn("rror", said)


class RedisPy(OpenListener):
    def test_commands_of_the_listener(self):
        with redis.Redis(port=self.port, client_name="py", health_check_interval=1) as client:
            self.assertTrue(client.ping())
            self.assertEqual(client.client_getname(), "py")
            self.assertEqual(client.info()["loading"], 0)
            self.assertEqual(client.execute_command("CL.THROTTLE", "py", 4, 1, 60), [0, 5, 4, -1, 60])
            self.assertEqual(client.execute_command("WEIR.CHECK", "api", "py"),
                             [0, 3, 2, 0, 60_000_000, 0, b"api", b"within"])
            with self.assertRaisesRegex(redis.ResponseError, "unknown command 'GET'"):
                client.get("a")

    def test_reserve_and_settle(self):
        for protocol in 2, 3:
            user = f"py-budget-{protocol}"
            with redis.Redis(port=self.port, protocol=protocol, decode_responses=True) as client:
                said = client.execute_command("WEIR.RESERVE", "api", user, "COST", 3, "ID", "job 7")
                receipt = said["receipt"] if protocol == 3 else said[8]
                if protocol == 3:
                    self.assertEqual((said["admitted"], said["receipt_ends_us"]), (True, 600_000_000))
                again = client.execute_command("WEIR.RESERVE", "api", user, "COST", 3, "ID", "job 7")
                self.assertTrue(again["admitted"] if protocol == 3 else again[0] == 0)
                self.assertEqual(client.execute_command("WEIR.EXTEND", receipt, 1000), [["api", "done"]])
                self.assertEqual(client.execute_command("WEIR.SETTLE", receipt, 1), [["api", "done"]])
                self.assertEqual(client.execute_command("WEIR.SETTLE", receipt, 1), [["api", "ended"]])
                self.assertEqual(client.execute_command("WEIR.REPORT", "api", user, 1, "ID", "day 1"), [["api", "done"]])
                pipeline = client.pipeline()
                pipeline.execute_command("WEIR.REPORT", "api", user, 1, "ID", "day 1")
                pipeline.execute_command("WEIR.RESERVE", "api", user)
                pipeline.execute_command("WEIR.RESERVE", "api", user)
                reported, first, second = pipeline.execute()
                self.assertEqual(reported, [["api", "repeated"]])
                told = lambda reply: reply["admitted"] if protocol == 3 else reply[0] == 0
                self.assertEqual((told(first), told(second)), (True, False))
                with self.assertRaisesRegex(redis.ResponseError, "receipt: invalid"):
                    client.execute_command("WEIR.RELEASE", receipt[:-1])

    def test_receipt_of_this_listener_settles_over_http(self):
        with redis.Redis(port=self.port) as client:
            receipt = client.execute_command("WEIR.RESERVE", "api", "py-http", "COST", 3)[8].decode()
            _, _, body = self.server.ask("POST", "/v1/settle", json.dumps({"receipt": receipt, "actual": 1}))
            settled = json.loads(body)["limits"]
            self.assertEqual([(one["limit"], one["result"], one["remaining"]) for one in settled], [("api", "done", 2)])
            self.assertEqual(client.execute_command("WEIR.SETTLE", receipt, 1), [[b"api", b"ended"]])

    def test_pipeline_with_an_error_in_it(self):
        with redis.Redis(port=self.port) as client:
            pipeline = client.pipeline(transaction=False)
            for _ in range(500):
                pipeline.execute_command("CL.THROTTLE", "py-pipeline", 199, 1, 60)
            pipeline.get("a")
            pipeline.ping()
            answers = pipeline.execute(raise_on_error=False)
        self.assertEqual([answer[0] for answer in answers[:500]], [0] * 200 + [1] * 300)
        self.assertIsInstance(answers[500], redis.ResponseError)
        self.assertTrue(answers[501])


    def test_transaction_is_what_pipelines_are_by_default(self):
        for protocol in 2, 3:
            key = f"py-transaction-{protocol}"
            with redis.Redis(port=self.port, protocol=protocol) as client:
                pipeline = client.pipeline()
                for _ in range(3):
                    pipeline.execute_command("CL.THROTTLE", key, 1, 1, 60)
                pipeline.ping()
                self.assertEqual(pipeline.execute(), [[0, 2, 1, -1, 60], [0, 2, 0, -1, 120], [1, 2, 0, 60, 120], True])

    def test_transaction_with_an_unknown_command_charges_nothing(self):
        with redis.Redis(port=self.port) as client:
            pipeline = client.pipeline()
            pipeline.execute_command("CL.THROTTLE", "py-abort", 1, 1, 60)
            pipeline.get("a")
            with self.assertRaisesRegex(redis.RedisError, "unknown command 'GET'"):
                pipeline.execute()
            self.assertEqual(client.execute_command("CL.THROTTLE", "py-abort", 1, 1, 60), [0, 2, 1, -1, 60])

    def test_transaction_of_more_than_the_bound_charges_nothing(self):
        with redis.Redis(port=self.port) as client:
            pipeline = client.pipeline()
            for _ in range(4097):
                pipeline.execute_command("CL.THROTTLE", "py-bound", 1, 1, 60)
            with self.assertRaisesRegex(redis.RedisError, "at most 4096 commands"):
                pipeline.execute()
            self.assertEqual(client.execute_command("CL.THROTTLE", "py-bound", 1, 1, 60), [0, 2, 1, -1, 60])


def with_token(directory):
    file = pathlib.Path(directory) / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return server.Server(POLICY, WITH_TOKEN, directory)


class Token(unittest.TestCase):
    def test_clients_show_it_as_a_password(self):
        with tempfile.TemporaryDirectory() as directory, with_token(directory) as weir:
            port = weir.resp[1]
            with redis.Redis(port=port) as stranger, self.assertRaisesRegex(redis.RedisError, "required"):
                stranger.ping()
            for user in None, "default", "anybody":
                with redis.Redis(port=port, username=user, password=TOKEN) as client:
                    self.assertTrue(client.ping())
            with redis.Redis(port=port, password="no") as client, self.assertRaises(redis.AuthenticationError):
                client.ping()
            self.assertEqual(run("redis-cli", "-p", port, "-a", TOKEN, "--no-auth-warning", "PING"), "PONG\n")
            said = run("redis-benchmark", "-p", port, "-a", TOKEN, "-n", 1000, "-q", "PING")
            self.assertIn("requests per second", said)


class Node(unittest.TestCase):
    def test_ioredis_and_node_redis(self):
        with tempfile.TemporaryDirectory() as directory, with_token(directory) as weir:
            said = json.loads(run("node", NODE / "clients.cjs", MODULES, weir.resp[1], TOKEN))
        throttle = [0, 5, 4, -1, 60]
        check = [0, 3, 2, 0, 60_000_000, 0, "api", "within"]
        self.assertEqual(said["ioredis"], {
            "ping": "PONG", "throttle": throttle, "check": check,
            "pipeline": [[0, 5, 3, -1, 120], "ERR unknown command 'get', with args beginning with: 'a' ", "PONG"],
            "multi": [[0, 5, 2, -1, 180], "PONG"]})
        multi = [[0, 5, 3, -1, 120], "PONG"]
        self.assertEqual(said["node_redis_2"], {"ping": "PONG", "throttle": throttle, "check": check, "multi": multi})
        self.assertEqual(said["node_redis_3"]["multi"], multi)
        self.assertEqual(said["node_redis_3"]["throttle"], throttle)
        self.assertEqual(said["node_redis_3"]["check"], {
            "admitted": True, "quota": 3, "remaining": 2, "retry_after_us": 0, "reset_after_us": 60_000_000,
            "delay_us": 0, "limit": "api", "reason": "within"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
