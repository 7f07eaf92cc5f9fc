"""Finds what the tests of the clients need in addition to Debian's packages, and which tests are skipped without it.

  run.py                                says which
  run.py FILE CLASS PROGRAM VERSION     runs the tests of the class in FILE_test.py, or ends with 77: skipped
  run.py go_program Build ...           builds the program in Go that conformance_test.py runs
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

from toolchains import GO_PROGRAM, NODE_MODULES, go, go_environment, node

FOLDER = pathlib.Path(__file__).parent
SKIPPED = 77


def has_module(name):
    return lambda: importlib.util.find_spec(name) is not None


def has_package(name):
    return lambda: node() and (NODE_MODULES / name).is_dir()


GO = ("Go", go)
NODE = ("Node", node)
NEEDS = {
    "conformance.Node": [NODE],
    "conformance.Go": [GO],
    "conformance.Flask": [("Flask", has_module("flask"))],
    "conformance.Starlette": [("Starlette", has_module("starlette")), ("uvicorn", has_module("uvicorn"))],
    "conformance.Express": [("Express", has_package("express"))],
    "conformance.Fastify": [("Fastify", has_package("fastify"))],
    "conformance.NetHttp": [GO],
    "python.Asgi": [("uvicorn", has_module("uvicorn"))],
    "wsgi_servers.Servers": [("cheroot", has_module("cheroot")), ("waitress", has_module("waitress")),
                             ("gunicorn", has_module("gunicorn")), ("Werkzeug", has_module("werkzeug"))],
    "packages.Python": [("mypy", has_module("mypy")), ("setuptools", has_module("setuptools")),
                        ("Starlette", has_module("starlette"))],
    "packages.Node": [("TypeScript", has_package("typescript")), ("Fastify", has_package("fastify")),
                      ("Express", has_package("@types/express"))],
    "packages.Go": [GO],
    "docs.Python": [("Flask", has_module("flask")), ("Starlette", has_module("starlette")),
                    ("uvicorn", has_module("uvicorn"))],
    "docs.Node": [("Express", has_package("express")), ("Fastify", has_package("fastify"))],
    "docs.Go": [GO],
}


def missing(test):
    return [name for name, is_there in NEEDS.get(test, ()) if not is_there()]


def tell():
    for test in NEEDS:
        if lacks := missing(test):
            print(f"setup: without {', '.join(lacks)} these tests are skipped: clients.{test}")


def build_go_program():
    if not go():  # the tests that run it are skipped one by one
        sys.exit(0)
    GO_PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    command = [go(), "build", "-o", GO_PROGRAM, "."]
    sys.exit(subprocess.run(command, cwd=FOLDER / "go", env=go_environment()).returncode)


def run(file, of_class, program, version):
    if lacks := missing(f"{file}.{of_class}"):
        print(f"skipped: missing {', '.join(lacks)}; script/setup could not install it")
        sys.exit(SKIPPED)
    if file == "go_program":
        build_go_program()
    os.execv(sys.executable, [sys.executable, "-B", str(FOLDER / f"{file}_test.py"), program, version, "--verbose",
                              of_class])


if __name__ == "__main__":
    run(*sys.argv[1:]) if sys.argv[1:] else tell()
