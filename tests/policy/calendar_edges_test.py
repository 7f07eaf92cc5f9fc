"""Compares the edges of calendar windows, over ten years in difficult zones, with Python's zoneinfo.

Usage: calendar_edges_test.py CALENDAR_EDGES

The oracle has no rule about edges: it steps through time in quarters of an hour, to which all offsets of these years
are rounded, and detects when a new local date begins.
"""

import datetime
import subprocess
import sys
import unittest
import zoneinfo

PROGRAM = sys.argv[1]
STEP = 15 * 60
ZONES = [
    ("UTC", 2020),
    ("Europe/Berlin", 2020),
    ("America/Sao_Paulo", 2010),   # midnights that do not exist, and the end of summer time
    ("Pacific/Apia", 2005),        # a skipped date, and the end of summer time
    ("Africa/Casablanca", 2016),   # changes around Ramadan, and another standard time in 2018
    ("Asia/Pyongyang", 2012),      # a change by half an hour, and back
    ("America/St_Johns", 2002),    # changes at a minute past midnight: an hour of the previous day is repeated
    ("Australia/Lord_Howe", 2020), # half an hour of summer time
    ("Asia/Kathmandu", 2020),
]
UNITS = {
    "day": lambda date: date,
    "week": lambda date: date - datetime.timedelta(days=date.weekday()),
    "month": lambda date: date.replace(day=1),
    "year": lambda date: date.replace(month=1, day=1),
}


def second(year):
    return int(datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc).timestamp())


def walk(zone, begin, end):
    """unit -> edges in [begin, end), each the first instant of a new date."""
    tz = zoneinfo.ZoneInfo(zone)
    latest = {unit: None for unit in UNITS}
    edges = {unit: [] for unit in UNITS}
    last_offset, checked = None, None
    for at in range(begin, end, STEP):
        local = datetime.datetime.fromtimestamp(at, tz)
        date = local.date()
        if date == checked and local.utcoffset() == last_offset:
            continue
        checked, last_offset = date, local.utcoffset()
        for unit, start_of in UNITS.items():
            start = start_of(date)
            if latest[unit] is None or start > latest[unit]:
                if latest[unit] is not None:
                    edges[unit].append(at)
                latest[unit] = start
    return edges


class Edges(unittest.TestCase):
    def test_ten_years_are_as_python_has_them(self):
        for zone, year in ZONES:
            begin, end = second(year), second(year + 10)
            # One more window on each side, so that the first and the last have neighbours.
            expected = walk(zone, begin - 800 * 86400, end + 800 * 86400)
            ran = subprocess.run([PROGRAM, zone, str(begin), str(end)], stdout=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(ran.returncode, 0)
            seen = {unit: 0 for unit in UNITS}
            for line in ran.stdout.splitlines():
                unit, *edges = line.split()
                edges = [int(edge) for edge in edges]
                with self.subTest(zone=zone, line=line):
                    first = expected[unit].index(edges[0])
                    self.assertEqual(edges, expected[unit][first:first + 4])
                seen[unit] += 1
            for unit, count in seen.items():
                self.assertEqual(count, 1 + sum(begin < at < end for at in expected[unit]), (zone, unit))

    def test_the_hard_dates_are_among_them(self):
        edges = walk("Pacific/Apia", second(2011), second(2012) + 86400)["day"]
        self.assertNotIn(datetime.date(2011, 12, 30),
                         [datetime.datetime.fromtimestamp(at, zoneinfo.ZoneInfo("Pacific/Apia")).date() for at in edges])
        lengths = [after - at for at, after in zip(edges, edges[1:])]
        self.assertEqual(set(lengths), {23 * 3600, 24 * 3600, 25 * 3600})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
