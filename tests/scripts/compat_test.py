"""script/compat: its arguments, which server the tests get, and the table of results.

It runs in a tree of its own, where script/build makes a build of a few tests."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

SERVER = """#!/bin/sh
case "$1" in
  --version) echo "Redis server v=9.8.7 sha=0 malloc=libc bits=64" ;;
  --tls-port) echo "{tls}"; exit 1 ;;
esac
"""
BUILD = """#!/bin/sh
mkdir -p build/$1
cp tests.cmake build/$1/CTestTestfile.cmake
"""
HAS_SERVER = 'sh -c "test -x $WEIR_REDIS_SERVER"'
TESTS = f"""
add_test(store_redis.Store {HAS_SERVER})
add_test(store_redis.ServerTls {HAS_SERVER})
add_test(serve.shared_exact.Exact {HAS_SERVER})
add_test(serve.shared_leased.Leased {HAS_SERVER})
add_test(serve.shared_outage.Outage {HAS_SERVER})
add_test(table.Table false)
"""


class Compat(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name)
        for name in ("script/compat", "script/debian_root", "tests/compat.py", "tests/count.py", "tests/run.py"):
            (self.tree / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)
        self.write("script/setup", "#!/bin/sh\n")
        self.write("script/build", BUILD)

    def write(self, name, text):
        file = self.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def run_script(self, *arguments, tests=TESTS, tls="argument couldn't be parsed into an integer"):
        (self.tree / "tests.cmake").write_text(tests)
        for name in ("redis-8", "valkey-8"):
            self.write(f"build/compat/{name}/server", SERVER.replace("{tls}", tls))
        return subprocess.run([self.tree / "script/compat", *arguments], capture_output=True, text=True)

    def test_lists_the_servers(self):
        done = self.run_script("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()],
                         ["installed", "redis-6.2", "redis-7.0", "redis-8", "valkey-8"])

    def test_rejects_an_unknown_server(self):
        done = self.run_script("redis-5")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "compat: unknown server 'redis-5'; available: installed redis-6.2 redis-7.0 redis-8 valkey-8\n")

    def test_rejects_an_unknown_option(self):
        done = self.run_script("--all")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "usage: script/compat [--list] [--fetch] [SERVER...]\n")

    def test_prints_a_row_for_each_server(self):
        done = self.run_script("redis-8", "valkey-8")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("redis-8", "valkey-8"):
            self.assertRegex(done.stdout, f"(?m)^{name} +Redis 9.8.7 +2/2 +1/1 +1/1 +1/1$")

    def test_leaves_out_tls_if_the_server_was_built_without_it(self):
        done = self.run_script("redis-8", tls="Bad directive or wrong number of arguments")
        self.assertRegex(done.stdout, "(?m)^redis-8 +Redis 9.8.7 +1/1 +1/1 +1/1 +1/1$")

    def test_names_what_failed(self):
        done = self.run_script("redis-8", tests=TESTS + "add_test(serve.shared_leased.Other false)\n")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "(?m)^redis-8 +Redis 9.8.7 +2/2 +1/1 +1/2 +1/1$")
        self.assertIn("redis-8: failed: serve.shared_leased.Other\n", done.stdout)

    def test_a_suite_without_tests_fails(self):
        done = self.run_script("redis-8", tests=TESTS.replace("shared_outage", "elsewhere"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("redis-8: failed: no tests of outages were run\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
