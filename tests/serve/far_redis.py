"""A Redis behind a network link that can be cut: packets are then lost silently.

    with FarRedis() as redis:
        redis.cut()
        redis.mend()

It runs in its own network namespace, which requires root. Only `ip` is needed: cut() gives both ends a wrong hardware
address for the other, so neither receives what is sent.
"""

import contextlib
import ipaddress
import os
import subprocess

from redis_servers import Redis

NOBODY = "02:00:00:00:00:01"


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"this test needs a network namespace, and so root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and "
                             f"iproute2: ip {' '.join(words)}: {done.stderr.strip()}")


class Cable:
    """A link from here to a namespace. Names and addresses are unique to this process."""

    def __init__(self):
        self.namespace = f"weir-{os.getpid()}"
        self._near, self._far = f"weir{os.getpid()}n", f"weir{os.getpid()}f"
        network = ipaddress.ip_network((int(ipaddress.ip_address("198.18.0.0")) + os.getpid() % 32_768 * 4, 30))
        self.near, self.far = map(str, network.hosts())
        ip("netns", "add", self.namespace)
        try:
            self._lay()
        except BaseException:
            self.close()
            raise

    def _lay(self):
        ip("link", "add", self._near, "type", "veth", "peer", "name", self._far, "netns", self.namespace)
        ip("address", "add", f"{self.near}/30", "dev", self._near)
        ip("-n", self.namespace, "address", "add", f"{self.far}/30", "dev", self._far)
        ip("link", "set", self._near, "up")
        ip("-n", self.namespace, "link", "set", self._far, "up")

    def cut(self):
        ip("neighbour", "replace", self.far, "lladdr", NOBODY, "dev", self._near, "nud", "permanent")
        ip("-n", self.namespace, "neighbour", "replace", self.near, "lladdr", NOBODY, "dev", self._far, "nud",
           "permanent")

    def mend(self):
        ip("neighbour", "delete", self.far, "dev", self._near)
        ip("-n", self.namespace, "neighbour", "delete", self.near, "dev", self._far)

    def close(self):
        ip("netns", "delete", self.namespace)  # removes both ends


class FarRedis(Redis):
    def __init__(self, *options):
        with contextlib.ExitStack() as laid:
            self._cable = Cable()
            laid.callback(self._cable.close)
            super().__init__("--protected-mode", "no", *options, host=self._cable.far)
            self._laid = laid.pop_all()

    def _command(self):
        return ["ip", "netns", "exec", self._cable.namespace, *super()._command()]

    def cut(self):
        self._cable.cut()

    def mend(self):
        self._cable.mend()

    def __exit__(self, *what):
        with self._laid:
            super().__exit__(*what)
