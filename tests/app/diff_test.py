"""weir diff: the reported changes, and the exit codes."""

import program
from program import NEXT, OPENAPI, POLICY, ProgramTest, run


class Diff(ProgramTest):
    def test_one_of_them_may_be_the_standard_input(self):
        text = (program.ROOT / POLICY).read_text()
        self.assertEqual(run("diff", "-", NEXT, stdin=text).stdout, run("diff", POLICY, NEXT).stdout)
        self.misuse("diff", "-", "-", err="`-`: the standard input can be read only once")

    def changed(self, old, new):
        text = (program.ROOT / POLICY).read_text()
        self.assertIn(old, text)
        return self.file(text.replace(old, new))

    def test_the_examples_in_words(self):
        self.golden("diff.txt", "diff", POLICY, NEXT, code=3)

    def test_the_examples_in_a_pull_request(self):
        self.golden("diff.md", "diff", POLICY, NEXT, "--format", "markdown", code=3)

    def test_limits_on_what_is_held_in_words(self):
        before = "tests/policy/valid/concurrency.yaml"
        text = (program.ROOT / before).read_text()
        for old, new in [("limit: 5\n", "limit: 4\n"), ("lease: 15min", "lease: 5min"), ("limit: 40", "limit: 50"),
                         ("POST /imports: 2", "POST /imports: 3"), ("limit: 8", "limit: 7"),
                         ("usage: reported", "usage: reserved")]:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.golden("diff_concurrency.txt", "diff", before, self.file(text), code=3)

    def test_json(self):
        found = self.json("diff", POLICY, NEXT, "--format", "json", code=3)
        self.assertTrue(all(set(change) == {"subject", "sentence", "direction"} for change in found["changes"]))
        self.assertEqual(found["tighter"], sum(change["direction"] == "tighter" for change in found["changes"]))
        self.assertGreater(found["tighter"], 0)

    def test_a_policy_does_not_differ_from_itself(self):
        for format in ["text", "markdown", "json"]:
            ran = run("diff", POLICY, POLICY, "--format", format)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_a_comment_is_no_change(self):
        self.assertEqual(self.json("diff", POLICY, self.changed("version: 1", "version: 1  # one"), "--format=json")
                         ["changes"], [])

    def test_looser_is_no_reason_to_stop(self):
        ran = run("diff", POLICY, self.changed("rate: 10/min", "rate: 20/min"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("(looser)", ran.stdout)

    def test_tighter_has_an_exit_code_of_its_own(self):
        ran = run("diff", POLICY, self.changed("rate: 10/min", "rate: 5/min"))
        self.assertEqual((ran.returncode, ran.stderr), (3, ""))
        self.assertIn("login-by-ip: ", ran.stdout)
        self.assertIn("(tighter)", ran.stdout)

    def test_formats_may_differ(self):
        ran = run("diff", POLICY, OPENAPI)
        self.assertEqual((ran.returncode, ran.stderr), (3, ""))

    def test_colours_on_a_terminal(self):
        self.assertIn("\x1b[31m", program.on_terminal("diff", POLICY, NEXT))

    def test_a_file_that_does_not_load(self):
        bad = self.file("version: 1\nlimit: []\n")
        for arguments in [[POLICY, bad], [bad, POLICY]]:
            ran = run("diff", *arguments)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertIn(f"{bad}:2:1: error: ", ran.stderr)

    def test_both_files_are_checked(self):
        ran = run("diff", "no/old.yaml", "no/new.yaml")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no/old.yaml", ran.stderr)
        self.assertIn("no/new.yaml", ran.stderr)


if __name__ == "__main__":
    program.main()
