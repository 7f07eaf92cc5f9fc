"""Tests that each benchmark starts and prints its figures, whatever they are. The last argument is the build folder."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[1]


class Quick(unittest.TestCase):
    def figures(self, name, *lines):
        """Asserts that each of the lines is printed; # stands for a figure, * for anything."""
        done = subprocess.run([ROOT / "script" / "bench", name, "--quick", "--in", folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in lines:
            pattern = re.escape(line).replace(r"\#", r"[\d.,]*\d").replace(r"\*", ".+").replace(r"\ ", r" +")
            self.assertRegex(done.stdout, f"(?m)^{pattern}", line)

    def test_table(self):
        self.figures("table", "table: --quick omits governor and x/time/rate",
                     "table: weir # ns single, # ns batch, absl # ns, ratio #x single, #x batch, # bytes/key")

    def test_algorithms(self):
        self.figures("algorithms", "ns of processor time per decision")

    def test_accuracy(self):
        self.figures("accuracy", "accuracy: without an attack the sliding window counter is at most # % over and # % under")

    def test_spikes(self):
        rates = ("3", "10", "100", "1000")
        self.figures("spikes",
                     *(f"spikes: {pattern}, {rate}/s: # false alarms a day, # on the worst; fivefold step within 5 s # %, "
                       "a minute # %, five minutes # %, median # s, worst # s"
                       for pattern in ("steady", "daily", "bursty", "hourly") for rate in rates),
                     *(f"spikes: first five minutes, {pattern}, {rate}/s: # false alarms a start; fivefold step within 5 s "
                       "# %, five minutes # %" for pattern in ("steady", "bursty") for rate in rates))

    def test_match(self):
        self.figures("match", "match: 10 routes # ns, 10000 routes # ns, ratio #x")

    def test_simulate(self):
        self.figures("simulate", "simulate: weir # M lines/s, wc # M lines/s, gawk # M lines/s, ratio #x gawk")

    def test_listeners(self):
        self.figures("listeners", *(f"{name}: weir #/s, {peer} #/s, ratio #x, p99 # ms / # ms, cpu # us / # us" for name, peer in (
            ("resp-p1", "redis EVALSHA"), ("resp-p64", "redis EVALSHA"), ("resp-p64-load", "redis EVALSHA"),
            ("rls", "grpc++"), ("rls-query", "grpc++"), ("rls-load", "grpc++"),
            ("auth", "nginx return 204"), ("auth", "nginx limit_req"), ("check", "nginx return 200"),
            ("reserve+settle", "two checks"))))

    def test_peers(self):
        self.figures("peers", "peers: * weir #/s, peer #/s, ratio #x, cpu # / # us")

    def test_ceiling(self):
        self.figures("ceiling", *(f"ceiling: {name} weir #/s, constant #/s, ratio #, cpu # / # us" for name in (
            "RESP-P1", "RESP-P16", "RESP-P64", "RESP-P64-cached", "RLS", "RLS-query")))

    def test_redis(self):
        self.figures("redis", *(f"{name}: weir #/s, one EVALSHA per request #/s, ratio #x"
                                for name in ("redis-exact", "redis-two", "redis-hot")),
                     "redis-cost: # us of Redis for a decision, # us for one of a hot key",
                     "redis-slices: # us of Redis for a message about a key with 1 slices",
                     *(f"redis-receipts: {on} # us of Redis for a reserve or a settlement with 1 open" for on in ("bucket", "log")),
                     "redis-latency: weir p50 # us p99 # us, raw round trip p50 # us p99 # us")

    def test_scale(self):
        self.figures("scale", *(f"scale: {consistency}, {nodes} nodes, {rate} requests/s, {keys} keys, Zipf 1.1{by}: "
                                "without a trip # %, # messages/s, # Redis cores, hottest key #, # MB in Redis"
                                for nodes, rate, keys in (("50", "1,000,000", "1,000,000"), ("200", "10,000,000", "10,000,000"))
                                for consistency, by in (("exact", ""), ("leased", ""), ("approximate", ""),
                                                        ("leased", ", clients stay on a node"))))
        # The page shows what a whole run prints, which is the same in every run.
        whole = subprocess.run([ROOT / "script" / "bench", "scale", "--in", folder], capture_output=True, text=True, check=True)
        page = (ROOT / "docs" / "scale.md").read_text()
        for line in whole.stdout.splitlines():
            self.assertIn(f"    {line}\n", page)

    def test_nodes(self):
        self.figures("nodes", "nodes: a decision in a call of its own takes # us of Redis and # us in all; 4 idle nodes take # % of a core",
                     *(f"nodes: {consistency}, 4 nodes, {keys}, # requests/s: # calls/s (model #), # messages/s (model #), "
                       "# us of Redis per admitted request (model #), admitted # % of the requests"
                       for keys in ("one key", "100 keys") for consistency in ("exact", "leased", "approximate")),
                     *(f"nodes: {consistency}, 4 nodes, one key, # requests/s, twice the limit: # calls/s, # messages/s, "
                       "# us of Redis per admitted request, admitted # % of the limit"
                       for consistency in ("exact", "leased", "approximate")))

    def test_denials(self):
        self.figures("denials", *(f"denials: {limit}, {demand} % of the limit, {spread}: # requests, exact denies # %, "
                                  "weir # %, falsely # %, admits # % of exact, peak # of the limit"
                                  for limit in ("token_bucket burst 100", "gcra burst 1,000", "leaky_bucket burst 1,000",
                                                "fixed_window 10 s", "sliding_window_counter 1 s", "sliding_window_log 1 s")
                                  for demand in (50, 90, 100, 200) for spread in ("even", "skewed")))

    def test_instructions(self):
        self.figures("instructions", *(f"{name} #" for name in (
            "auth", "auth, 64 at once", "check", "rls by query", "rls by query, 64 at once", "CL.THROTTLE",
            "CL.THROTTLE, 64 at once", "rls by descriptors", "rls by descriptors, 64 at once", "batch of 64 in memory",
            "query by the evaluator", "query by weir/engine.h")))


folder = sys.argv.pop()
unittest.main()
