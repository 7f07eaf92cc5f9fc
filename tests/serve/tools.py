"""Finds what the tests of the server need in addition to Debian's packages: Python clients, Envoy, Node clients.
script/setup installs them into build/tools. A test is skipped if something it needs is unavailable; the others run.

  tools.py                                lists the tests that are skipped, and what they lack
  tools.py FILE CLASS PROGRAM VERSION     runs the tests of the class in FILE_test.py, or ends with 77: skipped
"""

import ast
import importlib.util
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent
TOOLS = FOLDER.parents[1] / "build" / "tools"
SKIPPED = 77


def has_envoy():
    return os.access(os.environ.get("WEIR_ENVOY", TOOLS / "venv" / "bin" / "envoy"), os.X_OK)


def has_node_clients():
    return (pathlib.Path(os.environ.get("WEIR_NODE_MODULES", TOOLS / "node")) / "node_modules" / "redis").is_dir()


# The modules of requirements.txt and of their dependencies.
CLIENTS = {"google", "grpc", "grpc_health", "grpc_reflection", "grpc_tools", "jsonschema_rs", "kubernetes_validate", "redis",
           "schemathesis", "yaml"}

# The programs that a file, or a class in it, runs.
ENVOY = ("Envoy", has_envoy)
RUNS = {
    "envoy": ENVOY, "quota": ENVOY, "llm_gateway": ENVOY,
    "proxy_answers.EnvoyExtAuthz": ENVOY, "proxy_answers.EnvoyRateLimitFilter": ENVOY,
    "sweep.EnvoyRateLimitFilter": ENVOY, "sweep.EnvoyExtAuthz": ENVOY, "sweep.EnvoyDescriptors": ENVOY,
    "overload.EnvoyRateLimitFilter": ENVOY, "overload.EnvoyExtAuthz": ENVOY,
    "overload.EnvoyDescriptors": ENVOY,
    "kubernetes.Envoy": ENVOY,
    "redis_clients.Node": ("Node's clients", has_node_clients),
}


def imports(file, seen):
    """Returns the top-level names of a file's imports, including those of imported files in this folder."""
    seen.add(file)
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module]
        for name in names:
            local = FOLDER / f"{name}.py"
            if not local.exists():
                yield name.split(".")[0]
            elif local not in seen:
                yield from imports(local, seen)


def missing(file, of_class=None):
    """Returns what the class of FILE_test.py lacks, or what all of its classes lack."""
    wants = CLIENTS.intersection(imports(FOLDER / f"{file}_test.py", set()))
    lacks = {name for name in wants if importlib.util.find_spec(name) is None}
    for test in file, f"{file}.{of_class}":
        name, is_there = RUNS.get(test, ("", lambda: True))
        if not is_there():
            lacks.add(name)
    return sorted(lacks)


def tell():
    files = [path.name.removesuffix("_test.py") for path in sorted(FOLDER.glob("*_test.py"))]
    for test in sorted({*files, *RUNS}):
        file, _, of_class = test.partition(".")
        if lacks := missing(file, of_class):
            print(f"setup: without {', '.join(lacks)} these tests are skipped: serve.{test}{'' if of_class else '.*'}")


def run(file, of_class, program, version):
    if lacks := missing(file, of_class):
        print(f"skipped: missing {', '.join(lacks)}; script/setup could not install it")
        sys.exit(SKIPPED)
    os.execv(sys.executable, [sys.executable, "-B", str(FOLDER / f"{file}_test.py"), program, version, "--verbose",
                              of_class])


if __name__ == "__main__":
    run(*sys.argv[1:]) if sys.argv[1:] else tell()
