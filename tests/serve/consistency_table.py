"""The table in docs/consistency.md with what leased and approximate limits admitted, written by the tests."""

import os
import sys

from server import ROOT

PAGE = ROOT / "docs/consistency.md"
BEGIN, END = "<!-- consistencies: begin -->\n", "<!-- consistencies: end -->\n"


def on_page():
    """The rows by what was done: the guarantee, and the measurement."""
    text = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return {done: [promised, seen] for done, promised, seen in rows[2:]}


def note(test, done, promised, seen):
    """Prints a row, which must be on the page with that guarantee; with UPDATE_GOLDEN set, writes it there."""
    print(f"| {done} | {promised} | {seen} |", file=sys.stderr)
    if os.environ.get("UPDATE_GOLDEN"):
        rows = on_page()
        rows[done] = [promised, str(seen)]
        before, rest = PAGE.read_text().split(BEGIN)
        lines = [["what was done", "admitted, guaranteed", "admitted, measured"], ["---"] * 3,
                 *([name, *cells] for name, cells in rows.items())]
        table = "".join("| " + " | ".join(cells) + " |\n" for cells in lines)
        PAGE.write_text(f"{before}{BEGIN}{table}{END}{rest.split(END)[1]}")
    test.assertEqual(on_page().get(done, [None])[0], promised)
