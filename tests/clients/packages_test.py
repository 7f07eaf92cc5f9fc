"""The packages are typed, complete, and follow the conventions of their language.

packages_test.py PROGRAM VERSION [unittest's arguments]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))
from toolchains import NODE_MODULES, ROOT, go, go_environment, node, node_environment  # noqa: E402

VERSION = sys.argv[2]
CLIENTS = ROOT / "clients"


class Packages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_program(self, *command, **options):
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250, **options)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        return ran.stdout


class Python(Packages):
    def test_its_types_are_strict_and_programs_with_types_use_it(self):
        self.run_program(sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10",
                         "--cache-dir", ROOT / "build/clients/mypy", CLIENTS / "python/weir", FOLDER / "types_use.py",
                         env={**os.environ, "MYPYPATH": str(CLIENTS / "python")})

    def test_the_wheel_has_all_modules_and_their_types(self):
        source = shutil.copytree(CLIENTS / "python", self.folder / "source", ignore=shutil.ignore_patterns("*.pyc"))
        self.run_program(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps",
                         "--no-index", "--disable-pip-version-check", "--wheel-dir", self.folder, source)
        [wheel] = self.folder.glob("*.whl")
        self.assertEqual(wheel.name, f"weir-{VERSION}-py3-none-any.whl")
        packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("weir/")}
        self.assertEqual(packed, {f"weir/{path.name}" for path in (CLIENTS / "python/weir").iterdir() if path.is_file()})
        self.assertIn("weir/py.typed", packed)


class Node(Packages):
    def package(self):
        return json.loads((CLIENTS / "node/package.json").read_text())

    def test_its_types_are_those_that_its_code_has(self):
        (self.folder / "node_modules").symlink_to(NODE_MODULES)
        shutil.copytree(CLIENTS / "node", self.folder / "weir-client", ignore=shutil.ignore_patterns("test"))
        shutil.copy(FOLDER / "types_use.ts", self.folder)
        options = {
            "strict": True, "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True, "noEmit": True,
            "allowJs": True, "checkJs": True, "maxNodeModuleJsDepth": 0, "target": "es2022", "module": "node16",
            "moduleResolution": "node16", "esModuleInterop": True, "skipLibCheck": False, "types": ["node"],
            "preserveSymlinks": True,
            "paths": {"weir-client": ["./weir-client/index.d.ts"], "weir-client/*": ["./weir-client/*.d.ts"]},
        }
        config = {"compilerOptions": options, "include": ["types_use.ts", "weir-client/**/*.js", "weir-client/*.d.ts"]}
        (self.folder / "tsconfig.json").write_text(json.dumps(config))
        self.run_program(node(), NODE_MODULES / "typescript/lib/tsc.js", "--project", self.folder)

    def test_all_that_is_exported_is_packed(self):
        package = self.package()
        self.assertEqual((package["version"], package["engines"]), (VERSION, {"node": ">=18"}))
        exported = {path for entry in package["exports"].values() for path in entry.values()}
        for path in [*exported, package["main"], package["types"]]:
            self.assertIn(path.removeprefix("./"), package["files"])
        loose = {path.name for path in (CLIENTS / "node").glob("*.*s")}
        self.assertEqual(loose | {"lib", "README.md"}, set(package["files"]))

    def test_it_needs_nothing_but_node(self):
        self.assertFalse({"dependencies", "peerDependencies"} & set(self.package()))
        for path in [*(CLIENTS / "node").glob("*.js"), *(CLIENTS / "node/lib").glob("*.js")]:
            for name in re.findall(r"require\('([^']+)'\)", path.read_text()):
                self.assertTrue(name.startswith(("node:", "./")), f"{path} requires {name}")

    def test_its_own_tests(self):
        said = self.run_program(node(), "--test", CLIENTS / "node/test/client.test.js", env=node_environment())
        self.assertRegex(said, r"# pass [1-9]")
        self.assertRegex(said, r"# fail 0")


class Go(Packages):
    def test_it_needs_nothing_but_go(self):
        self.assertEqual((CLIENTS / "go/go.mod").read_text(), "module weir\n\ngo 1.19\n")

    def test_its_own_tests(self):
        for command in ["vet", "./..."], ["test", "-count=1", "./..."]:
            self.run_program(go(), *command, cwd=CLIENTS / "go", env=go_environment())
        self.run_program(go(), "vet", "./...", cwd=FOLDER / "go", env=go_environment())

    def test_it_is_formatted(self):
        gofmt = pathlib.Path(go()).with_name("gofmt")
        self.assertEqual(self.run_program(gofmt, "-l", CLIENTS / "go", FOLDER / "go"), "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
