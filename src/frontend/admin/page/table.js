// A table that is updated in place: rows are identified by a key and keep their elements, so that focus and selection
// survive updates. A click on a heading sorts by it; a second click reverses the order.

import {element, setText, tone} from "./dom.js";

// columns: [{id, title, text(row) or draw(cell, row), value(row) to sort by, number, wide, tone(row), hint}]
//   number: right-aligned, sorted in descending order first; wide: hidden on narrow screens.
// key(row): a string. empty: the text shown if there are no rows. sort: the initial {id, down}; without it the rows are
// not sorted. long: `first` or `last`: the column that gets its own line on narrow screens.
export class Table {
  constructor({title, columns, key, empty, sort = null, long = null}) {
    Object.assign(this, {columns, key, sort});
    this.rows = [];
    this.shown = new Map();  // key -> {tr, cells}
    this.headings = new Map();
    this.body = element("tbody");
    this.none = element("p", {class: "empty"}, empty);
    this.table = element("table", {"aria-label": title, class: long && `long-${long}`},
      element("thead", {}, element("tr", {}, columns.map((column) => this.heading(column)))), this.body);
    this.node = element("div", {class: "scroll"}, this.table, this.none);
    this.markSort();
  }

  heading(column) {
    const label = column.value && this.sort
      ? element("button", {type: "button", class: "sort", title: column.hint, onclick: () => this.sortBy(column)},
          column.title)
      : column.title;
    const heading = element("th", {scope: "col", class: classOf(column), title: column.hint}, label);
    this.headings.set(column.id, heading);
    return heading;
  }

  sortBy(column) {
    const down = this.sort.id === column.id ? !this.sort.down : Boolean(column.number);
    this.sort = {id: column.id, down};
    this.markSort();
    this.draw(this.rows);
  }

  markSort() {
    for (const [id, heading] of this.headings) {
      if (this.sort?.id === id) heading.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
  }

  sorted(rows) {
    const column = this.sort && this.columns.find((each) => each.id === this.sort.id);
    if (!column) return rows;
    const sign = this.sort.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      const order = typeof x === "string" ? x.localeCompare(y) : (x ?? -1) - (y ?? -1);
      return sign * order || this.key(a).localeCompare(this.key(b));
    });
  }

  draw(rows) {
    this.rows = rows;
    const ordered = this.sorted(rows);
    const keys = new Set(ordered.map(this.key));
    for (const [key, {tr}] of this.shown) {
      if (keys.has(key)) continue;
      tr.remove();
      this.shown.delete(key);
    }
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    let next = this.body.firstChild;
    for (const row of ordered) {
      const shown = this.rowOf(row);
      this.columns.forEach((column, i) => drawCell(column, shown.cells[i], row));
      if (shown.tr === next) next = next.nextSibling;
      else this.body.insertBefore(shown.tr, next);
    }
    if (focused !== document.activeElement) focused?.focus({preventScroll: true});  // moving a row loses the focus
    this.table.hidden = ordered.length === 0;
    this.none.hidden = ordered.length > 0;
  }

  rowOf(row) {
    const key = this.key(row);
    let shown = this.shown.get(key);
    if (!shown) {
      const cells = this.columns.map((column) => element("td", {class: classOf(column)}));
      shown = {tr: element("tr", {"data-row": key}, cells), cells};
      this.shown.set(key, shown);
    }
    return shown;
  }
}

function classOf(column) {
  return [column.number && "number", column.wide && "wide", column.look].filter(Boolean).join(" ");
}

function drawCell(column, cell, row) {
  if (column.draw) column.draw(cell, row);
  else setText(cell, column.text(row));
  if (column.tone) tone(cell, column.tone(row));
}
