// The last 1,000 events: reloads, the store, overflow, spikes, changes by operators.

import {element, redraw, replace} from "./dom.js";
import {ago, count, when} from "./format.js";
import {badge, head} from "./parts.js";
import {drawEvent} from "./now.js";
import {Table} from "./table.js";
import {LEVELS} from "./words.js";

const KINDS = ["start", "reload", "store", "overflow", "spike", "change"];

export class EventsView {
  constructor(model) {
    this.model = model;
    this.chosen = new Set();  // empty: all
    this.remark = element("p", {class: "soft"});
    this.chips = new Map(KINDS.map((kind) => [kind, element("button", {
      type: "button", "aria-pressed": "false", onclick: () => this.toggle(kind)}, kind)]));
    this.table = new Table({
      title: "Events", key: (event) => String(event.id), empty: "No such events since startup.", long: "last",
      columns: [
        {id: "at", title: "Time (UTC)", look: "nowrap", draw: (cell, event) => replace(cell, when(event.at),
          element("small", {}, ago(event.at, model.now)))},
        {id: "kind", title: "Kind", look: "nowrap", draw: (cell, event) =>
          redraw(cell, event.id, () => [badge(event.kind, LEVELS[event.level])])},
        {id: "message", title: "Event", draw: drawEvent},
      ],
    });
    this.node = element("div", {},
      head("Events", this.remark,
        element("div", {class: "chips right", role: "group", "aria-label": "Kinds to show"}, [...this.chips.values()])),
      element("section", {class: "card"}, this.table.node));
  }

  show() {
    this.draw();
  }

  hide() {}

  toggle(kind) {
    if (!this.chosen.delete(kind)) this.chosen.add(kind);
    this.chips.get(kind).setAttribute("aria-pressed", String(this.chosen.has(kind)));
    this.draw();
  }

  draw() {
    const {events} = this.model;
    const shown = events.filter((event) => this.chosen.size === 0 || this.chosen.has(event.kind));
    replace(this.remark, `${count(shown.length)} of ${count(events.length)}; the server keeps the last 1,000`);
    this.table.draw(shown);
  }
}
