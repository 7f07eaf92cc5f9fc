"""installed_test.py PREFIX: the files that `cmake --install` has installed with the program are complete and valid."""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PREFIX = pathlib.Path(sys.argv.pop(1))
WEIR = PREFIX / "bin/weir"


def run(*words, **settings):
    return subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          **settings)


class Installed(unittest.TestCase):
    def expect_success(self, *words, **settings):
        done = run(*words, **settings)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_man_pages_are_those_of_the_program(self):
        commands = re.findall(r"^  (\w+) ", run(WEIR, "--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0], re.M)
        pages = {file.name: file for file in (PREFIX / "share/man").glob("man*/*")}
        self.assertEqual(set(pages), {"weir.1.gz", "weir.yaml.5.gz", *(f"weir-{command}.1.gz" for command in commands)})
        self.assertEqual(gzip.decompress(pages["weir-serve.1.gz"].read_bytes()).decode(), run(WEIR, "man", "serve").stdout)

    def test_completions_are_those_of_the_program(self):
        for shell, path in {"bash": "bash-completion/completions/weir", "zsh": "zsh/site-functions/_weir",
                            "fish": "fish/vendor_completions.d/weir.fish"}.items():
            self.assertEqual((PREFIX / "share" / path).read_text(), run(WEIR, "completion", shell).stdout)

    def test_the_configuration_is_sound(self):
        with tempfile.TemporaryDirectory() as state:
            config = (PREFIX / "etc/weir/weir.yaml").read_text()
            self.assertIn("directory: /var/lib/weir ", config)
            changed = pathlib.Path(state) / "weir.yaml"
            changed.write_text(config.replace("/var/lib/weir ", f"{state}/state "))
            (pathlib.Path(state) / "policy.yaml").symlink_to(PREFIX / "etc/weir/policy.yaml")
            said = self.expect_success(WEIR, "serve", "--config", changed, "--check")
        self.assertIn("snapshot every 1 min", said)
        self.expect_success(WEIR, "lint", "--strict", PREFIX / "etc/weir/policy.yaml")

    def test_the_unit_names_what_is_installed(self):
        unit = (PREFIX / "lib/systemd/system/weir.service").read_text()
        program, *words = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1].split()
        # The tree was moved after it was installed.
        self.assertEqual(program, f"{PREFIX}.staged/bin/weir")
        self.assertEqual(words, ["serve", "--config", f"{PREFIX}.staged/etc/weir/weir.yaml"])
        user = re.search(r"^User=(.*)$", unit, re.MULTILINE)[1]
        self.assertRegex((PREFIX / "lib/sysusers.d/weir.conf").read_text(), rf"(?m)^u {user} ")

    def test_the_rest_is_there(self):
        for path in ("share/weir/grafana/weir.json", "share/weir/prometheus/alerts.yml", "share/weir/kubernetes/weir.yaml",
                     "share/weir/kubernetes/redis.yaml", "share/weir/kubernetes/sidecar.yaml",
                     "share/doc/weir/examples/policy.yaml", "share/doc/weir/examples/nginx/nginx.conf",
                     "share/doc/weir/LICENSE"):
            self.assertTrue((PREFIX / path).is_file(), path)
        self.assertTrue(os.access(PREFIX / "share/doc/weir/examples/cluster/run.sh", os.X_OK))

    def test_a_configuration_that_was_changed_stays(self):
        build = PREFIX.parents[2]
        with tempfile.TemporaryDirectory() as folder:
            policy = pathlib.Path(folder) / "etc/weir/policy.yaml"
            policy.parent.mkdir(parents=True)
            policy.write_text("mine\n")
            said = self.expect_success("cmake", "--install", build, "--prefix", folder, "--component", "program")
            self.assertEqual(policy.read_text(), "mine\n")
            self.assertTrue(policy.with_name("weir.yaml").is_file())
        self.assertIn(f"Kept: {policy}", said)


if __name__ == "__main__":
    unittest.main()
