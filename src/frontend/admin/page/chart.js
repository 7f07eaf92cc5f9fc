// A time chart, drawn as SVG in the available pixels, so that its text has the same size on every screen. The legend
// shows the values under the pointer, or at the position chosen by the arrow keys when the chart has the focus.

import {element, replace, setText, svg} from "./dom.js";
import {clock, minute} from "./format.js";

const LEFT = 44;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 22;

// Returns 1, 2 or 5 times a power of ten: the smallest such number that is at least `least`.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) * power;
}

function ticksUpTo(most, steps) {
  const step = roundStep(Math.max(most, 1e-9) / steps);
  const last = Math.max(1, Math.ceil(most / step - 1e-9));
  return Array.from({length: last + 1}, (_, i) => i * step);
}

// Ticks at round times, as many as fit.
function timeTicks(from, to, room) {
  const steps = [10e3, 30e3, 60e3, 120e3, 300e3, 600e3, 1800e3];
  const step = steps.find((each) => (to - from) / each <= room) ?? steps.at(-1);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push({at, fine: step < 60e3});
  return ticks;
}

// Splits points into runs. Points more than 1.5 steps apart are not joined.
function runs(points, step) {
  const found = [];
  let run = [];
  for (const point of points) {
    if (run.length > 0 && point.at - run.at(-1).at > 1.5 * step) {
      found.push(run);
      run = [];
    }
    run.push(point);
  }
  if (run.length > 0) found.push(run);
  return found;
}

// series: [{key, label, look, line}]. Areas are stacked in order; lines are drawn over them. `show` formats a value,
// `least` is the minimum value at the top of the axis, `span` the period shown, and `step` the distance between two
// points, both in ms.
export class TimeChart {
  constructor({title, series, show, least = 1, span = 600e3, step = 1000, height = 200}) {
    Object.assign(this, {title, series, show, least, span, step, height});
    this.points = [];
    this.chosen = null;  // a time
    this.values = new Map();
    this.time = element("span", {class: "legend-time"});
    const legend = element("div", {class: "legend"}, series.map((each) => {
      const value = element("b");
      this.values.set(each.key, value);
      return element("span", {"data-series": each.key},
        element("i", {class: `key ${each.look}`}), each.label, " ", value);
    }), this.time);
    this.canvas = element("div", {
      class: "canvas", tabindex: "0", role: "img", "aria-label": title,
      onpointermove: (event) => this.choose(this.timeAt(event.offsetX)),
      onpointerleave: () => this.choose(null),
      onblur: () => this.choose(null),
      onkeydown: (event) => this.key(event),
    });
    this.canvas.style.height = `${height}px`;
    this.node = element("div", {class: "chart"}, legend, this.canvas);
    new ResizeObserver(() => this.paint()).observe(this.canvas);
  }

  // Hides a series.
  hideSeries(key, isOut) {
    this.node.querySelector(`[data-series="${key}"]`).hidden = isOut;
    this.series.find((each) => each.key === key).isOut = isOut;
  }

  // points: [{at, key: value, ...}] by ascending time.
  draw(points, now) {
    this.points = points;
    this.now = now;
    this.paint();
  }

  get from() {
    return this.now - this.span;
  }

  x(at) {
    return LEFT + ((at - this.from) / this.span) * (this.width - LEFT - RIGHT);
  }

  timeAt(x) {
    return this.from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * this.span;
  }

  y(value) {
    return this.height - BOTTOM - (value / this.top) * (this.height - TOP - BOTTOM);
  }

  key(event) {
    const move = {ArrowLeft: -1, ArrowRight: 1, PageUp: -60, PageDown: 60}[event.key];
    if (!move || this.points.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = (this.chosen ?? this.points.at(-1).at) + move * this.step;
    this.choose(Math.min(this.points.at(-1).at, Math.max(this.points[0].at, at)));
  }

  choose(at) {
    this.chosen = at;
    this.drawLegend();
  }

  // The point shown in the legend: the chosen one, or the last.
  shownPoint() {
    if (this.points.length === 0) return null;
    if (this.chosen === null) return this.points.at(-1);
    return this.points.reduce((best, point) =>
      Math.abs(point.at - this.chosen) < Math.abs(best.at - this.chosen) ? point : best);
  }

  drawLegend() {
    const point = this.shownPoint();
    for (const [key, node] of this.values) setText(node, point ? this.show(point[key]) : "");
    setText(this.time, point && this.chosen !== null ? `${clock(point.at)} UTC` : "");
    if (!this.cursor) return;
    const visible = point && this.chosen !== null;
    this.cursor.setAttribute("visibility", visible ? "visible" : "hidden");
    if (visible) this.cursor.setAttribute("transform", `translate(${this.x(point.at).toFixed(1)} 0)`);
  }

  paint() {
    this.width = this.canvas.clientWidth;
    if (this.width === 0 || this.now === undefined) return;
    const shown = this.points.filter((point) => point.at >= this.from && point.at <= this.now);
    const areas = this.series.filter((each) => !each.line);
    const lines = this.series.filter((each) => each.line && !each.isOut);
    const height = (point) => areas.reduce((sum, each) => sum + (point[each.key] ?? 0), 0);
    const most = shown.reduce((max, point) =>
      Math.max(max, height(point), ...lines.map((each) => point[each.key] ?? 0)), this.least);
    const ticks = ticksUpTo(most, Math.max(2, Math.min(4, Math.floor(this.height / 44))));
    this.top = ticks.at(-1);
    this.cursor = svg("line", {class: "cursor", y1: TOP, y2: this.height - BOTTOM, visibility: "hidden"});
    replace(this.canvas, svg("svg", {width: this.width, height: this.height, "aria-hidden": "true"},
      this.axes(ticks), this.areas(areas, shown), this.lines(lines, shown), this.cursor));
    this.drawLegend();
  }

  axes(ticks) {
    const right = this.width - RIGHT;
    const bottom = this.height - BOTTOM;
    return [
      ticks.map((tick) => [
        svg("line", {class: tick === 0 ? "base" : "grid", x1: LEFT, x2: right, y1: this.y(tick), y2: this.y(tick)}),
        svg("text", {class: "end", x: LEFT - 6, y: this.y(tick) + 4}, this.show(tick)),
      ]),
      timeTicks(this.from, this.now, (right - LEFT) / 72).map(({at, fine}) =>
        svg("text", {class: this.x(at) > right - 18 ? "end" : this.x(at) < LEFT + 18 ? "" : "middle",
                     x: this.x(at).toFixed(1), y: bottom + 16}, fine ? clock(at) : minute(at))),
    ];
  }

  areas(areas, shown) {
    const below = new Map(shown.map((point) => [point, 0]));
    return areas.map((each) => {
      const edges = [];
      const path = runs(shown, this.step).map((run) => {
        const upper = run.map((point) => {
          const to = below.get(point) + (point[each.key] ?? 0);
          return `${this.x(point.at).toFixed(1)} ${this.y(to).toFixed(1)}`;
        });
        const lower = run.map((point) => `${this.x(point.at).toFixed(1)} ${this.y(below.get(point)).toFixed(1)}`);
        run.forEach((point) => below.set(point, below.get(point) + (point[each.key] ?? 0)));
        edges.push(`M${upper.join("L")}`);
        return `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
      });
      const isThere = shown.some((point) => point[each.key] > 0);
      return [svg("path", {class: `area ${each.look}`, d: path.join("")}),
              isThere && svg("path", {class: `edge ${each.look}`, d: edges.join("")})];
    });
  }

  lines(lines, shown) {
    return lines.map((each) => {
      const known = shown.filter((point) => point[each.key] !== null && point[each.key] !== undefined);
      const path = runs(known, this.step).map((run) => "M" + run.map((point) =>
        `${this.x(point.at).toFixed(1)} ${this.y(point[each.key]).toFixed(1)}`).join("L"));
      return svg("path", {class: `line ${each.look}`, d: path.join("")});
    });
  }
}
