"""weir init and weir schema: starter policies and schemas."""

import json
import os
import pathlib
import stat

import program
from program import OPENAPI, ProgramTest, run


class Init(ProgramTest):
    def test_the_starter_is_sound(self):
        policy = self.folder() / "mine.yaml"
        tests = policy.parent / "mine.test.yaml"
        self.expect("init", str(policy), out=f"Wrote {policy}. Validate it: weir lint {policy}\n"
                                             f"Wrote {tests}. Run it: weir test {tests}\n")
        self.expect("lint", "--strict", str(policy), out=f"{policy}: ok\n")
        self.assertEqual(policy.read_text(), run("init", "-").stdout)
        self.assertEqual(sorted(os.listdir(policy.parent)), ["mine.test.yaml", "mine.yaml"])

    def test_the_starter_passes_its_tests_which_detect_every_change(self):
        for source in [[], ["--from", OPENAPI]]:
            with self.subTest(source):
                folder = self.folder()
                run("init", *source, str(folder / "mine.yaml"))
                ran = run("test", "--mutate", str(folder))
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                self.assertNotIn("no test detects", ran.stdout)
                self.assertNotIn("no test has", ran.stdout)

    def test_tests_are_not_overwritten_either(self):
        folder = self.folder()
        tests = folder / "mine.test.yaml"
        tests.write_text("mine: all mine\n")
        policy = folder / "mine.yaml"
        self.expect("init", str(policy), code=1, err=f"weir: {tests}: already exists; --force replaces it\n")
        self.assertFalse(policy.exists())

    def test_from_openapi(self):
        policy = self.folder() / "mine.yaml"
        self.assertEqual(run("init", "--from", OPENAPI, str(policy)).returncode, 0)
        self.assertIn("(printLabel)", policy.read_text())
        self.assertEqual(run("lint", "--strict", str(policy)).returncode, 0)

    def test_the_file_is_one_like_any_other(self):
        policy = self.folder() / "mine.yaml"
        run("init", str(policy), umask=0o022)
        self.assertEqual(stat.S_IMODE(policy.stat().st_mode), 0o644)

    def test_nothing_is_overwritten(self):
        policy = self.file("mine: all mine\n")
        self.expect("init", policy, code=1, err=f"weir: {policy}: already exists; --force replaces it\n")
        self.assertEqual(pathlib.Path(policy).read_text(), "mine: all mine\n")

    def test_unless_by_force(self):
        policy = self.file("mine: all mine\n")
        self.assertEqual(run("init", "--force", policy).returncode, 0)
        self.assertEqual(pathlib.Path(policy).read_text(), run("init", "-").stdout)

    def test_a_link_is_a_file_that_is_there(self):
        link = self.folder() / "policy.yaml"
        link.symlink_to("nowhere")
        self.assertEqual(run("init", str(link)).returncode, 1)
        self.assertTrue(link.is_symlink())

    def test_a_folder_that_is_not_there(self):
        policy = self.folder() / "no" / "policy.yaml"
        self.expect("init", str(policy), code=1, err=f"weir: {policy}: No such file or directory\n")

    def test_documents_that_cannot_be_read(self):
        policy = self.folder() / "mine.yaml"
        for document in ["no/such.yaml", str(self.folder()), self.file(b"\x00\xff"), self.file("a: 1\n"),
                         self.file("[\n")]:
            with self.subTest(document):
                ran = run("init", "--from", document, str(policy))
                self.assertEqual((ran.returncode, ran.stdout), (1, ""))
                self.assertIn(document, ran.stderr)
                self.assertFalse(policy.exists())


class Schema(ProgramTest):
    def test_it_is_a_schema(self):
        ran = run("schema")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.endswith("}\n"))
        schema = json.loads(ran.stdout)
        self.assertIn("json-schema.org", schema["$schema"])
        self.assertIn("limits", schema["properties"])

    def test_it_is_one_of_weir_yaml_too(self):
        ran = run("schema", "--config")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("listeners", json.loads(ran.stdout)["properties"])


if __name__ == "__main__":
    program.main()
