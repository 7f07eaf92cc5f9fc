"""The command line as a whole: help, errors, outputs that cannot be written, and the demonstration."""

import re
import subprocess
import unittest

import program
from program import PROGRAM, VERSION, ProgramTest, run

COMMANDS = ["serve", "status", "health", "top", "peek", "reset", "reload", "hash", "override", "grant", "block", "unblock",
            "lint", "explain", "test", "diff", "simulate", "init", "schema", "demo", "completion", "man", "help"]
DEMO = (program.HERE / "demo.txt").read_text()


class Help(ProgramTest):
    def test_version_is_that_of_the_project(self):
        self.expect("--version", out=f"weir {VERSION}\n")

    def test_help_names_every_command_option_and_exit_code(self):
        text = self.help()
        for word in ["Usage: weir", "--help", "--version", "Examples:", "Exit codes: 0", "1", "2", *COMMANDS]:
            self.assertIn(word, text)

    def test_help_fits_a_terminal(self):
        for text in [self.help(), *map(self.help, COMMANDS)]:
            self.assertLessEqual(max(map(len, text.splitlines())), 103, text)

    def test_help_of_a_command_has_an_example_and_its_exit_codes(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = self.help(command)
                self.assertIn(f"Usage: weir {command}", text)
                self.assertRegex(text, rf"Examples?:\n(  .*\n)*?  .*weir {command}")
                self.assertIn("Exit codes: 0", text)

    def test_help_of_a_command_tells_every_exit_code_that_it_has(self):
        self.assertIn("3 some could", self.help("diff"))

    def test_help_is_a_command_too(self):
        self.expect("help", out=self.help())
        for command in COMMANDS:
            self.expect("help", command, out=self.help(command))
        self.misuse("help", "srve", err=f"COMMAND: `srve` is not one of {', '.join(COMMANDS)}; did you mean `serve`?")

    def test_explain_says_whom_its_default_sender_is(self):
        self.assertRegex(self.help("explain"), r"127\.0\.0\.1, is a trusted proxy")


class Demo(ProgramTest):
    def test_demo_prints_the_same_every_time(self):
        self.expect("demo", out=DEMO)
        self.expect("demo", out=DEMO)


class Outputs(ProgramTest):
    PRINTING = [["demo"], ["schema"], ["lint", program.POLICY], ["completion", "bash"], ["man"], ["help"], ["init", "-"], ["--help"],
                ["explain", program.POLICY, "--request", "/"], ["diff", program.POLICY, program.POLICY],
                ["simulate", program.POLICY, "--log", program.LOG]]

    def expect_failure(self, arguments, stdout):
        ran = subprocess.run([PROGRAM, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60,
                             cwd=program.ROOT)
        self.assertEqual(ran.returncode, 1, arguments)
        self.assertIn("weir: cannot write", ran.stderr)

    def test_a_full_disk_is_an_error(self):
        for arguments in self.PRINTING:
            with self.subTest(arguments), open("/dev/full", "w") as full:
                self.expect_failure(arguments, full)

    def test_a_closed_pipe_is_an_error(self):
        for arguments in self.PRINTING:
            with self.subTest(arguments), subprocess.Popen(["true"], stdin=subprocess.PIPE) as gone:
                gone.wait()
                self.expect_failure(arguments, gone.stdin)

    def test_colours_are_for_terminals_that_want_them(self):
        arguments = ["lint", self.file("version: 2\n")]
        self.assertNotIn("\x1b", run(*arguments).stdout)
        self.assertIn("\x1b[31m", program.on_terminal(*arguments))
        self.assertNotIn("\x1b", program.on_terminal(*arguments, NO_COLOR="1"))
        self.assertNotIn("\x1b", program.on_terminal(*arguments, TERM="dumb"))

    def test_what_a_file_contains_does_not_steer_the_terminal(self):
        policy = self.file('"\\e[2Jversion": 1\n')
        self.assertNotIn("\x1b[2J", program.on_terminal("lint", policy))


class Mistakes(ProgramTest):
    def expect_hint(self, word, hint):
        self.expect(word, code=2, err=f"weir: unknown command `{word}`{hint}\nSee `weir --help`.\n")

    def test_no_command(self):
        self.expect(code=2, err=f"weir: missing command; commands: {', '.join(COMMANDS)}\nSee `weir --help`.\n")

    def test_a_mistyped_command_is_corrected(self):
        for word, meant in [("dmeo", "demo"), ("erve", "serve"), ("esrve", "serve"), ("Status", "status"), ("rload", "reload"),
                            ("simluate", "simulate"), ("peak", "peek"), ("healht", "health"), ("lnit", "lint")]:
            self.expect_hint(word, f"; did you mean `weir {meant}`?")

    def test_what_other_servers_call_a_command_leads_to_it(self):
        for word, meant in [("validate", "lint"), ("check", "lint"), ("start", "serve"), ("run", "serve"),
                            ("restart", "reload"), ("unban", "unblock"), ("ban", "block"), ("stats", "status"), ("watch", "top")]:
            self.expect_hint(word, f"; did you mean `weir {meant}`?")
        self.expect_hint("version", "; `weir --version` prints the version")

    def test_what_no_command_does_is_explained(self):
        stop = "; stop a server with SIGTERM, a service with `systemctl stop weir`"
        for word, hint in [("stop", stop), ("shutdown", stop),
                           ("config", "; `weir serve --check` validates weir.yaml and shows the settings in effect")]:
            self.expect_hint(word, hint)

    def test_a_word_that_only_rhymes_with_a_command_is_not_corrected(self):
        for word in "pan", "week", "print":
            self.expect_hint(word, "")

    def test_an_unknown_command_is_named(self):
        self.expect("frobnicate", code=2, err="weir: unknown command `frobnicate`\nSee `weir --help`.\n")

    def test_a_mistyped_option_is_corrected(self):
        self.expect("--versoin", code=2,
                    err="weir: unknown option `--versoin`; did you mean `--version`?\nSee `weir --help`.\n")

    def test_an_unknown_option_is_named(self):
        self.expect("--frobnicate", code=2, err="weir: unknown option `--frobnicate`\nSee `weir --help`.\n")

    def test_an_unknown_option_of_a_command_is_named(self):
        self.misuse("demo", "--hepl", err="unknown option `--hepl`; did you mean `--help`?")

    def test_an_unknown_option_counts_before_what_is_missing(self):
        self.misuse("lint", "--strit", err="unknown option `--strit`; did you mean `--strict`?")

    def test_an_argument_too_many_is_named(self):
        self.misuse("demo", "extra", err="unexpected argument `extra`")

    def test_an_empty_argument_is_named(self):
        self.expect("", code=2, err="weir: unknown command ``\nSee `weir --help`.\n")

    def test_a_missing_argument_is_named(self):
        self.misuse("lint", err="FILE is required")
        self.misuse("diff", program.POLICY, err="NEW is required")
        self.misuse("explain", program.POLICY, err="--request is required")
        self.misuse("peek", "api", err="CONSUMER is required")
        self.misuse("reset", err="LIMIT is required")
        self.misuse("simulate", program.POLICY, err="--log is required")
        self.misuse("completion", err="SHELL is required")

    def test_a_wrong_word_is_corrected(self):
        self.misuse("lint", program.POLICY, "--format", "jsno",
                    err="--format: `jsno` is not one of text, json, github; did you mean `json`?")
        self.misuse("completion", "dash", err="SHELL: `dash` is not one of bash, zsh, fish; did you mean `bash`?")

    def test_serve_says_what_was_meant(self):
        self.misuse("serve", "policy.yaml",
                    err="unexpected argument `policy.yaml`; write `weir serve --policy policy.yaml`")
        self.misuse("serve", "etc/weir.yaml",
                    err="unexpected argument `etc/weir.yaml`; write `weir serve --config etc/weir.yaml`")
        for arguments, address in [(["--port", "9000"], "127.0.0.1:9000"), (["--port=9000"], "127.0.0.1:9000"),
                                   (["-p", "9000"], "127.0.0.1:9000"), (["--listen", ":9000"], ":9000"),
                                   (["--host", "0.0.0.0"], "0.0.0.0:8080"), (["--port"], "127.0.0.1:8080")]:
            word = arguments[0]
            self.misuse("serve", *arguments,
                        err=f"unknown option `{word}`; each listener has its own address: write `weir serve --http {address}`; "
                            "likewise --rls, --resp, --admin")
        self.misuse("serve", "--polcy", "x", err="unknown option `--polcy`; did you mean `--policy`?")

    def test_a_port_is_an_address_on_loopback(self):
        listeners = ["--http", "9000", "--rls", "off", "--resp", "off", "--admin", "9001"]
        ran = run("serve", *listeners, "--check")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("\nhttp listener: 127.0.0.1:9000 (--http), ", ran.stdout)
        self.assertIn("\nadmin listener: 127.0.0.1:9001 (--admin), ", ran.stdout)
        ran = run("serve", "--http", "70000", "--check")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("weir: --http: '70000': invalid port", ran.stderr)

    def test_a_policy_in_place_of_weir_yaml_is_told_where_it_belongs(self):
        policy = self.file("version: 1\nlimits: []\n")
        ran = run("serve", "--config", policy, "--check")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn(f"error: this is a policy, not weir.yaml; use --policy {policy}\n", ran.stderr)

    def test_a_descriptor_is_whole_and_alone(self):
        for command in "peek", "reset":
            self.misuse(command, "--descriptor", "a=b", err="--domain is required with --descriptor")
            self.misuse(command, "--domain", "edge", err="--descriptor KEY=VALUE is required with --domain")
            self.misuse(command, "api", "alice", "--domain", "edge", "--descriptor", "a=b",
                        err="LIMIT and --descriptor: only one of them can be given")
            self.misuse(command, "--domain", "edge", "--descriptor", "b",
                        err="--descriptor: `b` is not KEY=VALUE, like remote_address=192.0.2.7")

    def test_a_file_may_be_called_like_a_command(self):
        ran = run("lint", "demo")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stdout, re.compile("^demo:", re.MULTILINE))


if __name__ == "__main__":
    program.main()
