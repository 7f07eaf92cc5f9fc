// Renders the JSON report that precedes it in the page. Parts of a report come from a log, which clients control: they
// become text nodes and attributes, never markup.
"use strict";

const report = JSON.parse(document.getElementById("report").textContent);
const maxRows = 100;

// --- numbers and times

const grouped = (number) => Math.round(number).toLocaleString("en-US");

// Only zero is written as `0.0 %`, and only the whole as `100.0 %`.
function percent(part, whole) {
  if (whole === 0) return "-";
  const share = (100 * part) / whole;
  if (part > 0 && share < 0.05) return "< 0.1 %";
  if (part < whole && share >= 99.95) return "> 99.9 %";
  return `${share.toFixed(1)} %`;
}

// Three significant digits, or the whole integer part.
function rounded(number) {
  if (number === 0) return "0";
  if (number >= 999.5) return grouped(number);
  if (number < 0.01) return String(Number(number.toPrecision(2)));
  return number.toFixed(number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2);
}

const counted = (count, one) => `${grouped(count)} ${one}${count === 1 ? "" : "s"}`;
const secondOf = (time) => Date.parse(time) / 1000;
const timeText = (second) => new Date(second * 1000).toISOString().slice(0, 19).replace("T", " ");

// The two largest units: `16 min 40 s`.
function lengthText(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const largest = units.findIndex(([, size]) => seconds >= size);
  if (largest < 0) return "0 s";
  const words = [];
  for (const [name, size] of units.slice(largest, largest + 2)) {
    if (seconds >= size) words.push(`${Math.floor(seconds / size)} ${name}`);
    seconds %= size;
  }
  return words.join(" ");
}

// --- elements

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter((child) => child));
  return node;
}

const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const heading = (level, text) => element(`h${level}`, {}, text);
const bold = (text) => element("b", {}, text);
const small = (...words) => element("p", {class: "small soft"}, words);
const card = (...inside) => element("section", {class: "card"}, inside);

// `columns` are titles, each followed by a colon and a class: "l" is aligned left, "l name" is for long texts, "l bars"
// for bars; without a class the column is aligned right.
function table(columns, rows) {
  const titles = columns.map((column) => column.split(":"));
  const row = (tag, cells, attributes = {}) => element("tr", {}, cells.map((cell, i) =>
    element(tag, {...attributes, class: titles[i][1] ?? ""}, cell)));
  return element("div", {class: "scroll"}, element("table", {},
    element("thead", {}, row("th", titles.map(([title]) => title), {scope: "col"})),
    element("tbody", {}, rows.map((cells) => row("td", cells)))));
}

// The numbers behind a chart, initially collapsed.
const details = (columns, rows) => element("details", {}, element("summary", {}, "Numbers"), table(columns, rows));

// A stacked bar as wide as its column. A part is a class, a count and a label.
function stackedBar(parts) {
  const whole = parts.reduce((sum, [, count]) => sum + count, 0);
  return element("span", {class: "bar", "aria-hidden": "true"}, parts.map(([look, count, label]) => {
    const part = count > 0 && element("i", {class: look, title: `${label}: ${grouped(count)}`});
    if (part) part.style.width = `${(100 * count) / whole}%`;
    return part;
  }));
}

const legend = (entries) => element("div", {class: "legend"},
  entries.map(([look, label]) => element("span", {}, element("i", {class: look}), label)));
const barWithLegend = (parts) =>
  [stackedBar(parts), legend(parts.map(([look, count, label]) => [look, `${label}: ${grouped(count)}`]))];

// --- charts

// The drawing area of a chart, in units of its viewBox. The margins leave room for labels.
const left = 56;
const right = 708;
const bottom = 216;
const across = right - left;
const tenths = (number) => number.toFixed(1);

// `rows` and `columns` are the ticks of the axes, each a position from 0 to 1 and a label. `drawing` and `markers` get
// a function that turns a height from 0 to 1 into a coordinate; the markers are drawn over the axes.
function chart({title, description, top = 24, rows, rowsName, columns, columnsName, drawing, markers = () => []}) {
  const y = (height) => bottom - height * (bottom - top);
  return element("div", {class: "chart"}, svg("svg", {viewBox: "0 0 720 252", role: "img"},
    svg("title", {}, title), svg("desc", {}, description),
    svg("text", {x: 0, y: 9}, rowsName),
    rows.map(([at, label]) => [
      svg("line", {class: "grid", x1: left, x2: right, y1: tenths(y(at)), y2: tenths(y(at))}),
      svg("text", {class: "end", x: left - 6, y: tenths(y(at) + 4)}, label)]),
    drawing(y),
    svg("line", {class: "base", x1: left, x2: right, y1: bottom, y2: bottom}),
    columns.map(([at, label]) => svg("text", {
      class: at > 0.97 ? "end" : at < 0.02 ? "" : "middle", x: tenths(left + at * across), y: bottom + 16}, label)),
    svg("text", {class: "end", x: right, y: bottom + 33}, columnsName),
    markers(y)));
}

// An axis from zero to a round number of at least `max`: returns that number and the ticks.
function linearAxis(max) {
  const minStep = Math.max(max, 1e-9) / 4;
  const power = 10 ** Math.floor(Math.log10(minStep));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= minStep * (1 - 1e-9)) * power;
  const count = Math.max(1, Math.ceil(max / step - 1e-9));
  const label = (number) => (number >= 1000 ? grouped(number) : String(Number(number.toPrecision(6))));
  return [step * count, Array.from({length: count + 1}, (_, i) => [i / count, label(i * step)])];
}

// Ticks at round UTC times, about seven at most.
function timeTicks(first, length) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800];
  let step = steps.find((each) => Math.floor(length / each) <= 7) ?? steps.at(-1);
  while (Math.floor(length / step) > 7) step *= 2;
  const label = (second) => {
    const text = timeText(second);
    if (step >= 86400) return text.slice(0, 10);
    if (second % 86400 === 0) return text.slice(5, 16);
    return text.slice(11, step >= 60 ? 16 : 19);
  };
  const ticks = [];
  for (let at = Math.ceil(first / step) * step; at <= first + length; at += step) {
    ticks.push([(at - first) / length, label(at)]);
  }
  return ticks;
}

// The bins of a policy's timeline, each with the seconds that the log covers: the last may be shorter.
function timelineOf(policy) {
  const {start, seconds_per_bin: width, admitted, denied} = policy.timeline;
  const end = secondOf(report.to) + 1;
  return admitted.map((count, i) => {
    const at = secondOf(start) + i * width;
    return {at, admitted: count, denied: denied[i], seconds: Math.min(width, end - at)};
  });
}

const timeAxis = (policy) => {
  const {start, seconds_per_bin: width, admitted} = policy.timeline;
  return {columns: timeTicks(secondOf(start), Math.max(1, admitted.length * width)),
          columnsName: `UTC, each step ${lengthText(width)}`};
};

// The outline of steps, one per height from 0 to 1, as points of a path; and the area below it.
const outline = (heights, y) => heights.map((height, i) =>
  `${tenths(left + (i / heights.length) * across)} ${tenths(y(height))}` +
  `H${tenths(left + ((i + 1) / heights.length) * across)}`).join("L");
const area = (look, heights, y) => heights.length > 0 &&
  svg("path", {class: look, d: `M${left} ${bottom}L${outline(heights, y)}V${bottom}Z`});

function timelineChart(policy, title) {
  const bins = timelineOf(policy);
  const [top, rows] = linearAxis(Math.max(...bins.map((bin) => (bin.admitted + bin.denied) / bin.seconds), 0) || 1);
  const heights = (count) => bins.map((bin) => count(bin) / bin.seconds / top);
  const hint = (bin, i, y) => svg("rect", {
    class: "hint", x: tenths(left + (i / bins.length) * across), y: y(1), width: (across / bins.length).toFixed(2),
    height: bottom - y(1)},
    svg("title", {}, `${timeText(bin.at)}: ${grouped(bin.admitted)} admitted, ${grouped(bin.denied)} denied`));
  return chart({
    title, description: "Requests per second, admitted and on top of them denied, over time.",
    rows, rowsName: "requests per second", ...timeAxis(policy),
    drawing: (y) => [area("denied", heights((bin) => bin.admitted + bin.denied), y),
                     area("admitted", heights((bin) => bin.admitted), y)],
    markers: (y) => bins.map((bin, i) => hint(bin, i, y)),
  });
}

// Denied per second under both policies, on one scale.
function denialsChart(before, after) {
  const [was, is] = [before, after].map((policy) => timelineOf(policy).map((bin) => bin.denied / bin.seconds));
  const [top, rows] = linearAxis(Math.max(...was, ...is, 0) || 1);
  return chart({
    title: "Denied over time, current policy and candidate",
    description: "Denied requests per second under the current policy and under the candidate.",
    rows, rowsName: "denied per second", ...timeAxis(before),
    drawing: (y) => [area("denied soft", was.map((rate) => rate / top), y),
                     is.length > 0 && svg("path", {class: "candidate-line",
                                                   d: `M${outline(is.map((rate) => rate / top), y)}`})],
  });
}

const timelineNumbers = (policy) => details(["from (UTC):l", "admitted", "denied"],
  timelineOf(policy).map((bin) => [timeText(bin.at), grouped(bin.admitted), grouped(bin.denied)]));

// The bars of the histogram, followed by empty ones up to the current number. There are two per octave, as in the
// report: [0], [1], [2], [3], [4, 5], [6, 7], [8, 11], ...
function barsToShow({histogram, present}) {
  const bars = [];
  for (let from = 0; from <= Math.max(histogram.at(-1).from, present);) {
    const to = from + Math.max(1, 2 ** (Math.floor(Math.log2(from)) - 1)) - 1;
    const same = histogram.find((bar) => bar.from === from);
    if (to >= Math.min(histogram[0].from, present)) bars.push({from, to, consumers: same?.consumers ?? 0});
    from = to + 1;
  }
  return bars;
}

// Labelled lines at the current number and at the numbers needed for 99 % and 99.9 %.
function demandMarkers(demand, bars, y) {
  const lineHeight = 14;
  const labelWidth = 110;
  const position = (value) => {  // returns the right end of the value's bar: consumers that fit are to its left
    const i = bars.findIndex((bar) => value <= bar.to);
    const at = i < 0 ? bars.length : i + (value + 1 - bars[i].from) / (bars[i].to + 1 - bars[i].from);
    return left + (at / bars.length) * across;
  };
  const [{p99, p999}] = demand.needed;
  const markers = [["now", `now ${demand.number} ${grouped(demand.present)}`, position(demand.present)],
                   ["mark", `99 %: ${grouped(p99)}`, position(p99)],
                   ["mark", `99.9 %: ${grouped(p999)}`, position(p999)]];
  return markers.map(([look, label, x], i) => {
    const at = y(1) + lineHeight - 4 + i * lineHeight;
    // A label that would overlap the edge or another marker on the right goes to the left.
    const isLeft = x > right - labelWidth || markers.some(([, , other]) => other > x && other < x + labelWidth);
    return [svg("line", {class: look, x1: tenths(x), x2: tenths(x), y1: tenths(at - 10), y2: bottom}),
            svg("text", {class: `${look}-label${isLeft ? " end" : ""}`, x: tenths(isLeft ? x - 5 : x + 5),
                         y: tenths(at)}, label)];
  });
}

// The histogram of consumers by the number they needed. The vertical axis is logarithmic and starts at one half, so
// that a bar of one is visible.
function demandChart(demand, title) {
  if (demand.histogram.length === 0 || demand.needed.length === 0) return null;
  const bars = barsToShow(demand);
  const powers = [1, 10];
  while (powers.at(-1) < Math.max(...bars.map((bar) => bar.consumers))) powers.push(10 * powers.at(-1));
  const height = (count) => (count < 1 ? 0 : Math.log(2 * count) / Math.log(2 * powers.at(-1)));
  const width = across / bars.length;
  const labelled = Math.floor(bars.length / 16) + 1;
  const draw = ({from, to, consumers}, i, y) => consumers > 0 && svg("rect", {
    class: from > demand.present ? "denied" : "admitted", x: tenths(left + i * width + 1), rx: 1,
    y: tenths(y(height(consumers))), width: tenths(Math.max(1, width - 2)),
    height: tenths(bottom - y(height(consumers)))},
    svg("title", {}, `${demand.number} ${grouped(from)}${from === to ? "" : `\u2013${grouped(to)}`}: ` +
      counted(consumers, "consumer")));
  return chart({
    title, top: 36,  // the markers' labels begin above the bars
    description: `${grouped(demand.satisfied)} of ${grouped(demand.consumers)} consumers fit the current ` +
      `${demand.number} of ${grouped(demand.present)}.`,
    rows: powers.map((power) => [height(power), grouped(power)]), rowsName: "consumers, logarithmic scale",
    columns: bars.map((bar, i) => [(i + 0.5) / bars.length, grouped(bar.from)]).filter((_, i) => i % labelled === 0),
    columnsName: `${demand.number} needed at ${demand.needed[0].rate}, logarithmic scale`,
    drawing: (y) => bars.map((bar, i) => draw(bar, i, y)),
    markers: (y) => demandMarkers(demand, bars, y),
  });
}

// --- sections

const policyName = report.policy.name || "the policy";
const candidateName = report.candidate?.name || "the candidate";
const requests = report.pace.requests;

function tiles() {
  const {policy, pace} = report;
  const tile = (number, words, look = "") =>
    element("div", {class: `tile ${look}`}, bold(number), element("span", {}, words));
  const when = (peak) => timeText(secondOf(peak.at));
  return element("div", {class: "tiles"},
    tile(grouped(requests), `requests, ${rounded(pace.mean_per_second)}/s on average`),
    tile(percent(policy.admitted, requests), `admitted: ${grouped(policy.admitted)}`),
    tile(percent(policy.denied, requests), `denied: ${grouped(policy.denied)}`, policy.denied > 0 ? "alarm" : ""),
    tile(grouped(pace.peak_second.count), `in the busiest second, ${when(pace.peak_second)}`),
    tile(grouped(pace.peak_minute.count), `in the busiest minute, from ${when(pace.peak_minute)}`),
    policy.warned > 0 && tile(grouped(policy.warned), "admitted with a warning"),
    policy.delayed > 0 && tile(grouped(policy.delayed), "admitted after a wait in a queue"),
    policy.uncovered > 0 && tile(grouped(policy.uncovered), "covered by no limit"));
}

function cautions() {
  const {cautions_title: title, cautions: sentences} = report.words;
  if (sentences.length === 0) return [];
  return card(element("p", {}, bold(title)), element("ul", {}, sentences.map((each) => element("li", {}, each))));
}

function overTime() {
  const title = "Admitted and denied over time";
  return [heading(2, title), card(legend([["admitted", "admitted"], ["denied", "denied"]]),
    timelineChart(report.policy, title), timelineNumbers(report.policy))];
}

// The consumers of a ranking, with bars of class `look`; empty if there are none.
function consumers(title, ranking, look) {
  if (ranking.top.length === 0) return [];
  const max = Math.max(...ranking.top.map((each) => each.count), 1);
  return [heading(4, title),
    small(counted(ranking.total, "request"), " of ", ranking.exact ? "" : "about ",
      counted(ranking.consumers, "consumer")),
    table(["consumer:l name", ":l bars", "requests", "share"], ranking.top.map(({consumer, count, error}) => [
      element("code", {}, consumer), stackedBar([[look, count, "requests"], ["rest", max - count, "fewer"]]),
      grouped(count) + (error > 0 ? ` to ${grouped(count + error)}` : ""), percent(count, ranking.total)]))];
}

function comparison(found) {
  const {policy, candidate} = report;
  const denies = (name, of) => `${name} denies ${grouped(of.denied)} (${percent(of.denied, requests)})`;
  const rows = found.by_limit_and_route.slice(0, maxRows);
  return [heading(2, `${policyName} compared with ${candidateName}`), card(
    element("p", {}, bold(counted(found.newly_denied, "request")), " newly denied, ",
      bold(grouped(found.newly_admitted)), " newly admitted. ",
      `${denies(policyName, policy)}, ${denies(candidateName, candidate)}.`),
    barWithLegend([["soft-admitted", found.both_admit, "both admit"],
                   ["admitted", found.newly_admitted, "newly admitted"],
                   ["denied", found.newly_denied, "newly denied"], ["soft-denied", found.both_deny, "both deny"]]),
    heading(4, "Denied over time"), legend([["soft-denied", policyName], ["admitted", candidateName]]),
    denialsChart(policy, candidate), timelineNumbers(candidate),
    rows.length > 0 && [heading(4, "Where they differ"),
      table(["limit:l name", "route:l name", "newly denied", "newly admitted"], rows.map((row) =>
        [row.limit, row.route, grouped(row.newly_denied), grouped(row.newly_admitted)]))],
    found.newly_denied_consumers.map((of) => consumers(`Newly denied by ${of.limit}`, of.consumers, "denied")),
    found.newly_admitted_consumers.map((of) =>
      consumers(`No longer denied by ${of.limit}`, of.consumers, "admitted")))];
}

function nodes(found) {
  return [heading(2, report.words.nodes_title), card(
    element("p", {}, bold(counted(found.newly_denied, "request")), " newly denied, ",
      bold(grouped(found.newly_admitted)), " newly admitted, compared with one exact store. ",
      report.words.nodes_traffic, "."),
    table(["limit:l name", "decided:l", "denied by exact", "by the nodes", "newly denied",
           "contended", "newly admitted", "over", "without a round trip", "messages"],
      found.limits.map((of) => [of.name, of.consistency, ...[of.exact_denied, of.denied, of.newly_denied,
        of.contended_denials, of.newly_admitted].map(grouped), of.over === null ? "-" : grouped(of.over),
        percent(of.without_round_trip, of.evaluated), grouped(of.messages)])))];
}

function estimates(found) {
  return [heading(2, "Costs known only at the end"), card(
    table(["estimate:l", "admitted", "denied", "newly denied", "newly admitted"], found.map((of) =>
      [of.estimate, ...[of.admitted, of.denied, of.newly_denied, of.newly_admitted].map(grouped)])),
    found[0].limits.map((limit, i) => [heading(4, limit.name),
      table(["estimate:l", "denied", "reserved", "spent", "given back", "wasted", "overspent", "no receipt"],
        found.map(({estimate, limits: {[i]: of}}) => [estimate,
          ...[of.denied, of.reserved, of.spent, of.given_back].map(grouped), rounded(of.wasted),
          grouped(of.overspent), grouped(of.not_kept)]))]),
    small(report.words.estimates.join(" ")))];
}

// Shows what the consumers of one tier needed, and the numbers needed at each rate.
function demand(limit, of) {
  const need = (number) => `${of.number}${of.upper_bound ? " at most" : ""} ${grouped(number)}`;
  const tier = limit.demand.length > 1 ? `: tier ${of.tier}, ${of.numbers}` : "";
  const sample = of.sampled_one_in > 1 ? ` (a sample, one in ${grouped(of.sampled_one_in)})` : "";
  return [heading(4, `Peak demand per consumer${tier}`),
    small(`${percent(of.satisfied, of.consumers)} of ${grouped(of.consumers)} consumers${sample} fit now. ` +
      `Counted as if nothing had been denied` +
      `${of.upper_bound ? "; an upper bound, in steps of an eighth of the window" : ""}.`),
    of.consumers > 1 && demandChart(of, `Need per consumer of ${limit.name}`),
    table(["at a rate of:l", "for 50 %", "for 99 %", "for 99.9 %", "for all"], of.needed.map((at) =>
      [at.rate, need(at.p50), need(at.p99), need(at.p999), need(at.max)])),
    of.consumers > 1 && details([`${of.number} needed, from`, "to", "consumers"],
      of.histogram.map((bar) => [bar.from, bar.to, bar.consumers].map(grouped)))];
}

const limitCandidate = (candidate) => [
  heading(4, `Candidate: ${candidate.algorithm}, ${candidate.numbers}`),
  barWithLegend([["soft-admitted", candidate.agrees, "agrees"], ["denied", candidate.newly_denied, "newly denied"],
                 ["admitted", candidate.newly_admitted, "newly admitted"]]),
  consumers("Newly denied by the candidate", candidate.newly_denied_consumers, "denied"),
  consumers("Newly admitted by the candidate", candidate.newly_admitted_consumers, "admitted")];

function limitRoutes({routes}) {
  if (routes.length < 2) return [];
  return [heading(4, "By route"), table(["route:l name", "evaluated", "denied", "share"],
    routes.slice(0, maxRows).map((of) => {
      const evaluated = of.denied + of.admitted + of.uncharged + of.warned + of.shadow_denied;
      return [of.route, grouped(evaluated), grouped(of.denied), percent(of.denied, evaluated)];
    }))];
}

function limit(of) {
  const rare = [["denied", of.shadow_denied, "denied in shadow mode"], ["soft-denied", of.warned, "warned"],
                ["soft-admitted", of.uncharged, "denied by another limit"]];
  const shadow = of.mode === "shadow" ? ", shadow mode: never denies" : "";
  return card(heading(3, of.name),
    element("p", {class: "soft small"}, `${of.algorithm}, ${of.numbers}, by ${of.consumer_key}${shadow}`),
    barWithLegend([["admitted", of.admitted, "admitted"], ["denied", of.denied, "denied"],
                   ...rare.filter(([, count]) => count > 0)]),
    small(`Busiest second ${grouped(of.pace.peak_second.count)}, busiest minute `,
      `${grouped(of.pace.peak_minute.count)}, mean ${rounded(of.pace.mean_per_second)}/s.`),
    of.demand.map((each) => demand(of, each)),
    of.candidate && limitCandidate(of.candidate),
    limitRoutes(of),
    consumers("Denied most", of.hardest_hit, "denied"));
}

function routes(all) {
  const max = Math.max(1, all[0].pace.requests);
  return [heading(2, "Routes"), card(
    small("Peak over mean measures burstiness: the busiest second over the average."),
    table(["route:l name", ":l bars", "requests", "denied", "share", "mean/s", "peak/s", "peak over mean"],
      all.slice(0, maxRows).map(({route, admitted, denied, pace}) => [route,
        stackedBar([["admitted", admitted, "admitted"], ["denied", denied, "denied"],
                    ["rest", max - Math.min(max, pace.requests), "fewer"]]),
        grouped(pace.requests), grouped(denied), percent(denied, pace.requests), rounded(pace.mean_per_second),
        grouped(pace.peak_second.count), rounded(pace.burst_ratio)])),
    all.length > maxRows && element("p", {class: "soft"}, `and ${all.length - maxRows} more`))];
}

function log() {
  const {lines, entries, not_understood: faults} = report.log;
  return [heading(2, "The log"), card(element("p", {}, `${counted(lines, "line")}, ${counted(entries, "request")}.`),
    element("ul", {class: "small"}, report.words.remarks.map((remark) => element("li", {}, remark)),
      faults.examples.map(({line, kind, excerpt}) => element("li", {class: "soft"},
        `line ${grouped(line)}: ${report.words.faults[kind]} `, element("code", {}, excerpt))),
      element("li", {}, "consumers are shown ", report.keys === "shown" ? "by their keys" : "as keyed hashes")))];
}

const title = `What ${policyName} would have done`;
const [from, to] = [secondOf(report.from), secondOf(report.to)];
document.title = title;
fill(document.querySelector("main"), {}, [
  heading(1, title),
  element("p", {class: "soft"}, `${report.log.files.join(", ")}, replayed on virtual time: ${timeText(from)} to ` +
    `${timeText(to)} UTC, ${lengthText(to - from)}`),
  tiles(), cautions(), overTime(),
  report.comparison && comparison(report.comparison),
  report.nodes && nodes(report.nodes),
  report.estimates && estimates(report.estimates),
  report.policy.limits.length > 0 && [heading(2, "Limits"), report.policy.limits.map(limit)],
  report.policy.routes.length > 0 && routes(report.policy.routes),
  log(),
  element("footer", {}, "Generated by weir simulate. Times are in UTC."),
]);
