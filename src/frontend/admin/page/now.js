// The traffic of the last ten minutes.

import {get} from "./api.js";
import {TimeChart} from "./chart.js";
import {element, redraw} from "./dom.js";
import {ago, bytes, count, latency, share, short} from "./format.js";
import {bar, sparkline} from "./marks.js";
import {card, code, head, limitLink, Tile} from "./parts.js";
import {Poll} from "./poll.js";
import {Table} from "./table.js";
import {LEVELS, storeWords} from "./words.js";

const SHOWN_LIMITS = 10;
const SHOWN_CONSUMERS = 8;
const SHOWN_EVENTS = 8;

export class NowView {
  constructor(model) {
    this.model = model;
    this.tiles = {
      decisions: new Tile("Decisions/s", "One decision per request and limit"),
      denied: new Tile("Denied per second", "Denied requests; each counts once, whatever the number of limits"),
      share: new Tile("Share denied", "Share of the requests in the last minute"),
      time: new Tile("Decision time", "Time per decision, in the last second with decisions"),
      connections: new Tile("Connections", "Open connections on all other listeners"),
      memory: new Tile("State memory"),
      store: new Tile("Store"),
    };
    this.traffic = new TimeChart({
      title: "Admitted and denied decisions per second, last ten minutes", show: short, least: 4, height: 232,
      series: [{key: "admitted", label: "admitted", look: "admitted"},
               {key: "denied", label: "denied", look: "denied"}],
    });
    this.times = new TimeChart({
      title: "Decision time, last ten minutes", show: latency, least: 1e-6, height: 232,
      series: [{key: "p99", label: "99 %", look: "second", line: true},
               {key: "p50", label: "median", look: "first", line: true}],
    });
    this.limits = limitsTable();
    this.consumers = consumersTable();
    this.events = eventsTable(model);
    this.poll = new Poll(() => Promise.all([get("/v1/limits"), get(`/v1/denied?count=${SHOWN_CONSUMERS}`)]),
      ([limits, denied]) => this.drawTables(limits, denied), 2000);
    this.node = element("div", {}, head("Now"), this.poll.problem,
      element("div", {class: "tiles"}, Object.values(this.tiles).map((tile) => tile.node)),
      element("div", {class: "columns"},
        card("Decisions per second", {width: "two-thirds", note: "last 10 minutes"}, this.traffic.node),
        card("Decision time", {width: "third last", note: "last 10 minutes"}, this.times.node),
        card("Top denying limits", {width: "third", note: "last minute",
          right: element("a", {href: "#limits"}, "All limits")}, this.limits.node),
        card("Top denied consumers", {width: "third", note: "last 30 to 60 minutes; hashed as in the log"},
          this.consumers.node),
        card("Latest events", {width: "third last", right: element("a", {href: "#events"}, "All events")},
          this.events.node)));
  }

  show() {
    this.poll.start();
    this.draw();
  }

  hide() {
    this.poll.stop();
  }

  draw() {
    const {model} = this;
    this.drawTiles();
    this.traffic.draw(model.points, model.now);
    this.times.draw(model.points, model.now);
    this.events.draw(model.events.slice(0, SHOWN_EVENTS));
  }

  drawTiles() {
    const {model, tiles} = this;
    const point = model.points.at(-1);
    if (!point) return;
    const minute = model.lastMinute();
    tiles.decisions.set(short(point.decisions), `${short(point.requests)} requests per second`);
    tiles.denied.set(short(point.denied_requests), `${short(minute.denied_requests)} in the last minute`,
      point.denied_requests > 0 ? "alarm" : null);
    tiles.share.set(share(minute.denied_requests, minute.evaluated), "of requests in the last minute",
      minute.denied_requests > 0 ? "alarm" : null);
    const timed = model.points.findLast((each) => each.p50 !== null);
    tiles.time.set(latency(timed?.p50), timed ? `median; 99 %: ${latency(timed.p99)}` : "no decisions yet");
    tiles.connections.set(count(point.connections), "open now");
    const full = model.budget ? point.used / model.budget : 0;
    tiles.memory.set(bytes(point.used), `of ${bytes(model.budget)}; process ${bytes(point.resident)}`,
      full > 0.95 ? "alarm" : full > 0.8 ? "warn" : null,
      bar([{look: full > 0.8 ? "denied" : "admitted", value: point.used, label: "bytes used"}], model.budget || 1));
    tiles.store.set(...storeWords(point.store));
  }

  drawTables(limits, denied) {
    const seconds = Math.max(1, limits.seconds);
    const rows = limits.limits.filter((limit) => limit.traffic.decisions > 0)
      .sort((a, b) => b.traffic.denied - a.traffic.denied || b.traffic.decisions - a.traffic.decisions)
      .slice(0, SHOWN_LIMITS).map((limit) => ({...limit, seconds}));
    this.limits.draw(rows);
    const most = denied.denied.reduce((max, each) => Math.max(max, each.count), 1);
    this.consumers.draw(denied.denied.map((each) => ({...each, most})));
  }
}

// Draws the last minute of a limit.
export function drawRecent(cell, limit) {
  redraw(cell, limit.recent, () => {
    if (!limit.recent) return [];
    const {decisions, denied} = limit.recent;
    const from = Math.max(0, decisions.length - 60);
    return [sparkline(decisions.slice(from).map((all, i) => ({all, part: denied[from + i]})), 60)];
  });
}

function limitsTable() {
  return new Table({
    title: "Top denying limits", key: (limit) => limit.name,
    empty: "No decisions in the last minute.",
    columns: [
      {id: "limit", title: "Limit", draw: (cell, limit) => redraw(cell, limit.name, () => [limitLink(limit.name)])},
      {id: "recent", title: "Last minute", wide: true, look: "recent", draw: drawRecent},
      {id: "rate", title: "Decisions/s", number: true, text: (limit) => short(limit.traffic.decisions / limit.seconds)},
      {id: "denied", title: "Denied/min", number: true, text: (limit) => short(limit.traffic.denied),
       tone: (limit) => (limit.traffic.denied > 0 ? "alarm" : null)},
      {id: "share", title: "Share", number: true, wide: true,
       text: (limit) => share(limit.traffic.denied, limit.traffic.decisions),
       tone: (limit) => (limit.traffic.denied > 0 ? "alarm" : null)},
    ],
  });
}

function consumersTable() {
  return new Table({
    title: "Top denied consumers", key: (each) => `${each.limit} ${each.consumer}`, empty: "No denials.",
    columns: [
      {id: "consumer", title: "Consumer", look: "hash", draw: (cell, each) =>
        redraw(cell, each.consumer, () => [code(each.consumer), element("small", {}, limitLink(each.limit))])},
      {id: "bar", title: "", wide: true, look: "bars", draw: drawDenials},
      {id: "count", title: "Denials", number: true, text: deniedText},
    ],
  });
}

function eventsTable(model) {
  return new Table({
    title: "Latest events", key: (event) => String(event.id), empty: "No events yet.",
    columns: [
      {id: "at", title: "When", look: "nowrap soft", text: (event) => ago(event.at, model.now)},
      {id: "message", title: "What", draw: drawEvent},
    ],
  });
}

export function drawEvent(cell, event) {
  redraw(cell, event.id, () => [
    element("span", {"data-tone": LEVELS[event.level]}, linked(event.message, event.limit)),
    event.consumer && !event.message.includes(event.consumer) && [" ", code(event.consumer)]]);
}

// Links the name of the limit in the message, or prepends it.
function linked(message, limit) {
  if (!limit) return message;
  const at = message.indexOf(limit);
  if (at < 0) return [limitLink(limit), ": ", message];
  return [message.slice(0, at), limitLink(limit), message.slice(at + limit.length)];
}

export function drawDenials(cell, each) {
  redraw(cell, [each.count, each.most], () => [bar([{look: "denied", value: each.count, label: "denied"}], each.most)]);
}

// The count is an estimate with an error bound, shown as a range.
export function deniedText(each) {
  return each.error > 0 ? `${count(each.count - each.error)}\u2013${count(each.count)}` : count(each.count);
}
