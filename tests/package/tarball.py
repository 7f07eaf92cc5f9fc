"""tarball.py ROOT FOLDER: tests the portable program in FOLDER of the Debian at ROOT, with the libc of that Debian.

Run by script/package --tarball --test, in its own network. Tests what could depend on the distribution: name
resolution, time zones, the machine's certificate authorities, users.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from booted_root import ask
from expectations import expect, wait_until

NOBODY = 65534
POLICY = """version: 1
limits:
  - name: by-user
    consumer_key: user
    algorithm: fixed_window
    rate: 3/month
    window: { calendar: month, timezone: Europe/Berlin }
"""
CONFIG = """version: 1
policy: policy.yaml
state: { directory: /state }
listeners:
  admin: { listen: "127.0.0.1:8089", tls: { certificate: server.crt, key: server.key } }
"""


def step(text):
    print(f"package: {text}", flush=True)


def make_certificates(folder):
    """Creates a certificate authority, and a certificate signed by it for localhost."""
    with tempfile.TemporaryDirectory() as name:
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                   "-days", "2"]
        subprocess.run([*request, "-subj", "/CN=authority", "-keyout", f"{name}/ca.key", "-out", folder / "ca.crt"],
                       check=True, capture_output=True)
        subprocess.run([*request, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-addext", "basicConstraints=critical,CA:FALSE", "-CA", folder / "ca.crt", "-CAkey", f"{name}/ca.key",
                        "-keyout", folder / "server.key", "-out", folder / "server.crt"], check=True, capture_output=True)


class Debian:
    def __init__(self, root, folder):
        self.root = pathlib.Path(root)
        self.program = f"{folder}/bin/weir"

    def command(self, *words, user=NOBODY):
        return ["/usr/sbin/chroot", f"--userspec={user}:{user}", "--groups=", str(self.root), *words]

    def weir(self, *words, user=NOBODY):
        done = subprocess.run(self.command(self.program, *words, user=user), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        assert done.returncode == 0, f"weir {' '.join(words)}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def libc(self):
        said = subprocess.run(self.command("ldd", "--version"), check=True, stdout=subprocess.PIPE, text=True).stdout
        return said.splitlines()[0].rsplit(" ", 1)[1]


def serve(debian):
    files = debian.root / "files"
    files.mkdir()
    make_certificates(files)
    (files / "policy.yaml").write_text(POLICY)
    (files / "weir.yaml").write_text(CONFIG)
    (debian.root / "state").mkdir()
    for path in (debian.root / "state", *files.iterdir()):
        shutil.chown(path, NOBODY, NOBODY)
    # The location in Fedora, where only the program itself looks.
    bundle = debian.root / "etc/pki/tls/certs/ca-bundle.crt"
    bundle.parent.mkdir(parents=True)
    shutil.copy(files / "ca.crt", bundle)
    for path in ("usr/lib/ssl", "etc/ssl"):
        shutil.rmtree(debian.root / path, ignore_errors=True)
    log = open(debian.root / "log", "w+")
    return subprocess.Popen(debian.command(debian.program, "serve", "--config", "/files/weir.yaml"), stdout=log,
                            stderr=subprocess.STDOUT, env={"PATH": "/usr/bin"})


def main(root, folder):
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    debian = Debian(root, folder)
    zones = debian.root / "usr/share/zoneinfo"
    if not zones.exists():  # a minimal root may lack Debian's tzdata: the files are the same everywhere
        shutil.copytree("/usr/share/zoneinfo", zones, symlinks=True)
    (debian.root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    debian.weir("lint", "--strict", f"{folder}/etc/weir/policy.yaml")
    assert (debian.root / folder.lstrip("/") / "share/man/man1/weir.1.gz").is_file()

    server = serve(debian)
    try:
        wait_until("the server", lambda: ask("/readyz") == 200 or server.poll() is not None)
        assert server.poll() is None, (debian.root / "log").read_text()
        expect("four requests", [ask() for _ in range(4)], [200, 200, 200, 429])
        # Connects by name, with the authority that the machine trusts.
        expect("weir health", debian.weir("health", "--admin", "https://localhost:8089"), "ready\n")
    finally:
        server.terminate()
    expect("the exit code", server.wait(timeout=60), 0)
    step(f"glibc {debian.libc()}: it serves; names, time zones and the authorities of Fedora's place are found")


if __name__ == "__main__":
    main(*sys.argv[1:])
