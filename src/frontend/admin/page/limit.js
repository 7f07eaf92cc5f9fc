// One limit: its decisions over time, its consumers and its candidate.

import {get} from "./api.js";
import {TimeChart} from "./chart.js";
import {element, redraw, replace} from "./dom.js";
import {bytes, count, duration, share, short, when} from "./format.js";
import {badgesOf, candidateParts, headroomBars} from "./limits.js";
import {bar, Histogram} from "./marks.js";
import {append, pointOfLimit, pointsOfLimit} from "./model.js";
import {deniedText, drawDenials} from "./now.js";
import {card, code, facts, head, legend, message, Tile} from "./parts.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";
import {algorithm, numbers} from "./words.js";

const SHOWN_CONSUMERS = 20;

export class LimitView {
  constructor(model) {
    this.model = model;
    this.name = null;
    this.points = [];
    this.limit = null;
    this.title = element("div");
    this.tiles = {
      rate: new Tile("Decisions per second"), denied: new Tile("Denied per second"), share: new Tile("Share denied"),
      consumers: new Tile("Consumers", "Consumers with state"), memory: new Tile("State memory"),
      overflow: new Tile("Overflow", "Decisions on shared state because memory was full"),
    };
    this.chart = new TimeChart({
      title: "Admitted and denied decisions of this limit per second, last ten minutes",
      show: short, least: 4, height: 220,
      series: [{key: "admitted", label: "admitted", look: "admitted"}, {key: "denied", label: "denied", look: "denied"},
               {key: "shadow_denied", label: "would be denied (shadow)", look: "soft-denied", line: true}],
    });
    this.headroom = new Histogram("Share of the limit remaining after each decision");
    this.words = element("div");
    this.totals = element("div");
    this.candidate = element("div");
    this.topDenied = consumersTable();
    this.routes = routesTable();
    this.poll = new Poll(() => get(`/v1/limits/${encodeURIComponent(this.name)}`), ({limit}) => this.take(limit), 2000);
    this.body = element("div", {hidden: true}, this.layout());
    this.node = element("div", {}, this.title, this.poll.problem, this.body);
  }

  layout() {
    this.candidateCard = card("Candidate", {note: "since startup"}, this.candidate);
    return [
      element("div", {class: "tiles"}, Object.values(this.tiles).map((tile) => tile.node)),
      element("div", {class: "columns"},
        card("Decisions per second", {width: "two-thirds", note: "last 10 minutes"}, this.chart.node),
        card("Definition", {width: "third last"}, this.words),
        element("div", {class: "half"},
          card("Top denied consumers", {note: "last 30 to 60 minutes; hashed as in the log"},
            this.topDenied.node, element("p", {class: "soft small"},
              "To identify a consumer, run ", code("weir hash user=alice"), ", or look it up under ",
              element("a", {href: "#consumer"}, "Consumer"), "."))),
        element("div", {class: "half"},
          this.candidateCard,
          card("Headroom", {note: "remaining after each decision, since startup"}, this.headroom.node),
          card("Outcomes", {note: "since startup"}, this.totals),
          card("By route", {note: "since startup"}, this.routes.node))),
    ];
  }

  show(name) {
    if (name !== this.name) {
      this.name = name;
      this.points = [];
      this.limit = null;
      this.body.hidden = true;
      redraw(this.title, name, () => [head(name)]);
    }
    this.poll.start();
    this.loadHistory();
  }

  hide() {
    this.poll.stop();
  }

  // Called again when the stream reconnects.
  async loadHistory() {
    const name = this.name;
    try {
      const history = await get(`/v1/history?limit=${encodeURIComponent(name)}`);
      if (name !== this.name) return;
      const newer = this.points;
      this.points = pointsOfLimit(history);
      newer.forEach((point) => append(this.points, point));
      this.draw();
    } catch (problem) {
      if (problem.status === undefined) throw problem;  // the poll shows the same error
    }
  }

  // Also called before the history is loaded, because it may be empty.
  second(second) {
    if (this.name !== null) append(this.points, pointOfLimit(second, this.name));
  }

  draw() {
    this.chart.draw(this.points, this.model.now);
    const point = this.points.at(-1);
    if (!point || !this.limit) return;
    const minute = this.model.lastMinute(this.points);
    this.tiles.rate.set(short(point.decisions), `${short(minute.decisions)} in the last minute`);
    const isShadow = this.limit.mode === "shadow";
    this.tiles.denied.rename(isShadow ? "Would deny per second" : "Denied per second");
    this.tiles.share.rename(isShadow ? "Share it would deny" : "Share denied");
    if (isShadow) return this.drawShadow(point, minute);
    this.tiles.denied.set(short(point.denied), `${short(minute.denied)} in the last minute`,
      point.denied > 0 ? "alarm" : null);
    this.tiles.share.set(share(minute.denied, minute.decisions), "of its decisions in the last minute",
      minute.denied > 0 ? "alarm" : null);
  }

  // A limit in shadow mode denies nothing: its tiles say what it would deny.
  drawShadow(point, minute) {
    this.tiles.denied.set(short(point.shadow_denied), `${short(minute.shadow_denied)} in the last minute`);
    this.tiles.share.set(share(minute.shadow_denied, minute.decisions), "of its decisions in the last minute");
  }

  take(limit) {
    const isFirst = this.limit === null;
    this.limit = limit;
    this.body.hidden = false;
    this.chart.hideSeries("shadow_denied", limit.mode !== "shadow");
    if (isFirst) this.chart.paint();
    redraw(this.title, [limit.name, limit.words, limit.spike, limit.states.overflowed > 0], () => [
      head(limit.name, element("p", {class: "soft"}, limit.words), badgesOf(limit)),
      limit.spike && message("caution", `Spike since ${when(limit.spike.since)} UTC: ${short(limit.spike.rate)} `
        + `decisions per second over ${duration(limit.spike.seconds)}; at most ${short(limit.spike.past)} `
        + "in the hour before.")]);
    const {states} = limit;
    this.tiles.consumers.set(short(limit.consumers), "with state");
    this.tiles.memory.set(bytes(states.bytes), `of ${bytes(states.budget)}`);
    const isShort = states.overflowed > 0;
    this.tiles.overflow.set(short(states.overflowed), isShort ? "consumers share state" : "no shared state",
      isShort ? "alarm" : null);
    replace(this.words, wordsOf(limit));
    this.headroom.draw(headroomBars(limit.headroom), (each) => (each.isEmpty ? "denied" : "admitted"));
    replace(this.totals, totalsOf(limit.total));
    this.candidateCard.hidden = !limit.candidate;
    if (limit.candidate) replace(this.candidate, candidateOf(limit));
    const most = limit.top_denied.reduce((max, each) => Math.max(max, each.count), 1);
    this.topDenied.draw(limit.top_denied.slice(0, SHOWN_CONSUMERS).map((each) => ({...each, most})));
    this.routes.draw(limit.by_route);
    this.draw();
  }
}

const ON_STORE_FAILURE = {local: "use this node's share", open: "admit all", closed: "deny all"};

function wordsOf(limit) {
  const {penalty, warn_first: warn} = limit;
  return facts([
    ["Numbers", numbers(limit.numbers)],
    ["Algorithm", algorithm(limit.algorithm)],
    ["Key", limit.consumer_key],
    ["Routes", limit.domain ? null : limit.routes.length > 0 ? limit.routes.join(", ") : "every request"],
    ["Domain", limit.domain],
    ["When", limit.when],
    ["Mode", limit.mode === "shadow" ? "shadow: never denies" : "enforced"],
    ["Consistency", limit.consistency],
    ["On store failure", ON_STORE_FAILURE[limit.on_store_failure] ?? limit.on_store_failure],
    ["Warnings", warn && `the first ${count(warn.count)} denials per ${duration(warn.per)} are warnings`],
    ["Penalty", penalty && `${count(penalty.after)} denials within ${duration(penalty.within)} block for `
      + duration(penalty.block)],
    ["Defined in", limit.line ? `line ${limit.line}` : null],
  ]);
}

const OUTCOMES = [
  ["admitted", "admitted", "admitted"], ["denied", "denied", "denied"], ["blocked", "blocked by a penalty", "denied"],
  ["warned", "warned", "warned"], ["shadow_denied", "would be denied (shadow)", "soft-denied"],
  ["uncharged", "denied by another limit", "soft-admitted"], ["skipped", "skipped: no key", "rest"],
  ["shared", "counted together: no key", "soft-admitted"], ["unlimited", "unlimited", "rest"],
];

function totalsOf(total) {
  const parts = OUTCOMES.map(([key, label, look]) => ({look, label, value: total[key] ?? 0}))
    .filter((part) => part.value > 0);
  if (parts.length === 0) return element("p", {class: "empty"}, "No decisions yet.");
  const drawn = bar(parts);
  drawn.classList.add("tall");
  return [drawn, legend(parts.map((part) => ({...part, text: count(part.value)})))];
}

function candidateOf(limit) {
  const {candidate} = limit;
  const parts = candidateParts(candidate);
  const whole = parts.reduce((sum, part) => sum + part.value, 0);
  const drawn = bar(parts);
  drawn.classList.add("tall");
  return [
    facts([["Now", `${numbers(limit.numbers)}, ${algorithm(limit.algorithm)}`],
           ["Candidate", `${numbers(candidate.numbers)}, ${algorithm(candidate.algorithm)}`]]),
    drawn,
    legend(parts.map((part) => ({...part, text: `${count(part.value)} (${share(part.value, whole)})`}))),
    element("p", {class: "small soft"}, `Consumers newly denied: ${count(candidate.newly_denied_consumers)}; `
      + `newly admitted: ${count(candidate.newly_admitted_consumers)}.`),
  ];
}

function consumersTable() {
  return new Table({
    title: "Top denied consumers", key: (each) => each.consumer,
    empty: "No denials in the last half hour.",
    columns: [
      {id: "consumer", title: "Consumer", look: "hash", draw: (cell, each) =>
        redraw(cell, each.consumer, () => [code(each.consumer)])},
      {id: "bar", title: "", wide: true, look: "bars", draw: drawDenials},
      {id: "count", title: "Denials", number: true, text: deniedText},
    ],
  });
}

function routesTable() {
  return new Table({
    title: "By route", key: (each) => each.route, empty: "No requests yet.",
    sort: {id: "decisions", down: true},
    columns: [
      {id: "route", title: "Route", value: (each) => each.route, text: (each) => each.route},
      {id: "decisions", title: "Decisions", number: true, value: (each) => each.decisions,
       text: (each) => count(each.decisions)},
      {id: "denied", title: "Denied", number: true, value: (each) => each.denied, text: (each) => count(each.denied),
       tone: (each) => (each.denied > 0 ? "alarm" : null)},
      {id: "share", title: "Share", number: true, value: (each) => each.denied / (each.decisions || 1),
       text: (each) => share(each.denied, each.decisions)},
    ],
  });
}
