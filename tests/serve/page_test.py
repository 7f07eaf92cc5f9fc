"""The page of the admin listener: what it shows of a running server, and what an operator can do with it."""

import json
import pathlib
import signal
import sys
import tempfile
import unittest

from page import POLICY, ROW, SOON, TILE, PageTest, admin_listener
from redis_servers import Redis
from server import Server, eventually
from shared_nodes import store


class Live(PageTest):
    def test_traffic_is_seen_within_two_seconds(self):
        self.show("now")
        self.browser.await_text(TILE.format("Denied per second"), "0 in the last minute")
        self.assertEqual(self.use("alice", 5), 429)
        self.browser.await_text(TILE.format("Denied per second"), "2 in the last minute", within=SOON)
        self.browser.await_text(TILE.format("Share denied"), "40.0 %", within=SOON)  # 2 of 5 requests; shadow limits do not dilute it

    def test_a_page_that_is_opened_later_knows_what_was_before(self):
        self.use("alice", 5)
        self.show("now")
        self.browser.await_text(TILE.format("Denied per second"), "2 in the last minute")
        self.browser.await_text(ROW.format("by-user"), "by-user")

    def test_denials_are_at_the_limit_that_denied(self):
        self.show("limits")
        self.use("alice", 5, path="/search", ip="192.0.2.7")
        self.browser.eventually(lambda: self.cells("by-user")[4] == "2", "two denials at by-user")
        self.assertEqual([self.cells(name)[4] for name in ["search-by-ip", "watched", "logins"]], ["0", "0", "0"])
        self.assertEqual(self.cells("watched")[7], "3", "the first two are within the limit in shadow")
        self.assertIn("/search", self.cells("search-by-ip")[1])

    def test_a_limit_has_a_view_of_its_own_with_those_it_denies_most(self):
        self.use("alice", 5)
        self.use("bob", 4)
        self.show("limits/by-user")
        self.browser.await_text("h1", "by-user")
        denied = self.denied()
        for each in denied:
            self.browser.await_text(ROW.format(each["consumer"]), str(each["count"]))
        self.assertEqual([each["count"] for each in denied], [2, 1])
        self.assertNotIn("alice", self.browser.text("main .scroll"))
        self.browser.await_text(TILE.format("Denied per second"), "3 in the last minute")

    def test_what_a_candidate_would_do_is_shown(self):
        self.show("limits")
        self.use("alice", 3)
        self.browser.await_text(ROW.format("by-user"), "2 newly denied, 0 newly admitted")
        self.show("limits/by-user")
        self.browser.await_text("main", "newly denied 2")
        self.browser.await_text("main", "1/h, burst 1")

    def test_limits_are_sorted_by_a_click_on_a_heading(self):
        self.show("limits")
        self.use("alice", 5)
        self.browser.eventually(lambda: self.cells("by-user")[4] == "2", "two denials at by-user")
        rows = "return [...document.querySelectorAll('tbody tr')].map((each) => each.dataset.row)"
        self.assertEqual(self.browser.run(rows)[0], "by-user")
        name = next(each for each in self.browser.find("th .sort"))
        name.click()
        self.assertEqual(self.browser.run(rows), ["by-user", "logins", "search-by-ip", "watched"])
        name.click()
        self.assertEqual(self.browser.run(rows), ["watched", "search-by-ip", "logins", "by-user"])
        self.browser.one("input[type=search]").write("login")
        self.assertEqual(self.browser.run(rows), ["logins"])

    def test_a_limit_that_there_is_not_is_said_in_words(self):
        self.ACCEPTED = "404"
        self.show("limits/no-such-limit")
        self.browser.eventually(lambda: self.browser.text(".problem").strip(), "that there is no such limit")


class Consumers(PageTest):
    ACCEPTED = "status of 40[0134]"

    def look_up(self, consumer):
        self.browser.one("#consumer-value").write(consumer)
        self.browser.press("Enter")

    def test_one_is_looked_up_and_reset_and_can_pass_again(self):
        self.assertEqual(self.use("alice", 4), 429)
        self.show("consumer")
        self.look_up("user=alice")
        card = '[data-limit="by-user"]'
        self.browser.await_text(card, "0 of 3")
        self.assertIn("next request denied", self.browser.text(card))
        self.browser.await_text("main", self.denied()[0]["consumer"])
        self.browser.one(f"{card} [data-reset]").click()
        self.enter_token(self.token)
        self.browser.await_text("#confirm-dialog", "Reset user=alice at by-user?")
        said = self.browser.text("#confirm-dialog")
        self.assertIn("3 of 3 used", said)
        self.assertIn("cannot be undone", said)
        self.browser.one("#confirm-go").click()
        self.browser.await_text("main", "user=alice was reset at by-user")
        self.browser.await_text(card, "3 of 3")
        self.assertEqual(self.use("alice"), 200)
        eventually(lambda: '"event":"change"' in self.server.log, "a line about the change in the log")
        self.assertNotIn("alice", self.server.log)
        self.assertNotIn(self.token, self.server.log)
        self.browser.await_text(card, "2 of 3")  # it keeps polling
        self.leave()
        self.assertEqual([each for each in self.asked if "alice" in each], [], "a value in an address")

    def test_nothing_happens_without_a_yes(self):
        self.use("alice", 4)
        self.show("consumer")
        self.look_up("user=alice")
        self.browser.one('[data-limit="by-user"] [data-reset]').click()
        self.enter_token(self.token)
        self.browser.await_text("#confirm-dialog", "Reset user=alice")
        self.browser.press("Enter")  # the focus is on Cancel
        self.browser.eventually(lambda: not self.is_open("#confirm-dialog"), "the end of the question")
        self.assertEqual(self.use("alice"), 429)

    def test_a_wrong_token_is_refused_and_asked_for_again(self):
        self.use("alice", 4)
        self.show("consumer")
        self.look_up("user=alice")
        self.browser.one('[data-limit="by-user"] [data-reset]').click()
        self.enter_token("not the token, but as long as one")
        self.browser.await_text("#confirm-dialog", "Reset user=alice")
        self.browser.one("#confirm-go").click()
        self.enter_token(self.token)
        self.browser.await_text("main", "was reset at")
        self.assertEqual(self.use("alice"), 200)

    def test_a_block_is_shown_and_ends_with_a_reset(self):
        request = {"method": "POST", "path": "/login", "ip": "192.0.2.7"}
        self.use("alice", 5, **request)
        self.show("consumer")
        self.look_up("ip=192.0.2.7")
        card = '[data-limit="logins"]'
        self.browser.await_text(card, "Blocked by a penalty")
        self.browser.one(f"{card} [data-reset]").click()
        self.enter_token(self.token)
        self.browser.await_text("#confirm-dialog", "Its block is lifted")
        self.browser.one("#confirm-go").click()
        self.browser.await_text("main", "was reset at logins")
        self.assertEqual(self.use("bob", **request), 200)

    def fill(self, **fields):
        """Fills the form for an exception, and sends it."""
        for name, text in fields.items():
            self.browser.one(f"#exception-{name}").write(text)
        self.browser.one('#exception-form button[type="submit"]').click()

    def test_a_limit_is_changed_units_are_granted_and_a_client_is_blocked(self):
        self.show("consumer")
        self.browser.one("#token").click()
        self.enter_token(self.token)
        self.browser.await_text("#exceptions", "None.")
        self.look_up("user=alice")
        self.browser.await_text('[data-limit="by-user"]', "3 of 3")
        self.browser.one('[data-change="by-user"]').click()
        self.fill(value="500/min", reason="launch day")
        self.browser.await_text('[data-limit="by-user"]', "override o-")
        self.browser.await_text("#exceptions", "by-user, user=alice: rate 500/min")
        self.assertEqual(self.use("alice", 9), 200)
        self.browser.one('[data-grant="watched"]').click()
        self.fill(value="10", reason="sorry")
        self.browser.await_text('[data-limit="watched"]', "override g-")
        self.browser.one("#block").click()
        self.fill(reason="abuse")
        self.browser.await_text('[data-limit="by-user"]', "block b-")
        self.assertEqual(self.use("alice"), 403)
        self.browser.one('[data-exception^="b-"] button').click()
        self.browser.one("#confirm-go").click()
        self.browser.await_text("main", "was removed")
        self.assertEqual(self.use("alice"), 200)

    def test_a_mistake_in_the_form_is_answered_beside_it(self):
        self.show("consumer")
        self.look_up("user=alice")
        self.browser.one('[data-change="by-user"]').click()
        self.fill(value="much", reason="r")
        self.enter_token(self.token)
        self.browser.await_text("#exception-form", "rate 'much'")

    def test_what_cannot_be_a_consumer_is_said_in_words(self):
        self.show("consumer")
        self.look_up("planet=earth")
        self.browser.eventually(lambda: "not applicable to this consumer" in self.browser.text("main")
                                or self.browser.text(".problem").strip(), "why it is not found")


class Policies(PageTest):
    ACCEPTED = "status of 422"

    def write(self, policy):
        fresh = self.server.policy_file.with_suffix(".new")
        fresh.write_text(policy)
        fresh.replace(self.server.policy_file)

    def test_a_refused_reload_appears_with_its_message_and_place(self):
        self.show("policy")
        self.browser.await_text("main", "Same as the active policy")
        self.write(POLICY.replace("gcra", "gcraa"))
        self.browser.await_text("#rejected", "The last reload was rejected")
        self.assertRegex(self.browser.text("#rejected"), r"policy\.yaml:24:\d+ .*gcraa")
        self.browser.await_text("main", "A reload would be rejected")
        self.write(POLICY.replace("3/h", "4/h"))
        self.browser.await_text("#rejected", "An earlier reload was rejected")
        self.browser.await_text(ROW.format("by-user"), "4/h")
        self.show("events")
        self.browser.await_text("main", "gcraa")

    def test_a_reload_by_the_page(self):
        self.show("policy")
        self.write("version: 1\nlimits: nothing\n")
        self.browser.await_text("#rejected", "The last reload was rejected")
        self.browser.find("main .head button")[0].click()
        self.enter_token(self.token)
        self.browser.await_text("#confirm-dialog", "would be rejected")
        self.browser.one("#confirm-go").click()
        self.browser.await_text("main", "Reload failed")

    def test_a_request_is_tried_and_charges_nothing(self):
        self.show("try")
        self.browser.one("#try-path").write("/search?q=weir")
        self.browser.one("#try-headers").write("X-User-Id: alice\nX-Forwarded-For: 203.0.113.7")
        for _ in range(5):
            self.browser.one("#view form button").click()
        self.browser.await_text(ROW.format("by-user"), "user=alice")
        self.browser.await_text(ROW.format("search-by-ip"), "ip=203.0.113.7")
        self.assertIn("none of its routes matches", self.browser.text("main"))
        self.assertEqual(self.use("alice"), 200)
        self.browser.one("#try-headers").write("no colon")
        self.browser.one("#view form button").click()
        self.browser.await_text(".problem", "Line 1 of the headers")


class Connection(PageTest):
    ACCEPTED = "ERR_|status of 401"

    def test_the_stream_comes_back_after_a_restart(self):
        config = admin_listener('{{listen: "127.0.0.1:{}"}}'.format(self.server.admin[1]))
        self.show("now")
        self.browser.await_text(TILE.format("Denied per second"), "0 in the last minute")
        self.server.stop()
        self.browser.await_text("#connection", "Disconnected")
        self.browser.await_text("#notice", "Showing data from")
        with tempfile.TemporaryDirectory() as directory, Server(POLICY, config, directory) as again:
            self.server, stopped = again, self.server
            self.browser.await_text("#connection", "Live")
            self.assertEqual(self.browser.text("#notice"), "")
            self.use("alice", 5)
            self.browser.await_text(TILE.format("Denied per second"), "2 in the last minute", within=SOON)
            self.leave()
        self.server = stopped

    def test_a_server_that_hangs_is_told_and_found_again(self):
        self.show("now")
        self.server.signal(signal.SIGSTOP)
        self.addCleanup(self.server.signal, signal.SIGCONT)
        self.browser.await_text("#connection", "Disconnected")
        self.assertIn("The server stopped sending", self.browser.text("#notice"))
        self.server.signal(signal.SIGCONT)
        self.browser.await_text("#connection", "Live")


class ReadToken(PageTest):
    ACCEPTED = "status of 401"
    TOKEN = "a-token-that-is-needed-for-reading"

    def setUp(self):
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        file = directory / "read.token"
        file.write_text(self.TOKEN + "\n")
        file.chmod(0o600)
        self.CONFIG = admin_listener(f'{{listen: "127.0.0.1:0", token_file: {json.dumps(str(file))}}}')
        super().setUp()

    def test_it_is_asked_for_and_kept_in_memory_only(self):
        self.browser.open(self.url + "/")
        self.browser.await_text("#notice", "token")
        self.assertNotIn("0.2.0", self.browser.text("#node"))
        self.browser.one("#notice button").click()
        self.enter_token(self.TOKEN)
        self.browser.await_text("#connection", "Live")
        self.use("alice", 5)
        self.browser.await_text(TILE.format("Denied per second"), "2 in the last minute")
        kept = self.browser.run("return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, "
                                "location.href])")
        self.assertNotIn(self.TOKEN, kept)
        self.browser.run("location.reload()")
        self.browser.await_text("#notice", "token")


class Cluster(PageTest):
    def test_a_server_on_its_own_says_so(self):
        self.show("cluster")
        self.browser.await_text("main", "State is in the memory of this process")
        self.browser.await_text(ROW.format("admin"), "{}:{}".format(*self.server.admin))

    def test_a_node_that_differs_is_red(self):
        redis = self.enterContext(Redis())
        config = store([redis.url], timeout="10s", node_name="web-1")
        self.server = self.enterContext(Server(POLICY, config))
        self.enterContext(Server(POLICY.replace("3/h", "4/h"), config.replace("web-1", "web-2")))
        self.addCleanup(self.leave)
        self.use("alice", 3)
        self.show("cluster")
        self.browser.await_text(ROW.format("web-2"), "different policy")
        self.assertNotIn("different policy", self.browser.text(ROW.format("web-1")))
        tone = "return document.querySelector(arguments[0] + ' .dot').dataset.tone"
        self.assertEqual([self.browser.run(tone, ROW.format(name)) for name in ["web-1", "web-2"]], ["good", "alarm"])
        self.browser.await_text(TILE.format("Nodes"), "1 node with a different policy")
        self.assertRegex(self.browser.text("main"), r"by the store [1-9]")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
