"""Limits by month, week and year: compares the answers to clients with Python's zoneinfo."""

import datetime
import math
import re
import sys
import unittest
import zoneinfo

from redis_servers import Redis
from server import LISTENERS, Server, eventually

ZONE = zoneinfo.ZoneInfo("Asia/Kathmandu")
POLICY = """
version: 1
limits:
  - name: billed
    routes: [/billed]
    consumer_key: user
    algorithm: fixed_window
    limit: 3
    window: {{ calendar: month, timezone: {zone} }}
  - {{ name: yearly, routes: [/yearly], consumer_key: user, algorithm: fixed_window, rate: 2/year }}
"""


def month_of(now, zone):
    """Returns the first and the last instant of the month of `now`, in seconds."""
    local = datetime.datetime.fromtimestamp(now, zone)
    start = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = (start + datetime.timedelta(days=32)).replace(day=1)
    return start.timestamp(), end.timestamp()


class CalendarTest(unittest.TestCase):
    def start(self, config=LISTENERS):
        self.weir = self.enterContext(Server(POLICY.format(zone="Asia/Kathmandu"), config))

    def auth(self, path):
        """Sends a request of alice. Returns (status, headers in lower case)."""
        status, headers, _ = self.weir.ask("GET", "/v1/auth", headers={
            "X-Forwarded-Method": "GET", "X-Forwarded-Uri": path, "X-User-Id": "alice"})
        return status, {name.lower(): value for name, value in headers.items()}

    def expect_fields(self, path, edges_of):
        """Sends requests until the quota is exceeded; each response must be correct to the second."""
        statuses = []
        for _ in range(10):
            before = datetime.datetime.now().timestamp()
            status, fields = self.auth(path)
            after = datetime.datetime.now().timestamp()
            start, end = edges_of(after)
            if (start, end) != edges_of(before):
                continue  # a new window has just begun
            statuses.append(status)
            seconds = range(math.ceil(end - after), math.ceil(end - before) + 1)
            self.assertIn(int(fields["x-ratelimit-reset"]), seconds)
            self.assertIn(int(re.search(r"t=(\d+)", fields["ratelimit"])[1]), seconds)
            self.assertEqual(int(re.search(r"w=(\d+)", fields["ratelimit-policy"])[1]), round(end - start))
            if status == 429:
                self.assertIn(int(fields["retry-after"]), seconds)
                return statuses
        self.fail(f"never denied: {statuses}")

    def check_months_and_years(self):
        billed = self.expect_fields("/billed", lambda now: month_of(now, ZONE))
        self.assertEqual(billed[-1], 429)
        self.assertLessEqual(billed.count(200), 3)

        def year_of(now):
            year = datetime.datetime.fromtimestamp(now, datetime.timezone.utc).year
            return tuple(datetime.datetime(y, 1, 1, tzinfo=datetime.timezone.utc).timestamp() for y in (year, year + 1))

        self.assertEqual(self.expect_fields("/yearly", year_of)[-1], 429)


class Windows(CalendarTest):
    def test_fields_follow_the_calendar(self):
        self.start()
        self.check_months_and_years()

    def test_zone_data_is_a_metric_and_a_new_zone_takes_over_the_count(self):
        self.start()
        while self.auth("/billed")[0] == 200:
            pass
        told = self.weir.ask("GET", "/metrics", listener="admin")[2]
        self.assertRegex(told, r'(?m)^weir_zone_data_info\{timezone="Asia/Kathmandu",digest="[0-9a-f]{16}"\} 1$')
        self.weir.policy_file.write_text(POLICY.format(zone="Asia/Tokyo"))
        eventually(lambda: 'timezone="Asia/Tokyo"' in self.weir.ask("GET", "/metrics", listener="admin")[2], "reload")
        now = datetime.datetime.now().timestamp()
        if month_of(now - 86400, ZONE) == month_of(now + 86400, ZONE):  # skips months that only one of them has
            self.assertEqual(self.auth("/billed")[0], 429)


class Shared(CalendarTest):
    def test_fields_follow_the_calendar(self):
        redis = self.enterContext(Redis())
        self.start(LISTENERS + f"store: {{ redis: {{ urls: {redis.url}, timeout: 10s }} }}\n")
        eventually(lambda: "\nweir_store_connected 1\n" in self.weir.ask("GET", "/metrics", listener="admin")[2], "Redis")
        self.check_months_and_years()
        told = self.weir.ask("GET", "/metrics", listener="admin")[2]
        self.assertRegex(told, r'(?m)^weir_store_decisions_total\{path="shared"\} [1-9]')
        self.assertIn('weir_store_decisions_total{path="local"} 0\n', told)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
