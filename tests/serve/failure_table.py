"""The table of failures in docs/redis-outages.md, written by the test that measured them, and compared with later runs.
"""

import dataclasses
import math

from server import ROOT

PAGE = ROOT / "docs/redis-outages.md"
BEGIN, END = "<!-- failures: begin -->\n", "<!-- failures: end -->\n"
COLUMNS = ["Redis is", "`local`", "`open`", "`closed`", "counts", "`weir_store_errors_total`", "breaker",
           "slowest answer", "normal after"]
MEASURED = 2  # only the last, because they differ from run to run


@dataclasses.dataclass
class Row:
    """The measurements. Times are in seconds."""

    name: str
    local: str
    open: str
    closed: str
    counts: str
    errors: list
    breaker: str
    slowest: float
    normal_after: float

    @property
    def cells(self):
        errors = ", ".join(f"`{kind}`" for kind in self.errors) or "none"
        slowest = f"{math.ceil(self.slowest * 1000)} ms"
        normal_after = f"{self.normal_after:.1f} s" if self.normal_after >= 0.05 else "at once"
        return [self.name, self.local, self.open, self.closed, self.counts, errors, self.breaker, slowest, normal_after]

    @property
    def lasting(self):
        """Returns everything except the times."""
        return self.cells[:-MEASURED]


def markdown(rows):
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(row.cells for row in rows)]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def on_page():
    """Returns the rows of the page by failure: the cells that do not vary."""
    text = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return {cells[0]: cells[:-MEASURED] for cells in rows[2:]}


def write_page(rows):
    before, rest = PAGE.read_text().split(BEGIN)
    old, after = rest.split(END)
    prose = "".join(line for line in old.splitlines(keepends=True) if not line.startswith("|")).strip("\n")
    PAGE.write_text(f"{before}{BEGIN}{prose}\n\n{markdown(rows)}{END}{after}")
