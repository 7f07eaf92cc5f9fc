"""A Debian in a folder with its own systemd: runs commands in it, and sends requests to its services.

In namespaces of mounts, processes and network (script/package makes them), so that everything in it ends with it.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import urllib.error
import urllib.request

from expectations import wait_until

# systemd must be the first process, with an empty /run and its own part of the control groups, of either version.
BOOT = """
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
  mkdir -p "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
  mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
cd "$root"
pivot_root . mnt
umount --lazy /mnt
exec env -i container=weir PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal
"""


def ask(path="/v1/check", user="alice"):
    """Returns the status of a response, or None if the connection is refused."""
    body = json.dumps({"path": "/hello", "user": user}).encode() if path == "/v1/check" else None
    try:
        return urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:8080{path}", body), timeout=10).status
    except urllib.error.HTTPError as answer:
        return answer.code
    except OSError:
        return None


class BootedRoot:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.outer = subprocess.Popen(["unshare", "--pid", "--mount", "--fork", "--kill-child", "bash", "-euc", BOOT,
                                       "boot", str(self.folder)])
        self.init = wait_until("a systemd", self.find_init)
        wait_until("systemd is up", lambda: self.run("systemctl", "is-system-running", may_fail=True).strip()
                   in ("running", "degraded"))
        return self

    def __exit__(self, *_):
        if self.outer.poll() is None:
            os.kill(self.init, signal.SIGRTMIN + 4)  # powers off: stops services and removes control groups
            try:
                self.outer.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.kill(self.init, signal.SIGKILL)
                self.outer.wait()
        for hierarchy in ("systemd", "unified"):  # its own control group stays behind
            with contextlib.suppress(OSError):
                pathlib.Path(f"/sys/fs/cgroup/{hierarchy}/init.scope").rmdir()

    def find_init(self):
        assert self.outer.poll() is None, "systemd does not start here"
        children = pathlib.Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text().split()
        if children and pathlib.Path(f"/proc/{children[0]}/comm").read_text() == "systemd\n":
            return int(children[0])
        return None

    def run(self, *words, may_fail=False):
        """Returns the output of a command, both streams."""
        inside = ["nsenter", "--target", str(self.init), "--mount", "--pid", "--root", "env", "-i", "--chdir=/",
                  "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LANG=C.UTF-8"]
        done = subprocess.run([*inside, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        if done.returncode != 0 and not may_fail:
            raise AssertionError(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}")
        return done.stdout

    def file(self, path):
        return self.folder / path.lstrip("/")
