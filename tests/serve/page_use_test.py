"""The admin page with hostile input, a keyboard, a phone, and in light and dark mode."""

import json
import pathlib
import sys
import unittest

import resp_client
from page import POLICY, ROW, VIEWS, PageTest
from server import PATIENCE, PROGRAM


class Markup(PageTest):
    """A client writes markup wherever it can."""
    ACCEPTED = "status of 40[04]"
    PLANTED = '<img src=x onerror="window.planted = 1"><script>window.planted = 1</script>'

    def assert_harmless(self):
        found = self.browser.run("return [window.planted ?? null, document.querySelectorAll(arguments[0]).length]",
                                 "main img, main script, dialog img, dialog script")
        self.assertEqual(found, [None, 0])

    def plant(self):
        for field in "user", "api_key", "tier", "path", "method":
            self.server.ask("POST", "/v1/check", json.dumps({"user": "alice", field: self.PLANTED}))
        headers = dict.fromkeys(["X-User-Id", "X-Plan", "X-Forwarded-For", "X-Api-Key", "traceparent", "X-Request-Id"],
                                self.PLANTED)
        query = {"path": f"/{self.PLANTED}", "user": self.PLANTED, "headers": headers}
        self.server.ask("POST", "/v1/check", json.dumps([query] * 9))
        self.server.ask("GET", "/v1/auth", headers={**headers, "X-Forwarded-Uri": "/" + self.PLANTED})
        descriptor = {"entries": [{"key": self.PLANTED, "value": self.PLANTED}, {"key": "user", "value": self.PLANTED}]}
        self.server.ask("POST", "/json", json.dumps({"domain": "weir", "descriptors": [descriptor] * 5}))
        with resp_client.connect(self.server.resp, PATIENCE) as client:
            for _ in range(3):
                client.ask("CL.THROTTLE", self.PLANTED, 0, 1, 3600)
            client.ask("WEIR.CHECK", "by-user", f"user={self.PLANTED}")
        self.assertIn("by-user", [each["limit"] for each in self.denied()])

    def test_it_does_not_run_in_any_view(self):
        self.plant()
        for view in VIEWS:
            with self.subTest(view):
                self.show(view)
                self.browser.one("h1")
                self.assert_harmless()
        self.show("limits/" + "%3Cimg%20src%3Dx%20onerror%3D%22window.planted%20%3D%201%22%3E")
        self.browser.await_text("h1", "<img src=x")
        self.assert_harmless()

    def test_it_is_text_where_a_consumer_is_looked_up(self):
        self.plant()
        self.show("consumer")
        self.browser.one("#consumer-value").write("user=" + self.PLANTED)
        self.browser.press("Enter")
        self.browser.await_text('[data-limit="by-user"]', "0 of 3")
        self.browser.one('[data-limit="by-user"] [data-reset]').click()
        self.enter_token(self.token)
        self.browser.await_text("#confirm-dialog", "<img src=x onerror=")
        self.browser.one("#confirm-go").click()
        self.browser.await_text("main", "<script>window.planted")
        self.assert_harmless()
        self.show("events")
        self.browser.await_text("main", "reset")
        self.assert_harmless()

    def test_it_is_text_where_a_request_is_tried(self):
        self.show("try")
        self.browser.one("#try-path").write("/" + self.PLANTED)
        self.browser.one("#try-user").write(self.PLANTED)
        self.browser.one("#try-tier").write(self.PLANTED)
        self.browser.one("#try-headers").write(f"X-Forwarded-For: {self.PLANTED}\nX-Plan: {self.PLANTED}\n"
                                               f"{self.PLANTED}: 1")
        self.browser.one("#view form button").click()
        self.browser.await_text("main .card, main .problem", self.PLANTED)
        self.assert_harmless()

    def test_it_is_text_in_a_policy_that_is_refused(self):
        self.show("policy")
        self.server.policy_file.write_text(POLICY.replace("gcra", json.dumps(self.PLANTED)))
        self.browser.await_text("#rejected", "<img src=x onerror=")
        self.assert_harmless()
        self.show("events")
        self.browser.await_text("main", "<img src=x onerror=")
        self.assert_harmless()


class Keyboard(PageTest):
    FOCUS = "const at = document.activeElement; return at.id || at.dataset.view || at.className || at.tagName"

    def focus(self):
        return self.browser.run(self.FOCUS)

    def test_views_are_reached_by_tab_and_arrows(self):
        self.show("now")
        self.browser.press("Tab")
        self.assertEqual(self.focus(), "skip")
        self.browser.press("Enter")
        self.assertEqual(self.focus(), "view")
        self.browser.press_with_shift("Tab")
        self.assertEqual(self.focus(), "theme")
        self.browser.press_with_shift("Tab")
        self.browser.press_with_shift("Tab")
        self.assertEqual(self.focus(), "now")
        for key, view in [("ArrowDown", "limits"), ("ArrowRight", "consumer"), ("ArrowLeft", "limits"),
                          ("ArrowUp", "now"), ("ArrowUp", "events")]:
            self.browser.press(key)
            self.assertEqual(self.focus(), view)
            self.browser.await_text('nav [aria-current="page"]', view.capitalize())
        self.browser.press("2")
        self.browser.await_text("h1", "Limits")

    def test_the_focus_can_be_seen_wherever_it_is(self):
        for view in VIEWS:
            self.show(view)
            self.browser.eventually(lambda: self.browser.text("h1"), "a view")
            for _ in range(14):
                self.browser.press("Tab")
                tag, style, width = self.browser.run(
                    "const look = getComputedStyle(document.activeElement);"
                    "return [document.activeElement.tagName, look.outlineStyle, parseFloat(look.outlineWidth)]")
                if tag != "BODY":
                    self.assertNotEqual(style, "none", f"{view}: {self.focus()}")
                    self.assertGreaterEqual(width, 1, f"{view}: {self.focus()}")

    def test_the_focus_stays_while_numbers_change(self):
        self.show("limits")
        self.browser.one(ROW.format("by-user") + " a")
        self.browser.run("document.querySelector(arguments[0]).focus()", ROW.format("by-user") + " a")
        self.use("alice", 5)
        self.browser.eventually(lambda: self.cells("by-user")[4] == "2", "two denials at by-user")
        self.assertEqual(self.browser.run("return document.activeElement.textContent"), "by-user")
        self.browser.press("Enter")
        self.browser.await_text("h1", "by-user")

    def test_a_dialog_is_left_by_escape_and_gives_the_focus_back(self):
        self.show("now")
        self.browser.run("document.querySelector('#token').focus()")
        self.browser.press("Enter")
        self.browser.eventually(lambda: self.is_open("#token-dialog"), "the dialog")
        self.browser.press("Escape")
        self.browser.eventually(lambda: self.focus() == "token", "the focus where it was")


class Views(PageTest):
    """Takes a screenshot of each view, in the folder `page` of the build."""

    def setUp(self):
        super().setUp()
        for number in range(40):
            self.use(f"user-{number % 7}", path="/search", ip=f"192.0.2.{number % 5}")
        self.use("mallory", 9, method="POST", path="/login", ip="203.0.113.9")

    def fill_in(self, view):
        """Types what an operator would enter."""
        if view == "consumer":
            self.browser.one("#consumer-value").write("user=user-1")
            self.browser.press("Enter")
            self.browser.one("[data-limit]")
        elif view == "try":
            self.browser.one("#try-path").write("/search")
            self.browser.one("#try-headers").write("X-User-Id: user-1")
            self.browser.one("#view form button").click()
            self.browser.one("main .facts")
        elif view.startswith("limits"):
            self.browser.one("main tbody tr")
        self.browser.eventually(lambda: self.browser.text("h1"), "a view")

    def test_pictures(self):
        folder = pathlib.Path(PROGRAM).parent / "page"
        folder.mkdir(exist_ok=True)
        self.addCleanup(self.browser.prefer, "light")
        for scheme, paper in [("light", "rgb(246, 247, 248)"), ("dark", "rgb(18, 22, 27)")]:
            self.browser.prefer(scheme)
            for view in VIEWS:
                self.show(view)
                self.fill_in(view)
                self.assertEqual(self.browser.run("return getComputedStyle(document.body).backgroundColor"), paper)
                file = folder / f"{view.replace('/', '-')}-{scheme}.png"
                self.browser.screenshot(file)
                self.assertGreater(file.stat().st_size, 10_000)

    def test_the_switch_goes_before_the_systems_wish(self):
        self.show("now")
        colour = "return getComputedStyle(document.body).backgroundColor"
        seen = []
        for _ in range(3):
            self.browser.one("#theme").click()
            seen.append((self.browser.text("#theme"), self.browser.run(colour)))
        light, dark = "rgb(246, 247, 248)", "rgb(18, 22, 27)"
        self.assertEqual(seen, [("Theme: light", light), ("Theme: dark", dark), ("Theme: system", light)])

    def test_nothing_is_wider_than_a_phone(self):
        self.addCleanup(self.browser.resize, 1920, 1080)
        for width in 320, 390, 768:
            self.browser.resize(width, 800, mobile=True)
            for view in VIEWS:
                with self.subTest(view, width=width):
                    self.show(view)
                    self.fill_in(view)
                    self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
