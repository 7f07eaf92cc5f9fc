"""weir explain: the limits of one request."""

import json

import program
from program import OPENAPI, POLICY, RATELIMIT, ProgramTest, run


CONCURRENCY = "tests/policy/valid/concurrency.yaml"


class Explain(ProgramTest):
    def explain(self, *arguments, policy=POLICY):
        return self.json("explain", policy, "--format", "json", *arguments)

    def covering(self, explained):
        return [limit["name"] for limit in explained["limits"] if limit["covers"]]

    def test_a_login_as_it_is_shown(self):
        self.golden("explain_login.txt", "explain", POLICY, "--request", "POST /login", "--ip", "192.0.2.7")

    def test_a_believed_user_as_it_is_shown(self):
        self.golden("explain_user.txt", "explain", POLICY, "--request", "POST /api/v1/search", "--header",
                    "X-User-Id: alice", "--header", "X-Plan: pro", "--header", "X-Forwarded-For: 198.51.100.4")

    def test_what_is_held_at_once_as_it_is_shown(self):
        self.golden("explain_concurrency.txt", "explain", CONCURRENCY, "--request", "POST /imports", "--user", "alice",
                    "--tier", "slow", "--cost", "9")
        found = self.explain("--request", "POST /exports", "--user", "alice", policy=CONCURRENCY)
        self.assertEqual(found["limits"][0]["numbers"], {
            "text": "at most 5 at once, each for at most 60 s", "algorithm": "concurrency", "count": 5,
            "lease_microseconds": 60_000_000, "capacity": 5})

    def test_ignored_headers_as_they_are_shown(self):
        self.golden("explain_ignored.txt", "explain", POLICY, "--request", "GET /api/v1/me", "--ip", "203.0.113.9",
                    "--header", "x-user-id: admin", "--header", "X-Plan: internal", "--header", "Accept: */*")

    def test_the_outcome_comes_first(self):
        policy = self.file("""version: 1
limits:
  - { name: monthly-quota, routes: [/api/**], consumer_key: user, missing: deny, algorithm: fixed_window, rate: 9/month }
  - { name: exports, routes: [/exports], consumer_key: ip, algorithm: concurrency, limit: 5 }
""")
        for request, user, first in [
                ("/api/x", "", "Denied (403): monthly-quota requires a user"),
                ("/api/x", "alice", "Admitted (200) unless monthly-quota is exceeded (429)"),
                ("/exports", "", "Admitted (200) unless exports is exceeded (429); without a receipt, exports denies it "
                                 "(403)"),
                ("/other", "", "Admitted (200): no limit covers it")]:
            with self.subTest(first):
                shown = run("explain", policy, "--request", request, "--user", user).stdout
                self.assertEqual(shown.splitlines()[:2], [first, f"GET {request}"])
                found = self.explain("--request", request, "--user", user, policy=policy)
                self.assertEqual(list(found)[0], "outcome")
                self.assertEqual(found["outcome"]["text"], first)
        self.assertEqual(self.explain("--request", "/api/x", policy=policy)["outcome"],
                         {"admitted": False, "status": 403, "limit": "monthly-quota",
                          "text": "Denied (403): monthly-quota requires a user"})

    def test_a_policy_from_the_standard_input(self):
        text = (program.ROOT / POLICY).read_text()
        self.assertEqual(run("explain", "-", "--request", "POST /login", stdin=text).stdout,
                         run("explain", POLICY, "--request", "POST /login").stdout)

    def test_bans_and_numbers_as_they_were_written(self):
        policy = self.file("""version: 1
tiers: { from: { header: X-Plan }, default: free }
limits:
  - { name: closed, routes: [/old/**], consumer_key: global, rate: 0 }
  - name: api
    consumer_key: ip
    algorithm: gcra
    rate: 300 / minute
    burst: 20
    tier_overrides: { abuser: banned }
""")
        shown = run("explain", policy, "--request", "GET /old/x", "--ip", "192.0.2.7").stdout
        self.assertIn("\nBanned by:\n  closed  banned: denied outright\n\nCovered by 1 limit:\n", shown)
        self.assertIn("  api    300/min, burst 20  gcra ", shown)
        shown = run("explain", policy, "--request", "GET /x", "--tier", "abuser").stdout
        self.assertIn("\nBanned by:\n  api  banned: denied outright\n\nNo other limit covers it.\n", shown)
        closed, api = self.explain("--request", "GET /old/x", "--tier", "abuser", policy=policy)["limits"]
        self.assertEqual([closed["numbers"], api["numbers"]], ["banned", "banned"])
        self.assertEqual([closed["covers"], closed["banned"]], [True, True])

    def test_windows_of_the_calendar(self):
        policy = self.file("""version: 1
limits:
  - name: billed
    consumer_key: ip
    algorithm: fixed_window
    limit: 1000
    window: { calendar: month, timezone: Europe/Berlin }
    consistency: leased
  - { name: weekly, consumer_key: ip, algorithm: fixed_window, rate: 50/week }
""")
        shown = run("explain", policy, "--request", "GET /", "--ip", "192.0.2.7").stdout
        self.assertIn("  billed  1000/month in Europe/Berlin  fixed_window  ip=192.0.2.7  1\n", shown)
        self.assertIn("leased, but decided exactly: a calendar window has no slices", shown)
        billed, weekly = self.explain("--request", "GET /", policy=policy)["limits"]
        self.assertEqual(billed["numbers"], {"text": "1000/month in Europe/Berlin", "algorithm": "fixed_window",
                                             "count": 1000, "calendar": "month", "timezone": "Europe/Berlin",
                                             "capacity": 1000})
        self.assertEqual((weekly["numbers"]["calendar"], weekly["numbers"]["timezone"]), ("week", "UTC"))

    def test_json(self):
        found = self.explain("--request", "POST /login", "--ip", "192.0.2.7")
        self.assertEqual(found["request"], {"method": "POST", "target": "/login", "route": "POST /login"})
        self.assertEqual(found["caller"], {
            "address": "192.0.2.7", "sender": "192.0.2.7", "sender_is_trusted": False, "user": None, "api_key": None,
            "authenticated": False, "tier": "free", "tier_is_unknown": False, "ignored_headers": []})
        self.assertEqual(self.covering(found), ["login-by-ip", "login-by-account", "everyone"])
        by_ip = found["limits"][0]
        self.assertEqual((by_ip["consumer"], by_ip["cost"], by_ip["route"]), ("ip=192.0.2.7", 1, "POST /login"))
        self.assertEqual(by_ip["numbers"], {"text": "10/min", "algorithm": "sliding_window_log", "count": 10,
                                            "per_microseconds": 60_000_000, "capacity": 10})
        self.assertEqual(found["limits"][2]["why_not"], "none of its routes matches")

    def test_headers_of_a_client_are_named_and_ignored(self):
        found = self.explain("--request", "/api/x", "--ip", "203.0.113.9", "--header", "X-User-Id: admin",
                             "--header", "X-Forwarded-For: 10.0.0.1")
        self.assertEqual(found["caller"]["ignored_headers"], ["X-User-Id", "X-Forwarded-For"])
        self.assertEqual((found["caller"]["address"], found["caller"]["user"]), ("203.0.113.9", None))

    def test_headers_of_the_default_sender_are_believed(self):
        found = self.explain("--request", "/api/x", "--header", "X-User-Id: alice", "--header", "X-Plan: enterprise")
        self.assertTrue(found["caller"]["sender_is_trusted"])
        self.assertEqual((found["caller"]["user"], found["caller"]["tier"]), ("alice", "enterprise"))
        self.assertEqual(found["limits"][2]["numbers"]["text"], "10000/min, burst 500")

    def test_what_the_asking_program_knows_is_believed(self):
        found = self.explain("--request", "POST /api/x", "--ip", "203.0.113.9", "--user", "bob", "--api-key", "k",
                             "--tier", "pro", "--cost", "7")
        self.assertEqual((found["caller"]["user"], found["caller"]["api_key"], found["caller"]["tier"]),
                         ("bob", "k", "pro"))
        self.assertEqual((found["limits"][2]["cost"], found["limits"][2]["consumer"]), (1, "user=bob"))
        self.assertEqual((found["limits"][3]["name"], found["limits"][3]["cost"]), ("everyone", 7))

    def test_a_tier_that_is_not_known_is_the_default(self):
        found = self.explain("--request", "/api/x", "--user", "bob", "--tier", "platinum")
        self.assertEqual((found["caller"]["tier"], found["caller"]["tier_is_unknown"]), ("free", True))

    def test_an_unlimited_tier_is_not_covered(self):
        found = self.explain("--request", "/api/x", "--user", "bob", "--tier", "internal")
        self.assertIn("unlimited", found["limits"][2]["why_not"])

    def test_no_spelling_of_a_path_changes_what_covers_it(self):
        expected = self.covering(self.explain("--request", "POST /login"))
        for target in ["/login/", "//login", "/%6cogin", "/x/../login", "/login?a=b", "http://example.com/login"]:
            with self.subTest(target):
                self.assertEqual(self.covering(self.explain("--request", f"POST {target}")), expected)

    def test_without_a_method_it_is_get(self):
        self.assertEqual(self.explain("--request", "/login")["request"]["method"], "GET")

    def test_openapi(self):
        found = self.explain("--request", "POST /v2/exports", "--api-key", "k", policy=OPENAPI)
        self.assertEqual(self.covering(found), ["whole-api", "heavy", "startExport#2"])

    def test_limits_of_envoyproxy_are_reached_by_descriptors(self):
        found = self.explain("--request", "POST /login", policy=RATELIMIT)
        self.assertEqual(self.covering(found), [])
        self.assertEqual({limit["why_not"] for limit in found["limits"]}, {"it is reached by descriptors only"})
        self.assertIn("No limit covers it.", run("explain", RATELIMIT, "--request", "POST /login").stdout)


class Consistencies(ProgramTest):
    CONFIG = "version: 1\nstore: { redis: { urls: redis://127.0.0.1, nodes: 4 } }\n"

    def note(self, numbers, *arguments, tier="default"):
        """Returns the notes about a limit with these fields, or nothing."""
        policy = self.file("version: 1\ntiers: { from: { header: X-Plan } }\n"
                           f"limits: [{{ name: a, consumer_key: ip, {numbers} }}]\n")
        shown = run("explain", policy, "--request", "/", "--tier", tier, *arguments).stdout
        notes = [line.strip() for line in shown.splitlines() if line.startswith("     ")]
        return "\n".join(note for note in notes if not note.startswith("shadow"))

    def with_four(self, numbers):
        config = self.file(self.CONFIG, "weir.yaml")
        bound, outage = self.note(numbers, "--config", config).splitlines()
        self.assertTrue(outage.startswith("store unavailable: each of 4 nodes admits 250 of 1000"), outage)
        return bound.removesuffix(f"; 4 nodes by {config}")

    def test_exact_is_not_mentioned(self):
        self.assertEqual(self.note("algorithm: gcra, rate: 100/s"), "")

    def test_leased(self):
        self.assertEqual(self.note("algorithm: gcra, rate: 100/s, consistency: leased"),
                         "leased: never exceeded; slices of up to 50 units for 1 s")
        self.assertEqual(self.note("algorithm: fixed_window, rate: 99/s, consistency: { leased: { lease: 250ms } }"),
                         "leased: never exceeded; slices of up to 49 units for 250 ms")

    def test_the_bound_of_each_algorithm(self):
        self.assertEqual(self.with_four("algorithm: fixed_window, rate: 1000/min, consistency: approximate"),
                         "approximate: at most 1248 in a window (limit 1000 + 4 nodes x 62), exchanged every 100 ms")
        self.assertEqual(self.with_four("algorithm: sliding_window, rate: 1000/min, consistency: approximate"),
                         "approximate: its estimate is at most 1250 (1.25 x limit 1000), exchanged every 100 ms")
        self.assertEqual(self.with_four("algorithm: gcra, rate: 70/s, burst: 1000, "
                                        "consistency: { approximate: { sync: 1s } }"),
                         "approximate: at most 1248 at once (burst 1000 + 4 nodes x 62), and 1248 more in each 14286 ms, "
                         "exchanged every 1 s")

    def test_without_a_config_there_are_64_nodes(self):
        self.assertEqual(self.note("algorithm: fixed_window, rate: 1000/min, consistency: approximate"),
                         "approximate: at most 1192 in a window (limit 1000 + 64 nodes x 3), exchanged every 100 ms; "
                         "64 nodes by default")
        local = self.file("version: 1\nstore: local\n", "weir.yaml")
        self.assertIn("64 nodes by default", self.note("algorithm: fixed_window, rate: 1000/min, "
                                                       "consistency: approximate", "--config", local))

    def test_what_is_decided_exactly_all_the_same(self):
        for numbers, why in [
                ("algorithm: sliding_window_log, rate: 100/s", "a log has no slices"),
                ("algorithm: leaky_bucket, rate: 100/s, queue: 100", "a queue has no slices"),
                ("algorithm: gcra, rate: 100/s, mode: shadow", "a limit in shadow mode has no slices"),
                ("algorithm: gcra, rate: 7/s", "the limit is too small for slices")]:
            self.assertEqual(self.note(numbers + ", consistency: leased"), "leased, but decided exactly: " + why)
        self.assertEqual(self.note("algorithm: gcra, rate: 255/s, consistency: approximate"),
                         "approximate, but decided exactly: the limit is below 4 per node, 64 nodes by default")

    def test_a_tier_has_its_own_numbers(self):
        numbers = "algorithm: gcra, rate: 7/s, tier_overrides: { pro: { burst: 70 } }, consistency: leased"
        self.assertIn("decided exactly", self.note(numbers))
        self.assertEqual(self.note(numbers, tier="pro"), "leased: never exceeded; slices of up to 35 units for 1 s")

    def test_json(self):
        def found(numbers):
            policy = self.file(f"version: 1\nlimits: [{{ name: a, consumer_key: ip, {numbers} }}]\n")
            config = self.file(self.CONFIG, "weir.yaml")
            return self.json("explain", policy, "--request", "/", "--config", config, "--format",
                             "json")["limits"][0]["consistency"]
        self.assertEqual(found("algorithm: gcra, rate: 100/s"), {"written": "exact", "decided": "exact"})
        self.assertEqual(found("algorithm: gcra, rate: 7/s, consistency: leased"),
                         {"written": "leased", "decided": "exact"})
        self.assertEqual(found("algorithm: gcra, rate: 100/s, consistency: leased"),
                         {"written": "leased", "decided": "leased", "lease_microseconds": 1_000_000,
                          "largest_slice": 50})
        self.assertEqual(found("algorithm: fixed_window, rate: 1000/s, consistency: approximate"),
                         {"written": "approximate", "decided": "approximate", "sync_microseconds": 100_000, "nodes": 4,
                          "allowance": 62, "max_admitted": 1248, "per_microseconds": 1_000_000})

    def test_a_mistake_in_the_config(self):
        config = self.file("version: 1\nstore: { redis: { urls: redis://a, nodes: 0 } }\n", "weir.yaml")
        ran = run("explain", POLICY, "--request", "/", "--config", config)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("weir.yaml: 2:43: nodes '0': too small: at least 1; use --config FILE for another file\n", ran.stderr)


class Descriptors(ProgramTest):
    POLICY = """
domain: edge
descriptors:
  - key: remote_address
    rate_limit: {unit: minute, requests_per_unit: 10, name: by-address}
    descriptors:
      - {key: path, value: "/trial*", shadow_mode: true, share_threshold: true,
         rate_limit: {unit: hour, requests_per_unit: 5}}
      - {key: path, value: /health, rate_limit: {unlimited: true}}
"""

    def explain(self, *entries, domain="edge", more=()):
        words = [word for entry in entries for word in ("--descriptor", entry)]
        return run("explain", self.file(self.POLICY), "--domain", domain, *words, *more)

    def test_the_limit_that_covers_it(self):
        ran = self.explain("remote_address=192.0.2.7")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, "Admitted (OK) unless by-address is exceeded (OVER_LIMIT)\n"
                         "edge, remote_address=192.0.2.7\n\nCovered by by-address: 10/min, fixed_window\n")

    def test_what_else_there_is_to_say(self):
        ran = self.explain("remote_address=192.0.2.7", "path=/trial=1")
        self.assertIn("edge, remote_address=192.0.2.7 + path=/trial=1\n", ran.stdout)
        self.assertIn("5/h, fixed_window\n  shadow: counted, never denies\n  share_threshold: ", ran.stdout)
        self.assertIn("It is unlimited.\n", self.explain("remote_address=x", "path=/health").stdout)

    def test_the_outcome_comes_first(self):
        policy = self.file(self.POLICY + "  - {key: banned, rate_limit: {unit: day, requests_per_unit: 0, name: never}}\n")
        for entries, first in [
                (["remote_address=x", "path=/trial1"], "Admitted (OK): edge/remote_address/path_/trial* is in shadow mode"),
                (["remote_address=x", "path=/health"], "Admitted (OK): it is unlimited"),
                (["path=/x"], "Admitted (OK): no limit covers it"),
                (["banned=x"], "Denied (OVER_LIMIT): never bans every request")]:
            with self.subTest(first):
                words = [word for entry in entries for word in ("--descriptor", entry)]
                shown = run("explain", policy, "--domain", "edge", *words).stdout
                self.assertEqual(shown.splitlines()[0], first)

    def test_what_no_limit_covers(self):
        ran = self.explain("path=/x")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("No limit covers it: it has no limit in domain 'edge'; limits exist for 'remote_address', "
                      "'remote_address + path=/trial*', 'remote_address + path=/health'\n", ran.stdout)
        ran = self.explain("path=/x", domain="edgy")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("domain 'edgy': unknown; valid domains: edge\n", ran.stderr)

    def test_json(self):
        ran = self.explain("remote_address=192.0.2.7", more=["--format", "json"])
        self.assertEqual(json.loads(ran.stdout), {
            "outcome": {"admitted": True, "text": "Admitted (OK) unless by-address is exceeded (OVER_LIMIT)"},
            "domain": "edge", "descriptor": [{"key": "remote_address", "value": "192.0.2.7"}], "covered": True,
            "limit": "by-address", "numbers": "10/min", "algorithm": "fixed_window", "unlimited": False,
            "shadow": False, "why_not": None})
        self.assertFalse(json.loads(self.explain("x=y", more=["--format", "json"]).stdout)["covered"])

    def test_a_request_or_a_descriptor(self):
        self.misuse("explain", POLICY, "--request", "/", "--domain", "edge", "--descriptor", "a=b",
                    err="--request and --descriptor: only one of them can be given")
        self.misuse("explain", POLICY, "--descriptor", "a=b", err="--domain is required with --descriptor")


class Mistakes(ProgramTest):
    def test_values_that_cannot_be_read(self):
        wrong = {
            ("--request", "login"): "--request: `login` is not a method and a path, like 'POST /login'",
            ("--request", "/", "--header", "X-Plan pro"):
                "--header: `X-Plan pro` is not a name and a value, like 'X-Plan: pro'",
            ("--request", "/", "--ip", "localhost"):
                "--ip: `localhost` is not an address, like 192.0.2.7 or 2001:db8::7",
        }
        for arguments, message in wrong.items():
            with self.subTest(arguments):
                self.misuse("explain", POLICY, *arguments, err=message)

    def test_a_cost_is_a_number(self):
        ran = run("explain", POLICY, "--request", "/", "--cost", "many")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("many", ran.stderr)

    def test_a_policy_that_does_not_load(self):
        bad = self.file("version: 1\nlimit: []\n")
        ran = run("explain", bad, "--request", "/")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertRegex(ran.stderr, rf"(?m)^{bad}:2:1: error: .*did you mean 'limits'")

    def test_a_missing_policy(self):
        ran = run("explain", "no/such.yaml", "--request", "/")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("no/such.yaml", ran.stderr)


if __name__ == "__main__":
    program.main()
