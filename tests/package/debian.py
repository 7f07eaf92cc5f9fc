"""debian.py ROOT: tests installing, upgrading and removing the package `weir` in a Debian with its own systemd.

ROOT has an older one installed, while there was no systemd, and both in /packages. Run by script/package --test.
"""

import pathlib
import sys

from booted_root import BootedRoot, ask
from expectations import expect, wait_until

POLICY = """version: 1
limits:
  - name: by-user
    consumer_key: user
    algorithm: fixed_window
    rate: 3/day
"""


def step(text):
    print(f"package: {text}", flush=True)


def is_served():
    wait_until("the server answers", lambda: ask("/readyz") == 200)


def main_process(debian):
    return int(debian.run("systemctl", "show", "--value", "--property=MainPID", "weir"))


def numbers_of_user(debian):
    """Returns (user, group) as numbers."""
    for line in debian.file("/etc/passwd").read_text().splitlines():
        name, _, user, group, *_ = line.split(":")
        if name == "weir":
            return int(user), int(group)
    raise AssertionError("there is no user weir")


def is_installed_without_systemd(root):
    step("the older package was installed where no systemd runs: user, configuration, the service enabled")
    for path in ("etc/weir/weir.yaml", "etc/weir/policy.yaml", "usr/bin/weir", "usr/share/man/man1/weir-serve.1.gz",
                 "usr/share/man/man5/weir.yaml.5.gz", "usr/share/bash-completion/completions/weir",
                 "usr/share/zsh/vendor-completions/_weir", "usr/share/fish/vendor_completions.d/weir.fish",
                 "usr/share/weir/prometheus/alerts.yml", "usr/share/weir/grafana/weir.json",
                 "usr/share/weir/kubernetes/weir.yaml", "usr/share/doc/weir/examples/policy.yaml"):
        assert (root / path).is_file(), f"{path} is not installed"
    assert (root / "etc/systemd/system/multi-user.target.wants/weir.service").is_symlink(), "the service is not enabled"


def starts_as_a_service(debian):
    step("it starts with the machine, as a user of its own")
    is_served()
    expect("the service", debian.run("systemctl", "is-active", "weir").strip(), "active")
    uid, gid = numbers_of_user(debian)
    state = debian.file("/var/lib/weir").stat()
    expect("the owner of the state", (state.st_uid, state.st_gid, state.st_mode & 0o777), (uid, gid, 0o700))
    running = debian.run("stat", "-c", "%u", f"/proc/{main_process(debian)}")
    expect("the user of the server", int(running), uid)
    expect("weir health", debian.run("weir", "health"), "ready\n")


def limits(debian):
    step("a policy of the administrator's: reloaded, three pass, the fourth is a 429")
    debian.file("/etc/weir/policy.yaml").write_text(POLICY)
    debian.run("systemctl", "reload", "weir")
    wait_until("the policy is active", lambda: "1 limit," in debian.run("weir", "status"))
    expect("four requests", [ask() for _ in range(4)], [200, 200, 200, 429])


def is_upgraded(debian, new):
    step("upgraded: it was restarted, the counters and the configuration are kept")
    before = main_process(debian)
    debian.run("apt-get", "install", "-y", "-qq", new)
    is_served()
    assert main_process(debian) != before, "the upgrade has not restarted the server"
    expect("the same user", ask(), 429)
    expect("another user", ask(user="bob"), 200)
    expect("the policy", debian.file("/etc/weir/policy.yaml").read_text(), POLICY)
    version = debian.run("dpkg-query", "-W", "-f", "${Version}", "weir")
    assert version in new, f"{version} is installed"


def is_restarted_after_a_crash(debian):
    step("killed: systemd restarts it, with its counters")
    before = main_process(debian)
    debian.run("systemctl", "kill", "--signal=KILL", "weir")
    wait_until("another process", lambda: main_process(debian) not in (0, before))
    is_served()
    expect("the same user", ask(), 429)


def is_removed_and_installed_again(debian, new):
    step("removed: nothing listens, configuration and state stay; installed again: they are active")
    debian.run("apt-get", "remove", "-y", "-qq", "weir")
    expect("an answer", ask(), None)
    assert not debian.file("/usr/bin/weir").exists(), "the program is still there"
    assert debian.file("/etc/weir/policy.yaml").exists(), "the policy is gone"
    assert debian.file("/var/lib/weir/states").exists(), "the state is gone"
    debian.run("apt-get", "install", "-y", "-qq", new)
    is_served()
    expect("the same user", ask(), 429)


def is_purged(debian):
    step("purged: nothing is left but the user")
    debian.run("apt-get", "purge", "-y", "-qq", "weir")
    expect("an answer", ask(), None)
    numbers_of_user(debian)
    left = debian.run("find", "/etc", "/usr", "/var", "/run", "-name", "*weir*", "-not", "-path", "/var/log/*",
                      "-not", "-path", "/run/systemd/*")
    expect("what is left", left, "")
    expect("dpkg's word", debian.run("dpkg-query", "-W", "weir", may_fail=True), "dpkg-query: no packages found matching weir\n")


def main(root):
    root = pathlib.Path(root)
    new = "/" + str(next((root / "packages").glob("weir_*.deb")).relative_to(root))
    is_installed_without_systemd(root)
    with BootedRoot(root) as debian:
        starts_as_a_service(debian)
        limits(debian)
        is_upgraded(debian, new)
        is_restarted_after_a_crash(debian)
        is_removed_and_installed_again(debian, new)
        is_purged(debian)


if __name__ == "__main__":
    main(*sys.argv[1:])
