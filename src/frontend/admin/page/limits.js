// The table of all limits.

import {get} from "./api.js";
import {element, redraw, setText} from "./dom.js";
import {count, none, share, short} from "./format.js";
import {bar, Histogram} from "./marks.js";
import {drawRecent} from "./now.js";
import {badge, head, limitLink} from "./parts.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";

export class LimitsView {
  constructor() {
    this.filter = element("input", {
      type: "search", "aria-label": "Filter limits", placeholder: "Filter", oninput: () => this.draw()});
    this.remark = element("p", {class: "soft"});
    this.table = table();
    this.answer = null;
    this.poll = new Poll(() => get("/v1/limits"), (answer) => {
      this.answer = answer;
      this.draw();
    }, 2000);
    this.node = element("div", {},
      head("Limits", this.remark, element("div", {class: "right"}, this.filter)), this.poll.problem,
      element("section", {class: "card"}, this.table.node));
  }

  show() {
    this.poll.start();
  }

  hide() {
    this.poll.stop();
  }

  draw() {
    if (!this.answer) return;
    const wanted = this.filter.value.trim().toLowerCase();
    const seconds = Math.max(1, this.answer.seconds);
    const rows = this.answer.limits.filter((limit) => textOf(limit).includes(wanted));
    this.table.draw(rows.map((limit) => ({...limit, seconds})));
    const hidden = this.answer.limits.length - rows.length;
    setText(this.remark, [`${count(this.answer.limits.length + this.answer.more)} in the policy`,
      this.answer.more > 0 && `${count(this.answer.more)} not shown`,
      hidden > 0 && `${count(hidden)} hidden by the filter`].filter(Boolean).join("; "));
  }
}

function textOf(limit) {
  return [limit.name, limit.words, limit.mode, ...limit.routes].join(" ").toLowerCase();
}

// Badges for conditions that deserve attention.
export function badgesOf(limit) {
  const found = [
    limit.mode === "shadow" && badge("shadow", null, "Never denies; only reports what it would deny"),
    limit.candidate && badge("candidate", null, "A candidate is being evaluated"),
    limit.spike && badge("spike", "warn",
      `${short(limit.spike.rate)}/s now; at most ${short(limit.spike.past)}/s in the hour before`),
    limit.states.overflowed > 0 && badge("overflow", "alarm", "Consumers share state because memory is full"),
  ].filter(Boolean);
  return found.length > 0 ? element("span", {class: "badges"}, found) : null;
}

// The bars of the headroom histogram: the share of the limit that remained after each decision.
export function headroomBars(headroom) {
  return headroom.bounds.map((bound, i) => ({
    label: i === 0 ? "none" : `\u2264 ${Math.round(bound * 100)} %`,
    value: headroom.counts[i],
    isEmpty: i === 0,
  }));
}

function drawHeadroom(cell, limit) {
  redraw(cell, limit.headroom.counts, () => {
    const histogram = new Histogram("Share of the limit remaining after each decision");
    histogram.node.classList.add("mini");
    histogram.draw(headroomBars(limit.headroom), (each) => (each.isEmpty ? "denied" : "admitted"));
    return [histogram.node];
  });
}

export function candidateParts(candidate) {
  return [
    {look: "soft-admitted", value: candidate.agreed, label: "agrees"},
    {look: "denied", value: candidate.newly_denied, label: "newly denied"},
    {look: "admitted", value: candidate.newly_admitted, label: "newly admitted"},
  ];
}

function divergence(limit) {
  return limit.candidate ? limit.candidate.newly_denied + limit.candidate.newly_admitted : null;
}

function drawCandidate(cell, limit) {
  const {candidate} = limit;
  redraw(cell, candidate, () => (candidate
    ? [bar(candidateParts(candidate)), element("small", {},
        `${count(candidate.newly_denied)} newly denied, ${count(candidate.newly_admitted)} newly admitted`)]
    : [element("span", {class: "soft"}, none)]));
}

function drawName(cell, limit) {
  redraw(cell, [limit.words, limit.mode, limit.candidate === null, limit.spike, limit.states.overflowed > 0],
    () => [limitLink(limit.name), badgesOf(limit), element("small", {}, limit.words)]);
}

function routesText(limit) {
  if (limit.domain) return `domain ${limit.domain}`;
  if (limit.routes.length === 0) return "every request";
  const [first, second] = limit.routes;
  return limit.routes.length > 2 ? `${first}, ${second} and ${limit.routes.length - 2} more` : limit.routes.join(", ");
}

function table() {
  return new Table({
    title: "Limits", key: (limit) => limit.name, sort: {id: "denied", down: true},
    empty: "No limits.", long: "first",
    columns: [
      {id: "name", title: "Limit", look: "limit-name", value: (limit) => limit.name, draw: drawName},
      {id: "routes", title: "Applies to", wide: true, value: routesText, text: routesText},
      {id: "recent", title: "Last minute", wide: true, draw: drawRecent},
      {id: "rate", title: "Decisions/s", number: true, hint: "Average over the last minute",
       value: (limit) => limit.traffic.decisions, text: (limit) => short(limit.traffic.decisions / limit.seconds)},
      {id: "denied", title: "Denied/min", number: true, hint: "In the last minute",
       value: (limit) => limit.traffic.denied, text: (limit) => short(limit.traffic.denied),
       tone: (limit) => (limit.traffic.denied > 0 ? "alarm" : null)},
      {id: "share", title: "Share", number: true, hint: "Share of decisions denied in the last minute",
       value: (limit) => limit.denied_share,
       text: (limit) => share(limit.traffic.denied, limit.traffic.decisions),
       tone: (limit) => (limit.traffic.denied > 0 ? "alarm" : null)},
      {id: "headroom", title: "Headroom", wide: true,
       hint: "Share remaining after each decision, since startup", draw: drawHeadroom},
      {id: "shadow", title: "Would deny", number: true, wide: true,
       hint: "Decisions that a shadow limit would have denied in the last minute",
       value: (limit) => (limit.mode === "shadow" ? limit.traffic.shadow_denied : null),
       text: (limit) => (limit.mode === "shadow" ? short(limit.traffic.shadow_denied) : none)},
      {id: "candidate", title: "Candidate", wide: true, look: "compared",
       hint: "Decisions of the candidate, since startup", value: divergence, draw: drawCandidate},
      {id: "consumers", title: "Consumers", number: true, wide: true, hint: "Consumers with state",
       value: (limit) => limit.consumers, text: (limit) => short(limit.consumers)},
      {id: "overflow", title: "Overflow", number: true, wide: true,
       hint: "Decisions on shared state because memory was full",
       value: (limit) => limit.states.overflowed, text: (limit) => short(limit.states.overflowed),
       tone: (limit) => (limit.states.overflowed > 0 ? "alarm" : null)},
    ],
  });
}
