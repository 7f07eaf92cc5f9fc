"""The programs that the tests of the clients run: Debian's own if installed, because they are the oldest supported
ones."""

import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).parents[2]
TOOLS = ROOT / "build/tools"
NODE_MODULES = pathlib.Path(os.environ.get("WEIR_NODE_MODULES", TOOLS / "node")) / "node_modules"

# The output of `run.py go_program`, made once for all tests.
GO_PROGRAM = ROOT / "build/clients/weirtests"


def first_of(*places):
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def go():
    return first_of(os.environ.get("WEIR_GO"), "/usr/lib/go-1.19/bin/go", shutil.which("go"))


def go_environment():
    """Runs without the network, and writes nothing outside of build."""
    return {**os.environ, "GOCACHE": str(ROOT / "build/clients/go-cache"), "GOPATH": str(ROOT / "build/clients/go"),
            "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GO111MODULE": "on", "GOWORK": "off"}


def node():
    return first_of(os.environ.get("WEIR_NODE"), "/usr/bin/node", shutil.which("node"))


def node_environment():
    return {**os.environ, "NODE_PATH": str(NODE_MODULES)}
