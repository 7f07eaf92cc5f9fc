// The data of the last ten minutes: the server's history, and each second received since.

import {get} from "./api.js";

const KEPT = 600;  // seconds

const COLUMNS = ["seconds", "requests", "evaluated", "denied_requests", "decisions", "denied", "shadow_denied", "p50",
                 "p99", "connections", "used", "resident", "store"];

// Converts counts to rates by the measured length of the second. `counted` holds the counts.
function pointOf(second) {
  const per = (number) => number / (second.seconds || 1);
  return {
    at: Date.parse(second.at),
    requests: per(second.requests),
    denied_requests: per(second.denied_requests ?? 0),
    decisions: per(second.decisions),
    denied: per(second.denied),
    admitted: per(second.decisions - second.denied),
    shadow_denied: per(second.shadow_denied),
    p50: second.p50, p99: second.p99,
    connections: second.connections,
    used: second.used, resident: second.resident,
    store: second.store,
    counted: {evaluated: second.evaluated ?? 0, denied_requests: second.denied_requests ?? 0,
              decisions: second.decisions, denied: second.denied, shadow_denied: second.shadow_denied},
  };
}

// Converts the columns of /v1/history to points.
function pointsOf(history) {
  return history.at.map((at, i) => {
    const second = {at};
    for (const column of COLUMNS) second[column] = history[column][i];
    return pointOf(second);
  });
}

// Returns the points of one limit.
export function pointsOfLimit(history) {
  const of = history.limit;
  return history.at.map((at, i) => pointOf({at, seconds: history.seconds[i], requests: 0, decisions: of.decisions[i],
                                            denied: of.denied[i], shadow_denied: of.shadow_denied[i]}));
}

export function pointOfLimit(second, name) {
  const none = {decisions: 0, denied: 0, shadow_denied: 0};
  const of = second.limits.find((each) => each.limit === name) ?? none;
  return pointOf({...of, at: second.at, seconds: second.seconds, requests: 0});
}

// Adds a point if it is newer than the last.
export function append(points, point) {
  if (points.length > 0 && point.at <= points.at(-1).at) return;
  points.push(point);
  while (points.length > KEPT) points.shift();
}

export class Model {
  constructor() {
    this.points = [];
    this.second = null;  // the latest message
    this.budget = null;
    this.status = null;  // the response of /v1/status
    this.events = [];    // the newest first
  }

  get now() {
    return this.points.length > 0 ? this.points.at(-1).at : Date.now();
  }

  // The counts of the last minute.
  lastMinute(points = this.points) {
    const from = (points.at(-1)?.at ?? 0) - 60e3;
    const sum = {evaluated: 0, denied_requests: 0, decisions: 0, denied: 0, shadow_denied: 0};
    for (const {at, counted} of points) {
      if (at <= from) continue;
      for (const key of Object.keys(sum)) sum[key] += counted[key];
    }
    return sum;
  }

  // Called at the start and after each reconnect.
  async load() {
    const [history, status, events] = await Promise.all([
      get("/v1/history"), get("/v1/status"), get("/v1/events?count=1000")]);
    this.points = pointsOf(history);
    this.status = status;
    this.budget = status.memory.budget;
    this.events = events.events;
    this.take(this.second);
  }

  async loadStatus() {
    this.status = await get("/v1/status");
  }

  // Adds a second of the stream.
  take(second) {
    if (!second) return;
    this.second = second;
    this.budget = second.memory.budget;
    append(this.points, pointOf({...second, used: second.memory.used, resident: second.memory.resident}));
    const newest = this.events[0]?.id ?? 0;
    this.events = [...second.events.filter((event) => event.id > newest).sort((a, b) => b.id - a.id), ...this.events]
      .slice(0, 1000);
  }
}
