// Small graphics for text and tables: stacked bars, sparklines, histograms.

import {element, replace, svg} from "./dom.js";
import {count} from "./format.js";

// parts: [{look, value, label}], drawn as shares of `whole`, by default their sum.
export function bar(parts, whole = parts.reduce((sum, part) => sum + part.value, 0)) {
  let left = 0;
  const rects = parts.filter((part) => part.value > 0).map((part) => {
    const width = (100 * part.value) / whole;
    const rect = svg("rect", {class: part.look, x: left, y: 0, width, height: 1});
    left += width;
    return rect;
  });
  const words = parts.map((part) => `${part.label}: ${count(part.value)}`).join(", ");
  return svg("svg", {class: "bar", viewBox: "0 0 100 1", preserveAspectRatio: "none", role: "img", "aria-label": words},
    svg("title", {}, words), rects);
}

// values: [{all, part}] by time; `part` is drawn over `all`.
export function sparkline(values, length) {
  const most = values.reduce((max, value) => Math.max(max, value.all), 1);
  const outline = (of) => {
    const first = length - values.length;
    const height = (value) => (of(value) > 0 ? Math.max(1.5, (19 * of(value)) / most) : 0);
    const steps = values.map((value, i) => `V${(20 - height(value)).toFixed(2)}H${first + i + 1}`);
    return `M${first} 20${steps.join("")}V20Z`;
  };
  return svg("svg",
    {class: "sparkline", viewBox: `0 0 ${length} 20`, preserveAspectRatio: "none", "aria-hidden": "true"},
    svg("path", {class: "area admitted", d: outline((value) => value.all)}),
    svg("path", {class: "area denied", d: outline((value) => value.part)}));
}

// bars: [{label, value}], with labels below, an axis of counts to the left, and values in titles for screen readers.
export class Histogram {
  constructor(title) {
    this.node = element("div", {class: "histogram", role: "img", "aria-label": title});
  }

  draw(bars, look) {
    const most = bars.reduce((max, each) => Math.max(max, each.value), 1);
    const axis = element("div", {class: "axis", "aria-hidden": "true"}, element("span", {}, count(most)),
      element("span", {}, "0"));
    replace(this.node, axis, bars.map((each) => element("div", {title: `${each.label}: ${count(each.value)}`},
      svg("svg", {viewBox: "0 0 1 100", preserveAspectRatio: "none"},
        svg("rect", {class: look(each), x: 0, width: 1, y: 100 - (100 * each.value) / most,
                     height: each.value > 0 ? Math.max(1, (100 * each.value) / most) : 0})),
      element("span", {}, each.label))));
  }
}
