"""Drives a real browser, Debian's Chromium, through chromedriver: the few WebDriver commands that the tests need."""

import base64
import http.client
import json
import re
import subprocess
import tempfile
import time

from server import PATIENCE

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key with which WebDriver marks a reference to an element

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Shift": "\ue008"}

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
             "--no-default-browser-check", "--no-proxy-server", "--hide-scrollbars", "--window-size=1920,1080"]


class Refused(Exception):
    """The error that chromedriver returns for a failed command."""


class Browser:
    """One browser window with its own profile, closed at the end of a `with` block."""

    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        try:
            self._port = self._read_port()
            options = {"args": [*ARGUMENTS, f"--user-data-dir={self._profile.name}"]}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "pageLoadStrategy": "normal",
                      "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self._session = f"/session/{session['sessionId']}"
        except BaseException:
            self._end_driver()
            raise

    def _read_port(self):
        for line in self._driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                return int(found[1])
        raise AssertionError(f"chromedriver did not start, and ended with {self._driver.wait()}")

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2 * PATIENCE)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value and "stacktrace" in value:
            raise Refused(f"{value['error']}: {value['message']}")
        return value

    def command(self, name, **body):
        return self._ask("POST", f"{self._session}/{name}", body)

    def open(self, url):
        self.command("url", url=url)

    def devtools(self, name, **parameters):
        """Sends a command of Chromium's own protocol."""
        return self.command("goog/cdp/execute", cmd=name, params=parameters)

    def run(self, script, *arguments):
        """Returns the result of a function with this body."""
        return self.command("execute/sync", script=script, args=list(arguments))

    def find(self, selector):
        """Returns all elements that match."""
        found = self.command("elements", using="css selector", value=selector)
        return [Element(self, each[ELEMENT]) for each in found]

    def one(self, selector):
        """Returns the element that matches, as soon as there is one."""
        return self.eventually(lambda: self.find(selector), f"an element {selector}")[0]

    def text(self, selector="body"):
        """Returns the visible text of all elements that match."""
        return self.run("return [...document.querySelectorAll(arguments[0])].filter((each) => each.checkVisibility())"
                        ".map((each) => each.innerText).join('\\n')", selector)

    def eventually(self, condition, what, within=PATIENCE):
        """Like server.eventually; the message of a failure contains the text of the page."""
        deadline = time.monotonic() + within
        while True:
            try:
                if found := condition():
                    return found
            except Refused as refused:  # for example an element that was replaced in the meantime
                found = refused
            if time.monotonic() > deadline:
                raise AssertionError(f"never came: {what}; last: {found}; on the page:\n{self.text()}")
            time.sleep(0.02)

    def await_text(self, selector, text, within=PATIENCE):
        self.eventually(lambda: text in self.text(selector), f"{text!r} in {selector}", within)

    def press(self, *keys):
        """Sends keys one after the other to the element with the focus: names as in KEYS, or the letters themselves."""
        actions = []
        for key in keys:
            key = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.command("actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def press_with_shift(self, key):
        held = [{"type": "keyDown", "value": KEYS["Shift"]}, {"type": "keyDown", "value": KEYS[key]},
                {"type": "keyUp", "value": KEYS[key]}, {"type": "keyUp", "value": KEYS["Shift"]}]
        self.command("actions", actions=[{"type": "key", "id": "keys", "actions": held}])

    def resize(self, width, height, mobile=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=mobile)

    def prefer(self, scheme):
        """Sets the preferred color scheme of the system: light or dark."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self._ask("GET", f"{self._session}/screenshot")))

    def console(self):
        """Returns what was logged since the last call: (level, text)."""
        return [(each["level"], each["message"]) for each in self.command("se/log", type="browser")]

    def requested(self):
        """Returns the addresses of all network requests since the last call."""
        messages = [json.loads(each["message"])["message"] for each in self.command("se/log", type="performance")]
        return [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]

    def close(self):
        try:
            self._ask("DELETE", self._session)
        finally:
            self._end_driver()

    def _end_driver(self):
        self._driver.terminate()
        self._driver.wait(PATIENCE)
        self._driver.stdout.close()
        self._profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Element:
    def __init__(self, browser, name):
        self._browser = browser
        self._path = f"element/{name}"

    def click(self):
        self._browser.command(f"{self._path}/click")

    def write(self, text):
        """Replaces the existing text."""
        self._browser.command(f"{self._path}/clear")
        self._browser.command(f"{self._path}/value", text=text)
