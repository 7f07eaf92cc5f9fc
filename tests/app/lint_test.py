"""weir lint: errors and warnings of policy files, in three formats."""

import re
import textwrap
import unittest
import unittest.mock

import program
from program import OPENAPI, POLICY, RATELIMIT, ProgramTest, run

BAD = """version: 1
limits:
  - name: by-ip
    routes: [POST /login]
    consumer_key: ip
    algorithm: fixed_window
    rate: 10/min
    burts: 5
  - name: by-ip
    consumer_key: global
    algorithm: gcra
    rate: 0/s
"""


class Lint(ProgramTest):
    def test_examples_have_no_mistake(self):
        for path in [POLICY, program.NEXT, OPENAPI, RATELIMIT]:
            with self.subTest(path):
                ran = run("lint", path)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
                self.assertNotIn("error", ran.stdout)

    def test_the_example_as_it_is_shown(self):
        self.golden("lint_policy.txt", "lint", POLICY)

    def test_limits_on_what_is_held_and_on_what_is_reported_as_they_are_shown(self):
        self.golden("lint_concurrency.txt", "lint", "--list", "tests/policy/valid/concurrency.yaml")

    def test_a_name_cannot_turn_the_line_around(self):
        policy = self.file("version: 1\nlimits:\n  - { name: \"api\\u202emoc\\u009b2J\", consumer_key: ip, "
                           "algorithm: gcra, rate: 1/s }\n")
        ran = run("lint", policy)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("name 'api\\u202emoc\\u009b2J': a name can contain only letters", ran.stdout + ran.stderr)
        domain = self.file("domain: \"shop\\u202ekcab\"\ndescriptors:\n  - key: \"k\\u2066\"\n    rate_limit: "
                           "{ name: \"n\\u202e\", unit: second, requests_per_unit: 1 }\n")
        other = self.file("domain: \"shop\\u202ekcab\"\ndescriptors:\n  - key: \"k\\u2066\"\n    rate_limit: "
                          "{ name: \"n\\u202e\", unit: second, requests_per_unit: 2 }\n", "other.yaml")
        for command in [["lint", "--list", domain], ["lint", "--format", "json", domain], ["diff", domain, other],
                        ["diff", "--format", "json", domain, other], ["diff", "--format", "markdown", domain, other],
                        ["explain", domain, "--domain", "shop\u202ekcab", "--descriptor", "k\u2066=v"]]:
            with self.subTest(command[:-1]):
                ran = run(*command)
                shown = ran.stdout + ran.stderr
                self.assertNotRegex(shown, "[\u0080-\u009f\u202a-\u202e\u2066-\u2069]")
                self.assertIn("n", shown)

    def test_list_says_what_was_loaded(self):
        shown = run("lint", "--list", POLICY).stdout.splitlines()
        self.assertIn("login-by-ip: POST /login: sliding_window_log 10/min by ip when anonymous", shown)
        self.assertIn("sms-gateway: POST /sms: leaky_bucket 10/s, queue 100 by global", shown)

    def test_an_unknown_zone_has_its_place_and_a_near_name(self):
        policy = self.file("""version: 1
limits:
  - name: billed
    consumer_key: ip
    algorithm: fixed_window
    limit: 1000
    window: { calendar: month, timezone: Berlin }
""")
        ran = run("lint", policy)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(":7:42: error: timezone 'Berlin': unknown time zone: write it like Europe/Berlin or UTC, "
                      "did you mean 'Europe/Berlin'?", ran.stdout + ran.stderr)

    def test_list_shows_numbers_as_they_were_written_and_bans(self):
        policy = self.file("""version: 1
limits:
  - { name: closed, routes: [/old/**], consumer_key: global, rate: 0 }
  - { name: api, routes: [/api/**], consumer_key: ip, algorithm: gcra, rate: 300 / minute, burst: 20 }
""")
        self.assertEqual(run("lint", "--list", policy).stdout.splitlines()[1:],
                         ["closed: /old/**: banned: denied outright by global",
                          "api: /api/**: gcra 300/min, burst 20 by ip"])

    def test_files_of_one_domain_are_merged_only_if_asked_for(self):
        one = "domain: shop\ndescriptors:\n  - { key: a, rate_limit: { unit: day, requests_per_unit: 5 } }\n"
        folder = self.folder()
        (folder / "1.yaml").write_text(one)
        (folder / "2.yaml").write_text(one.replace("key: a", "key: b"))
        refused = run("lint", folder)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("2.yaml:1:9: error: duplicate domain 'shop': already defined in ", refused.stdout)
        self.expect("lint", "--merge-domains", folder, out=f"{folder}: ok\n")
        ran = run("lint", "--merge-domains", "--list", folder)
        self.assertEqual(ran.stdout.splitlines()[1:], ["shop/a: domain shop: fixed_window 5/day",
                                                        "shop/b: domain shop: fixed_window 5/day"])

    def test_a_config_says_how_many_nodes_there_are(self):
        policy = self.file("version: 1\nlimits: [{ name: a, consumer_key: ip, algorithm: fixed_window, "
                           "rate: 1000/min, consistency: approximate }]\n")
        config = self.file("version: 1\nstore: { redis: { urls: redis://127.0.0.1, nodes: 4 } }\n", "weir.yaml")
        self.assertIn("below 16000 (250 for each of 64 nodes), ", run("lint", policy).stdout)
        self.expect("lint", policy, "--config", config, out=f"{policy}: ok\n")

    UNVERIFIED = """version: 1
limits:
  - name: by-tenant
    consumer_key: header:X-Tenant
    algorithm: gcra
    rate: 10/s
"""

    def test_strict_fails_on_warnings(self):
        self.assertEqual(run("lint", self.file(self.UNVERIFIED)).returncode, 0)
        ran = run("lint", "--strict", self.file(self.UNVERIFIED))
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stdout, r":4:19: warning: .* \[unverified-key\]\n")

    def test_strict_is_content_with_every_policy_that_is_shipped(self):
        shipped = [*program.ROOT.glob("examples/*.yaml"), *program.ROOT.glob("examples/*/*.yaml"),
                   program.ROOT / RATELIMIT]
        policies = [path for path in shipped if path.is_dir() or re.search(
            "(?m)^(limits|descriptors|openapi):", path.read_text()) and not path.parent.name == "ratelimit"]
        self.assertGreaterEqual(len(policies), 14)
        for path in policies:
            with self.subTest(path):
                self.expect("lint", "--strict", str(path), out=f"{path}: ok\n")

    def test_strict_is_content_with_the_policies_of_the_manifests(self):
        for path in sorted(program.ROOT.glob("deploy/kubernetes/*.yaml")):
            for policy in re.findall(r"(?m)^  policy\.yaml: \|\n((?:    .*\n|\n)+)", path.read_text()):
                with self.subTest(path):
                    self.expect("lint", "--strict", self.file(textwrap.dedent(policy), "p.yaml"), out=unittest.mock.ANY)

    def test_a_comment_with_a_reason_silences_a_warning(self):
        allowed = self.file(self.UNVERIFIED.replace("Tenant", "Tenant  # weir: allow unverified-key because of nginx"))
        self.expect("lint", "--strict", allowed, out=f"{allowed}: ok\n")
        misspelt = self.file(self.UNVERIFIED.replace("Tenant", "Tenant  # weir: allow unverifed-key because of nginx"))
        ran = run("lint", misspelt)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(":4:38: error: unknown rule 'unverifed-key', did you mean 'unverified-key'?\n", ran.stdout)

    def test_the_standard_input(self):
        ran = run("lint", "-", stdin=self.UNVERIFIED)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("<stdin>:4:19: warning: "), ran.stdout)
        self.assertTrue(ran.stdout.endswith("\n<stdin>: 1 warning\n"), ran.stdout)
        self.assertEqual(run("lint", "-", stdin="").returncode, 1)
        self.misuse("lint", "-", "-", err="`-`: the standard input can be read only once")

    def test_strict_is_content_where_there_is_none(self):
        starter = self.file(run("init", "-").stdout)
        self.expect("lint", "--strict", starter, out=f"{starter}: ok\n")

    def test_every_mistake_is_shown_with_its_place(self):
        bad = self.file(BAD)
        ran = run("lint", bad)
        self.assertEqual((ran.returncode, ran.stderr), (1, ""))
        self.assertIn(f"{bad}:8:5: error: ", ran.stdout)
        self.assertIn("did you mean 'burst'?", ran.stdout)
        self.assertIn(f"{bad}:12:11: error: ", ran.stdout)
        self.assertRegex(ran.stdout.splitlines()[-1], r": \d errors(, \d warnings?)?$")

    def test_several_files_are_counted_each_and_together(self):
        bad = self.file(BAD)
        good = self.file(run("init", "-").stdout)
        ran = run("lint", bad, good)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"\n{good}: ok\n", ran.stdout)
        self.assertRegex(ran.stdout.splitlines()[-1], r"^2 files: \d errors")

    def test_json(self):
        bad = self.file(BAD)
        found = self.json("lint", "--format", "json", bad, POLICY, code=1)
        self.assertEqual([file["file"] for file in found["files"]], [bad, POLICY])
        self.assertEqual(found["errors"], found["files"][0]["errors"])
        self.assertEqual(found["errors"] + found["warnings"], len(found["problems"]))
        first = found["problems"][0]
        self.assertEqual({"severity", "file", "line", "column", "message", "rule"}, set(first))
        self.assertEqual((first["file"], first["rule"]), (bad, None))
        warned = self.json("lint", "--format", "json", self.file(self.UNVERIFIED))["problems"]
        self.assertEqual([problem["rule"] for problem in warned], ["unverified-key"])

    def test_json_of_a_clean_file(self):
        starter = self.file(run("init", "-").stdout)
        self.assertEqual(self.json("lint", "--format=json", starter),
                         {"problems": [], "files": [{"file": starter, "errors": 0, "warnings": 0}],
                          "errors": 0, "warnings": 0})

    def test_github_annotates_places(self):
        bad = self.file(BAD, "100%,a:b.yaml")
        ran = run("lint", "--format", "github", bad)
        self.assertEqual(ran.returncode, 1)
        name = bad.replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
        self.assertRegex(ran.stdout, rf"(?m)^::error file={name},line=8,col=5::.*burts")
        for line in ran.stdout.splitlines():
            self.assertRegex(line, r"^::(error|warning) file=[^,:]*,line=\d+,col=\d+::.")

    def test_github_says_nothing_about_a_clean_file(self):
        self.expect("lint", "--format", "github", self.file(run("init", "-").stdout))


class BadFiles(ProgramTest):
    def expect_refused(self, path):
        ran = run("lint", path)
        self.assertEqual((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        self.assertRegex(ran.stdout.splitlines()[0], r":\d+:\d+: error: .")
        self.assertEqual(ran.stdout.splitlines()[-1], f"{path}: 1 error")

    def test_a_missing_file(self):
        self.expect_refused("no/such/policy.yaml")

    def test_a_directory_without_policies(self):
        self.expect_refused(str(self.folder()))

    def test_a_binary_file(self):
        self.expect_refused(self.file(b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe"))

    def test_an_empty_file(self):
        self.expect_refused(self.file(""))

    def test_a_file_that_is_not_yaml(self):
        self.expect_refused(self.file("limits: [\n"))

    def test_other_files_are_checked_nevertheless(self):
        ran = run("lint", "no/such/policy.yaml", POLICY)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"\n{POLICY}: ", ran.stdout)


if __name__ == "__main__":
    program.main()
