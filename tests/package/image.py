"""image.py IMAGE.oci.tar VERSION: tests that the image runs as intended. Run by script/image --test, in its own
network.

A container runtime (crun) starts it with the image's own configuration, a read-only root and a mounted policy. If the
kernel does not permit that, a chroot into the unpacked root replaces it, as the same user and also read-only.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

from expectations import expect, wait_until

OUTSIDE = "192.0.2.10"  # an address of the machine that is not loopback
POLICY = """version: 1
identity: {{ trusted_proxies: [192.0.2.0/24] }}
limits:
  - name: by-user
    routes: [/hello]
    consumer_key: user
    algorithm: fixed_window
    rate: {rate}/day
  - name: in-turn
    routes: [/queue]
    consumer_key: global
    algorithm: leaky_bucket
    rate: 30/min
    queue: 10
"""


def step(text):
    print(f"image: {text}", flush=True)


def run(*words, **settings):
    return subprocess.run(list(map(str, words)), check=True, stdout=subprocess.PIPE, text=True, timeout=60,
                          **settings).stdout


def get(path, port=8080, body=None, host=None):
    """Returns the status, or None if the connection is refused."""
    headers = {"Host": host} if host else {}
    try:
        asked = urllib.request.Request(f"http://{OUTSIDE}:{port}{path}", body, headers)
        return urllib.request.urlopen(asked, timeout=30).status
    except urllib.error.HTTPError as answer:
        return answer.code
    except OSError:
        return None


def ask(path="/hello", user="alice", host=None):
    return get("/v1/check", body=json.dumps({"path": path, "user": user}).encode(), host=host)


class Container:
    """Runs the bundle that umoci made of the image with crun; it shares this process's network."""

    def __init__(self, bundle, policy):
        self.bundle = bundle
        self.id = f"weir-{os.getpid()}-{os.urandom(4).hex()}"
        self.crun = ["crun", "--root", str(bundle / "state"), "--cgroup-manager=disabled"]
        file = bundle / "config.json"
        config = json.loads(file.read_text())
        config["process"]["terminal"] = False
        config["process"]["capabilities"] = {}
        config["process"]["noNewPrivileges"] = True
        config["root"]["readonly"] = True
        config["linux"]["namespaces"] = [each for each in config["linux"]["namespaces"]
                                         if each["type"] in ("pid", "ipc", "uts", "mount")]
        config["linux"].pop("resources", None)
        config["mounts"] = [each for each in config["mounts"] if each["type"] != "cgroup"
                            and each["destination"] not in ("/sys/fs/cgroup", "/etc/resolv.conf")]
        config["mounts"].append({"destination": "/etc/weir/policy.yaml", "type": "bind", "source": str(policy),
                                 "options": ["bind", "ro"]})
        file.write_text(json.dumps(config))
        self.log = open(bundle / "log", "w+")
        self.process = subprocess.Popen([*self.crun, "run", "--bundle", str(bundle), self.id], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT)

    def is_up(self):
        return self.process.poll() is None and get("/readyz") == 200

    def first_process(self):
        return json.loads(run(*self.crun, "state", self.id))["pid"]

    def execute(self, *words):
        return run(*self.crun, "exec", self.id, *words)

    def terminate(self):
        run(*self.crun, "kill", self.id, "TERM")

    def said(self):
        return (self.bundle / "log").read_text()


class Chroot(Container):
    """Runs the same without a runtime: user, environment and command are those of the image."""

    INSIDE = """
root=$1 policy=$2 user=$3
shift 3
mount --bind "$root" "$root"
mount --bind "$policy" "$root/etc/weir/policy.yaml"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
exec env -i "${@:2:$1}" /usr/sbin/chroot --userspec="$user" --groups= "$root" "${@:$1 + 2}"
"""

    def __init__(self, bundle, policy):  # pylint: disable=super-init-not-called
        self.bundle = bundle
        process = json.loads((bundle / "config.json").read_text())["process"]
        user = process["user"]
        self.log = open(bundle / "log", "w+")
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", self.INSIDE, "run",
             str(bundle / "rootfs"), str(policy), f"{user['uid']}:{user['gid']}", str(len(process["env"])),
             *process["env"], *process["args"]], stdout=self.log, stderr=subprocess.STDOUT)

    def first_process(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return int(children.split()[0])

    def execute(self, *words):
        return run("nsenter", "--target", self.first_process(), "--mount", "--pid", "--root", *words)

    def terminate(self):
        os.kill(self.first_process(), signal.SIGTERM)


def unpack(image, version, folder):
    layout = folder / "layout"
    layout.mkdir()
    run("tar", "-xf", image, "-C", layout)
    bundle = folder / "bundle"
    run("umoci", "unpack", "--image", f"{layout}:weir:{version}", bundle)
    return bundle


def start(bundle, policy):
    configured = (bundle / "config.json").read_text()
    container = Container(bundle, policy)
    if wait_until("a start, or an end", lambda: container.is_up() or container.process.poll() is not None) is True:
        if container.process.poll() is None:
            step("run by crun")
            return container
    step(f"crun does not run it here ({container.said().strip()}); from its unpacked root")
    (bundle / "config.json").write_text(configured)
    container = Chroot(bundle, policy)
    if wait_until("a start, or an end", lambda: container.is_up() or container.process.poll() is not None) is True:
        if container.process.poll() is None:
            return container
    raise AssertionError("it does not start:\n" + container.said())


def runs_as_it_is_meant_to(container):
    process = pathlib.Path(f"/proc/{container.first_process()}")
    user = next(line for line in (process / "status").read_text().splitlines() if line.startswith("Uid:"))
    expect("the user", user.split()[1:], ["65532"] * 4)
    root = next(line.split() for line in (process / "mountinfo").read_text().splitlines() if line.split()[4] == "/")
    assert "ro" in root[5].split(","), f"the root is mounted {root[5]}"
    expect("the first process", container.execute("/usr/bin/weir", "health"), "ready\n")
    step("a user of its own, a read-only root, and weir health says ready")


def answers(policy):
    expect("requests from outside", [ask(), ask(), ask()], [200, 200, 429])
    expect("a request by the name of a service", ask(user="carol", host="weir.default.svc:8080"), 200)
    expect("metrics", get("/metrics", port=8089), 200)
    step("reached from outside: two pass, the third is a 429, by the policy that is mounted")
    policy.write_text(POLICY.format(rate=4))  # in place, as some editors do, because the file itself is mounted
    wait_until("the new policy", lambda: ask() == 200)
    step("the policy is changed outside: active inside")


def decisions(limit):
    """Returns how many of them its metrics count."""
    page = urllib.request.urlopen(f"http://{OUTSIDE}:8089/metrics", timeout=30).read().decode()
    counted = [line.rsplit(" ", 1)[1] for line in page.splitlines()
               if line.startswith("weir_decisions_total{") and f'limit="{limit}"' in line]
    return sum(map(float, counted))


def stops(container):
    """SIGTERM while an answer is delayed in the queue: the answer is still sent, and then the server ends."""
    statuses = []
    expect("the first of the queue", ask("/queue"), 200)
    held = threading.Thread(target=lambda: statuses.append(ask("/queue")))
    held.start()
    wait_until("an answer that is held", lambda: decisions("in-turn") == 2)
    container.terminate()
    held.join(timeout=60)
    expect("the answer that was held", statuses, [200])
    expect("the exit code", container.process.wait(timeout=60), 0)
    expect("an answer afterwards", ask(), None)
    step("SIGTERM: what was in flight is answered, then it ends with code 0")


def main(image, version):
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "proc", "proc", "/proc")
    if pathlib.Path("/sys/fs/cgroup/unified").is_dir():  # both versions at once, which runtimes do not expect
        run("umount", "--recursive", "/sys/fs/cgroup")
        run("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", f"{OUTSIDE}/32", "dev", "lo")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        policy = folder / "policy.yaml"
        policy.write_text(POLICY.format(rate=2))
        container = start(unpack(image, version, folder), policy)
        runs_as_it_is_meant_to(container)
        answers(policy)
        stops(container)


if __name__ == "__main__":
    main(*sys.argv[1:])
