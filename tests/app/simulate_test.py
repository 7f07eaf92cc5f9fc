"""weir simulate: replays a log under one policy or two."""

import gzip
import json
import os
import pathlib
import re
import stat

import program
from program import LOG, NEXT, POLICY, ProgramTest, run

JSON_LINE = '{"ts": "2025-03-14T09:00:%02d.000Z", "who": "alice", "ip": "10.0.0.1", "method": "GET", "path": "/api/x"}'


class Simulate(ProgramTest):
    def simulate(self, *arguments):
        return self.json("simulate", POLICY, "--format", "json", *arguments)

    def denied(self, report, policy="policy"):
        return {limit["name"]: limit["denied"] for limit in report[policy]["limits"]}

    def test_the_example_as_it_is_shown(self):
        self.golden("simulate.txt", "simulate", POLICY, "--log", LOG, "--show-keys")

    def test_a_candidate_as_it_is_shown(self):
        self.golden("simulate_candidate.txt", "simulate", POLICY, "--candidate", NEXT, "--log", LOG, "--show-keys")

    def test_json_counts_what_the_log_has(self):
        report = self.simulate("--log", LOG)
        lines = len((program.ROOT / LOG).read_text().splitlines())
        self.assertEqual((report["log"]["lines"], report["log"]["entries"]), (lines, lines))
        self.assertEqual(report["policy"]["admitted"] + report["policy"]["denied"], lines)
        self.assertIsNone(report["comparison"])
        self.assertGreater(self.denied(report)["login-by-ip"], 0)

    def test_a_candidate_is_compared(self):
        report = self.simulate("--candidate", NEXT, "--log", LOG)
        self.assertEqual((report["policy"]["name"], report["candidate"]["name"]), (POLICY, NEXT))
        self.assertGreater(report["comparison"]["newly_denied"], 0)
        self.assertGreater(self.denied(report, "candidate")["login-by-ip"], self.denied(report)["login-by-ip"])

    def test_consumers_are_hashed_unless_asked_for(self):
        self.assertNotIn("203.0.113.66", run("simulate", POLICY, "--log", LOG).stdout)
        self.assertIn("203.0.113.66", run("simulate", POLICY, "--log", LOG, "--show-keys").stdout)

    def test_hashes_are_those_of_the_log_key(self):
        key = self.file("00112233445566778899aabbccddeeff\n", "log.key")
        hashed = run("hash", "203.0.113.66", "--key-file", key).stdout.strip()
        self.assertRegex(hashed, r"^[0-9a-f]{16}$")
        first, second = (run("simulate", POLICY, "--log", LOG, "--key-file", key) for _ in range(2))
        self.assertEqual(first.stdout, second.stdout)
        self.assertIn(f"  ip:{hashed} ", first.stdout)
        other = self.file("ffeeddccbbaa99887766554433221100\n", "other.key")
        self.assertNotIn(hashed, run("simulate", POLICY, "--log", LOG, "--key-file", other).stdout)

    def test_the_log_key_is_by_default_that_of_the_state_directory(self):
        key = pathlib.Path(self.file("00112233445566778899aabbccddeeff\n", "log.key"))
        home = {**os.environ, "STATE_DIRECTORY": str(key.parent)}
        hashed = run("hash", "203.0.113.66", "--key-file", str(key)).stdout.strip()
        self.assertIn(f"  ip:{hashed} ", run("simulate", POLICY, "--log", LOG, env=home).stdout)

    def test_a_key_that_is_not_there(self):
        ran = run("simulate", POLICY, "--log", LOG, "--key-file", "none.key")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("none.key: missing key", ran.stderr)

    def test_gzip(self):
        packed = self.file(gzip.compress((program.ROOT / LOG).read_bytes()), "access.log.gz")
        self.assertEqual(self.simulate("--log", packed)["policy"]["denied"], self.simulate("--log", LOG)["policy"]["denied"])

    def test_several_logs_follow_each_other(self):
        lines = (program.ROOT / LOG).read_text().splitlines(keepends=True)
        parts = [self.file("".join(lines[:100]), "1.log"), self.file("".join(lines[100:]), "2.log")]
        whole, cut = self.simulate("--log", LOG), self.simulate("--log", *parts)
        self.assertEqual(self.denied(cut), self.denied(whole))
        self.assertEqual(self.denied(self.simulate("--log", parts[0], "--log", parts[1])), self.denied(whole))

    def test_the_standard_input(self):
        ran = run("simulate", POLICY, "--format", "json", "--log", "-", stdin=(program.ROOT / LOG).read_text())
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(json.loads(ran.stdout)["log"]["entries"], self.simulate("--log", LOG)["log"]["entries"])

    def test_json_lines_with_names_of_their_own(self):
        log = self.file("".join(JSON_LINE % second + "\n" for second in range(40)), "log.json")
        report = self.simulate("--log", log, "--field", "time=ts", "--field", "user=who", "--field", "target=path")
        self.assertEqual((report["log"]["format"], report["log"]["entries"]), ("json", 40))
        limits = {limit["name"]: limit for limit in report["policy"]["limits"]}
        self.assertEqual(limits["api-by-user"]["hardest_hit"]["consumers"], 0)
        self.assertEqual(limits["api-by-user"]["admitted"], 40)

    def test_whole_seconds_may_be_stacked(self):
        line = '192.0.2.1 - %s [14/Mar/2025:09:00:00 +0000] "GET /api/x HTTP/1.1" 200 1 "-" "-"\n'
        log = self.file(line % "alice" * 30, "burst.log")
        spread = self.simulate("--log", log, "--whole-seconds", "spread")
        stacked = self.simulate("--log", log, "--whole-seconds", "stacked")
        self.assertEqual(self.denied(stacked)["api-by-user"], 10)
        self.assertLess(self.denied(spread)["api-by-user"], 10)

    def test_lines_may_come_late(self):
        line = '192.0.2.1 - - [14/Mar/2025:09:00:%02d +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n'
        log = self.file("".join(line % second for second in [0, 9, 12, 2, 31]), "late.log")
        self.assertEqual(self.simulate("--log", log, "--reorder", "10s")["log"]["late"], 0)
        self.assertEqual(self.simulate("--log", log, "--reorder", "0")["log"]["late"], 1)

    def test_a_progress_bar_is_for_terminals(self):
        self.assertEqual(run("simulate", POLICY, "--log", LOG).stderr, "")
        big = self.file((program.ROOT / LOG).read_text() * 1500, "big.log")
        self.assertRegex(program.on_terminal("simulate", POLICY, "--log", big), r"\r.*replaying \[#+\.*\] +\d+ %")


LEASED = """version: 1
limits:
  - { name: by-ip, consumer_key: ip, algorithm: fixed_window, rate: 100/min, consistency: leased }
  - { name: everyone, consumer_key: global, algorithm: token_bucket, rate: 100/s }
"""


class Tiers(ProgramTest):
    """Properties of requests that a log lacks."""

    POLICY = """version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - name: api
    consumer_key: user
    missing: deny
    algorithm: fixed_window
    rate: 2/min
    tier_overrides: { pro: { rate: 100/min } }
"""

    def setUp(self):
        self.policy = self.file(self.POLICY)
        self.log = self.file("".join(
            f'192.0.2.{user} - user{user} [14/Mar/2025:09:00:{second:02} +0000] "GET / HTTP/1.1" 200 1\n'
            for second in range(20) for user in (1, 2)), "access.log")

    def test_a_log_without_tiers_is_told_before_the_limits(self):
        shown = run("simulate", self.policy, "--log", self.log).stdout
        self.assertIn("denied 36 (90.0 %)", shown)
        head = shown.split("\nLimits\n")[0]
        self.assertIn("\nMissing from the log: the figures may be wrong\n  no line has a tier: ", head)

    def test_a_file_says_the_tier_of_each_user(self):
        tiers = self.file("user,tier\nuser1,pro\nuser2,pro\n", "tiers.csv")
        shown = run("simulate", self.policy, "--tiers", tiers, "--log", self.log).stdout
        self.assertIn("denied 0 (0.0 %)", shown)
        self.assertNotIn("Missing from the log", shown)
        report = self.json("simulate", self.policy, "--tiers", tiers, "--format", "json", "--log", self.log)
        self.assertEqual((report["log"]["tiers_from_file"], report["log"]["gaps"]), (40, []))

    def test_a_log_without_users_is_told(self):
        log = self.file(pathlib.Path(self.log).read_text().replace("user1", "-").replace("user2", "-"), "access.log")
        report = self.json("simulate", self.policy, "--format", "json", "--log", log)
        self.assertEqual(report["log"]["gaps"],
                         [{"what": "tier", "limits": ["api"]}, {"what": "user", "limits": ["api"]}])

    def test_a_mistake_in_the_file_has_its_line(self):
        for text, message in [("user1,pro\nuser2\n", ":2: not a user and a tier; "),
                              ("user1,prro\n", ":1: unknown tier 'prro', did you mean 'pro'?")]:
            tiers = self.file(text, "tiers.csv")
            ran = run("simulate", self.policy, "--tiers", tiers, "--log", self.log)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertTrue(ran.stderr.startswith(f"weir: {tiers}{message}"), ran.stderr)
        ran = run("simulate", self.policy, "--tiers", "no/such.csv", "--log", self.log)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))


class Nodes(ProgramTest):
    """One client sends a request every 10 ms, so each of two nodes gets one every 20 ms."""

    def setUp(self):
        line = '{"ts": "2025-03-14T09:00:0%d.%03dZ", "remote_addr": "192.0.2.1", "request_method": "GET", "request_uri": "/"}\n'
        self.log = self.file("".join(line % divmod(at, 1000) for at in range(0, 400, 10)), "steady.log")
        self.policy = self.file(LEASED)

    def nodes(self, *arguments):
        return self.json("simulate", self.policy, "--format", "json", "--log", self.log, *arguments)["nodes"]

    def test_without_them_nothing_is_said_of_them(self):
        self.assertIsNone(self.nodes())
        self.assertNotIn("On 2 nodes", run("simulate", self.policy, "--log", self.log).stdout)

    def test_the_policy_says_what_is_leased(self):
        nodes = self.nodes("--nodes", "2")
        self.assertEqual((nodes["count"], nodes["spread"], nodes["round_trip"], nodes["consistency"]),
                         (2, "round-robin", 0.001, None))
        self.assertEqual([limit["consistency"] for limit in nodes["limits"]], ["leased", "exact"])
        # The limit for everyone asks the store each time.
        self.assertEqual((nodes["covered"], nodes["without_round_trip"]), (40, 0))
        self.assertEqual([limit["without_round_trip"] for limit in nodes["limits"]], [24, 0])

    def test_leased_spares_trips(self):
        nodes = self.nodes("--nodes", "2", "--consistency", "leased")
        self.assertEqual((nodes["consistency"], nodes["admitted"], nodes["newly_denied"]), ("leased", 40, 0))
        # For each node the store decides eight requests; then a slice pays, and both limits have one.
        self.assertEqual(nodes["without_round_trip"], 24)
        self.assertEqual([limit["over"] for limit in nodes["limits"]], [0, 0])

    def test_exact_asks_for_each_request(self):
        nodes = self.nodes("--nodes", "2", "--consistency", "exact")
        self.assertEqual((nodes["without_round_trip"], nodes["messages"]["total"]), (0, 40))
        self.assertEqual(nodes["messages"]["peak_second"]["count"], 40)

    def test_a_client_may_stay_on_its_node(self):
        # All 40 requests go to one node: eight round trips.
        nodes = self.nodes("--nodes", "2", "--consistency", "leased", "--spread", "client", "--round-trip", "2ms")
        self.assertEqual((nodes["spread"], nodes["round_trip"], nodes["without_round_trip"]), ("client", 0.002, 32))

    def test_exact_nodes_decide_as_one_process(self):
        for count in ["1", "3", "50"]:
            report = self.json("simulate", POLICY, "--format", "json", "--log", LOG, "--nodes", count, "--consistency", "exact")
            alone = self.json("simulate", POLICY, "--format", "json", "--log", LOG)
            nodes = report["nodes"]
            self.assertEqual((nodes["admitted"], nodes["newly_denied"], nodes["newly_admitted"]),
                             (alone["policy"]["admitted"], 0, 0))
            self.assertEqual([limit["denied"] for limit in nodes["limits"]],
                             [limit["denied"] for limit in alone["policy"]["limits"]])

    def test_they_are_in_the_text(self):
        ran = run("simulate", self.policy, "--log", self.log, "--nodes", "2", "--consistency", "leased")
        title = "On 2 nodes, leased, 1 ms from the store, requests round-robin"
        self.assertIn(f"\n{title}\n  admitted 40 (100.0 %), denied 0 (0.0 %); newly denied 0, newly admitted 0\n"
                      "  60.0 % of the requests without a round trip; ", ran.stdout)

    def test_an_approximate_limit_has_its_bound_beside_it(self):
        policy = self.file(LEASED.replace("leased", "approximate").replace("100/min", "10000/min"))
        ran = run("simulate", policy, "--log", self.log, "--nodes", "2", "--format", "json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        limit = json.loads(ran.stdout)["nodes"]["limits"][0]
        self.assertEqual((limit["consistency"], limit["over"], limit["max_excess"]), ("approximate", 0, 2 * (10000 // 8)))
        self.assertEqual(limit["without_round_trip"], limit["evaluated"])

    def test_values_that_make_no_sense(self):
        for arguments, message in {
            ("--nodes", "0"): "--nodes: `0` is not a number of nodes, from 1 to 1000",
            ("--nodes", "1001"): "--nodes: `1001` is not a number of nodes, from 1 to 1000",
            ("--nodes", "some"): "--nodes: `some` is not a number of nodes, from 1 to 1000",
            ("--consistency", "leased"): "--consistency requires --nodes",
            ("--spread", "client"): "--spread requires --nodes",
            ("--round-trip", "1ms"): "--round-trip requires --nodes",
            ("--nodes", "2", "--consistency", "loose"): "--consistency: `loose` is not one of exact, leased, approximate",
            ("--nodes", "2", "--spread", "random"): "--spread: `random` is not one of round-robin, client",
            ("--nodes", "2", "--round-trip", "1min"): "--round-trip: `1min` is not a time from 0 to 10s, like 1ms",
        }.items():
            with self.subTest(arguments):
                self.misuse("simulate", self.policy, "--log", self.log, *arguments, err=message)


TOKENS = ["examples/tokens.yaml", "--field", "cost=usage.total_tokens", "--log", "examples/tokens.jsonl"]


class Estimates(ProgramTest):
    """Costs that are known only when a request ends."""

    def test_the_example_as_it_is_shown(self):
        self.golden("simulate_estimates.txt", "simulate", *TOKENS, "--estimate", "max", "--estimate", "p95 of 100",
                    "--estimate", "4096", "--show-keys")

    def test_the_log_says_what_requests_cost(self):
        spent = sum(json.loads(line)["usage"]["total_tokens"]
                    for line in (program.ROOT / "examples/tokens.jsonl").read_text().splitlines())
        generous = self.file((program.ROOT / TOKENS[0]).read_text().replace("burst: 12000", "burst: 1000000"))
        report = self.json("simulate", generous, *TOKENS[1:], "--estimate", "1", "--format", "json")
        for estimate in report["estimates"]:
            limit, = estimate["limits"]  # the other sets its cost
            self.assertEqual((limit["name"], limit["spent"], limit["overspent"]), ("tokens-by-user", spent, 0))

    def test_estimates_are_beside_reports(self):
        report = self.json("simulate", *TOKENS, "--estimate", "4096", "--estimate", "max", "--format", "json")
        self.assertEqual([one["estimate"] for one in report["estimates"]], ["report", "4096", "max"])
        reported, fixed, largest = (one["limits"][0] for one in report["estimates"])
        self.assertEqual((reported["reserved"], reported["wasted"]), (0, 0))
        self.assertGreater(fixed["wasted"], 0)
        self.assertGreater(reported["overspent"], largest["overspent"])

    def test_a_log_without_costs_or_durations_is_told(self):
        report = self.json("simulate", POLICY, "--field", "cost=tokens", "--estimate", "5", "--log", LOG, "--format",
                           "json")
        entries = report["log"]["entries"]
        self.assertEqual((report["log"]["without_cost"], report["log"]["settled_at_once"]), (entries, entries))

    def test_values_that_make_no_sense(self):
        for arguments, message in {
            ("--estimate", "max"): "--estimate: missing --field cost=PATH, the cost of a request",
            ("--field", "cost=c", "--estimate", "p95"): "--estimate: p95: not an estimate; use max, a cost such as "
                                                        "4096, or 'p95 of 100' (at most 10000)",
            ("--field", "cost=c", *["--estimate", "1"] * 9): "--estimate: at most 8 are allowed",
            ("--stamped", "never"): "--stamped: `never` is not one of start, end",
        }.items():
            with self.subTest(arguments):
                self.misuse("simulate", POLICY, "--log", LOG, *arguments, err=message)


class Report(ProgramTest):
    """How the page is written; report_page_test.py tests its content."""

    def write(self, path, code=0):
        ran = run("simulate", POLICY, "--candidate", NEXT, "--log", LOG, "--report", str(path), umask=0o022)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def test_it_replaces_what_was_there_whole(self):
        folder = self.folder()
        path = folder / "report.html"
        path.write_text("old")
        before = path.open()
        self.write(path)
        self.assertEqual(before.read(), "old")  # the reader reads on
        before.close()
        self.assertTrue(path.read_text().lower().startswith("<!doctype html>"))
        self.assertEqual([file.name for file in folder.iterdir()], ["report.html"])
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o644)

    def test_a_place_that_cannot_be_written(self):
        folder = self.folder()
        for path in [folder / "no" / "report.html", folder]:
            with self.subTest(path):
                ran = self.write(path, code=1)
                self.assertIn(f"weir: {path}: ", ran.stderr)
        self.assertEqual(list(folder.iterdir()), [])

    def test_a_full_disk_leaves_nothing_behind(self):
        self.assertIn("No space left", self.write("/dev/full", code=1).stderr)


class Mistakes(ProgramTest):
    def refused(self, *arguments):
        ran = run("simulate", *arguments)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        return ran.stderr

    def test_logs_that_cannot_be_read(self):
        self.assertRegex(self.refused(POLICY, "--log", "no/such.log"), r"^weir: no/such.log: .")
        self.assertRegex(self.refused(POLICY, "--log", "examples"), r"^weir: examples: .")

    def test_policies_that_do_not_load(self):
        bad = self.file("version: 1\nlimit: []\n")
        self.assertIn(f"{bad}:2:1: error: ", self.refused(bad, "--log", LOG))
        self.assertIn(f"{bad}:2:1: error: ", self.refused(POLICY, "--candidate", bad, "--log", LOG))

    def test_a_log_that_breaks_off_is_told_and_counted(self):
        packed = gzip.compress((program.ROOT / LOG).read_bytes())
        log = self.file(packed[:-200], "access.log.gz")
        ran = run("simulate", POLICY, "--log", log, "--format", "json")
        self.assertEqual(ran.returncode, 1)
        self.assertIn(log, ran.stderr)
        self.assertGreater(json.loads(ran.stdout)["log"]["entries"], 0)

    def test_a_log_of_something_else(self):
        log = self.file(b"\x7fELF\x00\xff\n" * 10, "binary.log")
        ran = run("simulate", POLICY, "--format", "json", "--log", log)
        self.assertEqual((ran.returncode, ran.stderr), (1, (
            "weir: no readable line in the log: missing time; check --log-format, or add a --field\n")))
        report = json.loads(ran.stdout)
        self.assertEqual((report["log"]["entries"], report["log"]["not_understood"]["total"]), (0, 10))

    def test_an_empty_log(self):
        ran = run("simulate", POLICY, "--log", self.file("", "empty.log"))
        self.assertEqual((ran.returncode, ran.stderr), (1, "weir: no request replayed: the log is empty\n"))

    def test_one_line_that_can_be_read_is_enough(self):
        first = (program.ROOT / LOG).read_text().splitlines()[0]
        self.assertEqual(run("simulate", POLICY, "--log", self.file(f"x\n{first}\n", "a.log")).returncode, 0)

    def test_the_standard_input_is_read_once(self):
        self.misuse("simulate", "-", "--log", "-", err="`-`: the standard input can be read only once")

    def test_a_policy_after_the_logs(self):
        self.assertEqual(run("simulate", "--log", LOG, POLICY).returncode, 0)  # as the last argument it is understood
        self.misuse("simulate", "--log", LOG, POLICY, "--format", "json",
                    err="FILE is required; write it before `--log`, which takes all values that follow")

    def test_values_that_cannot_be_read(self):
        for arguments, message in {
            ("--reorder", "soon"): "--reorder: ",
            ("--field", "when=ts"): "--field: ",
            ("--log-format", "xml"): "--log-format: `xml` is not one of combined, json",
        }.items():
            with self.subTest(arguments):
                ran = run("simulate", POLICY, *arguments, "--log", LOG)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertTrue(ran.stderr.startswith(f"weir: {message}"), ran.stderr)
                self.assertNotRegex(ran.stderr.splitlines()[0], re.compile(r": : |::"))


if __name__ == "__main__":
    program.main()
