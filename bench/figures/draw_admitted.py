"""Draws the output of admitted_over_time (standard input) as an SVG (standard output).

One panel per algorithm: seven lines in one chart would hide each other. All panels share their axes and
show the same offered load behind the algorithm's own line.
"""

import csv
import math
import sys
from xml.sax.saxutils import escape

TITLES = {
    "token_bucket": "Token bucket",
    "gcra": "GCRA",
    "leaky_bucket_meter": "Leaky bucket, meter",
    "leaky_bucket_queue": "Leaky bucket, queue",
    "fixed_window": "Fixed window",
    "sliding_window_counter": "Sliding window counter",
    "sliding_window_log": "Sliding window log",
}

COLUMNS, ROWS = 4, 2
PANEL_WIDTH, PANEL_HEIGHT = 212, 190
GAP_X, GAP_Y = 24, 84
LEFT, TOP, RIGHT, BOTTOM = 64, 110, 20, 54
WIDTH = LEFT + COLUMNS * PANEL_WIDTH + (COLUMNS - 1) * GAP_X + RIGHT
HEIGHT = TOP + ROWS * PANEL_HEIGHT + (ROWS - 1) * GAP_Y + BOTTOM

MINUTES = 5
PER_MINUTE = 60
COUNT_STEP = 100

INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"
OFFERED_FILL, OFFERED_LINE = "#eef1f4", "#9aa5b1"
ADMITTED, SUSTAINED = "#0b6bcb", "#c2410c"


def read_series(lines):
    """Returns the instants of each series in seconds, in order, and the label of each series."""
    instants, labels = {}, {}
    for row in csv.DictReader(lines):
        instants.setdefault(row["series"], []).append(float(row["seconds"]))
        labels[row["series"]] = row["label"]
    return {name: sorted(series) for name, series in instants.items()}, labels


def text(x, y, content, size=12, colour=INK, anchor="start", weight="normal", rotate=None):
    turned = f' transform="rotate({rotate} {x:.1f} {y:.1f})"' if rotate is not None else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-weight="{weight}"{turned}>{escape(content)}</text>')


def line(x1, y1, x2, y2, colour, width=1.0, dash=None):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashed}/>')


class Panel:
    """A chart of counts over time. The origin of its coordinates is its upper left corner."""

    def __init__(self, highest):
        self._highest = highest

    def x(self, seconds):
        return PANEL_WIDTH * seconds / (60 * MINUTES)

    def y(self, count):
        return PANEL_HEIGHT * (1 - count / self._highest)

    def grid(self, with_counts, with_minutes):
        for count in range(0, self._highest + 1, COUNT_STEP):
            yield line(0, self.y(count), PANEL_WIDTH, self.y(count), GRID)
            if with_counts:
                yield text(-8, self.y(count) + 4, str(count), 11, FAINT, "end")
        for minute in range(MINUTES + 1):
            yield line(self.x(60 * minute), 0, self.x(60 * minute), PANEL_HEIGHT, GRID)
            if with_minutes:
                yield text(self.x(60 * minute), PANEL_HEIGHT + 17, str(minute), 11, FAINT, "middle")
        if with_counts:
            yield text(-46, PANEL_HEIGHT / 2, "requests", 11, FAINT, "middle", rotate=-90)
        if with_minutes:
            yield text(PANEL_WIDTH / 2, PANEL_HEIGHT + 36, "minutes", 11, FAINT, "middle")

    def staircase(self, instants):
        """The path of the cumulative count. Steps closer than half a pixel become one."""
        height_at = {}
        for count, seconds in enumerate(instants, start=1):
            height_at[round(2 * self.x(seconds)) / 2] = self.y(count)
        steps = "".join(f"H{x:g}V{y:.1f}" for x, y in height_at.items())
        return f"M0 {PANEL_HEIGHT}{steps}H{PANEL_WIDTH}"

    def offered(self, instants):
        path = self.staircase(instants)
        yield f'<path d="{path}V{PANEL_HEIGHT}Z" fill="{OFFERED_FILL}"/>'
        yield f'<path d="{path}" fill="none" stroke="{OFFERED_LINE}" stroke-width="1.2"/>'

    def admitted(self, instants):
        end = 60 * MINUTES
        in_time = [seconds for seconds in instants if seconds <= end]
        yield line(0, self.y(0), self.x(end), self.y(PER_MINUTE * MINUTES), SUSTAINED, 1.2, "4 3")
        yield (f'<path d="{self.staircase(in_time)}" fill="none" stroke="{ADMITTED}" stroke-width="2.2" '
               f'stroke-linejoin="round"/>')
        yield text(8, 19, f"{len(in_time)} admitted", 12, ADMITTED, weight="bold")

    @staticmethod
    def heading(title, label):
        yield text(0, -24, title, 13, INK, weight="bold")
        yield text(0, -8, label, 11, FAINT)


def legend():
    yield f'<rect y="15" width="26" height="11" fill="{OFFERED_FILL}"/>'
    yield line(0, 15, 26, 15, OFFERED_LINE, 1.2)
    yield text(36, 25, "offered")
    yield line(0, 47, 26, 47, ADMITTED, 2.2)
    yield text(36, 51, "admitted")
    yield line(0, 73, 26, 73, SUSTAINED, 1.2, "4 3")
    yield text(36, 77, f"{PER_MINUTE} per minute")
    for i, note in enumerate(("Every limit stands for 60 per", "minute. In the queue, a request",
                              "counts when its turn comes.")):
        yield text(0, 114 + 17 * i, note, 12, FAINT)


def in_cell(index, parts):
    column, row = index % COLUMNS, index // COLUMNS
    x, y = LEFT + column * (PANEL_WIDTH + GAP_X), TOP + row * (PANEL_HEIGHT + GAP_Y)
    yield f'<g transform="translate({x} {y})">'
    yield from parts
    yield "</g>"


def draw(instants, labels):
    offered = instants["offered"]
    panel = Panel(highest=COUNT_STEP * math.ceil(len(offered) / COUNT_STEP))
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
           f'height="{HEIGHT}" font-family="system-ui, sans-serif">')
    yield f'<defs><g id="offered">{"".join(panel.offered(offered))}</g></defs>'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    yield text(LEFT, 32, "One bursty client, seven algorithms", 18, INK, weight="bold")
    yield text(LEFT, 53, f"Requests let through since the start; {len(offered)} were made in {MINUTES} minutes",
               13, FAINT)
    for i, (name, title) in enumerate(TITLES.items()):
        nothing_below = i + COLUMNS >= len(TITLES)
        yield from in_cell(i, [
            *panel.grid(with_counts=i % COLUMNS == 0, with_minutes=nothing_below),
            '<use href="#offered"/>',
            *panel.admitted(instants[name]),
            *panel.heading(title, labels[name]),
        ])
    yield from in_cell(len(TITLES), legend())
    yield "</svg>"


def main():
    print("\n".join(draw(*read_series(sys.stdin))))


if __name__ == "__main__":
    main()
