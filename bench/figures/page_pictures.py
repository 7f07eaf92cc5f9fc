"""Takes the screenshots of the admin page, with a real server, ten minutes of synthetic traffic and Debian's Chromium.

  page_pictures.py PROGRAM VERSION FOLDER [SECONDS]

The traffic of each second, the policy and the hashes of consumers are the same each time. Measured values differ: times
of day, decision times, memory.
"""

import itertools
import json
import math
import pathlib
import random
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "serve"))

from browser import Browser  # noqa: E402
from server import LISTENERS, Server  # noqa: E402

HERE = pathlib.Path(__file__).parent
SECONDS = 630  # the page shows ten minutes
FIRST_ATTACK, SECOND_ATTACK, ATTACK_LENGTH = 150, 440, 55
ATTACKERS = [f"198.51.100.{number}" for number in range(1, 7)]
USERS = [f"user-{number}" for number in range(400)]


def rate_at(second):
    """Returns the requests in a second, outside of attacks: waves like those of a day, compressed into ten minutes."""
    return 320 + 180 * math.sin(second / 95) + 60 * math.sin(second / 31)


def is_attacked(second):
    return any(begin <= second < begin + ATTACK_LENGTH for begin in (FIRST_ATTACK, SECOND_ATTACK))


def request(chance):
    kind = chance.random()
    if kind < 0.08:
        address = f"203.0.113.{chance.randrange(1, 250)}"
        return {"method": "POST", "path": "/login", "ip": address}
    if kind < 0.18:
        return {"method": "POST", "path": f"/hooks/{chance.choice(['github', 'stripe'])}", "ip": "192.0.2.10"}
    # A few users ask for most, and one of them too often.
    user = USERS[min(int(chance.paretovariate(0.9)) - 1, len(USERS) - 1)]
    if kind < 0.30:
        return {"path": "/api/search?q=x", "user": chance.choice(USERS)}
    if kind < 0.34:
        return {"method": "POST", "path": "/api/exports", "user": chance.choice(USERS[:20])}
    return {"path": f"/api/items/{chance.randrange(1000)}", "user": user if kind < 0.40 else chance.choice(USERS)}


def requests_of(second):
    chance = random.Random(second)
    count = max(0, round(chance.gauss(rate_at(second), math.sqrt(rate_at(second)))))
    found = [request(chance) for _ in range(count)]
    if is_attacked(second):
        tries = chance.randrange(140, 220)
        found += [{"method": "POST", "path": "/login", "ip": chance.choice(ATTACKERS)} for _ in range(tries)]
    chance.shuffle(found)
    return found


class Traffic:
    """Sends one array of queries four times per second, until the end of the `with` block."""

    def __init__(self, weir):
        self.weir = weir
        self.ended = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        began = time.monotonic()
        for quarter in itertools.count():
            part = requests_of(quarter // 4)[quarter % 4::4]
            status = self.weir.ask("POST", "/v1/check", json.dumps(part))[0] if part else 200
            if status not in (200, 429):
                self.failure = f"a check was answered with {status}"
            if self.failure or self.ended.wait(began + (quarter + 1) / 4 - time.monotonic()):
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        if self.failure:
            raise AssertionError(self.failure)


def take(browser, weir, view, scheme, file):
    browser.prefer(scheme)
    browser.open("about:blank")
    browser.open("http://{}:{}/#{}".format(*weir.admin, view))
    browser.await_text("#connection", "Live")
    browser.await_text("main", "login-by-ip")
    browser.await_text("main", "last 10 minutes")
    browser.screenshot(file)
    print(f"figures: {file}")


def main():
    folder = pathlib.Path(sys.argv[3])
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else SECONDS
    policy = (HERE / "page_policy.yaml").read_text()
    with tempfile.TemporaryDirectory() as directory:
        key = pathlib.Path(directory) / "hash.key"
        key.write_text("0123456789abcdef" * 2)
        key.chmod(0o600)
        config = LISTENERS + "log: {hash_key_file: hash.key}\n"
        with Server(policy, config, directory) as weir, Browser() as browser, Traffic(weir):
            browser.resize(1440, 900)
            time.sleep(seconds)
            take(browser, weir, "now", "light", folder / "page-now.png")
            take(browser, weir, "limits/login-by-ip", "dark", folder / "page-limit.png")


if __name__ == "__main__":
    main()
